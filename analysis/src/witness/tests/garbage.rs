//! Streams that no program makes, violations that nobody found and graphs that
//! nobody built: an answer, never a panic.

use super::generate::{Dice, Profile, access};
use super::run::{Run, bytes};
use crate::event::{LockId, LockMode, Operation, ThreadId};
use crate::model::Model;
use crate::order::FenceOrder;
use crate::violation::{EventIndex, Violation, WriteRef};
use crate::witness::graph::{NodeId, Witness};
use crate::witness::{belongs, check, explain};

fn stream(dice: &mut Dice) -> Run {
    let profile = Profile::varied(dice);
    let mut run = Run::default();
    for _ in 0..dice.below(40) {
        let thread = dice.below(4) as u32;
        let child = ThreadId(dice.below(4) as u32);
        let location = dice.below(2) as u32;
        let lock = LockId(dice.below(2));
        let mode = dice.pick(&[LockMode::Exclusive, LockMode::Shared, LockMode::Signal]);
        let mut value = dice.below(3);
        let operation = match dice.below(24) {
            0 => Operation::Create { child },
            1 => Operation::Join { child },
            2 => Operation::Exit,
            3 => Operation::Acquire { lock, mode },
            4 => Operation::Release { lock, mode },
            5 => Operation::Death {
                bytes: bytes(location),
            },
            6 => Operation::Write {
                bytes: bytes(location),
            },
            7 => Operation::Fence {
                order: FenceOrder::SeqCst,
            },
            8 => {
                run.birth(location, value);
                continue;
            }
            _ => access(dice, profile, location, &mut value),
        };
        run.push(thread, operation);
    }
    let mut value = dice.below(3);
    let operation = access(dice, profile, 0, &mut value);
    run.push(dice.below(4) as u32, operation);
    run
}

/// A claim about the last event that is mostly about writes to its location.
fn claim(dice: &mut Dice, run: &Run) -> Violation {
    let writes: Vec<u64> = (0..)
        .zip(&run.events)
        .filter(|(_, event)| {
            matches!(event.operation, Operation::Store { location, .. } | Operation::Rmw { location, .. }
                if location.0 == 0)
        })
        .map(|(index, _)| index)
        .collect();
    let some = |dice: &mut Dice| WriteRef {
        event: match dice.below(10) {
            0 => Some(EventIndex(dice.below(run.events.len() as u64 + 1))),
            1..9 if !writes.is_empty() => Some(EventIndex(dice.pick(&writes))),
            _ => None,
        },
        origin: None,
        value: None,
    };
    let mut violation = run.violation(0, &[]);
    violation.newer = some(dice);
    violation.stale = (0..1 + dice.below(2)).map(|_| some(dice)).collect();
    if dice.percent(5) {
        violation.access = EventIndex(dice.below(50));
    }
    violation
}

/// Points one name of the graph somewhere else.
fn corrupt(dice: &mut Dice, witness: &mut Witness) {
    let nodes = witness.nodes.len() as u64;
    let any = NodeId(dice.below(nodes + 1) as usize);
    let at = dice.below(nodes) as usize;
    match dice.below(6) {
        0 => witness.access = any,
        1 => drop(witness.reads_from.insert(NodeId(at), any)),
        2 => witness.nodes[at].thread = Some(ThreadId(dice.below(5) as u32)),
        3 => witness.nodes[at].position = dice.below(5) as u32,
        4 => witness.nodes[at].event = Some(EventIndex(dice.below(60))),
        _ => {
            let orders: Vec<_> = witness.modification.keys().copied().collect();
            let object = dice.pick(&orders);
            witness.modification.entry(object).or_default().push(any);
        }
    }
}

#[test]
fn everything_has_an_answer() {
    let (mut built, mut refuted) = (0, 0);
    for seed in 0..30_000 {
        let mut dice = Dice::new(seed);
        let run = stream(&mut dice);
        let violation = claim(&mut dice, &run);
        let model = dice.pick(&[Model::RC11, Model::RC20]);
        let explanation = explain::path(&run.events, &violation, model);
        let Ok(mut witness) = Witness::build(&run.events, &violation, model) else {
            continue;
        };
        assert!(
            explanation.is_ok(),
            "seed {seed}: a proof and no explanation"
        );
        built += 1;
        refuted += usize::from(check(&witness, model).is_err());
        for _ in 0..3 {
            corrupt(&mut dice, &mut witness);
            let verdict = (check(&witness, model), belongs(&witness, &run.events));
            refuted += usize::from(verdict.0.is_err() || verdict.1.is_err());
        }
    }
    assert!(built > 150 && refuted > built, "{built} {refuted}");
}
