//! Predicted races of whole programs, against all of their SC runs: a prediction
//! is right if some run comes to a point where both accesses could be made next,
//! and the witness is right if following it leads there.

use std::collections::BTreeSet;

use wmfix_analysis::predict::{PredictedRace, Predictor, PredictorConfig};
use wmfix_analysis::reordering::{Checker, RaceWitness};
use wmfix_analysis::{
    Analyzer, AnalyzerConfig, CasOutcome, Event, Operation, ReleaseSequences, SiteId,
};

use crate::brute::{Axioms, explore};
use crate::litmus::{Choice, Machine, Program, thread_id};

/// What was predicted from one run, all of it confirmed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Confirmation {
    /// Pairs of accesses.
    pub predicted: usize,
    /// Of these, pairs of sites that the run itself does not show to race.
    pub hidden: usize,
}

/// Predicts from a run of a program and confirms every pair: by the definition,
/// by all SC runs, and by following the witness.
pub fn confirm(program: &Program, run: &[Event]) -> Result<Confirmation, String> {
    let mut predictor = Predictor::new(PredictorConfig::exhaustive());
    let mut analyzer = Analyzer::new(AnalyzerConfig {
        races: true,
        ..AnalyzerConfig::default()
    });
    for event in run {
        predictor.feed(event);
        analyzer.feed(event).map_err(|error| error.to_string())?;
    }
    let predicted = predictor.into_races();
    if predicted.is_empty() {
        return Ok(Confirmation::default());
    }
    let possible = neighbours(program);
    let checker = Checker::new(run, ReleaseSequences::Cxx20);
    let mut hidden = BTreeSet::new();
    for found in &predicted {
        let sites = sorted(found.race.first.site, found.race.second.site);
        if !possible.contains(&sites) {
            return Err(format!("no run brings {sites:?} together"));
        }
        let witness = RaceWitness::new(run, &found.cut, found.first_event, found.race.event);
        checker
            .check(&witness)
            .map_err(|defect| format!("{defect} in {witness:?}"))?;
        follow(program, run, &witness, found)?;
        let seen = analyzer
            .races()
            .iter()
            .any(|seen| sorted(seen.race.first.site, seen.race.second.site) == sites);
        if !seen {
            hidden.insert(sites);
        }
    }
    Ok(Confirmation {
        predicted: predicted.len(),
        hidden: hidden.len(),
    })
}

/// The pairs of sites that are next in two threads at some point of some SC run.
fn neighbours(program: &Program) -> BTreeSet<(SiteId, SiteId)> {
    let mut found = BTreeSet::new();
    let threads = program.threads.len();
    explore(program, Axioms::RC11, |state| {
        let next = |thread: usize| {
            let (place, _) = state.machine.next(thread)?;
            Some(program.site(thread, place))
        };
        for one in 0..threads {
            for other in one + 1..threads {
                if let (Some(a), Some(b)) = (next(one), next(other)) {
                    found.insert(sorted(a, b));
                }
            }
        }
        true
    });
    found
}

/// Takes the steps of the witness: every event must come as it did in the run,
/// and in the end both accesses must be next.
fn follow(
    program: &Program,
    run: &[Event],
    witness: &RaceWitness,
    found: &PredictedRace,
) -> Result<(), String> {
    let mut machine = Machine::new(program);
    let thread_of = |event: &Event| {
        (0..program.threads.len()).find(|&thread| thread_id(thread) == event.thread)
    };
    let (before, racing) = witness.schedule.split_at(witness.schedule.len() - 2);
    for index in before {
        let event = &run[index.0 as usize];
        let Some(thread) = thread_of(event) else {
            continue;
        };
        if event.operation == Operation::Exit {
            continue;
        }
        let choice = choice_of(&event.operation);
        if !machine.choices(thread).contains(&choice) {
            return Err(format!("{event:?} cannot come next"));
        }
        let stepped = machine.step(thread, choice);
        if stepped.event != *event {
            return Err(format!("{:?} instead of {event:?}", stepped.event));
        }
    }
    for (index, site) in racing
        .iter()
        .zip([found.race.first.site, found.race.second.site])
    {
        let thread = thread_of(&run[index.0 as usize]).ok_or("a race of the main thread")?;
        let next = machine.next(thread);
        if next.map(|(place, _)| program.site(thread, place)) != Some(site) {
            return Err(format!("{site:?} is not next"));
        }
    }
    Ok(())
}

fn choice_of(operation: &Operation) -> Choice {
    match *operation {
        Operation::CompareExchange {
            expected,
            read,
            outcome: CasOutcome::Failed,
            ..
        } if expected == read => Choice::FailSpuriously,
        _ => Choice::Run,
    }
}

fn sorted(one: SiteId, other: SiteId) -> (SiteId, SiteId) {
    (one.min(other), one.max(other))
}
