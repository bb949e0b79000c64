//! Random runs: the checker against the axioms read word for word, the builder
//! against the whole run, the analyzer's violations against the checker, and
//! witnesses that were tampered with.

use super::generate::{Dice, Profile, access, run};
use super::naive::{self, Verdict};
use super::run::Run;
use crate::event::{Event, SiteId, ThreadId};
use crate::model::Model;
use crate::violation::{EventIndex, Violation};
use crate::witness::build::{BuildError, graph};
use crate::witness::graph::{Label, Witness};
use crate::witness::part::Part;
use crate::witness::stale::{Stale, choices};
use crate::witness::trace::{PlainWrites, Trace};
use crate::witness::{Refutation, check, emit};
use crate::{Analyzer, Config};

const MODELS: [Model; 2] = [Model::Rc11, Model::Rc20];

/// A random run that ends with a random access, which is not in the trace.
struct Case {
    run: Run,
    trace: Trace,
    location: u32,
}

fn case(seed: u64) -> Case {
    let mut dice = Dice::new(seed);
    let profile = Profile::varied(&mut dice);
    let mut run = run(&mut dice, profile);
    let trace = Trace::of(&run.events, PlainWrites::Restart);
    let location = dice.below(u64::from(profile.locations)) as u32;
    let exited = |thread: &u32| trace.exit.contains_key(&ThreadId(*thread));
    let threads: Vec<u32> = (1..=profile.threads).filter(|t| !exited(t)).collect();
    let mut current = newest(&trace, location)
        .and_then(|(o, n)| trace.value(o, n))
        .unwrap_or(2);
    let operation = access(&mut dice, profile, location, &mut current);
    run.push(dice.pick(&threads), operation);
    Case {
        run,
        trace,
        location,
    }
}

/// The object of a location at the end of a run, and the number of its newest write.
fn newest(trace: &Trace, location: u32) -> Option<(usize, usize)> {
    let object = trace.live(crate::LocationId(location))?;
    Some((object, trace.object(object).writes.len()))
}

impl Case {
    /// The violation that the last event has each stale write to choose from.
    fn violation(&self, newer: usize) -> Option<Violation> {
        let (object, _) = newest(&self.trace, self.location)?;
        let object = self.trace.object(object);
        let told = |&step: &usize| self.trace.steps[step].told;
        let event = |&step: &usize| self.trace.steps[step].event;
        if object.untold != 0 || !object.writes.iter().all(told) || object.writes.len() < newer {
            return None;
        }
        let writes: Vec<usize> = object.writes.iter().map(event).collect();
        let stale: Vec<Option<usize>> = [None]
            .into_iter()
            .chain(writes.iter().copied().map(Some))
            .collect();
        Some(self.run.violation(writes[newer - 1], &stale[..newer]))
    }

    fn choices(&self, violation: &Violation) -> Vec<Stale> {
        choices(&self.trace, &self.run.events, violation).expect("the violation fits")
    }

    /// The whole run, and the access in a stale place.
    fn whole(&self, violation: &Violation, stale: &Stale, model: Model) -> Witness {
        let all: Vec<usize> = (0..self.trace.steps.len()).collect();
        let part = Part::resting_on(&self.trace, &all, 0, model);
        emit::witness(&part, violation, stale, stale.label)
    }
}

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
        let writes = newest(&case.trace, case.location).map_or(0, |(_, writes)| writes);
        let Some(violation) = (writes > 0).then(|| case.violation(writes)).flatten() else {
            continue;
        };
        for stale in case.choices(&violation) {
            for model in MODELS {
                let whole = case.whole(&violation, &stale, model);
                let verdict = summary(&whole, model);
                counts[verdict as usize] += 1;
                assert_eq!(
                    verdict,
                    naive::verdict(&whole, model),
                    "seed {seed}: {whole:#?}"
                );
                for newer in stale.number + 1..=writes {
                    let violation = case.violation(newer).expect("as before");
                    let build = |limit| graph(&case.trace, &violation, &stale, model, limit);
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
        let Some((object, number)) = newest(&case.trace, case.location) else {
            continue;
        };
        let place = case.trace.object(object).place;
        let value = case.trace.value(object, number);
        let order = crate::LoadOrder::SeqCst;
        let guard = crate::witness::Guard::Any;
        let label = Label::Read {
            place,
            order,
            value,
            guard,
        };
        let stale = Stale {
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
            let whole = case.whole(&violation, &stale, model);
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

/// Every violation that the analyzer finds in a run; every event has a site of
/// its own, so none is merged with another.
fn violations(events: &[Event], model: Model) -> Vec<Violation> {
    let mut analyzer = Analyzer::new(Config {
        model,
        ..Config::default()
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
            for violation in violations(&run.events, model) {
                let all = Witness::build_all(&run.events, &violation, model);
                let all =
                    all.unwrap_or_else(|e| panic!("seed {seed}: {e}: {violation:#?} {run:#?}"));
                assert_eq!(
                    all.len(),
                    violation.stale.len(),
                    "seed {seed}: {violation:#?} {run:#?}"
                );
                for witness in &all {
                    let verdict = check(witness, model);
                    assert_eq!(verdict, Ok(()), "seed {seed} {model:?}: {witness:#?}");
                }
                witnesses += all.len();
            }
        }
    }
    assert!(witnesses > 3_000, "{witnesses}");
}
