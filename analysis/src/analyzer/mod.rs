//! The analyzer: RC11 with SC accesses and native SC fences, decided on one SC
//! run by thread-indexed clocks and per-location histories, O(threads) an event.
//!
//! After Roy Margalit, Michalis Kokologiannakis, Shachar Itzhaky and Ori Lahav,
//! *Dynamic Robustness Verification against Weak Memory*, PLDI 2025,
//! <https://arxiv.org/abs/2504.15036>, whose "location clocks" are indexed by
//! location. What a violation is goes back to Ori Lahav and Roy Margalit,
//! *Robustness against Release/Acquire Semantics*, PLDI 2019,
//! <https://doi.org/10.1145/3314221.3314604>.
//!
//! Deviations, each checked against brute force:
//! 1. Clocks are indexed by thread: hb and hb_SC contain program order, so what a
//!    thread knows is a prefix of every thread. What it knows about a location is
//!    looked up in the location's history.
//! 2. SC fences are RC11's, constrained by psc, not RMWs on a location of their
//!    own; the paper's encoding is [`Model::RC20`].
//! 3. SC accesses, which the paper leaves out, are constrained by psc as well.
//! 4. Values come from the log of writes instead of clocks per critical value.
//! 5. Release sequences are those of the [`Model`]. By C++17's rule a stale store may
//!    part a sequence, and with it what orders others: that is not looked at, so that
//!    with SC accesses some stale stores are missed.
//!
//! Never reported: what a cap has made undecidable, stale values that were never
//! recorded. May be missed: whatever needs another schedule than the one fed.

mod access;
mod check;
pub(crate) mod clock;
mod findings;
pub(crate) mod granule;
pub(crate) mod granule_map;
mod history;
mod id_set;
mod layout;
mod limits;
mod location;
mod locks;
mod memory;
mod message;
mod plain;
mod remainder;
mod shadow;
mod table;
mod thread;
mod values;
mod view;

use access::Access;
use findings::Findings;
use granule::{GranuleStore, PlainAccess, epoch_tag, of_epoch_tag};
use granule_map::GranuleMap;
use locks::Locks;
use memory::Memory;
use thread::Threads;
use values::{LAST_EVENT, WriteRecord};

use crate::error::StreamError;
use crate::event::{
    Bytes, CasOutcome, CasStrength, Event, LocationId, LockId, LockMode, Operation, SiteId,
    ThreadId,
};
use crate::model::Model;
use crate::order::FenceOrder;
use crate::race::FoundRace;
use crate::violation::{EventIndex, FoundViolation};

pub use limits::Limits;

/// How to analyse.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnalyzerConfig {
    /// What SC fences and SC accesses mean, and what continues a release sequence.
    pub model: Model,
    /// Look for races on plain accesses.
    pub races: bool,
    /// How much to remember.
    pub limits: Limits,
}

/// What one event showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventFindings {
    /// The access could have been stale: which of [`Analyzer::violations`].
    pub violation: Option<usize>,
    /// The access races: which of [`Analyzer::races`].
    pub race: Option<usize>,
}

/// What one plain access showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlainFindings {
    /// The access races: which of [`Analyzer::races`].
    pub race: Option<usize>,
    /// Its bytes may hold an atomic object.
    pub meets_atomic: bool,
    /// It is not one that its thread had made before in the same epoch, with nothing
    /// in between and no race: without it, something may be missed.
    pub adds: bool,
}

/// Feed it the events of a run in their order; it reports which of them
/// could have gone otherwise under the memory model. Thread 0 exists from the start, every
/// other one from its [`Operation::Create`]. A location that no
/// [`Operation::Birth`] mentioned holds 0. What is known about plain memory is in a
/// store of granules: a map, or what [`Analyzer::with_store`] is given.
#[derive(Clone, Debug)]
pub struct Analyzer<S = GranuleMap> {
    config: AnalyzerConfig,
    threads: Threads,
    memory: Memory<S>,
    locks: Locks,
    findings: Findings,
    next: EventIndex,
}

/// Event numbers and timestamps stay below this, so that they cannot overflow
/// within one event.
const LAST_NUMBER: u32 = u32::MAX - 8;

impl Analyzer {
    /// An analyzer at the start of a run.
    pub fn new(config: AnalyzerConfig) -> Self {
        Self::with_store(config, GranuleMap::default())
    }
}

