//! All locations of a run, and how much of them is remembered.

use rustc_hash::FxHashMap;

use super::access::{self, Access};
use super::check::{self, Gap};
use super::clock::Slot;
use super::findings::Findings;
use super::history::History;
use super::layout::Layout;
use super::location::Location;
use super::shadow::{PlainAccess, Shadow};
use super::thread::{Thread, Threads};
use super::values::{Values, Written};
use super::{Atomic, Config, LAST_NUMBER, Step};
use crate::error::StreamError;
use crate::event::{Bytes, Event, LocationId, SiteId};
use crate::race::{Race, RacingAccess};
use crate::violation::{EventIndex, Violation, WriteRef};

/// How much to remember. Where threads never synchronise, nothing old can be
/// forgotten exactly; past these limits the oldest is forgotten all the same,
/// and then fewer violations are reported, never false ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Accesses of one thread to one location.
    pub history: usize,
    /// Values of one location.
    pub values: usize,
    /// Accesses and values of all locations together.
    pub total: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            history: 64,
            values: 256,
            total: 1 << 21,
        }
    }
}

/// All locations, atomic and plain.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    races: bool,
    limits: Limits,
    locations: FxHashMap<LocationId, Box<Cell>>,
    /// Where the paper's model counts SC fences.
    fence_location: Location,
    layout: Layout,
    shadow: Shadow,
    remembered: usize,
    unseen_writes: u64,
}

/// A location with what is known about its bytes.
#[derive(Clone, Debug)]
struct Cell {
    location: Location,
    /// Plain accesses to its bytes may be in the shadow.
    mixed: bool,
}

/// The number under which the fence location counts as the place of a run.
const FENCE_LOCATION: LocationId = LocationId(u32::MAX);

impl Memory {
    /// Memory at the start of a run.
    pub(crate) fn new(config: Config) -> Self {
        Self {
            races: config.races,
            limits: config.limits,
            locations: FxHashMap::default(),
            fence_location: Location::new(Some(0)),
            layout: Layout::default(),
            shadow: Shadow::default(),
            remembered: 0,
            unseen_writes: 0,
        }
    }

    /// How many accesses and values are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.remembered
    }

    /// How many writes must have happened that no event told of.
    pub(crate) fn unseen_writes(&self) -> u64 {
        self.unseen_writes
    }

    /// The thread makes an atomic access, or a round of waiting for one.
    #[inline]
    pub(crate) fn atomic(
        &mut self,
        threads: &mut Threads,
        findings: &mut Findings,
        slot: Slot,
        made: &Atomic,
        event: &Event,
        index: EventIndex,
    ) -> Result<Step, StreamError> {
        let cell = self.locations.entry(made.location).or_insert_with(|| {
            self.remembered += 1;
            Box::new(Cell {
                location: Location::new(Some(0)),
                mixed: false,
            })
        });
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
        let mut step = Step::default();
        let thread = threads.at_mut(slot);
        if let Some(gap) =
            check::check(thread, location, &event.operation, made.sc, made.sc_failure)
        {
            let newer = location.values.at(gap.newer);
            step.violation = Some(findings.add_violation(
                event.site,
                newer.site(),
                gap.kind,
                || violation(&gap, &location.values, made, event, index),
            ));
        }
        let Some(access) = &made.access else {
            return Ok(step);
        };
        self.remembered += access::apply(thread, slot, location, made.location, access);
        if self.races && cell.mixed {
            let thread = threads.at(slot);
            let race = self.layout.bytes(made.location).and_then(|bytes| {
                race_with_plain(&self.shadow, bytes, thread, slot, access, index)
            });
            step.race = race.map(|race| findings.add_race(race));
        }
        self.remembered -= trim(location, threads, slot, self.limits);
        if self.remembered > self.limits.total {
            self.forget_the_oldest(threads);
        }
        Ok(step)
    }

    /// The paper's SC fence is an access to one location, never checked.
    pub(crate) fn pass_fence_location(&mut self, threads: &mut Threads, slot: Slot) {
        let access = Access {
            reads: true,
            writes: Some(Written::of_nobody(Some(0)).of_rmw()),
            acquires: true,
            releases: true,
            sc: false,
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
        trim(location, threads, slot, self.limits);
    }

    /// An atomic object begins in some bytes.
    pub(crate) fn birth(&mut self, id: LocationId, bytes: Bytes, value: u64) {
        for displaced in self.layout.overlapping(bytes) {
            self.remove(displaced);
        }
        self.remove(id);
        let mixed = self.races && self.shadow.touches(bytes);
        self.layout.place(id, bytes);
        self.remembered += 1;
        self.locations.insert(
            id,
            Box::new(Cell {
                location: Location::new(Some(value)),
                mixed,
            }),
        );
    }

    /// Memory is given back.
    pub(crate) fn death(&mut self, bytes: Bytes) {
        if bytes.size == 0 {
            return;
        }
        for id in self.layout.overlapping(bytes) {
            self.remove(id);
        }
        self.shadow.forget(bytes);
    }

    fn remove(&mut self, id: LocationId) {
        self.layout.remove(id);
        if let Some(cell) = self.locations.remove(&id) {
            self.remembered -= remembered_of(&cell.location);
        }
    }

    /// A plain access. A write to an atomic object's bytes that is ordered after
    /// every access to the object makes it a fresh one.
    pub(crate) fn plain(
        &mut self,
        thread: &Thread,
        slot: Slot,
        site: SiteId,
        bytes: Bytes,
        writes: bool,
        event: EventIndex,
    ) -> Option<Race> {
        let known = &thread.view.happened_before;
        let mut race = None;
        for id in self.layout.overlapping(bytes) {
            let place = self.layout.bytes(id).expect("the layout has just named it");
            let cell = self
                .locations
                .get_mut(&id)
                .expect("every placed location lives");
            let unordered = cell.location.histories().iter().find_map(|history| {
                let writes = unordered_writes(history, slot, known.get(history.slot), writes)?;
                Some(atomic_side(history, writes))
            });
            match unordered {
                Some(first) if race.is_none() => race = Some((first, place)),
                Some(_) => {}
                None if writes => {
                    self.remembered -= remembered_of(&cell.location) - 1;
                    cell.location = Location::new(None);
                }
                None => {}
            }
            cell.mixed = true;
        }
        if !self.races {
            return None;
        }
        let access = PlainAccess {
            slot,
            number: thread.number + 1,
            thread: thread.id,
            site,
            happened_before: known,
            writes,
        };
        let race = self.shadow.access(bytes, &access).or(race);
        let second = RacingAccess {
            thread: thread.id,
            site,
            writes,
            atomic: false,
        };
        race.map(|(first, bytes)| Race {
            first,
            second,
            event,
            bytes,
        })
    }

    /// Too much is remembered in all: what nobody needs goes first; if that is
    /// not enough, every history is kept half as long from now on.
    fn forget_the_oldest(&mut self, threads: &Threads) {
        loop {
            self.remembered = 0;
            for cell in self.locations.values_mut() {
                let location = &mut cell.location;
                for history in location.histories_mut() {
                    history.prune(threads.known_by_all(history.slot));
                    history.cap(self.limits.history);
                    history.shrink();
                }
                let known = known_by_all(location, threads);
                location.values.prune(known);
                location.values.cap(self.limits.values);
                location.values.shrink();
                self.remembered += remembered_of(location);
            }
            let at_least = self.limits.history <= 1 && self.limits.values <= 1;
            if self.remembered <= self.limits.total / 2 || at_least {
                return;
            }
            self.limits.history = (self.limits.history / 2).max(1);
            self.limits.values = (self.limits.values / 2).max(1);
        }
    }
}

