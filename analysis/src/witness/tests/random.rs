//! Random runs: the checker against the axioms read word for word, and the
//! builder against the whole run.

use super::case::{case, newest};
use super::naive::{self, Verdict};
use crate::event::{SiteId, ThreadId};
use crate::model::Model;
use crate::violation::{EventIndex, Violation};
use crate::witness::build::{BuildError, graph, way};
use crate::witness::graph::{Label, Witness};
use crate::witness::stale::StaleChoice;
use crate::witness::{Refutation, check};

pub(super) const MODELS: [Model; 2] = [Model::Rc11, Model::Rc20];

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
        let guard = crate::witness::Guard::Any;
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
