//! What runs without stale choices have shown, and what another run shows that none of
//! them has. What they show is an interleaving's, and no stale value's doing.

use std::collections::BTreeSet;
use std::sync::Mutex;

use wmfix_analysis::SiteId;

use super::Effect;
use super::directed_run::RunRecord;
use crate::findings::{CollectedFindings, EndCause, RaceKey, race_key};
use crate::observe::Places;
use crate::run::RunEnd;

/// With more different outputs than this among runs without a stale choice, what
/// a program prints says nothing.
const MOST_OUTPUTS: usize = 4;

/// What runs without a stale choice have shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Interleavings {
    ends: BTreeSet<RunEnd>,
    processes: Vec<EndCause>,
    races: BTreeSet<RaceKey>,
    freed: BTreeSet<SiteId>,
    printed: BTreeSet<u64>,
}

impl Interleavings {
    /// What the runs of a program have shown.
    pub(super) fn new(
        collected: &CollectedFindings,
        program: usize,
        places: &Mutex<Places>,
    ) -> Self {
        let tally = collected.tallies.get(&program).cloned().unwrap_or_default();
        let races = collected.races.iter();
        let ends = collected.ends.iter();
        Self {
            ends: tally.ends,
            processes: ends.map(|counted| counted.end.cause).collect(),
            races: races
                .map(|finding| race_key(&finding.first.race.race, places))
                .collect(),
            freed: BTreeSet::new(),
            printed: tally.printed,
        }
    }

    /// One run that ended so.
    #[cfg(test)]
    pub(super) fn of_end(end: RunEnd) -> Self {
        Self {
            ends: BTreeSet::from([end]),
            ..Self::default()
        }
    }

    /// Adds another run.
    pub(super) fn add(&mut self, record: &RunRecord) {
        if record.ended != RunEnd::Interrupted {
            self.ends.insert(record.ended);
        }
        let failed = record.failed.iter();
        self.processes.extend(failed.map(|failed| failed.end.cause));
        self.races.extend(record.races.iter().map(|(key, ..)| *key));
        self.freed.extend(&record.freed);
        if !record.ended_early && record.ended != RunEnd::Interrupted {
            self.printed.insert(record.printed);
        }
    }

    /// Adds what others have shown.
    pub(super) fn extend(&mut self, others: &Self) {
        self.ends.extend(&others.ends);
        for cause in &others.processes {
            if !self.processes.contains(cause) {
                self.processes.push(*cause);
            }
        }
        self.races.extend(&others.races);
        self.freed.extend(&others.freed);
        self.printed.extend(&others.printed);
    }

    /// Whether one of them came to this.
    pub(super) fn have(&self, effect: Effect) -> bool {
        match effect {
            Effect::Ended(end) => self.ends.contains(&end),
            Effect::Process(cause) => self.processes.contains(&cause),
            Effect::Race { key, .. } => self.races.contains(&key),
            Effect::FreedMemory(site) => self.freed.contains(&site),
            Effect::Printed | Effect::Nothing => false,
        }
    }

    /// What a run shows that none of these has shown, the worst first.
    pub(super) fn difference(&self, record: &RunRecord) -> Option<Effect> {
        let causes = record.failed.iter();
        let mut causes = causes.map(|failed| Effect::Process(failed.end.cause));
        if let Some(effect) = causes.find(|effect| !self.have(*effect)) {
            return Some(effect);
        }
        if record.ended != RunEnd::Interrupted && !self.ends.contains(&record.ended) {
            return Some(Effect::Ended(record.ended));
        }
        let mut freed = record.freed.iter().map(|&site| Effect::FreedMemory(site));
        if let Some(effect) = freed.find(|effect| !self.have(*effect)) {
            return Some(effect);
        }
        let races = record.races.iter();
        let mut races = races.map(|&(key, one, other)| Effect::Race { key, one, other });
        if let Some(effect) = races.find(|effect| !self.have(*effect)) {
            return Some(effect);
        }
        // What a run prints when it is ended says nothing.
        let says = !record.ended_early && self.printed.len() <= MOST_OUTPUTS;
        (says && !self.printed.contains(&record.printed)).then_some(Effect::Printed)
    }
}
