//! The analyzer and the checker, which share nothing but the events, on the same
//! random runs: both ways, for every stale write.

use std::collections::BTreeSet;

use super::case::{case, newest};
use super::generate::{Dice, Profile, run};
use super::random::MODELS;
use crate::event::{Event, Operation};
use crate::model::Model;
use crate::violation::{EventIndex, Violation};
use crate::witness::run_graph::RunNode;
use crate::witness::{ProofError, Witness, belongs, check, explain, prove};
use crate::{Analyzer, AnalyzerConfig};

/// Every violation that the analyzer finds in a run; every event has a site of
/// its own, so none is merged with another.
fn violations(events: &[Event], model: Model) -> Vec<Violation> {
    let mut analyzer = Analyzer::new(AnalyzerConfig {
        model,
        ..AnalyzerConfig::default()
    });
    for event in events {
        analyzer.feed(event).expect("a good stream");
    }
    let found = analyzer.violations().iter();
    found.map(|found| found.violation.clone()).collect()
}

#[test]
fn every_violation_of_the_analyzer_has_its_witnesses() {
    let mut witnesses = 0;
    for seed in 0..6_000 {
        let mut dice = Dice::new(seed);
        let profile = Profile::varied(&mut dice);
        let run = run(&mut dice, profile);
        for model in MODELS {
            let found = violations(&run.events, model);
            let proofs = prove(&run.events, &found, model);
            for (violation, proof) in found.into_iter().zip(proofs) {
                let proof = proof.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                let explanation = explain::path(&run.events, &violation, model);
                assert_eq!(explanation, Ok(proof.explanation), "seed {seed}");
                let all = Witness::build_all(&run.events, &violation, model)
                    .unwrap_or_else(|e| panic!("seed {seed}: {e}: {violation:#?} {run:#?}"));
                assert_eq!(
                    all.len(),
                    violation.stale.len(),
                    "seed {seed}: {violation:#?} {run:#?}"
                );
                for witness in &all {
                    let verdict = check(witness, model);
                    assert_eq!(verdict, Ok(()), "seed {seed} {model:?}: {witness:#?}");
                    let origin = belongs(witness, &run.events);
                    assert_eq!(origin, Ok(()), "seed {seed}: {witness:#?} {run:#?}");
                }
                let one = Witness::build(&run.events, &violation, model).expect("as all");
                assert!(all.contains(&one), "seed {seed}");
                assert_eq!(one, proof.witness, "seed {seed}");
                witnesses += all.len();
            }
        }
    }
    assert!(witnesses > 3_000, "{witnesses}");
}

#[test]
fn the_analyzer_finds_all_that_the_checker_allows() {
    let mut found = 0;
    for seed in 0..20_000 {
        let case = case(seed);
        let plain = |event: &Event| matches!(event.operation, Operation::Write { .. });
        let unrecorded = |node: &RunNode| !node.recorded && node.label.is_rmw();
        let writes = newest(&case.graph, case.location).map_or(0, |(_, writes)| writes);
        // The analyzer falls silent where a plain write races, and it does not
        // order anything by when an unrecorded write must have happened.
        let silent = case.run.events.iter().any(plain) || case.graph.nodes.iter().any(unrecorded);
        if writes == 0 || silent {
            continue;
        }
        let Some(all) = case.violation(writes) else {
            continue;
        };
        let access = EventIndex(case.run.events.len() as u64 - 1);
        for model in MODELS {
            let allowed: BTreeSet<Option<u64>> = (case.choices(&all).iter())
                .filter(|stale| {
                    let labels = [Some(stale.label), stale.alternative];
                    (labels.into_iter().flatten())
                        .any(|label| check(&case.whole(&all, stale, label, model), model).is_ok())
                })
                .map(|stale| all.stale[stale.number].event.map(|event| event.0))
                .collect();
            let reported: BTreeSet<Option<u64>> = violations(&case.run.events, model)
                .into_iter()
                .filter(|violation| violation.access == access)
                .flat_map(|violation| violation.stale)
                .map(|write| write.event.map(|event| event.0))
                .collect();
            assert_eq!(reported, allowed, "seed {seed} {model:?}: {:#?}", case.run);
            found += allowed.len();
        }
    }
    assert!(found > 1_000, "{found}");
}

#[test]
fn a_violation_that_is_none_is_not_proved() {
    let case = (0..).map(case).find(|case| {
        let writes = newest(&case.graph, case.location).map_or(0, |(_, writes)| writes);
        let access = case.run.events.len() as u64 - 1;
        let found = violations(&case.run.events, Model::RC11);
        let silent = found.iter().all(|violation| violation.access.0 != access);
        writes > 0
            && silent
            && case
                .violation(writes)
                .is_some_and(|all| Witness::build(&case.run.events, &all, Model::RC11).is_ok())
    });
    let case = case.expect("there are many");
    let (_, writes) = newest(&case.graph, case.location).expect("as found");
    let claim = case.violation(writes).expect("as found");
    let mut elsewhere = claim.clone();
    elsewhere.access = EventIndex(u64::MAX);
    let proofs = prove(&case.run.events, &[elsewhere, claim], Model::RC11);
    assert!(matches!(
        proofs[..],
        [Err(ProofError::Build(_)), Err(ProofError::Refuted(_))]
    ));
}
