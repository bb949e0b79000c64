//! What all runs together have shown, and how often.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use wmfix_analysis::SiteId;

use super::observation::{
    Instance, Known, Observation, ProcessEnd, RaceInstance, RaceKey, ViolationKey,
};
use crate::run::{Ended, Taken};

/// So many runs that hang, and nothing but these, are enough.
const HANGS: u64 = 3;

/// A violation, as first seen.
#[derive(Clone, Debug)]
pub struct ViolationFinding {
    /// What it is.
    pub key: ViolationKey,
    /// The first instance.
    pub first: Instance,
    /// Which of the programs showed it.
    pub program: usize,
    /// The seed of the run that showed it first.
    pub seed: u64,
    /// How many runs showed it.
    pub runs: u64,
}

/// A race, as first seen.
#[derive(Clone, Debug)]
pub struct RaceFinding {
    /// The first instance.
    pub first: RaceInstance,
    /// Which of the programs showed it.
    pub program: usize,
    /// The seed of the run that showed it first.
    pub seed: u64,
    /// How many runs showed it.
    pub runs: u64,
}

/// All runs together.
#[derive(Debug, Default)]
pub struct Collected {
    /// Violations, in the order of their first instances.
    pub violations: Vec<ViolationFinding>,
    /// Races, in the order of their first instances.
    pub races: Vec<RaceFinding>,
    /// Atomic sites that were executed.
    pub reached: BTreeSet<SiteId>,
    /// How many events there were.
    pub events: u64,
    /// How many runs ended in which way.
    pub ended: BTreeMap<Ended, u64>,
    /// How many processes did not end by themselves, by how; and the first seed.
    pub ends: BTreeMap<ProcessEnd, (u64, u64)>,
    /// What was wrong with traces, and how often.
    pub troubles: BTreeMap<String, u64>,
    /// How many processes left a trace.
    pub processes: u64,
    /// The end of what the first run printed that did not end well.
    pub failed_output: Option<String>,
    failed: u64,
    schedules: HashSet<u64>,
    violation_at: HashMap<ViolationKey, usize>,
    race_at: HashMap<RaceKey, usize>,
}

impl Collected {
    /// Takes a run's observation and says what it was worth.
    pub fn take(
        &mut self,
        program: usize,
        seed: u64,
        observation: Observation,
        known: &Known,
    ) -> Taken {
        let mut new = false;
        let failed = observation.failed();
        let mut in_this_run = HashSet::new();
        for (key, instance) in observation.violations {
            match self.violation_at.get(&key) {
                Some(&at) => {
                    if in_this_run.insert(key) {
                        self.violations[at].runs += 1;
                    }
                }
                None => {
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
                        first: instance.expect("details of what was not known"),
                        program,
                        seed,
                        runs: 1,
                    });
                }
            }
        }
        let mut raced = HashSet::new();
        for (key, instance) in observation.races {
            match self.race_at.get(&key) {
                Some(&at) => {
                    if raced.insert(key) {
                        self.races[at].runs += 1;
                    }
                }
                None => {
                    new = true;
                    raced.insert(key);
                    self.race_at.insert(key, self.races.len());
                    known
                        .races
                        .write()
                        .expect("no panic while locked")
                        .insert(key);
                    self.races.push(RaceFinding {
                        first: instance.expect("details of what was not known"),
                        program,
                        seed,
                        runs: 1,
                    });
                }
            }
        }
        self.reached.extend(observation.reached);
        self.events += observation.events;
        self.processes += observation.processes as u64;
        self.schedules.insert(observation.schedule);
        if self.failed_output.is_none() {
            self.failed_output = observation.failed_output;
        }
        *self.ended.entry(observation.ended).or_default() += 1;
        for end in observation.ends {
            self.ends.entry(end).or_insert((0, seed)).0 += 1;
        }
        for trouble in observation.troubles {
            *self.troubles.entry(trouble).or_default() += 1;
        }
        self.failed += u64::from(failed);
        // Not one process was instrumented, or nothing but hangs: another run
        // would be no different, and hangs take their time.
        let hung = self
            .ended
            .get(&Ended::TimedOut)
            .copied()
            .unwrap_or_default();
        let hopeless = self.processes == 0 && self.troubles.is_empty();
        if hopeless || hung >= HANGS && hung == self.ended.values().sum::<u64>() {
            Taken::Enough
        } else if new {
            Taken::New
        } else {
            Taken::Nothing
        }
    }

    /// How many different schedules there were.
    pub fn distinct_schedules(&self) -> u64 {
        self.schedules.len() as u64
    }

    /// Whether not a single run came to a good end.
    pub fn every_run_failed(&self) -> bool {
        self.failed > 0 && self.failed == self.ended.values().sum::<u64>()
    }
}
