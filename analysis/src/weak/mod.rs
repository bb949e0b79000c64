//! Memory that shows old values: an operational RC11 for runs in which loads
//! read, and stores go, wherever the model allows. The caller chooses; this says
//! what there is to choose from and follows the choice. Must not know schedules,
//! programs or how a choice is made.
//!
//! After the view-based machines of "A Promising Semantics for
//! Relaxed-Memory Concurrency" (Kang, Hur, Lahav, Vafeiadis, Dreyer, POPL 2017,
//! <https://doi.org/10.1145/3009837.3009850>), without promises. Deviations:
//! 1. A view is a clock over threads, looked up in each location's history, as in
//!    the analyzer; views over locations would cost as much as there are locations.
//! 2. SC fences and SC accesses go through one global view. That is stronger than
//!    RC11's psc for SC accesses, and for SC fences where psc orders two of them
//!    against `po ∪ rf`.
//! 3. `po ∪ rf` is acyclic by construction: no load reads a write that has not
//!    been made yet.
//! 4. Release sequences are C++20's or C++17's, as told. By C++17's a store may part a
//!    sequence whose later writes were read before: what these reads taught stays.
//!
//! Every run is one that RC11 allows. Without SC events every outcome that RC11
//! allows can be reached; with them, and with parted sequences, some are missed.

#[cfg(feature = "std")]
mod directed;
mod log;
mod patience;

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::analyzer::clock::{Clock, EventNumber, ThreadSlot};
use crate::event::{Bytes, CasOutcome, Event, LocationId, LockId, Operation, ThreadId};
use crate::hash::FxHashMap;
use crate::model::ReleaseSequences;
use crate::order::FenceOrder;
use log::{Log, LoggedWrite, WriteName};

#[cfg(feature = "std")]
pub use directed::{StaleChoice, StaleSource, choices};
pub use log::Candidate;
pub use patience::Patience;

/// How much is remembered of each location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogLimits {
    /// Writes that can still be read. Older ones are forgotten, which only takes
    /// choices away.
    pub writes: usize,
    /// Accesses of each thread.
    pub accesses: usize,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self {
            writes: 64,
            accesses: 64,
        }
    }
}

/// Memory with its past, and what each thread has to know of it.
#[derive(Clone, Debug)]
pub struct WeakMemory {
    limits: LogLimits,
    release_sequences: ReleaseSequences,
    slots: FxHashMap<ThreadId, ThreadSlot>,
    threads: Vec<ThreadView>,
    locations: BTreeMap<LocationId, Log>,
    places: BTreeMap<u64, (u64, LocationId)>,
    locks: BTreeMap<LockId, Clock>,
    /// What SC fences and SC accesses pass on to later ones.
    sc: Clock,
}

/// What a thread knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ThreadView {
    ended: bool,
    number: EventNumber,
    /// `cur`: what it must not go behind.
    current: Clock,
    /// `acq`: what an acquire fence would add.
    acquirable: Clock,
    /// `rel`: what it knew at its last release fence.
    released: Clock,
}

/// The parts of a memory that decide what can happen next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryKey {
    threads: Vec<ThreadView>,
    locations: BTreeMap<LocationId, Log>,
    locks: BTreeMap<LockId, Clock>,
    sc: Clock,
}

/// An atomic access as views see it.
struct WeakAccess {
    location: LocationId,
    reads: bool,
    writes: Option<u64>,
    acquires: bool,
    releases: bool,
    sc: bool,
}

impl WeakMemory {
    /// Memory at the start of a run: every location that nobody makes holds 0.
    pub fn new(limits: LogLimits, release_sequences: ReleaseSequences) -> Self {
        let mut memory = Self {
            limits,
            release_sequences,
            slots: FxHashMap::default(),
            threads: Vec::new(),
            locations: BTreeMap::new(),
            places: BTreeMap::new(),
            locks: BTreeMap::new(),
            sc: Clock::default(),
        };
        memory.slot(ThreadId(0));
        memory
    }

    /// Equal keys have the same future.
    pub fn key(&self) -> MemoryKey {
        MemoryKey {
            threads: self.threads.clone(),
            locations: self.locations.clone(),
            locks: self.locks.clone(),
            sc: self.sc.clone(),
        }
    }

