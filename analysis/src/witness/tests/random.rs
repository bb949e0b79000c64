//! Random runs: the checker against the axioms read word for word, and the
//! builder against the whole run.

use super::case::{Case, case, case_of, newest};
use super::generate::{Dice, Profile};
use super::naive::{self, Verdict};
use crate::event::{SiteId, ThreadId};
use crate::model::{Model, ReleaseSequences};
use crate::violation::{EventIndex, Violation};
use crate::witness::build::{BuildError, graph, way};
use crate::witness::graph::{Guard, Label, NodeId, Witness};
use crate::witness::stale::StaleChoice;
use crate::witness::{Refutation, check};

pub(super) const MODELS: [Model; 3] = [
    Model::RC11,
    Model::RC20,
    Model::RC11.with(ReleaseSequences::Cxx17),
];

fn summary(witness: &Witness, model: Model) -> Verdict {
    match check(witness, model) {
        Ok(()) => Verdict::Witness,
        Err(Refutation::IsSequentiallyConsistent) => Verdict::Sequential,
        Err(Refutation::IllFormed(defect)) => panic!("{defect}: {witness:#?}"),
        Err(_) => Verdict::Inconsistent,
    }
}

#[test]
fn the_checker_reads_the_axioms_right_and_small_graphs_prove_as_much() {
    let mut counts = [0; 3];
    for seed in 0..3_000 {
        let case = case(seed);
        let writes = newest(&case.graph, case.location).map_or(0, |(_, writes)| writes);
        let Some(violation) = (writes > 0).then(|| case.violation(writes)).flatten() else {
            continue;
        };
        for stale in case.choices(&violation) {
            for model in MODELS {
                let whole = case.whole(&violation, &stale, stale.label, model);
                let verdict = summary(&whole, model);
                counts[verdict as usize] += 1;
                assert_eq!(
                    verdict,
                    naive::verdict(&whole, model),
                    "seed {seed}: {whole:#?}"
                );
                for newer in stale.number + 1..=writes {
                    let violation = case.violation(newer).expect("as before");
                    let build = |limit| {
                        let way = way(&case.graph, &violation, model)?;
                        graph(&case.graph, &violation, &stale, model, &way, limit)
                    };
                    let (small, cut) = match (build(usize::MAX), build(0)) {
                        (Ok(small), Ok(cut)) => (small, cut),
                        (Err(BuildError::NotAfter), Err(BuildError::NotAfter)) => continue,
                        other => panic!("seed {seed}: {other:?}"),
                    };
                    assert_ne!(verdict, Verdict::Sequential, "seed {seed}: {small:#?}");
                    let verdicts = (summary(&small, model), summary(&cut, model));
                    assert_eq!(verdicts.0, verdicts.1, "seed {seed}: {small:#?} {cut:#?}");
                    assert_ne!(verdicts.0, Verdict::Sequential);
                    if verdict == Verdict::Witness {
                        assert_eq!(verdicts.0, Verdict::Witness, "seed {seed}: {small:#?}");
                    }
                }
            }
        }
    }
    assert!(
        counts.iter().all(|&count| count > 300),
        "too one-sided: {counts:?}"
    );
}

/// A run of up to two hundred steps, and dice to go on with.
fn long_case(seed: u64) -> (Case, Dice) {
    let mut dice = Dice::new(seed);
    let profile = Profile {
        threads: 2 + dice.below(5) as u32,
        locations: 2 + dice.below(8) as u32,
        steps: 40 + dice.below(160) as usize,
        ..Profile::varied(&mut dice)
    };
    (case_of(&mut dice, profile), dice)
}

#[test]
fn longer_graphs_are_decided_as_the_axioms_say() {
    let mut counts = [0; 3];
    for seed in 0..150 {
        let (case, mut dice) = long_case(seed);
        let writes = newest(&case.graph, case.location).map_or(0, |(_, writes)| writes);
        let Some(violation) = (writes > 0).then(|| case.violation(writes)).flatten() else {
            continue;
        };
        let choices = case.choices(&violation);
        for stale in choices.iter().rev().take(3) {
            let model = dice.pick(&MODELS);
            let whole = case.whole(&violation, stale, stale.label, model);
            let verdict = naive::verdict(&whole, model);
            counts[verdict as usize] += 1;
            assert_eq!(summary(&whole, model), verdict, "seed {seed}: {whole:#?}");
        }
    }
    assert!(
        counts.iter().all(|&count| count > 10),
        "too one-sided: {counts:?}"
    );
}

/// Graphs that no run has: many reads take any write at all.
#[test]
fn graphs_of_anything_are_decided_as_the_axioms_say() {
    let mut counts = [0; 3];
    for seed in 0..6_000 {
        let case = case(seed);
        let mut dice = Dice::new(seed + 77);
        let writes = newest(&case.graph, case.location).map_or(0, |(_, writes)| writes);
        let Some(violation) = (writes > 0).then(|| case.violation(writes)).flatten() else {
            continue;
        };
        let Some(stale) = case.choices(&violation).pop() else {
            continue;
        };
        let model = dice.pick(&MODELS);
        let mut graph = case.whole(&violation, &stale, stale.label, model);
        scatter_reads(&mut graph, &mut dice);
        let verdict = naive::verdict(&graph, model);
        counts[verdict as usize] += 1;
        assert_eq!(summary(&graph, model), verdict, "seed {seed}: {graph:#?}");
    }
    assert!(
        counts.iter().all(|&count| count > 50),
        "too one-sided: {counts:?}"
    );
}

/// Makes some of the reads take other writes to their location.
fn scatter_reads(graph: &mut Witness, dice: &mut Dice) {
    for read in 0..graph.nodes.len() {
        let label = graph.nodes[read].label;
        let Label::Read { object, order, .. } = label else {
            continue;
        };
        let source = dice.pick(&graph.modification[&object]);
        let value = graph.node(source).label.value_written();
        if dice.percent(70) || value.is_none() {
            continue;
        }
        graph.reads_from.insert(NodeId(read), source);
        graph.nodes[read].label = Label::Read {
            object,
            order,
            value,
            guard: Guard::Any,
        };
    }
}

#[test]
fn a_run_as_it_was_is_consistent_and_sequential() {
    let mut decided = 0;
    for seed in 0..2_000 {
        let case = case(seed);
        let Some((object, number)) = newest(&case.graph, case.location) else {
            continue;
        };
        let id = case.graph.object(object).id;
        let value = case.graph.value(object, number);
        let order = crate::LoadOrder::SeqCst;
        let guard = Guard::Any;
        let label = Label::Read {
            object: id,
            order,
            value,
            guard,
        };
        let stale = StaleChoice {
            object,
            number,
            label,
            alternative: None,
        };
        let access = case.run.events.len() - 1;
        let violation = Violation {
            access: EventIndex(access as u64),
            ..dummy(case.run.events[access].thread, case.location)
        };
        for model in MODELS {
            let whole = case.whole(&violation, &stale, stale.label, model);
            assert_eq!(
                summary(&whole, model),
                Verdict::Sequential,
                "seed {seed}: {whole:#?}"
            );
            decided += 1;
        }
    }
    assert!(decided > 3_000);
}

fn dummy(thread: ThreadId, location: u32) -> Violation {
    let nobody = crate::WriteRef {
        event: None,
        origin: None,
        value: None,
    };
    Violation {
        kind: crate::ViolationKind::StaleRead,
        access: EventIndex(0),
        thread,
        site: SiteId(0),
        location: crate::LocationId(location),
        newer: nobody,
        stale: Vec::new(),
        read_value: None,
        same_value: false,
    }
}
