//! One run with stale choices: what it came to, and what became of the choices.

use std::collections::HashMap;
use std::sync::Mutex;

use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Bytes, Event, EventIndex, Operation, SiteId, ThreadId,
};
use wmfix_trace::{AccessName, StaleTarget, TakenWrite};

use super::FailedProcess;
use super::access::Access;
use super::choices::{access_names, prefix};
use super::conduct::{Conduct, Moment};
use super::delayed::is_delayed;
use super::discard::{is_discarded, is_same_variable};
use super::effects::Effects;
use super::noise::Noise;
use super::other_schedule::OtherSchedule;
use super::printed::Printed;
use super::sequential::{is_sequential, next_write};
use super::unseen::UnseenWrites;
use crate::findings::{EndCause, ProcessEnd, RaceKey, race_key};
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
    /// What it printed.
    pub(super) printed: Printed,
    /// The end of what was printed.
    pub(super) last_words: String,
    /// What became of the stale choice; `None` if none was made.
    pub(super) choice: Option<ChoiceRecord>,
    /// Every access that took an old write, in the order of each process.
    pub(super) taken: Vec<TakenOld>,
    /// What it did, but for what the access read that took an old write, or that
    /// would have.
    pub(super) conduct: Conduct,
    /// What of that others could notice.
    pub(super) effects: Effects,
    /// For a choice whose value was used: schedules that may do the same without it.
    pub(super) others: Vec<OtherSchedule>,
}

/// A stale choice that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChoiceRecord {
    /// The run up to it was the one in which it is known to be allowed.
    pub(super) as_planned: bool,
    /// Its value was thrown away.
    pub(super) discarded: bool,
    /// When it was made.
    pub(super) moment: Moment,
    /// The thread came to its place more than once.
    pub(super) is_repeated: bool,
    /// An interleaving has the same run, but for attempts that were given up.
    pub(super) is_sequential: bool,
}

impl ChoiceRecord {
    /// Whether only other runs can tell what came of it.
    fn is_open(&self) -> bool {
        self.as_planned && self.is_repeated && !self.discarded && !self.is_sequential
    }
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

/// What is known of a run before it is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expectation {
    /// Nothing.
    None,
    /// It makes a choice, and this is what the run is up to it, as
    /// [`prefix`] says.
    Choice(u64),
    /// It makes none, and is held against one that made a choice there.
    Control(Moment),
    /// It makes none, and follows a schedule of its own to what one that made a choice
    /// did.
    OtherSchedule,
}

/// Looks at a finished run.
pub(super) fn examine(
    finished: &FinishedRun,
    expected: Expectation,
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
        printed: Printed::of(&printed),
        last_words: printable(&String::from_utf8_lossy(&printed[end..])),
        choice: None,
        taken: Vec::new(),
        conduct: Conduct::default(),
        effects: Effects::default(),
        others: Vec::new(),
    };
    let mut processes = Vec::new();
    let mut traces = Vec::new();
    for path in &finished.traces {
        let bytes = std::fs::read(path)?;
        processes.extend(decode(&bytes, places));
        traces.push(bytes);
    }
    let unseen: Vec<UnseenWrites> = processes.iter().map(unseen_writes).collect();
    for (decoded, unseen) in processes.iter().zip(&unseen) {
        record.add(decoded, unseen, expected, places, config);
    }
    let moment = match expected {
        Expectation::Control(moment) => Some(moment),
        _ => record.choice.map(|choice| choice.moment),
    };
    if moment.is_some() || matches!(expected, Expectation::OtherSchedule) {
        for (decoded, unseen) in processes.iter().zip(&unseen) {
            if let Some(moment) = moment {
                record.conduct.add(decoded, moment);
            }
            record.effects.add(decoded, moment, unseen);
        }
        record.effects.may_go_on = record.ended_early;
    }
    // A schedule is one process's.
    if let (Some(choice), [decoded], [trace]) = (record.choice, &processes[..], &traces[..])
        && choice.is_open()
    {
        record.others = other_schedules(decoded, trace);
    }
    Ok(record)
}

/// The schedules that may do the same as a run in which one access took an old write.
fn other_schedules(decoded: &DecodedTrace, trace: &[u8]) -> Vec<OtherSchedule> {
    let [stale] = &stale_accesses(decoded)[..] else {
        return Vec::new();
    };
    let at = stale.at;
    let access = Access::of(&decoded.events[at].operation);
    let is_known = stale.source.is_some() == stale.writer.is_some();
    let newer = access.filter(|_| is_known).and_then(|access| {
        let before = &decoded.events[..at];
        next_write(before, access.location(), stale.writer)
    });
    OtherSchedule::all(trace, decoded, newer, at)
}

fn unseen_writes(decoded: &DecodedTrace) -> UnseenWrites {
    UnseenWrites::of(&decoded.events, |location| decoded.bytes_of(location))
}

impl RunRecord {
    /// Whether nobody could tell this run from the other by what it printed and did, but
    /// for noise.
    pub(super) fn looks_like(&self, other: &Self, noise: &Noise) -> bool {
        let printed_same = other.ended_early || self.printed.is_same(&other.printed, noise);
        printed_same && self.effects.are_same(&other.effects, noise)
    }

    fn add(
        &mut self,
        decoded: &DecodedTrace,
        unseen: &UnseenWrites,
        expected: Expectation,
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
        let same_variable = |one, other| is_same_variable(places, one, other);
        for one in &stale {
            let at = one.at;
            let same = matches!(expected, Expectation::Choice(expected)
                if prefix(&decoded.events[..at]) == expected);
            let process = decoded.process;
            let choice = ChoiceRecord {
                as_planned: same && self.choice.is_none_or(|choice| choice.as_planned),
                discarded: is_discarded(&decoded.events, at, unseen, same_variable)
                    && self.choice.is_none_or(|choice| choice.discarded),
                moment: Moment { process, at },
                is_repeated: is_repeated(&decoded.events, at),
                is_sequential: one.is_sequential(decoded, unseen)
                    && self.choice.is_none_or(|choice| choice.is_sequential),
            };
            self.choice = Some(choice);
        }
    }
}

/// Whether the thread of an event came to its place more than once: what is looked at
/// again and again is not kept. A value that is read once may be, where no event tells.
fn is_repeated(events: &[Event], at: usize) -> bool {
    let (thread, site) = (events[at].thread, events[at].site);
    let same = events
        .iter()
        .filter(|event| (event.thread, event.site) == (thread, site));
    same.take(2).count() == 2
}

/// An access that took an old write, by the numbers of events.
struct StaleAccess {
    at: usize,
    name: Option<AccessName>,
    source: Option<AccessName>,
    writer: Option<usize>,
}

/// All accesses of a process that took old writes.
fn stale_accesses(decoded: &DecodedTrace) -> Vec<StaleAccess> {
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
    fn is_sequential(&self, decoded: &DecodedTrace, unseen: &UnseenWrites) -> bool {
        let bytes_of = |location| decoded.bytes_of(location);
        // The write has a name unless it is the first value, and is then known.
        self.source.is_some() == self.writer.is_some()
            && (is_sequential(&decoded.events, self.at, self.writer, unseen, bytes_of)
                || is_delayed(&decoded.events, self.at, unseen, bytes_of))
    }

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
