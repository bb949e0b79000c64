//! The programs of the fuzzer that are litmus programs too: for these brute force knows
//! every execution graph.

use std::collections::BTreeSet;

use wmfix_analysis::{CasStrength, LoopExit};

use super::program::{Change, Ending, Lock, PlainKind, Program};
use super::steps::{Step, steps};
use crate::brute::{Axioms, has_race, is_robust, outcomes};
use crate::exploring::complete_graphs;
use crate::litmus::{self, Builder, Instruction, Location, Outcome, Register};

/// What brute force says about a litmus program.
#[derive(Clone, Debug)]
pub(super) struct Graphs {
    /// Whether it is robust.
    pub(super) robust: bool,
    /// Whether an SC graph has a race.
    pub(super) race: bool,
    /// How many complete SC graphs there are.
    pub(super) classes: usize,
    /// What RC11 lets it print; nothing if there are too many graphs, or plain values.
    pub(super) weak_ends: Option<BTreeSet<String>>,
}

/// Programs with more graphs are not asked for what RC11 lets them print.
const MOST_GRAPHS: usize = 3_000;

/// The most accesses: brute force takes exponential time.
const MOST_STEPS: usize = 12;

/// What brute force says, if the program is a litmus program of few steps.
pub(super) fn graphs(program: &Program) -> Option<Graphs> {
    let translated = translated(program)?;
    if translated.instructions().count() > MOST_STEPS {
        return None;
    }
    let reads = |i: &Instruction| matches!(i, Instruction::Read { .. });
    let weak_ends = if translated.instructions().any(reads) {
        None
    } else {
        let found = outcomes(&translated, Axioms::RC11, MOST_GRAPHS);
        found.map(|found| {
            (found.iter())
                .map(|outcome| printed(program, outcome))
                .collect()
        })
    };
    Some(Graphs {
        robust: is_robust(&translated, Axioms::RC11),
        race: has_race(&translated, Axioms::RC11),
        classes: complete_graphs(&translated).len(),
        weak_ends,
    })
}

/// The same program in litmus notation. Location `a1` is the atomic object 1, `p1` the
/// plain one; register `r1` is slot 1, and `none` is never written.
fn translated(program: &Program) -> Option<litmus::Program> {
    let is_core = program.main.is_empty()
        && program.at_exit.is_empty()
        && program.ending == Ending::Return
        && !program.threads.iter().any(|thread| thread.detached)
        && program.plains.iter().all(|kind| *kind == PlainKind::Word);
    if !is_core {
        return None;
    }
    let mut builder = Builder::default();
    for number in 0..program.widths.len() {
        builder.location(&format!("a{number}"));
    }
    for number in 0..program.plains.len() {
        builder.location(&format!("p{number}"));
    }
    builder.register("none");
    for steps in steps(program).iter().skip(1) {
        builder.thread();
        let mut last = builder.register("none");
        // Before this step it is not known statically which one `last` is.
        let mut unclear_until = 0;
        for (at, step) in steps.iter().enumerate() {
            if *step == Step::EndThread {
                return_early(at, steps)?;
                continue;
            }
            if let Step::SkipUnless(_, end) = step {
                if at < unclear_until {
                    return None;
                }
                let sees = |step: &Step| matches!(step, Step::Load { .. } | Step::Rmw { .. });
                if steps[at..*end].iter().any(sees) {
                    unclear_until = steps.len();
                }
            }
            let instruction = instruction(&mut builder, step, at, last)?;
            last = instruction.result().unwrap_or(last);
            builder.push(instruction);
        }
    }
    Some(builder.finish("core"))
}

/// Only the end of a thread is at its end.
fn return_early(at: usize, steps: &[Step]) -> Option<()> {
    (at + 1 == steps.len()).then_some(())
}