impl<S: GranuleStore> Analyzer<S> {
    /// An analyzer at the start of a run that keeps what it knows about plain memory
    /// in this store.
    pub fn with_store(config: AnalyzerConfig, store: S) -> Self {
        Self {
            config,
            threads: Threads::new(S::NAMES_THREADS),
            memory: Memory::new(config, store),
            locks: Locks::default(),
            findings: Findings::default(),
            next: EventIndex(0),
        }
    }

    /// The violations so far, one for each pair of places and kind.
    pub fn violations(&self) -> &[FoundViolation] {
        self.findings.violations()
    }

    /// The races so far, one for each pair of places.
    pub fn races(&self) -> &[FoundRace] {
        self.findings.races()
    }

    /// The number of writes that happened without an event: reads found values
    /// that no event wrote. What came before such a write is not reported.
    pub fn unseen_writes(&self) -> u64 {
        self.memory.unseen_writes()
    }

    /// Whether a store has continued a release sequence that C++20's rule ends there. If
    /// not, all that was found is the same by both rules.
    pub fn continued_a_sequence(&self) -> bool {
        self.memory.continued()
    }

    /// How many accesses and values are remembered right now.
    pub fn remembered(&self) -> usize {
        self.memory.remembered()
    }

    /// Takes the next event. A refused event changes nothing.
    pub fn feed(&mut self, event: &Event) -> Result<EventFindings, StreamError> {
        self.feed_at(self.next, event)
    }

    /// The thread waits for the end of another one: its next event is the
    /// [`Operation::Join`] of `child`. By then it knows all that `child` does, so that
    /// much less has to be remembered for it than for one that may go on at any time.
    /// Should it go on otherwise, fewer findings are reported about it.
    pub fn awaits_end(&mut self, thread: ThreadId, child: ThreadId) {
        self.threads.await_end(thread, child);
    }

    /// Keeps what the write of this event, which is still to come, hands on: a
    /// stale access will take it.
    pub fn keep_message_of(&mut self, write: EventIndex) {
        self.memory.keep_message_of(write);
    }

    /// Takes the next event, an atomic access that took an old write instead of the
    /// newest one: that of an event given to [`Self::keep_message_of`], or with
    /// `None` the location's first value. From here on happens-before, and with it
    /// the races, are those of the run as it was; violations are not any more.
    ///
    /// An event that is no atomic access is taken as usual.
    ///
    /// # Errors
    /// As for [`Self::feed`].
    pub fn feed_stale_at(
        &mut self,
        index: EventIndex,
        event: &Event,
        source: Option<EventIndex>,
    ) -> Result<EventFindings, StreamError> {
        if index < self.next {
            let last = EventIndex(self.next.0 - 1);
            return Err(StreamError::OutOfOrder(last, index));
        }
        if !matches!(
            event.operation,
            Operation::Load { .. }
                | Operation::Store { .. }
                | Operation::Rmw { .. }
                | Operation::CompareExchange { .. }
        ) {
            return self.feed_at(index, event);
        }
        let slot = self.threads.slot(event.thread)?;
        let made = AtomicAccess::of(event, index, self.config.model)?;
        self.threads.goes_on(slot, None);
        let (threads, findings) = (&mut self.threads, &mut self.findings);
        let found = (self.memory).stale(threads, findings, slot, &made, source, index);
        self.next = EventIndex(index.0 + 1);
        Ok(found)
    }

