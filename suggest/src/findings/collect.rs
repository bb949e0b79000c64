//! The findings of all runs together, and how often each was seen. Decides when
//! more runs of a program would show nothing new.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use wmfix_analysis::SiteId;

use super::failure::{FailureFinding, FailureKind, RunFailure};
use super::names::FindingKey;
use super::observation::{
    KnownFindings, Observation, RaceInstance, RaceKey, TraceProblem, ViolationInstance,
    ViolationKey,
};
use super::prediction::RaceOrigin;
use super::process_end::ProcessEnd;
use crate::run::{RunEnd, RunWorth};

/// A program is given up after this many runs if all of them hang.
const MAX_HUNG_RUNS: u64 = 2;

/// A program is given up after this many runs if all of them fail.
const MAX_FAILED_RUNS: u64 = 10;

/// A program with one thread is run this often: there is nothing that could
/// come in another order.
const MAX_SINGLE_THREADED_RUNS: u64 = 2;

/// Failures after this many are no reason to go on.
const MAX_NEW_FAILURES: usize = 8;

/// Of this many runs that showed a violation the seeds are kept.
const MAX_SEEDS: usize = 8;

/// How the runs of one program went.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// How many there were.
    pub runs: u64,
    /// How many failed.
    pub failed: u64,
    /// How many of these hung.
    pub hung: u64,
    /// How many had more than one thread.
    pub concurrent: u64,
    /// How many were not recorded as a whole.
    pub incomplete: u64,
    /// The first that failed.
    pub failure: Option<FailedRun>,
    /// How they ended.
    pub ends: BTreeSet<RunEnd>,
    /// What they printed, as fingerprints.
    pub printed: BTreeSet<u64>,
    /// After how many steps runs end that are made because of what these showed.
    pub steps: Option<u64>,
}

/// A run that failed.
#[derive(Clone, Debug)]
pub(crate) struct FailedRun {
    /// How it ended.
    pub ended: RunEnd,
    /// The end of what it printed.
    pub output: String,
}

impl Tally {
    /// Whether every run failed.
    pub(crate) fn always_failed(&self) -> bool {
        self.runs > 0 && self.failed == self.runs
    }

    /// Whether another run would be no different.
    fn is_enough(&self) -> bool {
        self.always_failed()
            && (self.failed >= MAX_FAILED_RUNS
                || self.hung == self.runs && self.hung >= MAX_HUNG_RUNS)
            || self.concurrent == 0 && self.runs >= MAX_SINGLE_THREADED_RUNS
    }
}

/// A violation, as first seen.
#[derive(Clone, Debug)]
pub(crate) struct ViolationFinding {
    /// What it is.
    pub key: ViolationKey,
    /// The first instance.
    pub first: ViolationInstance,
    /// Which of the programs showed it first.
    pub program: usize,
    /// All of the programs that showed it.
    pub programs: BTreeSet<usize>,
    /// The seed of the run that showed it first.
    pub seed: u64,
    /// How many runs showed it.
    pub runs: u64,
    /// The seeds of the first few of that program that did.
    pub seeds: Vec<u64>,
}

/// A race, as first seen or predicted.
#[derive(Clone, Debug)]
pub(crate) struct RaceFinding {
    /// What it is.
    pub key: RaceKey,
    /// The first instance.
    pub first: RaceInstance,
    /// Which of the programs showed it.
    pub program: usize,
    /// The seed of the run that showed it first.
    pub seed: u64,
    /// How many runs showed it.
    pub runs: u64,
}

impl RaceFinding {
    fn new(key: RaceKey, first: RaceInstance, program: usize, seed: u64) -> Self {
        Self {
            key,
            first,
            program,
            seed,
            runs: 1,
        }
    }

    /// Whether a run showed it.
    pub(crate) fn is_seen(&self) -> bool {
        matches!(self.first.origin, RaceOrigin::Seen)
    }
}

/// An end of processes, and how often it was seen.
#[derive(Clone, Debug)]
pub(crate) struct CountedEnd {
    /// The end.
    pub end: ProcessEnd,
    /// How many processes came to it.
    pub processes: u64,
    /// The seed of the first run with such a process.
    pub first_seed: u64,
}

