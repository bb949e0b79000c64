//! A change applied to the program itself, not to the labels of its runs.

use wmfix_analysis::FenceOrder;
use wmfix_repair::{Action, Change, Place};

use super::traces::places;
use crate::litmus::{Instruction, Program};

/// The program with changes, which name the places that [`places`] gives.
pub fn apply(program: &Program, changes: &[Change]) -> Program {
    apply_at(program, &places(program), changes)
}

/// The program with changes at any places. An instruction that is told twice to
/// have a fence gets one.
pub fn apply_at(program: &Program, places: &[Place], changes: &[Change]) -> Program {
    let mut changed = program.clone();
    for (thread, instructions) in program.threads.iter().enumerate() {
        let actions_at = |at: usize| -> Vec<Action> {
            let site = program.site(thread, at);
            let here = |change: &&Change| places[change.place].sites.contains(&site);
            let mut actions: Vec<Action> = Vec::new();
            for action in changes.iter().filter(here).map(|c| c.action) {
                if !actions.contains(&action) {
                    actions.push(action);
                }
            }
            actions
        };
        let actions: Vec<Vec<Action>> = (0..instructions.len()).map(actions_at).collect();
        changed.threads[thread] = rebuilt(instructions, &actions);
    }
    changed
}

fn rebuilt(instructions: &[Instruction], actions: &[Vec<Action>]) -> Vec<Instruction> {
    let fence = Instruction::Fence {
        order: FenceOrder::SeqCst,
    };
    let mut result = Vec::new();
    for (at, instruction) in instructions.iter().enumerate() {
        if actions[at].contains(&Action::FenceBefore) {
            result.push(fence);
        }
        let mut instruction = *instruction;
        for &action in &actions[at] {
            raise(&mut instruction, action);
        }
        if let Instruction::SkipIf { count, .. } | Instruction::SkipUnless { count, .. } =
            &mut instruction
        {
            // What is skipped takes its fences along.
            let skipped = &actions[at + 1..at + 1 + usize::from(*count)];
            let fences = skipped.iter().flatten().filter(|a| a.is_new_fence());
            *count += u8::try_from(fences.count()).expect("few instructions");
        }
        result.push(instruction);
        if actions[at].contains(&Action::FenceAfter) {
            result.push(fence);
        }
    }
    result
}

fn raise(instruction: &mut Instruction, action: Action) {
    use Instruction as I;
    match (instruction, action) {
        (I::Load { order, .. } | I::Wait { order, .. }, Action::Load(to)) => *order = to,
        (I::Store { order, .. }, Action::Store(to)) => *order = to,
        (I::FetchAdd { order, .. } | I::Exchange { order, .. }, Action::Rmw(to)) => *order = to,
        (I::Fence { order }, Action::Fence(to)) => *order = to,
        (
            I::CompareExchange {
                success, failure, ..
            }
            | I::BlockingCompareExchange {
                success, failure, ..
            },
            Action::CompareExchange {
                success: s,
                failure: f,
            },
        ) => (*success, *failure) = (s, f),
        (_, Action::FenceBefore | Action::FenceAfter) => {}
        (instruction, action) => panic!("{action:?} does not fit {instruction:?}"),
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
        let change = |place, action| Change { place, action };
        let changes = [
            change(0, Action::FenceAfter),
            change(1, Action::FenceBefore),
            change(1, Action::Load(LoadOrder::Acquire)),
            change(1, Action::FenceAfter),
            change(2, Action::FenceBefore),
        ];
        assert_eq!(
            apply(&p, &changes).to_string(),
            "p:\n  T1: a=x.rlx; F.sc; skipif a 0 3; F.sc; b=y.acq; F.sc; F.sc; z=1.rlx\n"
        );
    }
}