    /// Takes an event that has an index of its own, for feeding only part of a
    /// recorded stream. Indices must grow.
    pub fn feed_at(
        &mut self,
        index: EventIndex,
        event: &Event,
    ) -> Result<EventFindings, StreamError> {
        if index < self.next {
            let last = EventIndex(self.next.0 - 1);
            return Err(StreamError::OutOfOrder(last, index));
        }
        let slot = self.threads.slot(event.thread)?;
        if self.threads.at(slot).number >= LAST_NUMBER || index >= LAST_EVENT {
            return Err(StreamError::TooLong(event.thread));
        }
        let joins = match event.operation {
            Operation::Join { child } => Some(child),
            _ => None,
        };
        self.threads.goes_on(slot, joins);
        let mut found = EventFindings::default();
        match event.operation {
            Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Rmw { .. }
            | Operation::CompareExchange { .. } => {
                let made = AtomicAccess::of(event, index, self.config.model)?;
                let (threads, findings) = (&mut self.threads, &mut self.findings);
                found = self
                    .memory
                    .atomic(threads, findings, slot, &made, event, index)?;
            }
            Operation::Fence { order } => self.fence(slot, order),
            Operation::Create { child } => self.threads.create(slot, child)?,
            Operation::Join { child } => self.threads.join(slot, child)?,
            Operation::Exit => self.threads.exit(slot),
            Operation::Acquire { lock, mode } => self.acquire(slot, lock, mode)?,
            Operation::Release { lock, mode } => self.release(slot, lock, mode)?,
            Operation::Birth {
                location,
                bytes,
                value,
            } => {
                checked(bytes)?;
                self.memory.birth(location, bytes, value);
            }
            Operation::Death { bytes } => self.memory.death(checked(bytes)?),
            Operation::Read { bytes } | Operation::Write { bytes } => {
                let writes = matches!(event.operation, Operation::Write { .. });
                found.race = self
                    .plain_at(index, event.thread, event.site, bytes, writes)?
                    .race;
            }
        }
        self.next = EventIndex(index.0 + 1);
        Ok(found)
    }

    /// Takes a plain access: [`Self::feed_at`] for what there is most of.
    ///
    /// # Errors
    /// As for [`Self::feed`].
    #[inline]
    pub fn plain_at(
        &mut self,
        index: EventIndex,
        thread: ThreadId,
        site: SiteId,
        bytes: Bytes,
        writes: bool,
    ) -> Result<PlainFindings, StreamError> {
        let slot = self.threads.slot(thread)?;
        let bytes = checked(bytes)?;
        self.threads.goes_on(slot, None);
        let made = (self.memory).plain(&self.threads, slot, site, bytes, writes, index);
        self.next = EventIndex(index.0 + 1);
        Ok(PlainFindings {
            race: made.race.map(|race| self.findings.add_race(race)),
            meets_atomic: made.meets_atomic,
            adds: made.adds,
        })
    }

    /// Takes a plain access, of the thread whose [`Self::epoch_tag`] is `tag`, if it races
    /// with nothing and that is quickly seen. Whether it was taken; [`Self::plain_at`]
    /// takes all. Races must be looked for, and the thread must not be one that waits for
    /// the end of another ([`Self::awaits_end`]).
    #[inline(always)]
    pub fn plain_ordered_at(
        &mut self,
        index: EventIndex,
        tag: u64,
        site: SiteId,
        bytes: Bytes,
        writes: bool,
    ) -> bool {
        let (slot, number) = of_epoch_tag(tag);
        let access = PlainAccess {
            slot,
            number,
            site,
            happened_before: &self.threads.at(slot).view.happened_before,
            writes,
        };
        let is_taken = self.memory.shadow.access_ordered(bytes, &access);
        if is_taken {
            self.next = EventIndex(index.0 + 1);
        }
        is_taken
    }

    /// What granules know a thread's current epoch by ([`crate::granule::covers`]):
    /// the same until it next publishes what it knows. 0 for a thread that does not
    /// run.
    #[inline]
    pub fn epoch_tag(&self, thread: ThreadId) -> u64 {
        match self.threads.slot(thread) {
            Ok(slot) => epoch_tag(slot, self.threads.at(slot).plain_number()),
            Err(_) => 0,
        }
    }

    /// Whether a thread runs that knows all that any other one did, and no other runs.
    pub fn is_alone(&self, thread: ThreadId) -> bool {
        let slot = self.threads.slot(thread);
        slot.is_ok_and(|slot| self.threads.is_alone(slot))
    }

    /// An atomic object will be born in these bytes: plain accesses to them always
    /// count.
    pub fn mark_atomic(&mut self, bytes: Bytes) {
        self.memory.shadow.mark_atomic(bytes);
    }

    /// Whether any plain access to these bytes may be remembered.
    pub fn remembers_plain(&mut self, bytes: Bytes) -> bool {
        self.memory.shadow.may_know(bytes)
    }

    /// Forgets the plain accesses to these bytes: all that anybody does from now on is
    /// ordered after them.
    pub fn forget_plain(&mut self, bytes: Bytes) {
        self.memory.shadow.forget(bytes);
    }

