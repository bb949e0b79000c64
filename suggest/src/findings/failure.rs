//! Runs that failed: how, where their threads stood, and how often. A program that
//! deadlocks, crashes or fails under some schedules is a finding by itself. Numbers
//! and names only: the report finds the words.

use std::sync::Mutex;

use wmfix_analysis::{Bytes, SiteId};
use wmfix_trace::{End, Ending, MisuseKind, RecordedOperation};

use super::observation::variable_at;
use super::process_end::{EndCause, ProcessEnd, WaitTarget};
use crate::observe::{CallChain, DecodedTrace, Places};
use crate::run::RunEnd;
use crate::symbols::Frame;

/// How a run failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FailureKind {
    /// A lock was used as it must not be used.
    Misuse,
    /// Every thread waits for another one.
    Deadlock,
    /// Threads run, and none of them makes progress.
    Livelock,
    /// A signal of this number killed it.
    Signal(i32),
    /// It ended with this code, which says that it failed.
    Exit(i32),
    /// It took too long and was killed.
    Timeout,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFailure {
    /// How.
    pub kind: FailureKind,
    /// Where its threads stood, as far as that is known.
    pub threads: Vec<FailedThread>,
}

/// A thread of a process that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedThread {
    /// Its number.
    pub thread: u32,
    /// The operation that it was in, or the last one that it came to.
    pub site: SiteId,
    /// What it did there.
    pub doing: Doing,
    /// The calls that led there, innermost first, where they are known better than by
    /// the place; of a signal, where it came is the first of them.
    pub callers: Option<Vec<Frame>>,
}

/// What a thread did when its process failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It waited.
    Waits(WaitTarget),
    /// It used a lock, of this name, as it must not be used.
    Misuses(MisuseKind, Option<String>),
    /// It got the signal here.
    Signalled,
    /// It got the signal after this, somewhere that has no source.
    SignalledLater,
}

/// Runs that failed in the same way, and how often.
#[derive(Clone, Debug)]
pub(crate) struct FailureFinding {
    /// Which of the programs.
    pub program: usize,
    /// The first of them.
    pub first: RunFailure,
    /// How many runs.
    pub runs: u64,
    /// The seed of the first.
    pub seed: u64,
    /// The end of what the first printed.
    pub output: String,
}

impl RunFailure {
    /// How a process failed, if it did.
    pub(crate) fn of_process(
        end: &ProcessEnd,
        decoded: &DecodedTrace,
        places: &Mutex<Places>,
    ) -> Option<Self> {
        let kind = match end.cause {
            EndCause::Deadlock => FailureKind::Deadlock,
            EndCause::Livelock => FailureKind::Livelock,
            EndCause::Signal(number) => FailureKind::Signal(number),
            EndCause::NoSpace { .. }
            | EndCause::TraceLimit
            | EndCause::StepLimit
            | EndCause::AllTracesLimit
            | EndCause::MemoryLimit
            | EndCause::Cut { .. }
            | EndCause::Corrupt { .. } => return None,
        };
        let callers = decoded.stuck.iter().map(|(_, _, callers)| callers);
        let stuck = end.stuck.iter().zip(callers);
        let stuck = stuck.map(|(stuck, callers)| FailedThread {
            thread: stuck.thread,
            site: stuck.site,
            doing: Doing::Waits(stuck.waits_for.clone()),
            callers: Some(callers.clone()),
        });
        let signalled = signalled(decoded, places);
        Some(Self {
            kind,
            threads: signalled.into_iter().chain(stuck).collect(),
        })
    }

