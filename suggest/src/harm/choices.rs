//! From a violation and the trace that showed it to the stale choices that make it
//! happen: every time it occurred in that run, a few are taken, each with the
//! writes that the memory model lets it take.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use wmfix_analysis::weak::{StaleChoice, StaleSource, choices};
use wmfix_analysis::witness::{Machine, machines};
use wmfix_analysis::{
    Analyzer, AnalyzerConfig, CasOutcome, Event, EventIndex, Operation, SiteId, Violation,
};
use wmfix_trace::{AccessName, StaleTarget, TakenWrite, ThreadId};

use crate::findings::ViolationKey;
use crate::observe::{DecodedTrace, Places};

/// Of the times that a violation occurred in a run, this many are tried.
const MOST_OCCURRENCES: usize = 6;

/// Of the writes that one access could take, this many are tried.
const MOST_WRITES: usize = 3;

/// A stale choice that a run can be directed to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The seed of the run that it is a choice of.
    pub(super) seed: u64,
    /// The choice, without a seed for what follows.
    pub(super) target: StaleTarget,
    /// Equal for runs that are the same up to the access.
    pub(super) prefix: u64,
    /// The most ordered of the machines that can show it.
    pub(super) machine: Machine,
}

/// The choices that make a violation happen in a run.
pub(super) fn candidates(
    key: ViolationKey,
    seed: u64,
    decoded: &DecodedTrace,
    places: &Mutex<Places>,
    config: AnalyzerConfig,
) -> Vec<Candidate> {
    let names = access_names(&decoded.events);
    let mut found = Vec::new();
    for mut violation in spread(occurrences(decoded, key, places, config)) {
        violation.stale = few(&violation);
        let Ok(choices) = choices(&decoded.events, &violation, config.model) else {
            continue;
        };
        let all = choices.iter();
        found.extend(all.filter_map(|(choice, witness)| {
            let candidate = candidate(choice, seed, decoded, &names)?;
            let shown_by = machines(witness, &decoded.events);
            let machine = shown_by.into_iter().min().unwrap_or(Machine::C11);
            Some(Candidate {
                machine,
                ..candidate
            })
        }));
    }
    found
}

/// The names of the atomic accesses of a run, by the numbers of their events.
pub(super) fn access_names(events: &[Event]) -> Vec<Option<AccessName>> {
    let mut counts = std::collections::HashMap::new();
    let named = events.iter().map(|event| {
        is_access(&event.operation).then(|| {
            let number = counts.entry(event.thread).or_insert(0);
            *number += 1;
            AccessName {
                thread: ThreadId(event.thread.0),
                number: *number,
            }
        })
    });
    named.collect()
}

/// Equal for runs whose threads did the same in the same order, as far as the
/// memory model can tell: values may differ, since addresses do.
pub(super) fn prefix(events: &[Event]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for event in events {
        let outcome = match event.operation {
            Operation::Read { .. }
            | Operation::Write { .. }
            | Operation::Birth { .. }
            | Operation::Death { .. } => continue,
            Operation::Load { location, .. }
            | Operation::Store { location, .. }
            | Operation::Rmw { location, .. } => location.0,
            Operation::CompareExchange {
                location, outcome, ..
            } => location.0 ^ (u32::from(outcome == CasOutcome::Failed) << 31),
            _ => u32::MAX,
        };
        std::mem::discriminant(&event.operation).hash(&mut hasher);
        (event.thread, event.site, outcome).hash(&mut hasher);
    }
    hasher.finish()
}

fn is_access(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Rmw { .. }
            | Operation::CompareExchange { .. }
    )
}

/// Every time that the violation occurred in the run. Each event gets a site of its
/// own, so that the analyzer keeps all of them.
fn occurrences(
    decoded: &DecodedTrace,
    key: ViolationKey,
    places: &Mutex<Places>,
    config: AnalyzerConfig,
) -> Vec<Violation> {
    let events = &decoded.events;
    let mut analyzer = Analyzer::new(AnalyzerConfig {
        races: false,
        ..config
    });
    let mut found = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let Ok(number) = u32::try_from(index) else {
            break;
        };
        let own = Event {
            site: SiteId(number),
            ..*event
        };
        if let Ok(step) = analyzer.feed_at(EventIndex(index as u64), &own)
            && let Some(violation) = step.violation
        {
            found.push(analyzer.violations()[violation].violation.clone());
        }
    }
    let places = places.lock().expect("no panic while locked");
    let shown = |site: SiteId| places.get(events[site.0 as usize].site).reported_site;
    found.retain(|violation| {
        let newer = violation.newer.origin.map(|(_, site)| shown(site));
        (shown(violation.site), newer, violation.kind) == key
    });
    found
}

/// A few of the occurrences: those whose difference can be seen in the value first,
/// and spread over the run.
fn spread(mut occurrences: Vec<Violation>) -> Vec<Violation> {
    occurrences.sort_by_key(|violation| violation.same_value);
    let telling = occurrences.iter().filter(|v| !v.same_value).count();
    if telling > 0 {
        occurrences.truncate(telling);
    }
    let every = occurrences.len().div_ceil(MOST_OCCURRENCES).max(1);
    occurrences.into_iter().step_by(every).collect()
}

/// A few of the writes that an access could take: with values of their own, the
/// newest and the oldest among them.
fn few(violation: &Violation) -> Vec<wmfix_analysis::WriteRef> {
    let mut writes = violation.stale.clone();
    writes.reverse();
    let mut seen = Vec::new();
    writes.retain(|write| {
        let is_new = !seen.contains(&write.value);
        seen.push(write.value);
        is_new
    });
    if writes.len() > MOST_WRITES {
        let oldest = writes[writes.len() - 1];
        writes.truncate(MOST_WRITES - 1);
        writes.push(oldest);
    }
    // Oldest first, as violations have them.
    writes.sort_by_key(|write| write.event);
    writes
}

fn candidate(
    choice: &StaleChoice,
    seed: u64,
    decoded: &DecodedTrace,
    names: &[Option<AccessName>],
) -> Option<Candidate> {
    let access = usize::try_from(choice.access.0).ok()?;
    if let Operation::CompareExchange { expected, .. } = decoded.events[access].operation
        && choice.read == Some(expected)
        && !choice.writes
    {
        // A weak one that fails although it reads what it expects: no value that
        // the runtime could return says so.
        return None;
    }
    let source = match choice.taken {
        StaleSource::First => TakenWrite::First,
        StaleSource::Event(event) => TakenWrite::Write(names[usize::try_from(event.0).ok()?]?),
        StaleSource::Unseen => return None,
    };
    Some(Candidate {
        seed,
        target: StaleTarget {
            access: names[access]?,
            source,
            seed: None,
            process: Some(decoded.process),
        },
        prefix: prefix(&decoded.events[..access]),
        machine: Machine::C11,
    })
}
