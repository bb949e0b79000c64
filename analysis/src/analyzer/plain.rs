//! Plain accesses: races among them, and with atomic accesses to the same bytes.

use super::access::Access;
use super::clock::ThreadSlot;
use super::history::History;
use super::limits;
use super::location::Location;
use super::memory::Memory;
use super::shadow::{PlainAccess, Shadow};
use super::thread::Thread;
use crate::event::{Bytes, SiteId};
use crate::race::{Race, RacingAccess};
use crate::violation::EventIndex;

impl Memory {
    /// A plain access. A write to an atomic object's bytes that is ordered after
    /// every access to the object makes it a fresh one.
    pub(crate) fn plain(
        &mut self,
        thread: &Thread,
        slot: ThreadSlot,
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
                    self.remembered -= limits::remembered(&cell.location) - 1;
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

/// Whether an atomic access that was just made races with a plain one.
pub(crate) fn race_with_plain(
    shadow: &Shadow,
    bytes: Bytes,
    thread: &Thread,
    slot: ThreadSlot,
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
