//! What the processes of a run did, but for what one access read: runs with the same
//! conduct differ in nothing else. If a run with a stale value has the conduct of the
//! run with the newest one, then whatever came of it comes of a sequentially
//! consistent run, too: the value made no difference.

use std::hash::{DefaultHasher, Hash, Hasher};

use wmfix_analysis::{CasOutcome, Event, Operation};

use crate::observe::DecodedTrace;

/// An access of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// The process that made it.
    pub(super) process: u64,
    /// The number of its event.
    pub(super) at: usize,
}

/// What the processes of a run did.
#[derive(Clone, Debug, Default)]
pub(super) struct Conduct {
    processes: Vec<(u64, u64)>,
    /// Something that was stored is not known, or the access does more than read.
    is_incomparable: bool,
}

impl Conduct {
    /// Adds a process.
    pub(super) fn add(&mut self, decoded: &DecodedTrace, moment: Moment) {
        let mut hasher = DefaultHasher::new();
        for (index, event) in decoded.events.iter().enumerate() {
            if (decoded.process, index) == (moment.process, moment.at) {
                let event = without_value(event);
                self.is_incomparable |= event.is_none();
                event.hash(&mut hasher);
            } else {
                event.hash(&mut hasher);
            }
        }
        decoded.stored.hash(&mut hasher);
        let mut stored = decoded.stored.iter();
        self.is_incomparable |= stored.any(|stored| stored.digest.is_none());
        self.processes.push((decoded.process, hasher.finish()));
        self.processes.sort_unstable();
    }

    /// Whether the processes of the other run did the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_comparable = !self.is_incomparable && !other.is_incomparable;
        is_comparable && !self.processes.is_empty() && self.processes == other.processes
    }
}

/// Whether an event is an access that only reads.
pub(super) fn is_only_read(event: &Event) -> bool {
    without_value(event).is_some()
}

/// An access that only reads, without what it read; `None` for any other.
fn without_value(event: &Event) -> Option<Event> {
    let mut event = *event;
    match &mut event.operation {
        Operation::Load { value, .. } => *value = 0,
        Operation::CompareExchange {
            read,
            outcome: CasOutcome::Failed,
            ..
        } => *read = 0,
        _ => return None,
    }
    Some(event)
}