/// All runs together.
#[derive(Debug, Default)]
pub(crate) struct CollectedFindings {
    /// Violations, in the order of their first instances.
    pub violations: Vec<ViolationFinding>,
    /// Races, in the order of their first instances.
    pub races: Vec<RaceFinding>,
    /// Violations that the independent checker did not confirm, as first seen.
    pub unconfirmed: Vec<ViolationFinding>,
    /// What libraries do with objects of their own.
    pub of_libraries: BTreeSet<FindingKey>,
    /// Atomic sites that were executed, and in how many runs.
    pub reached: BTreeMap<SiteId, u64>,
    /// How many events there were.
    pub events: u64,
    /// How many runs ended in which way.
    pub ended: BTreeMap<RunEnd, u64>,
    /// The ends of processes that did not exit by themselves.
    pub ends: Vec<CountedEnd>,
    /// Runs that failed, in the order of the first of each kind.
    pub failures: Vec<FailureFinding>,
    /// What was wrong with traces, and how often.
    pub problems: Vec<(TraceProblem, u64)>,
    /// How many processes left a trace.
    pub processes: u64,
    /// How many runs left none.
    pub untraced: u64,
    /// The end of what the first run printed that did not end well.
    pub failed_output: Option<String>,
    /// An exit code other than 0 is a failure.
    pub must_pass: bool,
    /// How the runs of each program went.
    pub tallies: BTreeMap<usize, Tally>,
    schedules: HashSet<u64>,
    violation_at: HashMap<ViolationKey, usize>,
    race_at: HashMap<RaceKey, usize>,
}

