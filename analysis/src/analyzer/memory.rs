//! All locations of a run, and how much of them is remembered.

use alloc::vec::Vec;

use super::access::{self, Access};
use super::check::{self, Gap};
use super::clock::ThreadSlot;
use super::findings::Findings;
use super::granule::GranuleStore;
use super::layout::Layout;
use super::limits::{self, Limits};
use super::location::Location;
use super::message::Message;
use super::plain::race_with_plain;
use super::remainder::Remainders;
use super::shadow::Shadow;
use super::table::{Cell, LocationTable};
use super::thread::Threads;
use super::values::{Values, WriteRecord};
use super::{AnalyzerConfig, AtomicAccess, EventFindings, LAST_NUMBER};
use crate::error::StreamError;
use crate::event::{Bytes, Event, LocationId, SiteId};
use crate::hash::FxHashMap;
use crate::model::ReleaseSequences;
use crate::violation::{EventIndex, Violation, WriteRef};

/// All locations, atomic and plain.
#[derive(Clone, Debug)]
pub(crate) struct Memory<S> {
    pub(super) races: bool,
    limits: Limits,
    pub(super) locations: LocationTable,
    /// Where the paper's model counts SC fences.
    fence_location: Location,
    pub(super) layout: Layout,
    /// What is left of locations that others have taken a part of.
    pub(super) remainders: Remainders,
    pub(super) shadow: Shadow<S>,
    pub(super) remembered: usize,
    unseen_writes: u64,
    /// The writes that stale accesses will take, and what they hand on.
    taken: FxHashMap<EventIndex, Message>,
    /// A write handed on more than it would by C++20's rule for release sequences.
    continued: bool,
}

/// The number under which the fence location counts as the place of a run.
const FENCE_LOCATION: LocationId = LocationId(u32::MAX);

impl<S: GranuleStore> Memory<S> {
    /// Memory at the start of a run.
    pub(crate) fn new(config: AnalyzerConfig, store: S) -> Self {
        Self {
            races: config.races,
            limits: config.limits,
            locations: LocationTable::default(),
            fence_location: Location::new(Some(0)),
            layout: Layout::default(),
            remainders: Remainders::default(),
            shadow: Shadow::new(store),
            remembered: 0,
            unseen_writes: 0,
            taken: FxHashMap::default(),
            continued: false,
        }
    }

