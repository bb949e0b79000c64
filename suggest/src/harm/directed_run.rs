//! One run with a stale choice: started, decoded, and held against what is known
//! of runs without one.

use std::sync::Mutex;

use wmfix_analysis::{Analyzer, AnalyzerConfig, Bytes, Event, EventIndex, Operation, SiteId};
use wmfix_trace::StaleTarget;

use super::choices::{access_names, prefix};
use super::discard::{is_discarded, is_same_variable};
use super::FailedProcess;
use crate::findings::{ProcessEnd, RaceKey, fingerprint, race_key};
use crate::observe::{DecodedTrace, Places, decode};
use crate::run::{FinishedRun, RunEnd};

/// How a run went.
#[derive(Clone, Debug)]
pub(super) struct RunRecord {
    /// How the command ended.
    pub(super) ended: RunEnd,
    /// The processes that failed.
    pub(super) failed: Vec<FailedProcess>,
    /// The races.
    pub(super) races: Vec<(RaceKey, SiteId, SiteId)>,
    /// Accesses to freed memory.
    pub(super) freed: Vec<SiteId>,
    /// Equal for runs that printed the same.
    pub(super) printed: u64,
    /// The end of what was printed.
    pub(super) last_words: String,
    /// What became of the stale choice; `None` if none was made.
    pub(super) choice: Option<ChoiceRecord>,
}

/// A stale choice that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChoiceRecord {
    /// The run up to it was the one in which it is known to be allowed.
    pub(super) as_planned: bool,
    /// Its value was thrown away.
    pub(super) discarded: bool,
}

/// No more of what a program printed is shown.
const MOST_LAST_WORDS: usize = 2000;

/// Looks at a finished run. `planned` is the choice and the run up to it.
pub(super) fn examine(
    finished: &FinishedRun,
    planned: Option<(&StaleTarget, u64)>,
    places: &Mutex<Places>,
    config: AnalyzerConfig,
) -> anyhow::Result<RunRecord> {
    let printed = finished.printed();
    let end = printed.len().saturating_sub(MOST_LAST_WORDS);
    let mut record = RunRecord {
        ended: finished.ended,
        failed: Vec::new(),
        races: Vec::new(),
        freed: Vec::new(),
        printed: fingerprint(&printed),
        last_words: String::from_utf8_lossy(&printed[end..]).into_owned(),
        choice: None,
    };
    for path in &finished.traces {
        let bytes = std::fs::read(path)?;
        if let Ok(decoded) = decode(&bytes, places) {
            record.add(&decoded, planned, places, config);
        }
    }
    Ok(record)
}

impl RunRecord {
    fn add(
        &mut self,
        decoded: &DecodedTrace,
        planned: Option<(&StaleTarget, u64)>,
        places: &Mutex<Places>,
        config: AnalyzerConfig,
    ) {
        let ended = ProcessEnd::of(decoded, places);
        let failed = ended.filter(|end| end.cause.is_failure());
        self.failed.extend(failed.map(|end| FailedProcess {
            end,
            died_in: decoded.died_in.clone(),
        }));
        self.races.extend(races(decoded, places, config));
        self.freed.extend(uses_of_freed_memory(decoded));
        let same_variable = |one, other| is_same_variable(places, one, other);
        for &(at, _) in &decoded.stale {
            let same =
                planned.is_some_and(|(_, expected)| prefix(&decoded.events[..at]) == expected);
            let choice = ChoiceRecord {
                as_planned: same && self.choice.is_none_or(|choice| choice.as_planned),
                discarded: is_discarded(&decoded.events, at, same_variable)
                    && self.choice.is_none_or(|choice| choice.discarded),
            };
            self.choice = Some(choice);
        }
    }
}

/// The races of a run, with happens-before as the run really was.
fn races(
    decoded: &DecodedTrace,
    places: &Mutex<Places>,
    config: AnalyzerConfig,
) -> Vec<(RaceKey, SiteId, SiteId)> {
    let mut analyzer = Analyzer::new(AnalyzerConfig {
        races: true,
        ..config
    });
    let events = &decoded.events;
    let stale = decoded.stale.first().map(|&(at, source)| {
        let names = access_names(&events[..at]);
        let writer = source.and_then(|name| names.iter().position(|n| *n == Some(name)));
        (at, writer.map(|event| EventIndex(event as u64)))
    });
    if let Some((_, Some(write))) = stale {
        analyzer.keep_message_of(write);
    }
    for (index, event) in events.iter().enumerate() {
        let number = EventIndex(index as u64);
        // An event that does not fit is left out, as in every other run.
        let _ = match stale {
            Some((at, source)) if at == index => analyzer.feed_stale_at(number, event, source),
            _ => analyzer.feed_at(number, event),
        };
    }
    let found = analyzer.races().iter();
    found
        .map(|found| {
            let (one, other) = (found.race.first.site, found.race.second.site);
            (race_key(&found.race, places), one, other)
        })
        .collect()
}

/// The accesses to memory that was given back and not handed out again.
fn uses_of_freed_memory(decoded: &DecodedTrace) -> Vec<SiteId> {
    let mut kept: Vec<Bytes> = Vec::new();
    let mut pending = decoded.quarantined.iter().peekable();
    let mut sites = Vec::new();
    for (index, event) in decoded.events.iter().enumerate() {
        while let Some((_, bytes)) = pending.next_if(|(at, _)| *at <= index) {
            let at = kept.partition_point(|other| other.address < bytes.address);
            kept.insert(at, *bytes);
        }
        let touched = touched(event, decoded);
        let uses = touched.is_some_and(|bytes| is_within(&kept, bytes));
        if uses && !sites.contains(&event.site) {
            sites.push(event.site);
        }
    }
    sites
}

/// The bytes that an event reads or writes.
fn touched(event: &Event, decoded: &DecodedTrace) -> Option<Bytes> {
    match event.operation {
        Operation::Read { bytes } | Operation::Write { bytes } => Some(bytes),
        Operation::Load { location, .. }
        | Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. } => {
            let location = decoded.locations.get(location.0 as usize)?;
            Some(Bytes {
                address: location.address,
                size: u64::from(location.size),
            })
        }
        _ => None,
    }
}

fn is_within(kept: &[Bytes], bytes: Bytes) -> bool {
    let after = kept.partition_point(|other| other.address < bytes.address + bytes.size);
    kept[..after]
        .last()
        .is_some_and(|other| bytes.address < other.address + other.size)
}