impl CollectedFindings {
    /// Takes a run's observation and says what it was worth.
    pub(crate) fn take(
        &mut self,
        program: usize,
        seed: u64,
        observation: Observation,
        known: &KnownFindings,
    ) -> RunWorth {
        let mut new = false;
        let failure = RunFailure::of_run(observation.ended, &observation.failures, self.must_pass);
        // A run in which a lock was misused has still come to its end.
        let ended_badly = |failure: &RunFailure| failure.kind != FailureKind::Misuse;
        let failed = failure.as_ref().is_some_and(ended_badly);
        let silent = observation.processes == 0 && observation.problems.is_empty();
        let tally = self.tallies.entry(program).or_default();
        tally.runs += 1;
        tally.failed += u64::from(failed);
        tally.hung += u64::from(observation.ended == RunEnd::TimedOut);
        tally.concurrent += u64::from(observation.concurrent);
        tally.incomplete += u64::from(observation.is_incomplete() || silent);
        tally.ends.insert(observation.ended);
        tally.printed.insert(observation.printed);
        if failed && tally.failure.is_none() {
            tally.failure = Some(FailedRun {
                ended: observation.ended,
                output: observation.failed_output.clone().unwrap_or_default(),
            });
        }
        self.untraced += u64::from(silent);
        // Where no run has left a trace the next one will not either.
        let was_killed = matches!(observation.ended, RunEnd::TimedOut | RunEnd::OutOfTime);
        let never_traced = silent && self.processes == 0 && !was_killed;
        let enough = never_traced || tally.is_enough();
        if let Some(failure) = failure {
            let output = observation.failed_output.as_deref();
            new |= self.take_failure(program, seed, failure, output);
        }
        // Only what a run says about itself that was not to be checked as it went on has
        // findings without details: its trace is not ours.
        let mut is_unproved = false;
        let mut in_this_run = HashSet::new();
        for (key, instance) in observation.violations {
            match self.violation_at.get(&key) {
                Some(&at) => {
                    if in_this_run.insert(key) {
                        let finding = &mut self.violations[at];
                        finding.runs += 1;
                        finding.programs.insert(program);
                        if finding.seeds.len() < MAX_SEEDS && finding.program == program {
                            finding.seeds.push(seed);
                        }
                    }
                }
                None => {
                    let Some(first) = instance else {
                        is_unproved = true;
                        continue;
                    };
                    new = true;
                    in_this_run.insert(key);
                    self.violation_at.insert(key, self.violations.len());
                    known
                        .violations
                        .write()
                        .expect("no panic while locked")
                        .insert(key);
                    self.violations.push(ViolationFinding {
                        key,
                        first,
                        program,
                        programs: BTreeSet::from([program]),
                        seed,
                        runs: 1,
                        seeds: vec![seed],
                    });
                }
            }
        }
        for (key, instance) in observation.unconfirmed {
            if !self.unconfirmed.iter().any(|known| known.key == key) {
                self.unconfirmed.push(ViolationFinding {
                    key,
                    first: instance,
                    program,
                    programs: BTreeSet::from([program]),
                    seed,
                    runs: 1,
                    seeds: vec![seed],
                });
            }
        }
        self.of_libraries.extend(observation.of_libraries);
        let mut raced = HashSet::new();
        for (key, instance) in observation.races {
            let first_time = raced.insert(key);
            match (self.race_at.get(&key), instance) {
                // A run shows what was predicted: no need to make it happen.
                (Some(&at), Some(instance)) if !self.races[at].is_seen() => {
                    new = true;
                    known.add_seen(key);
                    self.races[at] = RaceFinding::new(key, instance, program, seed);
                }
                (Some(&at), _) => self.races[at].runs += u64::from(first_time),
                (None, None) => is_unproved = true,
                (None, Some(instance)) => {
                    new = true;
                    known.add_seen(key);
                    self.race_at.insert(key, self.races.len());
                    self.races
                        .push(RaceFinding::new(key, instance, program, seed));
                }
            }
        }
        for (key, instance) in observation.predicted {
            if !self.race_at.contains_key(&key) {
                new = true;
                known.add_predicted(key);
                self.race_at.insert(key, self.races.len());
                self.races
                    .push(RaceFinding::new(key, instance, program, seed));
            }
        }
        for site in observation.reached {
            *self.reached.entry(site).or_default() += 1;
        }
        let events = observation.events + observation.plain_events;
        self.events += observation.events;
        self.processes += observation.processes as u64;
        self.schedules.insert(observation.schedule);
        if self.failed_output.is_none() {
            self.failed_output = observation.failed_output;
        }
        *self.ended.entry(observation.ended).or_default() += 1;
        for end in observation.ends {
            match self.ends.iter_mut().find(|known| known.end == end) {
                Some(known) => known.processes += 1,
                None => self.ends.push(CountedEnd {
                    end,
                    processes: 1,
                    first_seed: seed,
                }),
            }
        }
        let unproved = is_unproved.then_some(TraceProblem::NotRepeated);
        for problem in observation.problems.into_iter().chain(unproved) {
            let known = self.problems.iter_mut().find(|(one, _)| *one == problem);
            match known {
                Some((_, count)) => *count += 1,
                None => self.problems.push((problem, 1)),
            }
        }
        // Nothing was instrumented, or another run would be no different.
        if enough {
            RunWorth::Enough
        } else if new {
            RunWorth::New
        } else {
            RunWorth::Nothing { events }
        }
    }

