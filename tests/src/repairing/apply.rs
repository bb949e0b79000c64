//! A change applied to the program itself, not to the labels of its runs.

use wmfix_analysis::FenceOrder;
use wmfix_repair::{Change, ChangeKind, ChangePoint, MoveDirection};

use super::traces::points;
use crate::litmus::{Instruction, Program};

/// The program with changes, which name the points that [`points`] gives.
pub fn apply(program: &Program, changes: &[Change]) -> Program {
    apply_at(program, &points(program), changes)
}

/// The program with changes at any points. An instruction that is told twice to
/// have a fence gets one.
pub fn apply_at(program: &Program, points: &[ChangePoint], changes: &[Change]) -> Program {
    let mut changed = program.clone();
    for (thread, instructions) in program.threads.iter().enumerate() {
        let kinds_at = |at: usize| -> Vec<ChangeKind> {
            let site = program.site(thread, at);
            let here = |change: &&Change| points[change.point].sites.contains(&site);
            let mut kinds: Vec<ChangeKind> = Vec::new();
            for kind in changes.iter().filter(here).map(|c| c.kind) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            kinds
        };
        let mut kinds: Vec<Vec<ChangeKind>> = (0..instructions.len()).map(kinds_at).collect();
        let mut instructions = instructions.clone();
        let moved = kinds.iter().enumerate().find_map(|(at, kinds)| {
            kinds.iter().find_map(|kind| match kind {
                ChangeKind::Move(MoveDirection::Up) => Some((at - 1, at)),
                ChangeKind::Move(MoveDirection::Down) => Some((at, at + 1)),
                _ => None,
            })
        });
        if let Some((one, other)) = moved {
            instructions.swap(one, other);
            kinds.swap(one, other);
        }
        changed.threads[thread] = rebuilt(&instructions, &kinds);
    }
    changed
}

fn rebuilt(instructions: &[Instruction], kinds: &[Vec<ChangeKind>]) -> Vec<Instruction> {
    let mut result = Vec::new();
    for (at, instruction) in instructions.iter().enumerate() {
        let (before, after) = fences(&kinds[at]);
        result.extend(before);
        if kinds[at].contains(&ChangeKind::RemoveFence) {
            assert!(matches!(instruction, Instruction::Fence { .. }));
            continue;
        }
        let mut instruction = *instruction;
        for &kind in &kinds[at] {
            raise(&mut instruction, kind);
        }
        if let Instruction::SkipIf { count, .. } | Instruction::SkipUnless { count, .. } =
            &mut instruction
        {
            // What is skipped takes its fences along.
            let skipped = &kinds[at + 1..at + 1 + usize::from(*count)];
            let left = skipped.iter().map(|kinds| {
                let (before, after) = fences(kinds);
                let itself = usize::from(!kinds.contains(&ChangeKind::RemoveFence));
                itself + usize::from(before.is_some()) + usize::from(after.is_some())
            });
            *count = u8::try_from(left.sum::<usize>()).expect("few instructions");
        }
        result.push(instruction);
        result.extend(after);
    }
    result
}

/// The fences before and after an instruction: several at one side are one.
fn fences(kinds: &[ChangeKind]) -> (Option<Instruction>, Option<Instruction>) {
    let (mut before, mut after): (Option<FenceOrder>, Option<FenceOrder>) = (None, None);
    for &kind in kinds {
        let (side, order) = match kind {
            ChangeKind::FenceBefore(order) => (&mut before, order),
            ChangeKind::FenceAfter(order) => (&mut after, order),
            _ => continue,
        };
        *side = Some(side.map_or(order, |known| known.join(order)));
    }
    let fence = |order| Instruction::Fence { order };
    (before.map(fence), after.map(fence))
}

fn raise(instruction: &mut Instruction, kind: ChangeKind) {
    use Instruction as I;
    match (instruction, kind) {
        (I::Load { order, .. } | I::Wait { order, .. }, ChangeKind::Load(to)) => *order = to,
        (I::Store { order, .. }, ChangeKind::Store(to)) => *order = to,
        (I::FetchAdd { order, .. } | I::Exchange { order, .. }, ChangeKind::Rmw(to)) => *order = to,
        (I::Fence { order }, ChangeKind::Fence(to)) => *order = to,
        (
            I::CompareExchange {
                success, failure, ..
            }
            | I::BlockingCompareExchange {
                success, failure, ..
            },
            ChangeKind::CompareExchange {
                success: s,
                failure: f,
            },
        ) => (*success, *failure) = (s, f),
        (_, ChangeKind::FenceBefore(_) | ChangeKind::FenceAfter(_) | ChangeKind::Move(_)) => {}
        (instruction, kind) => panic!("{kind:?} does not fit {instruction:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::program;
    use wmfix_analysis::LoadOrder;

    #[test]
    fn skipped_instructions_take_their_fences_along() {
        let p = program("p", &["a=x.rlx; skipif a 0 1; b=y.rlx; z=1.rlx"]).unwrap();
        let change = |point, kind| Change { point, kind };
        let changes = [
            change(0, ChangeKind::FenceAfter(FenceOrder::SeqCst)),
            change(1, ChangeKind::FenceBefore(FenceOrder::SeqCst)),
            change(1, ChangeKind::Load(LoadOrder::Acquire)),
            change(1, ChangeKind::FenceAfter(FenceOrder::SeqCst)),
            change(2, ChangeKind::FenceBefore(FenceOrder::SeqCst)),
        ];
        assert_eq!(
            apply(&p, &changes).to_string(),
            "p:\n  T1: a=x.rlx; F.sc; skipif a 0 3; F.sc; b=y.acq; F.sc; F.sc; z=1.rlx\n"
        );
    }
}
