//! A recorded run of an exploration as the steps that the explorer takes: what each
//! thread did between two choices, what threads wait for at the end, and what of the
//! run an exploration does not control.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use wmfix_analysis::explore::{Actor, Blocked, Mark, MarkKind, Run, Segment, run_of};
use wmfix_analysis::{CasOutcome, Event, LockId, LockMode, Operation, SiteId, ThreadId};
use wmfix_frontend::{Joint, LoopRole};
use wmfix_trace::{Cause, End, Ending, WaitsFor};

use super::decode::DecodedTrace;
use super::places::{Place, Places};
use super::refuted::refuted_waits;
use crate::symbols::readable_name;

/// After this many rounds a loop that is not known to wait is taken to go on until
/// something changes.
pub(crate) const MOST_ROUNDS: u32 = 8;

/// A run as steps.
#[derive(Debug)]
pub(crate) struct ExploredRun {
    /// The steps.
    pub run: Run,
    /// Loops that went round too often, not known to wait, or that the run shows not to.
    pub cut_loops: Vec<SiteId>,
    /// A thread waited for something whose order is not explored, or slept in a call
    /// that is not controlled.
    pub uncontrolled: Option<Uncontrolled>,
    /// Calls whose accesses nobody sees, and what the loader calls at the end.
    pub unseen: Vec<Unseen>,
    /// A signal ended it before its threads had: what these wait to do is not known.
    pub ended_early: bool,
}

/// Code that runs where another thread could notice it and whose accesses to memory nobody
/// sees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unseen {
    /// A function, as it is written, and where it is called.
    Call(String, SiteId),
    /// What the loader calls when the process ends.
    AtEnd,
}

/// What an exploration does not control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Uncontrolled {
    /// A call that sleeps in the kernel.
    Call,
    /// A message, or a time.
    Wait,
    /// Something whose orders are not explored, and where.
    At(SiteId),
}

/// The steps of a run that followed an assignment; nothing of any other.
pub(crate) fn explored(decoded: &DecodedTrace, places: &Mutex<Places>) -> Option<ExploredRun> {
    if !decoded.is_explored {
        return None;
    }
    let next = decoded.turns.iter().skip(1);
    let ends = next.map(|turn| (turn.first_event, turn.first_mark));
    let ends = ends.chain([(decoded.events.len(), decoded.marks.len())]);
    let mut segments: Vec<Segment<'_>> = decoded
        .turns
        .iter()
        .zip(ends)
        .map(|(turn, (event, mark))| Segment {
            actor: Actor {
                thread: turn.thread,
            },
            events: &decoded.events[turn.first_event..event],
            marks: &decoded.marks[turn.first_mark..mark],
            is_cut: false,
            waits_while: None,
        })
        .collect();
    let places = places.lock().expect("no panic while locked");
    find_rounds_of_waits(&mut segments, |site| waits_for_any(places.get(site)));
    let mut cut_loops = cut_loops(&mut segments);
    cut_loops.extend(refuted_waits(&decoded.events, &places));
    let run = run_of(segments.iter().copied(), &blocked(decoded));
    let uncontrolled = |turn: &super::decode::RecordedTurn| match turn.cause {
        Cause::Watchdog => Some(Uncontrolled::Call),
        Cause::Unexplored => Some(Uncontrolled::Wait),
        _ => None,
    };
    let called = decoded.unexplored.map(Uncontrolled::At);
    let waited = decoded.turns.iter().find_map(uncontrolled);
    Some(ExploredRun {
        run,
        cut_loops,
        uncontrolled: called.or(waited),
        unseen: decoded.unseen.iter().map(unseen).collect(),
        ended_early: ended_early(decoded),
    })
}

fn unseen((site, function): &(SiteId, String)) -> Unseen {
    match function.as_str() {
        "" => Unseen::AtEnd,
        name => Unseen::Call(readable_name(name), *site),
    }
}

/// Whether a signal ended the process while it had more than one thread.
fn ended_early(decoded: &DecodedTrace) -> bool {
    let count = |is: fn(&Operation) -> bool| {
        let events = decoded.events.iter();
        events.filter(|event| is(&event.operation)).count()
    };
    let started = count(|operation| matches!(operation, Operation::Create { .. }));
    let ended = count(|operation| matches!(operation, Operation::Exit));
    let killed = matches!(decoded.ending, Ending::Complete(End::Signal { .. }));
    killed && started > ended
}

/// Whether a place is in a loop that only waits, until one of several values is there.
fn waits_for_any(place: &Place) -> bool {
    match place.site.as_ref().map(|site| &site.role) {
        Some(LoopRole::Spin(exit)) => exit.joint == Joint::Any,
        _ => false,
    }
}

