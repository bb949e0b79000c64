//! Whether happens-before orders one event of a sequence before the last one:
//! what one event makes known, followed through the sequence rule by rule.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::facts::counts;
use crate::event::{CasOutcome, Event, LocationId, LockId, LockMode, Operation, ThreadId};
use crate::model::ReleaseSequences;
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// Whether the first event happens before the last one of the sequence.
pub(super) fn orders<'a>(
    sequence: impl Iterator<Item = (usize, &'a Event)>,
    first: usize,
    last: usize,
    rule: ReleaseSequences,
) -> bool {
    let mut knowledge = Knowledge::new(rule);
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
#[derive(Debug)]
struct Knowledge {
    rule: ReleaseSequences,
    threads: FxHashMap<ThreadId, ThreadKnowledge>,
    /// Locations whose last write hands it on to an acquire that reads it, with the
    /// threads of the heads that do, of the release sequences that the write is in.
    locations: FxHashMap<LocationId, SmallVec<[ThreadId; 1]>>,
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
    fn new(rule: ReleaseSequences) -> Self {
        Self {
            rule,
            threads: FxHashMap::default(),
            locations: FxHashMap::default(),
            from_owners: FxHashSet::default(),
            from_readers: FxHashSet::default(),
            signals: FxHashSet::default(),
        }
    }

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
            } => self.write(event.thread, own, location, order),
            Operation::Rmw {
                location, order, ..
            } => self.rmw(event.thread, &mut own, location, order),
            Operation::CompareExchange {
                location,
                success,
                failure,
                outcome,
                ..
            } => match outcome {
                CasOutcome::Exchanged(_) => self.rmw(event.thread, &mut own, location, success),
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
        let found = self.locations.contains_key(&location);
        own.acquirable |= found;
        own.knows |= found && order.acquires();
    }

    /// A store begins a new release sequence, and ends the others; by C++17's rule not
    /// those of its own thread.
    fn write(
        &mut self,
        thread: ThreadId,
        own: ThreadKnowledge,
        location: LocationId,
        order: StoreOrder,
    ) {
        let hands_on = if order.releases() {
            own.knows
        } else {
            own.fenced
        };
        let before = self.locations.remove(&location).unwrap_or_default();
        let continues = self.rule == ReleaseSequences::Cxx17 && before.contains(&thread);
        if hands_on || continues {
            let heads = SmallVec::from_slice(&[thread]);
            self.locations.insert(location, heads);
        }
    }

    /// A read-modify-write continues a release sequence.
    fn rmw(
        &mut self,
        thread: ThreadId,
        own: &mut ThreadKnowledge,
        location: LocationId,
        order: RmwOrder,
    ) {
        let found = self.locations.contains_key(&location);
        own.acquirable |= found;
        own.knows |= found && order.acquires();
        let hands_on = if order.releases() {
            own.knows
        } else {
            own.fenced
        };
        if hands_on {
            let heads = self.locations.entry(location).or_default();
            if !heads.contains(&thread) {
                heads.push(thread);
            }
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