fn instruction(
    builder: &mut Builder,
    step: &Step,
    at: usize,
    last: Register,
) -> Option<Instruction> {
    let mut atomic = |number: u8| builder.location(&format!("a{number}"));
    Some(match *step {
        Step::Load {
            atomic: number,
            slot,
            order,
        } => Instruction::Load {
            location: atomic(number),
            register: builder.register(&format!("r{slot}")),
            order,
        },
        Step::Store {
            atomic: number,
            value,
            order,
        } => Instruction::Store {
            location: atomic(number),
            value: value.into(),
            order,
        },
        Step::Rmw {
            atomic: number,
            slot: Some(slot),
            change,
            order,
        } => {
            let location = atomic(number);
            let register = builder.register(&format!("r{slot}"));
            match change {
                Change::Add(value) => Instruction::FetchAdd {
                    register,
                    location,
                    value: value.into(),
                    order,
                },
                Change::Exchange(value) => Instruction::Exchange {
                    register,
                    location,
                    value: value.into(),
                    order,
                },
                Change::Cas { expected, desired } => Instruction::CompareExchange {
                    register,
                    location,
                    expected: expected.into(),
                    desired: desired.into(),
                    success: order,
                    failure: order.read_half(),
                    strength: CasStrength::Strong,
                },
            }
        }
        Step::Fence(order) => Instruction::Fence { order },
        Step::Read { plain, .. } => Instruction::Read {
            location: builder.location(&format!("p{plain}")),
        },
        Step::Write { plain, value } => Instruction::Write {
            location: builder.location(&format!("p{plain}")),
            value: value.into(),
        },
        Step::Await {
            atomic: number,
            value,
            order,
        } => Instruction::Wait {
            location: atomic(number),
            exit: LoopExit::equal(value.into()),
            order,
        },
        Step::Lock(Lock::Mutex(number)) => Instruction::Lock {
            mutex: builder.mutex(&format!("m{number}")),
        },
        Step::Unlock(Lock::Mutex(number)) => Instruction::Unlock {
            mutex: builder.mutex(&format!("m{number}")),
        },
        Step::SkipUnless(value, end) => Instruction::SkipUnless {
            register: last,
            value: value.into(),
            count: u8::try_from(end - at - 1).ok()?,
        },
        _ => return None,
    })
}

/// What `main` prints of an outcome.
fn printed(program: &Program, outcome: &Outcome) -> String {
    let translated = translated(program).expect("it was");
    let register = |name: &str| {
        let place = translated.registers.iter().position(|n| n == name);
        place.map(|place| Register(place as u8))
    };
    let mut text = String::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let slots = super::spell::slots(&thread.body);
        let values: Vec<u8> = (0..slots)
            .map(|slot| {
                let register = register(&format!("r{slot}"));
                let value = register
                    .and_then(|register| outcome.registers[number].get(usize::from(register.0)));
                value.map_or(0, |value| *value as u8)
            })
            .collect();
        super::spell::print_slots(&mut text, &values, &thread.body);
    }
    for location in 0..program.widths.len() + program.plains.len() {
        let location = Location(location as u8);
        text += &format!("{} ", outcome.memory[usize::from(location.0)]);
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::generate::{Weights, generate};
    use super::super::machine::interleavings;
    use super::*;
    use crate::rng::Rng;

    /// Two enumerations that share nothing say the same.
    #[test]
    fn interleavings_and_graphs_agree() {
        let (mut compared, mut races) = (0, 0);
        for seed in 0..400 {
            let program = generate(&mut Rng::new(seed), &Weights::CORE);
            let (Some(graphs), Some(truth)) = (graphs(&program), interleavings(&program, 50_000))
            else {
                continue;
            };
            assert_eq!(graphs.race, truth.race, "{seed}: {program:#?}");
            if let (Some(weak), false) = (&graphs.weak_ends, truth.race) {
                let ends = truth.ends.iter().filter(|end| *end != "hang");
                assert!(
                    ends.clone().all(|end| weak.contains(end)),
                    "{seed}: {program:#?}"
                );
                if graphs.robust {
                    assert_eq!(ends.count(), weak.len(), "{seed}: {program:#?}");
                }
            }
            compared += 1;
            races += usize::from(truth.race);
        }
        assert!(compared > 200 && races > 20, "{compared}, {races}");
    }
}
