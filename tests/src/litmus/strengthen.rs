//! Random repairs: stronger orders and additional fences, as labels for
//! re-analysis and as the program that a programmer would write instead.

use wmfix_analysis::{FenceOrder, Labels, LoadOrder, RmwOrder, StoreOrder};

use super::program::{Instruction, Program};
use crate::rng::Rng;

/// A repair, in both of its forms.
#[derive(Clone, Debug)]
pub struct StrengthenedProgram {
    /// For the analysis of runs of the original.
    pub labels: Labels,
    /// The changed program.
    pub program: Program,
}

/// Makes some random accesses and fences of a program stronger, and puts fences
/// around some.
pub fn strengthen(program: &Program, rng: &mut Rng) -> StrengthenedProgram {
    let mut labels = Labels::new();
    let mut threads = Vec::new();
    let percent = rng.pick(&[15, 40, 70]);
    for (thread, instructions) in program.threads.iter().enumerate() {
        let mut pieces: Vec<Vec<Instruction>> = Vec::new();
        for (place, &instruction) in instructions.iter().enumerate() {
            let site = program.site(thread, place);
            let mut piece = Vec::new();
            let is_access = instruction.atomic_location().is_some();
            if is_access && rng.percent(percent / 2) {
                let order = fence_order(rng);
                labels.fence_before(site, order);
                piece.push(Instruction::Fence { order });
            }
            piece.push(if rng.percent(percent) {
                raise(instruction, site, &mut labels, rng)
            } else {
                instruction
            });
            if is_access && rng.percent(percent / 2) {
                let order = fence_order(rng);
                labels.fence_after(site, order);
                piece.push(Instruction::Fence { order });
            }
            pieces.push(piece);
        }
        threads.push(join(pieces));
    }
    StrengthenedProgram {
        labels,
        program: Program {
            threads,
            ..program.clone()
        },
    }
}

fn raise(
    instruction: Instruction,
    site: wmfix_analysis::SiteId,
    labels: &mut Labels,
    rng: &mut Rng,
) -> Instruction {
    use Instruction as I;
    let load = rng.pick(&[LoadOrder::Acquire, LoadOrder::SeqCst]);
    let rmw = rng.pick(&[
        RmwOrder::Acquire,
        RmwOrder::Release,
        RmwOrder::AcqRel,
        RmwOrder::SeqCst,
    ]);
    let mut raised = instruction;
    match &mut raised {
        I::Store { order, .. } => {
            let stronger = rng.pick(&[StoreOrder::Release, StoreOrder::SeqCst]);
            labels.raise_store(site, stronger);
            *order = order.join(stronger);
        }
        I::Load { order, .. } | I::Wait { order, .. } => {
            labels.raise_load(site, load);
            *order = order.join(load);
        }
        I::FetchAdd { order, .. } | I::Exchange { order, .. } => {
            labels.raise_rmw(site, rmw);
            *order = order.join(rmw);
        }
        I::CompareExchange {
            success, failure, ..
        }
        | I::BlockingCompareExchange {
            success, failure, ..
        } => {
            labels.raise_rmw(site, rmw);
            *success = success.join(rmw);
            if rng.percent(50) {
                labels.raise_failure(site, load);
                *failure = failure.join(load);
            }
        }
        I::Fence { order } => {
            let stronger = fence_order(rng);
            labels.raise_fence(site, stronger);
            *order = order.join(stronger);
        }
        _ => {}
    }
    raised
}

fn fence_order(rng: &mut Rng) -> FenceOrder {
    rng.pick(&[
        FenceOrder::Acquire,
        FenceOrder::Release,
        FenceOrder::AcqRel,
        FenceOrder::SeqCst,
        FenceOrder::SeqCst,
    ])
}

/// Puts a thread together again: who skipped an instruction skips its fences too.
fn join(pieces: Vec<Vec<Instruction>>) -> Vec<Instruction> {
    let mut thread = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        for &instruction in piece {
            let mut instruction = instruction;
            if let Instruction::SkipIf { count, .. } | Instruction::SkipUnless { count, .. } =
                &mut instruction
            {
                let skipped = pieces.iter().skip(place + 1).take(usize::from(*count));
                *count =
                    u8::try_from(skipped.map(Vec::len).sum::<usize>()).expect("a short thread");
            }
            thread.push(instruction);
        }
    }
    thread
}