    /// The writes that an access of this thread may read, or that a store may
    /// directly follow, oldest first. The last one is the newest. `sc`: the access
    /// is an SC event.
    pub fn candidates(&self, thread: ThreadId, location: LocationId, sc: bool) -> Vec<Candidate> {
        let Some(log) = self.locations.get(&location) else {
            return vec![Candidate {
                position: 0,
                value: 0,
                tag: None,
                parts_rmw: false,
            }];
        };
        let known = |slot: ThreadSlot| {
            let own = self.slots.get(&thread).map(|&slot| &self.threads[slot]);
            let current = own.map_or(0, |own| own.current.get(slot));
            if sc {
                current.max(self.sc.get(slot))
            } else {
                current
            }
        };
        log.candidates(known)
    }

    /// Follows an event. An atomic access takes the candidate at `position`, the
    /// newest if there is none; its values must be what the candidate gives.
    ///
    /// # Panics
    /// If the position is none of the location's.
    pub fn apply(&mut self, event: &Event, position: Option<usize>) {
        self.apply_tagged(event, position, None);
    }

    /// The same; candidates will have this tag for the event's write.
    ///
    /// # Panics
    /// As [`Self::apply`].
    pub fn apply_tagged(&mut self, event: &Event, position: Option<usize>, tag: Option<u64>) {
        let slot = self.slot(event.thread);
        match event.operation {
            Operation::Fence { order } => self.fence(slot, order),
            Operation::Create { child } => {
                let told = self.tell(slot);
                let child = self.slot(child);
                self.learn(child, &told);
            }
            Operation::Exit => {
                self.tell(slot);
                self.threads[slot].ended = true;
            }
            Operation::Join { child } => {
                let child = self.slot(child);
                let told = self.threads[child].current.clone();
                self.learn(slot, &told);
            }
            Operation::Release { lock, .. } => {
                let told = self.tell(slot);
                self.locks.entry(lock).or_default().join(&told);
            }
            Operation::Acquire { lock, .. } => {
                let told = self.locks.get(&lock).cloned().unwrap_or_default();
                self.learn(slot, &told);
            }
            Operation::Birth {
                location,
                bytes,
                value,
            } => self.birth(location, bytes, value),
            Operation::Death { bytes } => self.death(bytes),
            // A plain write ends the past of what it overwrites.
            Operation::Write { bytes } => self.death(bytes),
            Operation::Read { .. } => {}
            operation => {
                if let Some(access) = WeakAccess::of(&operation) {
                    self.access(slot, &access, position, tag);
                }
            }
        }
    }

    /// The thread sees everything that was written until now, as after a pause.
    pub fn catch_up(&mut self, thread: ThreadId) {
        let slot = self.slot(thread);
        for other in 0..self.threads.len() {
            let number = self.threads[other].number;
            let view = &mut self.threads[slot];
            let known = view.current.get(other).max(number);
            view.current.set(other, known);
            view.acquirable.set(other, known);
        }
    }

    /// The location is found to hold a value that no event told of: from here on that
    /// is all there is to take.
    pub fn restart(&mut self, location: LocationId, value: u64) {
        self.locations.insert(location, Log::new(value));
    }

    /// How many writes are remembered of a location.
    pub fn remembered(&self, location: LocationId) -> usize {
        self.locations.get(&location).map_or(1, Log::len)
    }

    fn slot(&mut self, thread: ThreadId) -> ThreadSlot {
        let next = self.threads.len();
        let slot = *self.slots.entry(thread).or_insert(next);
        if slot == next {
            self.threads.push(ThreadView::default());
        }
        slot
    }

    fn fence(&mut self, slot: ThreadSlot, order: FenceOrder) {
        let view = self.threads[slot].step(slot);
        if order.acquires() {
            let acquirable = view.acquirable.clone();
            view.current.join(&acquirable);
        }
        if order.is_sc() {
            view.current.join(&self.sc);
            self.sc.copy_from(&view.current);
        }
        if order.releases() {
            view.released = view.current.clone();
        }
        let current = view.current.clone();
        view.acquirable.join(&current);
    }

