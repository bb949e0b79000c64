//! What runs without a stale choice have shown, and what another run shows that
//! none of them has.

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
#[derive(Clone)]
pub(super) struct SeenWithout {
    ends: BTreeSet<RunEnd>,
    processes: Vec<EndCause>,
    races: BTreeSet<RaceKey>,
    freed: BTreeSet<SiteId>,
    /// `None` where outputs vary too much to say anything.
    printed: Option<BTreeSet<u64>>,
}

impl SeenWithout {
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
            printed: (tally.printed.len() <= MOST_OUTPUTS).then_some(tally.printed),
        }
    }

    /// Adds another run.
    pub(super) fn add(&mut self, record: &RunRecord) {
        self.ends.insert(record.ended);
        let failed = record.failed.iter();
        self.processes.extend(failed.map(|failed| failed.end.cause));
        self.races.extend(record.races.iter().map(|(key, ..)| *key));
        self.freed.extend(&record.freed);
        if let Some(printed) = &mut self.printed
            && !record.ended_early
        {
            printed.insert(record.printed.fingerprint);
        }
    }

    /// What a run shows that none of these has shown, the worst first.
    pub(super) fn difference(&self, record: &RunRecord) -> Option<Effect> {
        let mut causes = record.failed.iter().map(|failed| failed.end.cause);
        if let Some(cause) = causes.find(|cause| !self.processes.contains(cause)) {
            return Some(Effect::Process(cause));
        }
        if record.ended != RunEnd::Interrupted && !self.ends.contains(&record.ended) {
            return Some(Effect::Ended(record.ended));
        }
        if let Some(&site) = record.freed.iter().find(|&site| !self.freed.contains(site)) {
            return Some(Effect::FreedMemory(site));
        }
        let race = (record.races.iter()).find(|(key, ..)| !self.races.contains(key));
        if let Some(&(_, one, other)) = race {
            return Some(Effect::Race(one, other));
        }
        // What a run prints when it is ended says nothing.
        let printed = self.printed.as_ref().filter(|_| !record.ended_early)?;
        (!printed.contains(&record.printed.fingerprint)).then_some(Effect::Printed)
    }
}