    fn fence(&mut self, slot: usize, order: FenceOrder) {
        let paper = self.config.model.orders_fences() && order.is_sc();
        let thread = self.threads.at_mut(slot);
        if paper {
            // The paper's encoding: acquire fence, RMW on the fence location, release fence.
            thread.fence(slot, FenceOrder::Acquire);
            self.memory.pass_fence_location(&mut self.threads, slot);
            self.threads.at_mut(slot).fence(slot, FenceOrder::Release);
        } else {
            thread.fence(slot, order);
        }
    }

    fn acquire(&mut self, slot: usize, lock: LockId, mode: LockMode) -> Result<(), StreamError> {
        let id = self.threads.at(slot).id;
        let token = self.locks.acquire(lock, mode, id)?;
        self.threads.take_in(slot, &token);
        Ok(())
    }

    fn release(&mut self, slot: usize, lock: LockId, mode: LockMode) -> Result<(), StreamError> {
        let id = self.threads.at(slot).id;
        self.locks.release(lock, mode, id)?;
        let token = self.threads.hand_out(slot);
        self.locks.leave(lock, mode, &token);
        Ok(())
    }
}

/// An atomic operation as the clocks see it.
struct AtomicAccess {
    location: LocationId,
    /// What it read, if it reads.
    read_value: Option<u64>,
    /// What it does; `None` for a round of a waiting loop, which is only checked.
    access: Option<Access>,
    sc: bool,
    sc_failure: bool,
}

impl AtomicAccess {
    fn of(event: &Event, index: EventIndex, model: Model) -> Result<Self, StreamError> {
        // The paper has no SC accesses: to it they are acquire and release.
        let native = !model.orders_fences();
        let written = |value| WriteRecord::by(index, event.thread, event.site, value);
        let (location, read_value, writes) = match event.operation {
            Operation::Load {
                location, value, ..
            } => (location, Some(value), None),
            Operation::Store {
                location, value, ..
            } => (location, None, Some(written(value))),
            Operation::Rmw {
                location,
                read,
                written: value,
                ..
            } => (location, Some(read), Some(written(value).of_rmw())),
            Operation::CompareExchange {
                location,
                strength,
                expected,
                read,
                outcome,
                ..
            } => {
                let possible = match outcome {
                    CasOutcome::Exchanged(_) => read == expected,
                    CasOutcome::Failed => read != expected || strength == CasStrength::Weak,
                };
                if !possible {
                    return Err(StreamError::ImpossibleCas(location));
                }
                let writes = match outcome {
                    CasOutcome::Exchanged(value) => Some(written(value).of_rmw()),
                    CasOutcome::Failed => None,
                };
                (location, Some(read), writes)
            }
            _ => unreachable!("the caller hands in atomic accesses only"),
        };
        let (acquires, releases, sc, sc_failure) = match event.operation {
            Operation::Load { order, .. } => {
                (order.acquires(), false, order.is_sc(), order.is_sc())
            }
            Operation::Store { order, .. } => {
                (false, order.releases(), order.is_sc(), order.is_sc())
            }
            Operation::Rmw { order, .. } => (
                order.acquires(),
                order.releases(),
                order.is_sc(),
                order.is_sc(),
            ),
            Operation::CompareExchange {
                success, failure, ..
            } if writes.is_none() => (failure.acquires(), false, success.is_sc(), failure.is_sc()),
            Operation::CompareExchange {
                success, failure, ..
            } => (
                success.acquires(),
                success.releases(),
                success.is_sc(),
                failure.is_sc(),
            ),
            _ => unreachable!("the caller hands in atomic accesses only"),
        };
        let access = Access {
            reads: read_value.is_some(),
            writes,
            acquires,
            releases,
            sc: native && if writes.is_some() { sc } else { sc_failure },
            rule: model.release_sequences,
            site: event.site,
        };
        Ok(Self {
            location,
            read_value,
            access: (!event.operation.stays_in_loop()).then_some(access),
            sc: native && sc,
            sc_failure: native && sc_failure,
        })
    }
}

/// A range must lie within the address space.
fn checked(bytes: Bytes) -> Result<Bytes, StreamError> {
    match bytes.address.checked_add(bytes.size) {
        Some(_) => Ok(bytes),
        None => Err(StreamError::BadRange {
            address: bytes.address,
            size: bytes.size,
        }),
    }
}