    fn access(
        &mut self,
        slot: ThreadSlot,
        access: &WeakAccess,
        position: Option<usize>,
        tag: Option<u64>,
    ) {
        let log = self.locations.entry(access.location).or_default();
        let view = self.threads[slot].step(slot);
        if access.sc {
            view.current.join(&self.sc);
        }
        let position = position.unwrap_or(log.len() - 1);
        let taken = log.write(position).clone();
        let mut seen = taken.name;
        if access.reads {
            view.acquirable.join(&taken.message);
            if access.acquires {
                view.current.join(&taken.message);
            }
        }
        if let Some(value) = access.writes {
            seen = WriteName {
                slot: Some(slot),
                number: view.number,
            };
            let own = if access.releases {
                view.current.clone()
            } else {
                view.released.clone()
            };
            let mut write = LoggedWrite {
                name: seen,
                value,
                tag,
                by_rmw: access.reads,
                message: Clock::default(),
                own: Clock::default(),
                heads: Vec::new(),
            };
            match self.release_sequences {
                ReleaseSequences::Cxx20 => {
                    write.message = own;
                    if access.reads {
                        write.message.join(&taken.message);
                    }
                    log.insert(position + 1, write);
                }
                ReleaseSequences::Cxx17 => {
                    write.own = own;
                    log.insert(position + 1, write);
                    log.follow_sequences(position + 1);
                }
            }
        }
        log.mark(slot, view.number, seen, self.limits.accesses);
        let current = view.current.clone();
        view.acquirable.join(&current);
        if access.sc {
            self.sc.join(&current);
        }
        if log.len() > self.limits.writes {
            let live = self.threads.iter().filter(|thread| !thread.ended);
            log.forget(live.map(|thread| &thread.current), self.limits.writes);
        }
    }

    fn tell(&mut self, slot: ThreadSlot) -> Clock {
        self.threads[slot].step(slot).current.clone()
    }

    fn learn(&mut self, slot: ThreadSlot, told: &Clock) {
        let view = self.threads[slot].step(slot);
        view.current.join(told);
        view.acquirable.join(told);
    }

    fn birth(&mut self, location: LocationId, bytes: Bytes, value: u64) {
        self.death(bytes);
        self.places.insert(bytes.address, (bytes.size, location));
        self.locations.insert(location, Log::new(value));
    }

    fn death(&mut self, bytes: Bytes) {
        /// No atomic object is larger.
        const LARGEST: u64 = 16;
        let first = bytes.address.saturating_sub(LARGEST);
        let end = bytes.address.saturating_add(bytes.size);
        let ended: Vec<(u64, LocationId)> = (self.places.range(first..end))
            .filter(|&(&address, &(size, _))| address + size > bytes.address)
            .map(|(&address, &(_, location))| (address, location))
            .collect();
        for (address, location) in ended {
            self.places.remove(&address);
            self.locations.remove(&location);
        }
    }
}

impl ThreadView {
    /// The thread's next event.
    fn step(&mut self, slot: ThreadSlot) -> &mut Self {
        self.number += 1;
        self.current.set(slot, self.number);
        self.acquirable.set(slot, self.number);
        self
    }
}

impl WeakAccess {
    /// `None` for what is no access, and for a round that stays in its loop.
    fn of(operation: &Operation) -> Option<Self> {
        if operation.stays_in_loop() {
            return None;
        }
        Some(match *operation {
            Operation::Load {
                location, order, ..
            } => Self {
                location,
                reads: true,
                writes: None,
                acquires: order.acquires(),
                releases: false,
                sc: order.is_sc(),
            },
            Operation::Store {
                location,
                order,
                value,
            } => Self {
                location,
                reads: false,
                writes: Some(value),
                acquires: false,
                releases: order.releases(),
                sc: order.is_sc(),
            },
            Operation::Rmw {
                location,
                order,
                written,
                ..
            } => Self {
                location,
                reads: true,
                writes: Some(written),
                acquires: order.acquires(),
                releases: order.releases(),
                sc: order.is_sc(),
            },
            Operation::CompareExchange {
                location,
                success,
                outcome: CasOutcome::Exchanged(written),
                ..
            } => Self {
                location,
                reads: true,
                writes: Some(written),
                acquires: success.acquires(),
                releases: success.releases(),
                sc: success.is_sc(),
            },
            Operation::CompareExchange {
                location, failure, ..
            } => Self {
                location,
                reads: true,
                writes: None,
                acquires: failure.acquires(),
                releases: false,
                sc: failure.is_sc(),
            },
            _ => return None,
        })
    }
}