    /// The locks that a process misused, a failure for each place.
    pub(crate) fn misuses(decoded: &DecodedTrace, places: &Mutex<Places>) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (misuse, site, callers) in &decoded.misuses {
            let bytes = Bytes {
                address: misuse.lock,
                size: u64::MAX,
            };
            let name = variable_at(bytes, decoded, places);
            let failure = Self {
                kind: FailureKind::Misuse,
                threads: vec![FailedThread {
                    thread: misuse.thread.0,
                    site: *site,
                    doing: Doing::Misuses(misuse.kind, name),
                    callers: Some(callers.clone()),
                }],
            };
            if !found.iter().any(|known| known.is_like(&failure)) {
                found.push(failure);
            }
        }
        found
    }

    /// How a run failed: as its processes did, or as its end says. `must_pass` says
    /// that an exit code other than 0 is a failure.
    pub(crate) fn of_run(ended: RunEnd, processes: &[Self], must_pass: bool) -> Option<Self> {
        // A test that passes has expected the end of its child.
        let expected = must_pass && ended == RunEnd::Exited(0);
        let mut processes = processes.iter();
        let of_process = processes.find(|failure| match failure.kind {
            FailureKind::Signal(_) => !expected,
            _ => true,
        });
        let of_end = |kind| Self {
            kind,
            threads: Vec::new(),
        };
        match ended {
            RunEnd::OutOfTime | RunEnd::Interrupted | RunEnd::TooLarge => None,
            RunEnd::TimedOut => Some(of_end(FailureKind::Timeout)),
            _ if of_process.is_some() => of_process.cloned(),
            RunEnd::Signalled(number) => Some(of_end(FailureKind::Signal(number))),
            RunEnd::Exited(code) if code != 0 && must_pass => Some(of_end(FailureKind::Exit(code))),
            RunEnd::Exited(_) => None,
        }
    }

    /// Whether another run failed in the same way: its threads have other numbers
    /// in every schedule, but stand at the same places.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let places = |failure: &Self| {
            let threads = failure.threads.iter().map(|thread| thread.site);
            let mut sites: Vec<SiteId> = threads.collect();
            sites.sort();
            sites.dedup();
            sites
        };
        self.kind == other.kind && places(self) == places(other)
    }
}

/// The thread that got the signal, and where.
fn signalled(decoded: &DecodedTrace, places: &Mutex<Places>) -> Option<FailedThread> {
    let Ending::Complete(End::Signal { thread, pc, .. }) = decoded.ending else {
        return None;
    };
    let mut events = decoded.events.iter().rev();
    let last = events.find(|event| event.thread.0 == thread.0);
    if let Some(last) = last.filter(|_| !decoded.died_in.is_empty()) {
        return Some(FailedThread {
            thread: thread.0,
            site: last.site,
            doing: Doing::Signalled,
            callers: Some(decoded.died_in.clone()),
        });
    }
    let at_signal = decoded.modules.find(pc).and_then(|address| {
        let mut places = places.lock().expect("no panic while locked");
        let chain = CallChain::new(Some(address));
        let site = places.resolve(&chain, &RecordedOperation::Exit).site;
        places.get(site).point.is_some().then_some(site)
    });
    if let Some(site) = at_signal {
        return Some(FailedThread {
            thread: thread.0,
            site,
            doing: Doing::Signalled,
            callers: None,
        });
    }
    Some(FailedThread {
        thread: thread.0,
        site: last?.site,
        doing: Doing::SignalledLater,
        callers: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: FailureKind, sites: &[u32]) -> RunFailure {
        let threads = (1..).zip(sites).map(|(thread, &site)| FailedThread {
            thread,
            site: SiteId(site),
            doing: Doing::Waits(WaitTarget::Nothing),
            callers: None,
        });
        RunFailure {
            kind,
            threads: threads.collect(),
        }
    }

    #[test]
    fn a_test_that_passes_expected_the_crash_of_its_child() {
        let crash = [failure(FailureKind::Signal(6), &[])];
        assert_eq!(RunFailure::of_run(RunEnd::Exited(0), &crash, true), None);
        let failed = RunFailure::of_run(RunEnd::Exited(1), &crash, true);
        assert_eq!(failed.map(|one| one.kind), Some(FailureKind::Signal(6)));
        let deadlock = [failure(FailureKind::Deadlock, &[1, 2])];
        let found = RunFailure::of_run(RunEnd::Exited(0), &deadlock, true);
        assert_eq!(found.map(|one| one.kind), Some(FailureKind::Deadlock));
    }

    #[test]
    fn an_exit_code_is_a_failure_of_tests_only() {
        let of = |must_pass| RunFailure::of_run(RunEnd::Exited(3), &[], must_pass);
        assert_eq!(of(true).map(|one| one.kind), Some(FailureKind::Exit(3)));
        assert_eq!(of(false), None);
    }

    #[test]
    fn the_same_places_are_the_same_failure_whoever_stands_there() {
        let one = failure(FailureKind::Deadlock, &[4, 7]);
        assert!(one.is_like(&failure(FailureKind::Deadlock, &[7, 4])));
        assert!(!one.is_like(&failure(FailureKind::Deadlock, &[4, 8])));
        assert!(!one.is_like(&failure(FailureKind::Livelock, &[4, 7])));
    }
}