    /// Whether anything was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.violations.is_empty()
            && self.races.is_empty()
            && self.failures.is_empty()
            && self.unconfirmed.is_empty()
    }

    /// Adds what other runs have shown and these have not.
    pub(crate) fn add_unseen(&mut self, others: Self) {
        for finding in others.violations {
            match self.violation_at.get(&finding.key) {
                Some(&at) => self.violations[at].programs.extend(finding.programs),
                None => {
                    self.violation_at.insert(finding.key, self.violations.len());
                    self.violations.push(finding);
                }
            }
        }
        for (program, tally) in others.tallies {
            let known = self.tallies.entry(program).or_default();
            known.ends.extend(tally.ends);
            known.printed.extend(tally.printed);
            known.concurrent += tally.concurrent;
        }
        for finding in others.races {
            if !self.race_at.contains_key(&finding.key) {
                self.race_at.insert(finding.key, self.races.len());
                self.races.push(finding);
            }
        }
        for failure in others.failures {
            let known = self.failures.iter().any(|known| {
                known.program == failure.program && known.first.is_like(&failure.first)
            });
            if !known {
                self.failures.push(failure);
            }
        }
        self.events += others.events;
        self.schedules.extend(others.schedules);
        for (site, runs) in others.reached {
            *self.reached.entry(site).or_default() += runs;
        }
    }

    /// Violations that the independent checker confirmed in no run.
    pub(crate) fn never_confirmed(&self) -> impl Iterator<Item = &ViolationFinding> {
        let all = self.unconfirmed.iter();
        all.filter(|finding| !self.violation_at.contains_key(&finding.key))
    }

    /// Takes a run's failure and says whether it is new.
    fn take_failure(
        &mut self,
        program: usize,
        seed: u64,
        failure: RunFailure,
        output: Option<&str>,
    ) -> bool {
        let mut known = self.failures.iter_mut();
        let same =
            |one: &&mut FailureFinding| one.program == program && one.first.is_like(&failure);
        if let Some(known) = known.find(same) {
            known.runs += 1;
            return false;
        }
        // What one schedule in a hundred does is told; what each does otherwise,
        // as a program that crashes anywhere, is not worth more runs.
        let is_new = self.failures.len() < MAX_NEW_FAILURES;
        self.failures.push(FailureFinding {
            program,
            first: failure,
            runs: 1,
            seed,
            output: output.unwrap_or_default().to_owned(),
        });
        is_new
    }

    /// Whether every run came to its end, was recorded as a whole, and showed nothing.
    pub(crate) fn shows_nothing(&self) -> bool {
        self.violations.is_empty()
            && self.races.is_empty()
            && self.unconfirmed.is_empty()
            && self.failures.is_empty()
            && self.problems.is_empty()
            && self.tallies.values().all(|tally| tally.incomplete == 0)
    }

    /// Whether a run showed something that is not reported, because its recording does
    /// not have it.
    pub(crate) fn has_unreported(&self) -> bool {
        use TraceProblem::{NotConfirmed, NotRecorded, NotRepeated};
        let mut problems = self.problems.iter();
        problems.any(|(problem, _)| matches!(problem, NotConfirmed | NotRecorded | NotRepeated))
    }

    /// How many different things are known: a run that does not change it has shown
    /// nothing that no run before it had shown.
    pub(crate) fn extent(&self) -> usize {
        let tallies = self.tallies.values().map(|tally| {
            tally.ends.len() + tally.printed.len() + usize::from(tally.failure.is_some())
        });
        self.violations.len()
            + self.races.len()
            + self.reached.len()
            + self.ends.len()
            + self.problems.len()
            + self.failures.len()
            + self.unconfirmed.len()
            + self.of_libraries.len()
            + usize::from(self.failed_output.is_some())
            + tallies.sum::<usize>()
    }

    /// How many different schedules there were.
    pub(crate) fn distinct_schedules(&self) -> u64 {
        self.schedules.len() as u64
    }

    /// The end of what a run printed that did not end well: of a program that
    /// never does, if there is one.
    pub(crate) fn output_that_matters(&self) -> Option<&str> {
        let mut tallies = self.tallies.values();
        let always = tallies.find(|tally| tally.always_failed());
        let always = always.and_then(|tally| tally.failure.as_ref());
        let always = always.map(|failure| failure.output.as_str());
        always.or(self.failed_output.as_deref())
    }

    /// Whether there is a program of which no run came to its end, for lack of time.
    pub(crate) fn was_out_of_time(&self) -> bool {
        let mut tallies = self.tallies.values();
        tallies.any(|tally| tally.ends.iter().eq([&RunEnd::OutOfTime]))
    }

    /// How many runs were not recorded as a whole.
    pub(crate) fn incomplete_runs(&self) -> u64 {
        self.tallies.values().map(|tally| tally.incomplete).sum()
    }

    /// Whether there is a program of which no run was recorded as a whole.
    pub(crate) fn no_run_complete(&self) -> bool {
        let mut tallies = self.tallies.values();
        tallies.any(|tally| tally.runs > 0 && tally.incomplete == tally.runs)
    }

    /// Whether there is a program of which every run failed.
    pub(crate) fn every_run_failed(&self) -> bool {
        self.tallies.values().any(Tally::always_failed)
    }
}
