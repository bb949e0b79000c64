//! When to stop: a time budget, and a flag that the caller may set.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::RepairError;
use crate::outcome::SearchEnd;

/// What ends the search before it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop<'a> {
    deadline: Option<Instant>,
    cancel: Option<&'a AtomicBool>,
}

/// Why a step of the search has no result.
#[derive(Debug)]
pub(crate) enum Halt {
    /// It was stopped.
    Stopped,
    /// It cannot go on.
    Failed(RepairError),
}

impl From<RepairError> for Halt {
    fn from(error: RepairError) -> Self {
        Self::Failed(error)
    }
}

impl<'a> Stop<'a> {
    pub(crate) fn new(budget: Option<Duration>, cancel: Option<&'a AtomicBool>) -> Self {
        Self {
            // A budget too long to add is none.
            deadline: budget.and_then(|budget| Instant::now().checked_add(budget)),
            cancel,
        }
    }

    /// The same without a deadline.
    pub(crate) fn without_deadline(self) -> Self {
        Self {
            deadline: None,
            ..self
        }
    }

    /// The same with a quarter of the time that is left kept for what comes later.
    pub(crate) fn with_part_of_the_time(self) -> Self {
        let deadline = self.deadline.zip(self.left());
        Self {
            deadline: deadline.map(|(deadline, left)| deadline - left / 4),
            ..self
        }
    }

    /// The same with at least a quarter of the whole budget left from now on.
    pub(crate) fn with_grace(self, budget: Option<Duration>) -> Self {
        let grace = budget.and_then(|budget| Instant::now().checked_add(budget / 4));
        Self {
            deadline: self.deadline.max(grace).filter(|_| budget.is_some()),
            ..self
        }
    }

    /// Whether to stop now.
    pub(crate) fn check(&self) -> Result<(), Halt> {
        let stopped = self.cancelled() || self.left() == Some(Duration::ZERO);
        if stopped { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// How much time is left; `None` for any amount.
    pub(crate) fn left(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// How a search that was stopped ended.
    pub(crate) fn reason(&self) -> SearchEnd {
        if self.cancelled() {
            SearchEnd::Cancelled
        } else {
            SearchEnd::OutOfTime
        }
    }

    fn cancelled(&self) -> bool {
        // The flag says nothing about other memory.
        self.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