/// Forgets what nobody needs of one location, when it has become worth a look.
/// Returns how much that was.
#[inline]
fn trim(location: &mut Location, threads: &Threads, slot: Slot, limits: Limits) -> usize {
    let mut forgotten = 0;
    let id = threads.at(slot).id;
    let history = location.history_mut(slot, id);
    if history.wants_pruning() || history.len() > limits.history {
        let before = history.len();
        history.prune(threads.known_by_all(slot));
        history.cap(limits.history);
        forgotten += before - history.len();
    }
    if location.values.wants_pruning() || location.values.len() > limits.values {
        let before = location.values.len();
        let known = known_by_all(location, threads);
        location.values.prune(known);
        location.values.cap(limits.values);
        forgotten += before - location.values.len();
    }
    forgotten
}

/// The newest write that every live thread knows of.
fn known_by_all(location: &Location, threads: &Threads) -> u32 {
    threads
        .live()
        .map(|(_, thread)| location.seen_within(|slot| thread.view.happened_before.get(slot)))
        .min()
        .unwrap_or(0)
}

fn remembered_of(location: &Location) -> usize {
    location.histories().iter().map(History::len).sum::<usize>() + location.values.len()
}

/// Whether the last access in a history conflicts with a plain access of the
/// thread in `slot`, which knows the history's thread up to `known`; if so,
/// whether it is a write.
fn unordered_writes(history: &History, slot: Slot, known: u32, plain_writes: bool) -> Option<bool> {
    if history.slot == slot {
        return None;
    }
    if history.last_write.number > known {
        return Some(true);
    }
    (plain_writes && history.last_access.number > known).then_some(false)
}

fn atomic_side(history: &History, writes: bool) -> RacingAccess {
    let last = if writes {
        history.last_write
    } else {
        history.last_access
    };
    RacingAccess {
        thread: history.thread,
        site: last.site,
        writes,
        atomic: true,
    }
}

/// Whether an atomic access that was just made races with a plain one.
fn race_with_plain(
    shadow: &Shadow,
    bytes: Bytes,
    thread: &Thread,
    slot: Slot,
    access: &Access,
    event: EventIndex,
) -> Option<Race> {
    let (site, writes) = (access.site, access.writes.is_some());
    let made = PlainAccess {
        slot,
        number: thread.number,
        thread: thread.id,
        site,
        happened_before: &thread.view.happened_before,
        writes,
    };
    let (first, bytes) = shadow.conflict_with_atomic(bytes, &made)?;
    let second = RacingAccess {
        thread: thread.id,
        site,
        writes,
        atomic: true,
    };
    Some(Race {
        first,
        second,
        event,
        bytes,
    })
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
            values.push(Written::of_nobody(Some(value)).of_rmw());
            values.prune(values.newest());
            Some(before - values.len())
        }
    }
}

fn violation(
    gap: &Gap,
    values: &Values,
    made: &Atomic,
    event: &Event,
    index: EventIndex,
) -> Violation {
    let stale: Vec<WriteRef> = gap.stale(values).map(Written::reference).collect();
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
