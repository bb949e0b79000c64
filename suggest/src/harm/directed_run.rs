//! One run with stale choices: what it came to, and what became of the choices.

use std::collections::HashMap;
use std::sync::Mutex;

use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, Event, EventIndex, Operation, SiteId, ThreadId,
};
use wmfix_trace::{AccessName, StaleTarget, TakenWrite};

use super::FailedProcess;
use super::choices::{access_names, prefix};
use crate::findings::{EndCause, ProcessEnd, RaceKey, fingerprint, race_key};
use crate::observe::{DecodedTrace, Places, decode};
use crate::printable::printable;
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
    /// A process was ended before the program was at its end.
    pub(super) ended_early: bool,
    /// Equal for runs that printed the same.
    pub(super) printed: u64,
    /// The end of what was printed.
    pub(super) last_words: String,
    /// Whether the run up to its stale choice was the one in which that is known to be
    /// allowed; `None` if none was made.
    pub(super) is_as_planned: Option<bool>,
    /// Every access that took an old write, in the order of each process.
    pub(super) taken: Vec<TakenOld>,
}

/// An access that took an old write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TakenOld {
    /// What makes it happen again.
    pub(crate) target: StaleTarget,
    /// Who made it.
    pub(crate) thread: ThreadId,
    /// Where.
    pub(crate) site: SiteId,
    /// Where the write was made; `None` for the first value.
    pub(crate) writer: Option<SiteId>,
    /// What it read, if it reads.
    pub(crate) value: Option<u64>,
}

/// No more of what a program printed is shown.
const MOST_LAST_WORDS: usize = 2000;

/// Looks at a finished run. `prefix` is what it is expected to be up to its choice, as
/// [`prefix`] says.
pub(super) fn examine(
    finished: &FinishedRun,
    expected: Option<u64>,
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
        ended_early: false,
        printed: fingerprint(&printed),
        last_words: printable(&String::from_utf8_lossy(&printed[end..])),
        is_as_planned: None,
        taken: Vec::new(),
    };
    for path in &finished.traces {
        if let Ok(decoded) = decode(&std::fs::read(path)?, places) {
            record.add(&decoded, expected, places, config);
        }
    }
    Ok(record)
}

impl RunRecord {
    fn add(
        &mut self,
        decoded: &DecodedTrace,
        expected: Option<u64>,
        places: &Mutex<Places>,
        config: AnalyzerConfig,
    ) {
        let ended = ProcessEnd::of(decoded, places);
        let cause = ended.as_ref().map(|end| end.cause);
        self.ended_early |= cause == Some(EndCause::StepLimit);
        let failed = ended.filter(|end| end.cause.is_failure());
        self.failed.extend(failed.map(|end| FailedProcess {
            end,
            died_in: decoded.died_in.clone(),
        }));
        let stale = stale_accesses(decoded);
        self.taken
            .extend(stale.iter().filter_map(|one| one.as_choice(decoded)));
        self.races.extend(races(decoded, &stale, places, config));
        self.freed.extend(uses_of_freed_memory(decoded));
        for one in &stale {
            let same = expected == Some(prefix(&decoded.events[..one.at]));
            self.is_as_planned = Some(same && self.is_as_planned.unwrap_or(true));
        }
    }
}

/// An access that took an old write, by the numbers of events.
pub(super) struct StaleAccess {
    pub(super) at: usize,
    name: Option<AccessName>,
    pub(super) source: Option<AccessName>,
    pub(super) writer: Option<usize>,
}

/// All accesses of a process that took old writes.
pub(super) fn stale_accesses(decoded: &DecodedTrace) -> Vec<StaleAccess> {
    let Some(&(last, _)) = decoded.stale.last() else {
        return Vec::new();
    };
    let names = access_names(&decoded.events[..=last]);
    let numbers = names.iter().enumerate();
    let events: HashMap<AccessName, usize> = numbers
        .filter_map(|(event, name)| Some(((*name)?, event)))
        .collect();
    let accesses = decoded.stale.iter().map(|&(at, source)| StaleAccess {
        at,
        name: names[at],
        source,
        writer: source.and_then(|name| events.get(&name).copied()),
    });
    accesses.collect()
}

impl StaleAccess {
    fn as_choice(&self, decoded: &DecodedTrace) -> Option<TakenOld> {
        let event = &decoded.events[self.at];
        let value = match event.operation {
            Operation::Load { value, .. } => Some(value),
            Operation::Rmw { read, .. } | Operation::CompareExchange { read, .. } => Some(read),
            _ => None,
        };
        Some(TakenOld {
            target: StaleTarget {
                access: self.name?,
                source: self.source.map_or(TakenWrite::First, TakenWrite::Write),
                seed: None,
                process: Some(decoded.process),
            },
            thread: event.thread,
            site: event.site,
            writer: self.writer.map(|event| decoded.events[event].site),
            value,
        })
    }
}

/// The races of a run, with happens-before as the run really was.
fn races(
    decoded: &DecodedTrace,
    stale: &[StaleAccess],
    places: &Mutex<Places>,
    config: AnalyzerConfig,
) -> Vec<(RaceKey, SiteId, SiteId)> {
    let mut analyzer = Analyzer::new(AnalyzerConfig {
        races: true,
        ..config
    });
    for write in stale.iter().filter_map(|one| one.writer) {
        analyzer.keep_message_of(EventIndex(write as u64));
    }
    let mut stale = stale.iter().peekable();
    for (index, event) in decoded.events.iter().enumerate() {
        let number = EventIndex(index as u64);
        // An event that does not fit is left out, as in every other run.
        let _ = match stale.next_if(|one| one.at == index) {
            Some(one) => {
                let writer = one.writer.map(|event| EventIndex(event as u64));
                analyzer.feed_stale_at(number, event, writer)
            }
            None => analyzer.feed_at(number, event),
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
        | Operation::CompareExchange { location, .. } => decoded.bytes_of(location),
        _ => None,
    }
}

fn is_within(kept: &[Bytes], bytes: Bytes) -> bool {
    let after = kept.partition_point(|other| other.address < bytes.address + bytes.size);
    kept[..after]
        .last()
        .is_some_and(|other| bytes.address < other.address + other.size)
}
