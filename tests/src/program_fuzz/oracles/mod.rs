//! What must hold between the truth about a program and what its runs show. An oracle
//! asks the lab for the ways it needs, and gives the first contradiction.

mod correct;
mod ends;
mod proof;
mod races;
mod repeats;
mod robustness;
mod sound;

use super::lab::{Lab, Observation, Way};

/// Two statements that cannot both be true.
#[derive(Clone, Debug)]
pub(super) struct Contradiction {
    /// What is wrong, in a sentence.
    pub(super) what: String,
    /// The command that shows it.
    pub(super) command: String,
}

/// An oracle.
#[derive(Clone, Copy)]
pub(super) struct Oracle {
    /// What it is called.
    pub(super) name: &'static str,
    /// The first contradiction that it finds in the ways that may be used.
    pub(super) judge: fn(&Lab, &[Way]) -> Option<Contradiction>,
}

/// All of them; cheap ones first.
pub(super) const ORACLES: [Oracle; 7] = [
    Oracle {
        name: "sound",
        judge: sound::judge,
    },
    Oracle {
        name: "ends",
        judge: ends::judge,
    },
    Oracle {
        name: "races",
        judge: races::judge,
    },
    Oracle {
        name: "robustness",
        judge: robustness::judge,
    },
    Oracle {
        name: "correct",
        judge: correct::judge,
    },
    Oracle {
        name: "proof",
        judge: proof::judge,
    },
    Oracle {
        name: "repeats",
        judge: repeats::judge,
    },
];

fn contradiction(seen: &Observation, what: String) -> Option<Contradiction> {
    Some(Contradiction {
        what,
        command: seen.command.clone(),
    })
}

/// The first contradiction of a way among those that may be used.
fn first(
    lab: &Lab,
    ways: &[Way],
    mut judge: impl FnMut(Way, &Observation) -> Option<Contradiction>,
) -> Option<Contradiction> {
    ways.iter().find_map(|way| judge(*way, &lab.see(*way)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};
    use wmfix_analysis::{LoadOrder, StoreOrder};

    use super::*;
    use crate::program_fuzz::program::{Build, Ending, PlainKind, Program, Statement, Thread};
    use crate::program_fuzz::running::Ended;
    use crate::program_fuzz::truth::Truth;

    fn program(one: &[Statement], other: &[Statement]) -> Program {
        let thread = |body: &[Statement]| Thread {
            detached: false,
            body: body.to_vec(),
        };
        Program {
            widths: vec![32, 32],
            plains: vec![PlainKind::Word],
            main: Vec::new(),
            threads: vec![thread(one), thread(other)],
            at_exit: Vec::new(),
            ending: Ending::Return,
            build: Build {
                compiler: "gcc",
                level: 1,
            },
        }
    }

    fn store(atomic: u8, order: StoreOrder) -> Statement {
        Statement::Store {
            atomic,
            value: 1,
            order,
        }
    }

    fn load(atomic: u8, order: LoadOrder) -> Statement {
        Statement::Load { atomic, order }
    }

    /// Each thread stores and looks for the other.
    fn store_buffering(store_order: StoreOrder, load_order: LoadOrder) -> Program {
        let thread = |own| [store(own, store_order), load(1 - own, load_order)];
        program(&thread(0), &thread(1))
    }

    fn report(proof: Value, races: usize, violations: usize) -> Observation {
        Observation {
            ended: Ended::Code(i32::from(races + violations > 0)),
            command: String::new(),
            report: Some(json!({
                "verdict": if races + violations > 0 { "findings" } else { "clean" },
                "proof": proof,
                "failures": [],
                "races": vec![json!({}); races],
                "violations": vec![json!({}); violations],
            })),
            ends: BTreeSet::new(),
            race: races > 0,
            stderr: String::new(),
        }
    }

    /// The oracles that object to what the exploration of a program came to.
    fn objections(program: Program, seen: Observation) -> Vec<&'static str> {
        let truth = Truth::of(&program).expect("it is small");
        let lab = Lab::new(program, truth, 1).with_seen(Way::Exhaustive, seen);
        let objects = |oracle: &Oracle| (oracle.judge)(&lab, &[Way::Exhaustive]).is_some();
        let objecting = ORACLES.into_iter().filter(objects);
        objecting.map(|oracle| oracle.name).collect()
    }

    #[test]
    fn what_is_true_is_not_objected_to() {
        let program = store_buffering(StoreOrder::SeqCst, LoadOrder::SeqCst);
        let proof = json!({"complete": true, "proved": true, "classes": 3});
        let mut seen = report(proof, 0, 0);
        seen.ends = ["0 1 1 1", "1 0 1 1", "1 1 1 1"].map(str::to_owned).into();
        // The plain object is printed, too.
        seen.ends = seen.ends.iter().map(|end| format!("{end} 0")).collect();
        assert_eq!(objections(program, seen), [""; 0]);
    }

    #[test]
    fn a_wrong_proof_is_objected_to() {
        let proof = || json!({"complete": true, "proved": true, "classes": 3});
        let weak = store_buffering(StoreOrder::Release, LoadOrder::Acquire);
        let objecting = objections(weak, report(proof(), 0, 0));
        assert_eq!(objecting, ["ends", "robustness", "proof"]);
        let write = |value| Statement::Write { plain: 0, value };
        let racing = program(&[write(1)], &[write(2)]);
        let objecting = objections(racing, report(proof(), 0, 0));
        assert_eq!(objecting, ["races", "proof"]);
    }

    #[test]
    fn a_wrong_finding_is_objected_to() {
        let proof = || json!({"complete": false, "proved": false, "classes": 3});
        let correct = || store_buffering(StoreOrder::SeqCst, LoadOrder::SeqCst);
        let objecting = objections(correct(), report(proof(), 1, 0));
        assert_eq!(objecting, ["races", "robustness", "correct"]);
        let objecting = objections(correct(), report(proof(), 0, 1));
        assert_eq!(objecting, ["robustness", "correct"]);
        let mut killed = report(proof(), 0, 0);
        killed.ended = Ended::Signal(11);
        assert!(objections(correct(), killed).contains(&"sound"));
    }
}
