//! Translates between what a run showed and what is written down of it: a shard
//! writes, merging reads. Findings are named by the run that showed them first,
//! because the numbers of sites differ from process to process.

use std::collections::HashMap;

use super::file::{FirstSight, ProgramRecord, RunRecord, ShownAgain};
use crate::findings::{Observation, ProcessEnd, RaceKey, RunFailure, TraceProblem, ViolationKey};
use crate::run::RunEnd;

/// A run that was made, or what is written down of it.
pub(crate) enum Outcome<'a> {
    /// It was made.
    Made(Box<Observation>),
    /// It is written down.
    Written(&'a ShownAgain),
}

/// What the runs of one program have shown, by the run that showed it first.
#[derive(Debug, Default)]
pub(crate) struct Notebook {
    ended: Vec<(RunEnd, u64)>,
    violations: Sights<ViolationKey>,
    races: Sights<RaceKey>,
    ends: Vec<(ProcessEnd, FirstSight)>,
    problems: Vec<(TraceProblem, FirstSight)>,
    failures: Vec<(RunFailure, FirstSight)>,
    /// What the runs that were made showed, by their numbers.
    made: HashMap<u64, MadeRun>,
    record: ProgramRecord,
}

type Sights<K> = HashMap<K, FirstSight>;

#[derive(Debug)]
struct MadeRun {
    ended: RunEnd,
    violations: Vec<ViolationKey>,
    races: Vec<RaceKey>,
    ends: Vec<ProcessEnd>,
    problems: Vec<TraceProblem>,
    failures: Vec<RunFailure>,
}

impl Notebook {
    /// Writes down a run before its observation is taken: as one that shows only
    /// what was shown before.
    pub(crate) fn write(&mut self, number: u64, observation: &Observation) {
        let position = self.ended.iter().find(|(end, _)| *end == observation.ended);
        let ended = match position {
            Some(&(_, first)) => first,
            None => {
                self.ended.push((observation.ended, number));
                number
            }
        };
        let violations = observation.violations.iter().map(|(key, _)| *key);
        let violations = first_sights(&mut self.violations, violations, number);
        let races = observation.races.iter().map(|(key, _)| *key);
        let races = first_sights(&mut self.races, races, number);
        let ends = listed_sights(&mut self.ends, &observation.ends, number);
        let problems = listed_sights(&mut self.problems, &observation.problems, number);
        let failures = failure_sights(&mut self.failures, &observation.failures, number);
        self.record.runs.push(RunRecord {
            number,
            shown: Some(ShownAgain {
                ended,
                events: observation.events,
                plain_events: observation.plain_events,
                schedule: observation.schedule,
                processes: observation.processes,
                concurrent: observation.concurrent,
                printed: observation.printed,
                violations,
                races,
                ends,
                failures,
                problems,
            }),
        });
    }

    /// The run that was written down last has to be made again.
    pub(crate) fn last_was_new(&mut self) {
        if let Some(last) = self.record.runs.last_mut() {
            last.shown = None;
        }
    }

    /// The record of the program; `cut_short` if runs are missing at its end.
    pub(crate) fn into_record(mut self, cut_short: bool) -> ProgramRecord {
        self.record.cut_short = cut_short;
        self.record
    }

    /// Remembers what a run showed, for later ones that are only written down.
    pub(crate) fn remember(&mut self, number: u64, observation: &Observation) {
        let made = MadeRun {
            ended: observation.ended,
            violations: observation.violations.iter().map(|(key, _)| *key).collect(),
            races: observation.races.iter().map(|(key, _)| *key).collect(),
            ends: observation.ends.clone(),
            problems: observation.problems.clone(),
            failures: observation.failures.clone(),
        };
        self.made.insert(number, made);
    }

    /// What a run showed that is only written down. `None` if it names a run that
    /// did not show what it says: then the program is not the same.
    pub(crate) fn read(&self, shown: &ShownAgain) -> Option<Observation> {
        let made = |number: &u64| self.made.get(number);
        let violations = shown.violations.iter().map(|(run, at)| {
            let key = made(run)?.violations.get(*at)?;
            Some((*key, None))
        });
        let races = shown.races.iter().map(|(run, at)| {
            let key = made(run)?.races.get(*at)?;
            Some((*key, None))
        });
        let ends = shown
            .ends
            .iter()
            .map(|(run, at)| made(run)?.ends.get(*at).cloned());
        let problems = shown
            .problems
            .iter()
            .map(|(run, at)| made(run)?.problems.get(*at).cloned());
        let failures = shown
            .failures
            .iter()
            .map(|(run, at)| made(run)?.failures.get(*at).cloned());
        let ended = made(&shown.ended)?.ended;
        Some(Observation {
            violations: violations.collect::<Option<_>>()?,
            races: races.collect::<Option<_>>()?,
            ends: ends.collect::<Option<_>>()?,
            problems: problems.collect::<Option<_>>()?,
            failures: failures.collect::<Option<_>>()?,
            events: shown.events,
            plain_events: shown.plain_events,
            schedule: shown.schedule,
            processes: shown.processes,
            concurrent: shown.concurrent,
            printed: shown.printed,
            ..Observation::empty(ended)
        })
    }
}

/// Where each of these was first seen, if not here.
fn first_sights<K: std::hash::Hash + Eq>(
    known: &mut Sights<K>,
    keys: impl Iterator<Item = K>,
    number: u64,
) -> Vec<FirstSight> {
    let sights = keys
        .enumerate()
        .map(|(at, key)| *known.entry(key).or_insert((number, at)));
    sights.collect()
}

fn listed_sights<T: PartialEq + Clone>(
    known: &mut Vec<(T, FirstSight)>,
    seen: &[T],
    number: u64,
) -> Vec<FirstSight> {
    let sights = seen.iter().enumerate().map(|(at, one)| {
        if let Some((_, first)) = known.iter().find(|(other, _)| other == one) {
            return *first;
        }
        known.push((one.clone(), (number, at)));
        (number, at)
    });
    sights.collect()
}

/// Failures are told apart by where threads stood, not by their numbers.
fn failure_sights(
    known: &mut Vec<(RunFailure, FirstSight)>,
    seen: &[RunFailure],
    number: u64,
) -> Vec<FirstSight> {
    let sights = seen.iter().enumerate().map(|(at, one)| {
        if let Some((_, first)) = known.iter().find(|(other, _)| other.is_like(one)) {
            return *first;
        }
        known.push((one.clone(), (number, at)));
        (number, at)
    });
    sights.collect()
}