/// What threads wait to do at the end of a run.
fn blocked(decoded: &DecodedTrace) -> Vec<Blocked> {
    let mut last: HashMap<ThreadId, &Event> = HashMap::new();
    for event in decoded.events.iter().filter(|e| !is_plain(&e.operation)) {
        last.insert(event.thread, event);
    }
    let mut blocked: Vec<Event> = last
        .into_values()
        .filter(|event| event.operation.stays_in_loop())
        .copied()
        .collect();
    blocked.sort_by_key(|event| event.thread);
    let mut blocked: Vec<Blocked> = blocked.into_iter().map(Blocked::Event).collect();
    for (stuck, site, _) in &decoded.stuck {
        let (object, kind) = match stuck.waits_for {
            WaitsFor::Lock(object) => (object, MarkKind::Pass),
            WaitsFor::Semaphore(object) => (object, MarkKind::Take),
            // Who waits to be let go on comes after who lets it.
            _ => continue,
        };
        let thread = ThreadId(stuck.thread.0);
        let is_told = |mark: &Mark| mark.object == object && mark.kind.tells_all();
        if decoded.marks.iter().any(is_told) {
            blocked.push(Blocked::Mark(Mark {
                thread,
                site: *site,
                kind,
                object,
                state: 0,
            }));
        } else if kind == MarkKind::Pass {
            // Readers and writers of a lock wait alike: what a reader can do is more.
            blocked.push(Blocked::Event(Event {
                thread,
                site: *site,
                operation: Operation::Acquire {
                    lock: LockId(object),
                    mode: LockMode::Exclusive,
                },
            }));
        }
    }
    blocked
}

pub(super) fn is_plain(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Birth { .. }
            | Operation::Death { .. }
            | Operation::Read { .. }
            | Operation::Write { .. }
    )
}

/// What a thread finds again and again in a loop that is not known to wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Round {
    thread: ThreadId,
    site: SiteId,
    found: u64,
}

/// What a thread knows that goes round in a loop that is known to wait.
#[derive(Default)]
struct Waiting {
    /// What it found last at each place of the loop.
    found: HashMap<SiteId, u64>,
    /// The places at which it has found that again since anything changed.
    unchanged: HashSet<SiteId>,
}

impl Waiting {
    /// Takes what a read found. Gives what it had found there before, if every read of
    /// the round since then found the same as before.
    fn read(&mut self, site: SiteId, value: u64) -> Option<u64> {
        let before = self.found.insert(site, value);
        let waits_while = before.filter(|_| self.unchanged.contains(&site));
        match before == Some(value) {
            true => self.unchanged.insert(site),
            false => {
                self.unchanged.clear();
                false
            }
        };
        waits_while
    }
}

/// Finds the rounds of loops that only wait, for one of several values, before which
/// nothing had changed since the round before.
fn find_rounds_of_waits(segments: &mut [Segment<'_>], only_waits: impl Fn(SiteId) -> bool) {
    let mut threads: HashMap<ThreadId, Waiting> = HashMap::new();
    for segment in segments {
        let mut events = segment.events.iter().filter(|e| !is_plain(&e.operation));
        let (first, more) = (events.next(), events.next().is_some());
        if let Some(event) = first
            && segment.marks.is_empty()
            && let Operation::Load { value, .. } = event.operation
            && only_waits(event.site)
        {
            let waiting = threads.entry(event.thread).or_default();
            let found = waiting.read(event.site, value);
            // A round that goes on with what it found before is none that waits.
            segment.waits_while = found.filter(|&found| !more || value != found);
        } else if first.is_some() || !segment.marks.is_empty() {
            threads.remove(&ThreadId(segment.actor.thread));
        }
        if more {
            threads.remove(&ThreadId(segment.actor.thread));
        }
    }
}

/// Finds reads and attempts that a thread repeats although it finds the same every
/// time, and has them wait from some round on.
fn cut_loops(segments: &mut [Segment<'_>]) -> Vec<SiteId> {
    // What each thread found since it did anything else.
    let mut rounds: HashMap<Round, u32> = HashMap::new();
    let mut found = Vec::new();
    for segment in segments
        .iter_mut()
        .filter(|segment| segment.waits_while.is_none())
    {
        let mut again = Vec::new();
        // How a loop goes on that was cut is not asked for, either.
        let sites = segment
            .events
            .iter()
            .map(|event| (event.thread, event.site));
        let marked = segment.marks.iter().map(|mark| (mark.thread, mark.site));
        let is_cut = |(thread, site): (ThreadId, SiteId)| {
            rounds.iter().any(|(round, &count)| {
                (round.thread, round.site) == (thread, site) && count > MOST_ROUNDS
            })
        };
        segment.is_cut = sites.chain(marked).any(is_cut);
        let takes = |operation: &Operation| matches!(operation, Operation::Acquire { .. });
        let took = segment.events.iter().any(|event| takes(&event.operation));
        for mark in segment.marks {
            let tries = match mark.kind {
                MarkKind::TryExclusive | MarkKind::TryShared => !took,
                MarkKind::Try => mark.state == 0,
                MarkKind::Look | MarkKind::ReadWord => true,
                _ => false,
            };
            if tries {
                again.push(Round {
                    thread: mark.thread,
                    site: mark.site,
                    found: mark.object,
                });
            } else {
                rounds.retain(|round, _| round.thread != mark.thread);
            }
        }
        for event in segment.events {
            let read = match event.operation {
                operation if operation.stays_in_loop() || is_plain(&operation) => continue,
                Operation::Load { value, .. } => value,
                Operation::CompareExchange {
                    read,
                    outcome: CasOutcome::Failed,
                    ..
                } => read,
                _ => {
                    rounds.retain(|round, _| round.thread != event.thread);
                    continue;
                }
            };
            again.push(Round {
                thread: event.thread,
                site: event.site,
                found: read,
            });
        }
        for round in again {
            let count = rounds.entry(round).or_default();
            *count += 1;
            if *count > MOST_ROUNDS {
                segment.is_cut = true;
                if !found.contains(&round.site) {
                    found.push(round.site);
                }
            }
        }
    }
    found
}
