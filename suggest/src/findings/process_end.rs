//! How a process of the program came to its end, as its trace tells. Numbers and
//! names only: the report finds the words.

use std::sync::Mutex;

use wmfix_analysis::{Bytes, SiteId};
use wmfix_trace::{Corruption, End, Ending, WaitsFor};

use super::observation::variable_at;
use crate::observe::{DecodedTrace, Places};

/// The end of a process that did not exit by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessEnd {
    /// What ended it, or its trace.
    pub cause: EndCause,
    /// Threads that could not go on.
    pub stuck: Vec<StuckThread>,
}

/// Why a trace ends without an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndCause {
    /// A signal of this number killed the process.
    Signal(i32),
    /// Every thread waits for another one.
    Deadlock,
    /// Threads run, and none of them makes progress.
    Livelock,
    /// The trace could not be written any further.
    NoSpace {
        /// The system's error number.
        errno: i32,
    },
    /// The trace was as large as `--trace-limit` lets it be.
    TraceLimit,
    /// The run had taken as many steps as `--steps` lets it.
    StepLimit,
    /// The traces of the run were larger together than `--trace-limit` lets them be.
    AllTracesLimit,
    /// To read the run would take more memory than `--memory-limit` lets it.
    MemoryLimit,
    /// The trace ends within a record.
    Cut {
        /// Where the record begins.
        offset: usize,
    },
    /// The bytes are not those of a trace from here on.
    Corrupt {
        /// Where the record begins.
        offset: usize,
        /// What is wrong with it.
        what: Corruption,
    },
}

/// A thread that could not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StuckThread {
    /// Its number.
    pub thread: u32,
    /// The operation that it is in.
    pub site: SiteId,
    /// What it waits for.
    pub waits_for: WaitTarget,
}

/// What a stuck thread waits for, with the variable's name where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitTarget {
    /// A mutex, rwlock or spin lock.
    Lock(Option<String>),
    /// A condition variable.
    Condition(Option<String>),
    /// A semaphore.
    Semaphore(Option<String>),
    /// A barrier.
    Barrier(Option<String>),
    /// A futex.
    Futex(Option<String>),
    /// The end of the thread of this number.
    Thread(u32),
    /// A value that never comes: the thread reads the variable again and again.
    Value(Option<String>),
    /// Nothing: it could run.
    Nothing,
    /// A call that the scheduler does not control.
    Outside,
    /// A time that has not come.
    Time,
    /// A message through a pipe, a socket or the like, or a signal.
    Message,
}

impl EndCause {
    /// Whether the program is to blame: a crash, a deadlock or a livelock.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Signal(_) | Self::Deadlock | Self::Livelock)
    }

    /// Whether there is more of the run than could be checked, and nobody has asked for
    /// that.
    pub(crate) fn is_incomplete(self) -> bool {
        !self.is_failure() && self != Self::StepLimit
    }

    /// `None` for an exit, and for a trace that another process goes on with.
    fn of(ending: Ending) -> Option<Self> {
        Some(match ending {
            Ending::Complete(End::Exit { .. }) | Ending::Open => return None,
            Ending::Complete(End::Signal { number, .. }) => Self::Signal(number),
            Ending::Complete(End::Deadlock) => Self::Deadlock,
            Ending::Complete(End::Livelock) => Self::Livelock,
            Ending::Complete(End::NoSpace { errno }) => Self::NoSpace { errno },
            Ending::Complete(End::LimitReached) => Self::TraceLimit,
            Ending::Complete(End::StepLimit) => Self::StepLimit,
            Ending::Cut { offset } => Self::Cut { offset },
            Ending::Corrupt { offset, what } => Self::Corrupt { offset, what },
        })
    }
}

impl ProcessEnd {
    /// A trace that was not read to its end.
    pub(super) fn limited(cause: EndCause) -> Self {
        Self {
            cause,
            stuck: Vec::new(),
        }
    }

    /// How the process of a trace ended, if not by itself.
    pub(crate) fn of(decoded: &DecodedTrace, places: &Mutex<Places>) -> Option<Self> {
        let cause = EndCause::of(decoded.ending)?;
        let stuck = decoded.stuck.iter().map(|(stuck, site, _)| StuckThread {
            thread: stuck.thread.0,
            site: *site,
            waits_for: WaitTarget::of(stuck.waits_for, decoded, places),
        });
        Some(Self {
            cause,
            stuck: stuck.collect(),
        })
    }
}

impl WaitTarget {
    fn of(waits_for: WaitsFor, decoded: &DecodedTrace, places: &Mutex<Places>) -> Self {
        // All of it, however large it is.
        let size = u64::MAX;
        let name = |address| variable_at(Bytes { address, size }, decoded, places);
        match waits_for {
            WaitsFor::Lock(address) => Self::Lock(name(address)),
            WaitsFor::Condition(address) => Self::Condition(name(address)),
            WaitsFor::Semaphore(address) => Self::Semaphore(name(address)),
            WaitsFor::Barrier(address) => Self::Barrier(name(address)),
            WaitsFor::Futex(address) => Self::Futex(name(address)),
            WaitsFor::Thread(thread) => Self::Thread(thread.0),
            WaitsFor::Value(location) => {
                let location = decoded.locations.get(location.0 as usize);
                Self::Value(location.and_then(|location| name(location.address)))
            }
            WaitsFor::Nothing => Self::Nothing,
            WaitsFor::Outside => Self::Outside,
            WaitsFor::Time => Self::Time,
            WaitsFor::Descriptor(_) => Self::Message,
        }
    }
}
