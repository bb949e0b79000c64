//! Plain accesses: races among them, and with atomic accesses to the same bytes.

use super::access::Access;
use super::clock::ThreadSlot;
use super::granule::{GranuleStore, PlainAccess, Record};
use super::history::History;
use super::limits;
use super::location::Location;
use super::memory::Memory;
use super::shadow::Shadow;
use super::thread::Threads;
use crate::event::{Bytes, SiteId};
use crate::race::{Race, RacingAccess};
use crate::violation::EventIndex;

/// What a plain access came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlainResult {
    pub(crate) race: Option<Race>,
    /// The bytes may hold an atomic object.
    pub(crate) meets_atomic: bool,
    /// Without it, less would be known.
    pub(crate) adds: bool,
}

impl<S: GranuleStore> Memory<S> {
    /// A plain access. A write to an atomic object's bytes that is ordered after
    /// every access to the object makes it a fresh one.
    #[inline]
    pub(crate) fn plain(
        &mut self,
        threads: &Threads,
        slot: ThreadSlot,
        site: SiteId,
        bytes: Bytes,
        writes: bool,
        event: EventIndex,
    ) -> PlainResult {
        if !self.races {
            self.plain_on_atomics(threads, slot, bytes, writes);
            return PlainResult {
                adds: true,
                ..PlainResult::default()
            };
        }
        let thread = threads.at(slot);
        let access = PlainAccess {
            slot,
            number: thread.plain_number(),
            site,
            happened_before: &thread.view.happened_before,
            writes,
        };
        let met = self.shadow.access(bytes, &access);
        let with_atomic = if met.meets_atomic {
            self.plain_on_atomics(threads, slot, bytes, writes)
        } else {
            None
        };
        let with_plain = met
            .race
            .map(|(record, bytes)| (plain_side(record, threads), bytes));
        let meets_atomic = met.meets_atomic;
        let Some((first, bytes)) = with_plain.or(with_atomic) else {
            return PlainResult {
                race: None,
                meets_atomic,
                adds: met.adds || meets_atomic,
            };
        };
        let second = RacingAccess {
            thread: thread.id,
            site,
            writes,
            atomic: false,
        };
        let race = Race {
            first,
            second,
            event,
            bytes,
        };
        PlainResult {
            race: Some(race),
            meets_atomic,
            adds: true,
        }
    }

    /// What a plain access does to the atomic objects in its bytes; the first access
    /// to one of them that it races with.
    #[inline(never)]
    fn plain_on_atomics(
        &mut self,
        threads: &Threads,
        slot: ThreadSlot,
        bytes: Bytes,
        writes: bool,
    ) -> Option<(RacingAccess, Bytes)> {
        let known = &threads.at(slot).view.happened_before;
        let mut race = None;
        if writes {
            self.remainders.end(bytes);
        }
        for id in self.layout.overlapping(bytes) {
            let place = self.layout.bytes(id).expect("the layout has just named it");
            let cell = self
                .locations
                .get_mut(id)
                .expect("every placed location lives");
            let unordered = cell.location.histories().iter().find_map(|history| {
                let writes = unordered_writes(history, slot, known.get(history.slot), writes)?;
                Some(atomic_side(history, writes))
            });
            match unordered {
                Some(first) if race.is_none() => race = Some((first, place)),
                Some(_) => {}
                None if writes => {
                    self.remembered -= limits::remembered(&cell.location) - 1;
                    cell.location = Location::new(None);
                }
                None => {}
            }
            cell.mixed = true;
        }
        race
    }
}

/// Whether the last access in a history conflicts with a plain access of the
/// thread in `slot`, which knows the history's thread up to `known`; if so,
/// whether it is a write.
fn unordered_writes(
    history: &History,
    slot: ThreadSlot,
    known: u32,
    plain_writes: bool,
) -> Option<bool> {
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
        thread: last.thread,
        site: last.site,
        writes,
        atomic: true,
    }
}

/// A plain access that a granule has kept, as one side of a race.
fn plain_side(record: Record, threads: &Threads) -> RacingAccess {
    RacingAccess {
        thread: threads.who_was(record.slot(), record.number()),
        site: record.site(),
        writes: record.writes(),
        atomic: false,
    }
}

/// Whether an atomic access that was just made races with a plain one.
pub(crate) fn race_with_plain<S: GranuleStore>(
    shadow: &mut Shadow<S>,
    bytes: Bytes,
    threads: &Threads,
    slot: ThreadSlot,
    access: &Access,
    event: EventIndex,
) -> Option<Race> {
    let (site, writes) = (access.site, access.writes.is_some());
    let thread = threads.at(slot);
    let made = PlainAccess {
        slot,
        number: thread.plain_number(),
        site,
        happened_before: &thread.view.happened_before,
        writes,
    };
    let (record, bytes) = shadow.conflict(bytes, &made)?;
    let second = RacingAccess {
        thread: thread.id,
        site,
        writes,
        atomic: true,
    };
    Some(Race {
        first: plain_side(record, threads),
        second,
        event,
        bytes,
    })
}