    /// How many accesses and values are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.remembered
    }

    /// The number of writes that happened without an event.
    pub(crate) fn unseen_writes(&self) -> u64 {
        self.unseen_writes
    }

    /// Whether a write handed on more than it would by C++20's rule for release
    /// sequences.
    pub(crate) fn continued(&self) -> bool {
        self.continued
    }

    /// The thread makes an atomic access, or a round of waiting for one.
    #[inline]
    pub(crate) fn atomic(
        &mut self,
        threads: &mut Threads,
        findings: &mut Findings,
        slot: ThreadSlot,
        made: &AtomicAccess,
        event: &Event,
        index: EventIndex,
    ) -> Result<EventFindings, StreamError> {
        let first = || Cell {
            location: Location::new(Some(0)),
            mixed: false,
        };
        let (cell, is_new) = self.locations.get_or_insert_with(made.location, first);
        self.remembered += usize::from(is_new);
        let location = &mut cell.location;
        if location.values.newest() >= LAST_NUMBER {
            return Err(StreamError::TooLong(event.thread));
        }
        if let Some(value) = made.read_value
            && let Some(forgotten) = account_for(&mut location.values, value)
        {
            self.unseen_writes += 1;
            self.remembered -= forgotten;
        }
        let mut found = EventFindings::default();
        let thread = threads.at_mut(slot);
        if let Some(gap) =
            check::check(thread, location, &event.operation, made.sc, made.sc_failure)
        {
            let newer = location.values.at(gap.newer);
            found.violation = Some(findings.add_violation(
                event.site,
                newer.site(),
                gap.kind,
                || violation(&gap, &location.values, made, event, index),
            ));
        }
        let Some(access) = &made.access else {
            return Ok(found);
        };
        let applied = access::apply(thread, slot, location, made.location, access);
        self.remembered += applied.grown;
        self.continued |= applied.continues;
        if !self.taken.is_empty()
            && let Some(message) = self.taken.get_mut(&index)
        {
            message.copy_from(&location.message);
        }
        if self.races && cell.mixed {
            let race = self.layout.bytes(made.location).and_then(|bytes| {
                race_with_plain(&mut self.shadow, bytes, threads, slot, access, index)
            });
            found.race = race.map(|race| findings.add_race(race));
        }
        self.remembered -= limits::trim(location, threads, slot, self.limits);
        if self.remembered > self.limits.total {
            self.forget_the_oldest(threads);
        }
        Ok(found)
    }

    /// Keeps what the write of an event to come hands on, for a stale access.
    pub(crate) fn keep_message_of(&mut self, write: EventIndex) {
        self.taken.insert(write, Message::default());
    }

    /// The thread makes an access that takes an old write: that of an event whose
    /// message is kept, or the location's first value. What it writes, if it does,
    /// only another stale access sees. A store that parts a release sequence leaves
    /// what comes after it in modification order as it was: it hands on more than it
    /// should, and races are missed.
    pub(crate) fn stale(
        &mut self,
        threads: &mut Threads,
        findings: &mut Findings,
        slot: ThreadSlot,
        made: &AtomicAccess,
        source: Option<EventIndex>,
        index: EventIndex,
    ) -> EventFindings {
        let mut found = EventFindings::default();
        let (Some(access), Some(cell)) = (&made.access, self.locations.get_mut(made.location))
        else {
            return found;
        };
        let message = source.and_then(|write| self.taken.get(&write));
        let mut message = message.cloned().unwrap_or_default();
        let thread = threads.at_mut(slot);
        access::apply_stale(thread, slot, &mut cell.location, &mut message, access);
        if let Some(kept) = self.taken.get_mut(&index) {
            *kept = message;
        }
        if self.races && cell.mixed {
            let race = self.layout.bytes(made.location).and_then(|bytes| {
                race_with_plain(&mut self.shadow, bytes, threads, slot, access, index)
            });
            found.race = race.map(|race| findings.add_race(race));
        }
        found
    }

    /// The paper's SC fence is an access to one location, never checked.
    pub(crate) fn pass_fence_location(&mut self, threads: &mut Threads, slot: ThreadSlot) {
        let access = Access {
            reads: true,
            writes: Some(WriteRecord::of_nobody(Some(0)).of_rmw()),
            acquires: true,
            releases: true,
            sc: false,
            // No store ever comes between.
            rule: ReleaseSequences::Cxx20,
            site: SiteId(0),
        };
        let location = &mut self.fence_location;
        access::apply(
            threads.at_mut(slot),
            slot,
            location,
            FENCE_LOCATION,
            &access,
        );
        limits::trim(location, threads, slot, self.limits);
    }

    /// An atomic object begins in some bytes. Where it takes the place of one of
    /// another extent, the same memory is accessed in another size: its first value
    /// is what the last writes there left, and hands on what these did. Which
    /// accesses of different sizes may be reordered is not defined, so that nothing
    /// else of their past is kept.
    pub(crate) fn birth(&mut self, id: LocationId, bytes: Bytes, value: u64) {
        let mut location = Location::new(Some(value));
        for displaced in self.layout.overlapping(bytes) {
            if let Some(whole) = self.layout.bytes(displaced).filter(|&whole| whole != bytes)
                && let Some(cell) = self.locations.get_mut(displaced)
            {
                location.message.view.join(&cell.location.message.view);
                self.remainders
                    .keep(whole, bytes, &cell.location.message.view);
            }
            self.remove(displaced);
        }
        self.remainders.take(bytes, &mut location.message.view);
        self.remove(id);
        let mixed = self.races && self.shadow.touches(bytes);
        if self.races {
            self.shadow.mark_atomic(bytes);
        }
        self.layout.place(id, bytes);
        self.remembered += 1;
        self.locations.insert(id, Cell { location, mixed });
    }

    /// Memory is given back.
    pub(crate) fn death(&mut self, bytes: Bytes) {
        if bytes.size == 0 {
            return;
        }
        for id in self.layout.overlapping(bytes) {
            self.remove(id);
        }
        self.remainders.end(bytes);
        self.shadow.forget(bytes);
    }

    fn remove(&mut self, id: LocationId) {
        self.layout.remove(id);
        if let Some(cell) = self.locations.remove(id) {
            self.remembered -= limits::remembered(&cell.location);
        }
    }

    /// Too much is remembered in all: what no thread needs goes first; if that is
    /// not enough, every history is kept half as long from now on.
    fn forget_the_oldest(&mut self, threads: &Threads) {
        loop {
            self.remembered = 0;
            for cell in self.locations.cells_mut() {
                limits::trim_all(&mut cell.location, threads, self.limits);
                self.remembered += limits::remembered(&cell.location);
            }
            if self.remembered <= self.limits.total / 2 {
                return;
            }
            if self.limits.history <= 1 && self.limits.values <= 1 {
                // One mark for each thread at each location is the least there is:
                // there is no point in looking again before that has doubled.
                self.limits.total = 2 * self.remembered;
                return;
            }
            self.limits.history = (self.limits.history / 2).max(1);
            self.limits.values = (self.limits.values / 2).max(1);
        }
    }
}

/// The location is found to hold `value`. If nobody wrote that, somebody did
/// whom we do not see: then the unseen write counts as known to all and as
/// handing on whatever the write before it did, so that nothing is reported for
/// it. Returns how many values that made useless.
#[inline]
fn account_for(values: &mut Values, value: u64) -> Option<usize> {
    match values.current().value() {
        Some(current) if current == value => None,
        None => {
            values.current_mut().tell(value);
            None
        }
        Some(_) => {
            let before = values.len();
            values.push(WriteRecord::of_nobody(Some(value)).of_rmw());
            values.prune(values.newest());
            Some(before - values.len())
        }
    }
}

fn violation(
    gap: &Gap,
    values: &Values,
    made: &AtomicAccess,
    event: &Event,
    index: EventIndex,
) -> Violation {
    let stale: Vec<WriteRef> = gap.stale(values).map(WriteRecord::reference).collect();
    let read_value = made.read_value;
    Violation {
        kind: gap.kind,
        access: index,
        thread: event.thread,
        site: event.site,
        location: made.location,
        newer: values.at(gap.newer).reference(),
        same_value: read_value.is_some() && stale.iter().all(|write| write.value == read_value),
        stale,
        read_value,
    }
}
