//! Whether happens-before orders one event of a sequence before the last one:
//! what one event makes known, followed through the sequence rule by rule.

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::counts;
use crate::event::{CasOutcome, Event, LocationId, LockId, LockMode, Operation, ThreadId};
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// Whether the first event happens before the last one of the sequence.
pub(super) fn orders<'a>(
    sequence: impl Iterator<Item = (usize, &'a Event)>,
    first: usize,
    last: usize,
) -> bool {
    let mut knowledge = Knowledge::default();
    for (index, event) in sequence {
        if index == last {
            return knowledge.of(event.thread).knows;
        }
        if index == first {
            knowledge.threads.entry(event.thread).or_default().knows = true;
        }
        if counts(event) {
            knowledge.step(event);
        }
    }
    false
}

/// Who knows of the first event.
#[derive(Debug, Default)]
struct Knowledge {
    threads: FxHashMap<ThreadId, ThreadKnowledge>,
    /// Locations whose last write hands it on to an acquire that reads it.
    locations: FxHashSet<LocationId>,
    /// Locks that hand it on, by how it was left there.
    from_owners: FxHashSet<LockId>,
    from_readers: FxHashSet<LockId>,
    signals: FxHashSet<LockId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ThreadKnowledge {
    /// The event happens before what the thread does next.
    knows: bool,
    /// It would, after an acquire fence.
    acquirable: bool,
    /// It happens before the thread's last release fence.
    fenced: bool,
}

impl Knowledge {
    fn of(&self, thread: ThreadId) -> ThreadKnowledge {
        self.threads.get(&thread).copied().unwrap_or_default()
    }

    fn step(&mut self, event: &Event) {
        let mut own = self.of(event.thread);
        match event.operation {
            Operation::Load {
                location, order, ..
            } => self.read(&mut own, location, order),
            Operation::Store {
                location, order, ..
            } => self.write(own, location, order),
            Operation::Rmw {
                location, order, ..
            } => self.rmw(&mut own, location, order),
            Operation::CompareExchange {
                location,
                success,
                failure,
                outcome,
                ..
            } => match outcome {
                CasOutcome::Exchanged(_) => self.rmw(&mut own, location, success),
                CasOutcome::Failed => self.read(&mut own, location, failure),
            },
            Operation::Fence { order } => fence(&mut own, order),
            Operation::Create { child } => {
                self.threads.entry(child).or_default().knows |= own.knows;
            }
            Operation::Join { child } => own.knows |= self.of(child).knows,
            Operation::Acquire { lock, mode } => {
                let from = match mode {
                    LockMode::Exclusive => {
                        self.from_owners.contains(&lock) || self.from_readers.contains(&lock)
                    }
                    LockMode::Shared => self.from_owners.contains(&lock),
                    LockMode::Signal => self.signals.contains(&lock),
                };
                own.knows |= from;
            }
            Operation::Release { lock, mode } => {
                if own.knows {
                    match mode {
                        LockMode::Exclusive => self.from_owners.insert(lock),
                        LockMode::Shared => self.from_readers.insert(lock),
                        LockMode::Signal => self.signals.insert(lock),
                    };
                }
            }
            Operation::Birth { location, .. } => {
                self.locations.remove(&location);
            }
            // A plain write begins no release sequence; what it overwrites is
            // found again by its bytes only, and a race with it is one anyway.
            Operation::Exit
            | Operation::Death { .. }
            | Operation::Read { .. }
            | Operation::Write { .. } => {}
        }
        own.acquirable |= own.knows;
        self.threads.insert(event.thread, own);
    }

    fn read(&self, own: &mut ThreadKnowledge, location: LocationId, order: LoadOrder) {
        let found = self.locations.contains(&location);
        own.acquirable |= found;
        own.knows |= found && order.acquires();
    }

    /// A store begins a new release sequence, or ends one.
    fn write(&mut self, own: ThreadKnowledge, location: LocationId, order: StoreOrder) {
        let hands_on = if order.releases() {
            own.knows
        } else {
            own.fenced
        };
        if hands_on {
            self.locations.insert(location);
        } else {
            self.locations.remove(&location);
        }
    }

    /// A read-modify-write continues a release sequence.
    fn rmw(&mut self, own: &mut ThreadKnowledge, location: LocationId, order: RmwOrder) {
        let found = self.locations.contains(&location);
        own.acquirable |= found;
        own.knows |= found && order.acquires();
        let hands_on = if order.releases() {
            own.knows
        } else {
            own.fenced
        };
        if hands_on {
            self.locations.insert(location);
        }
    }
}

fn fence(own: &mut ThreadKnowledge, order: FenceOrder) {
    if order.acquires() {
        own.knows |= own.acquirable;
    }
    if order.releases() {
        own.fenced = own.knows;
    }
}
