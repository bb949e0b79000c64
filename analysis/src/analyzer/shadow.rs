//! The last plain accesses to every piece of memory, as epochs: a number within
//! a thread is enough to decide whether an access happened before a later one.
//! Byte exact, in granules of eight.
//!
//! Epochs are those of Cormac Flanagan and Stephen N. Freund, *FastTrack:
//! Efficient and Precise Dynamic Race Detection*, PLDI 2009,
//! <https://doi.org/10.1145/1542476.1542490>. Unlike there, reads that nothing
//! orders are kept as a list of epochs, not as a vector clock, and
//! happens-before is that of C++20 with its fences.

use smallvec::SmallVec;

use super::clock::{Clock, EventNumber, ThreadSlot};
use crate::event::{Bytes, SiteId, ThreadId};
use crate::hash::FxHashMap;
use crate::race::RacingAccess;

/// Bytes of one access that are checked for races; the rest of it is not.
const MAX_ACCESS_BYTES: u64 = 1 << 16;

/// With more granules than this in use, all are forgotten: races with what was
/// before are missed, none is invented.
const MAX_GRANULES: usize = 1 << 21;

const GRANULE_BYTES: u64 = 8;

/// The last accesses to memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow {
    granules: FxHashMap<u64, SmallVec<[Record; 2]>>,
}

/// One access to some bytes of a granule.
#[derive(Clone, Copy, Debug)]
struct Record {
    slot: u32,
    /// Happens before every event that knows the thread up to this number.
    number: EventNumber,
    thread: ThreadId,
    site: SiteId,
    /// The bytes of the granule.
    mask: u8,
    writes: bool,
}

/// A plain access about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainAccess<'a> {
    /// The thread's slot.
    pub(crate) slot: ThreadSlot,
    /// The number of the thread's next event: a thread that knows that knows this.
    pub(crate) number: EventNumber,
    /// The thread.
    pub(crate) thread: ThreadId,
    /// Its place in the program.
    pub(crate) site: SiteId,
    /// What the thread knows.
    pub(crate) happened_before: &'a Clock,
    /// It writes.
    pub(crate) writes: bool,
}

impl Shadow {
    /// Makes a plain access. Gives the first earlier plain access it races with.
    pub(crate) fn access(
        &mut self,
        bytes: Bytes,
        access: &PlainAccess<'_>,
    ) -> Option<(RacingAccess, Bytes)> {
        if self.granules.len() >= MAX_GRANULES {
            self.granules.clear();
        }
        let mut race = None;
        for (granule, mask) in granules(bytes) {
            let records = self.granules.entry(granule).or_default();
            let found = conflict(records, granule, mask, access);
            // Runs leave such an access out of their traces. Of several accesses
            // between two events of a thread, reports name the first.
            if found.is_none() && access.was_made_before(records, mask) {
                continue;
            }
            race = race.or(found);
            // What is ordered before a write, or is a read ordered before a read,
            // is covered by the new record: what races with the old one races
            // with the new one. A pair that raced is reported and done with.
            records.retain(|record| {
                let covered = record.mask & !mask == 0 && (access.writes || !record.writes);
                !(covered && (access.writes || access.knows(record)))
            });
            records.push(Record {
                slot: access.slot as u32,
                number: access.number,
                thread: access.thread,
                site: access.site,
                mask,
                writes: access.writes,
            });
        }
        race
    }

    /// Gives the first earlier plain access that an atomic access races with.
    pub(crate) fn conflict_with_atomic(
        &self,
        bytes: Bytes,
        access: &PlainAccess<'_>,
    ) -> Option<(RacingAccess, Bytes)> {
        granules(bytes).find_map(|(granule, mask)| {
            conflict(self.granules.get(&granule)?, granule, mask, access)
        })
    }

    /// Whether any plain access to these bytes is remembered.
    pub(crate) fn touches(&self, bytes: Bytes) -> bool {
        granules(bytes).any(|(granule, mask)| {
            self.granules
                .get(&granule)
                .is_some_and(|records| records.iter().any(|record| record.mask & mask != 0))
        })
    }

    /// The memory is given back.
    pub(crate) fn forget(&mut self, bytes: Bytes) {
        let count = (bytes.size / GRANULE_BYTES + 2) as usize;
        if count > self.granules.len() {
            let end = bytes.address.saturating_add(bytes.size);
            self.granules.retain(|&granule, records| {
                let start = granule * GRANULE_BYTES;
                let outside = start >= end || start.saturating_add(GRANULE_BYTES) <= bytes.address;
                outside || {
                    let mask = mask_within(granule, bytes);
                    records.iter_mut().for_each(|record| record.mask &= !mask);
                    records.retain(|record| record.mask != 0);
                    !records.is_empty()
                }
            });
            return;
        }
        for granule in
            bytes.address / GRANULE_BYTES..=(bytes.address + bytes.size - 1) / GRANULE_BYTES
        {
            let mask = mask_within(granule, bytes);
            if let Some(records) = self.granules.get_mut(&granule) {
                records.iter_mut().for_each(|record| record.mask &= !mask);
                records.retain(|record| record.mask != 0);
                if records.is_empty() {
                    self.granules.remove(&granule);
                }
            }
        }
    }
}

impl PlainAccess<'_> {
    /// Whether its thread has made the same access to these bytes since its last
    /// event.
    fn was_made_before(&self, records: &[Record], mask: u8) -> bool {
        let mut made = 0;
        for record in records {
            let same_epoch = record.slot as usize == self.slot && record.number == self.number;
            if same_epoch && (record.writes || !self.writes) {
                made |= record.mask;
            }
        }
        mask & !made == 0
    }

    /// Whether an earlier access happened before this one.
    fn knows(&self, record: &Record) -> bool {
        record.slot as usize == self.slot
            || record.number <= self.happened_before.get(record.slot as usize)
    }
}

fn conflict(
    records: &[Record],
    granule: u64,
    mask: u8,
    access: &PlainAccess<'_>,
) -> Option<(RacingAccess, Bytes)> {
    let record = records.iter().find(|record| {
        record.mask & mask != 0 && (record.writes || access.writes) && !access.knows(record)
    })?;
    let first = RacingAccess {
        thread: record.thread,
        site: record.site,
        writes: record.writes,
        atomic: false,
    };
    let shared = record.mask & mask;
    let offset = u64::from(shared.trailing_zeros());
    let size = u64::from((shared >> offset).trailing_ones());
    Some((
        first,
        Bytes {
            address: granule * GRANULE_BYTES + offset,
            size,
        },
    ))
}

/// The granules of a range, with the bytes of each that lie in it.
fn granules(bytes: Bytes) -> impl Iterator<Item = (u64, u8)> {
    let bytes = Bytes {
        size: bytes.size.min(MAX_ACCESS_BYTES),
        ..bytes
    };
    let first = bytes.address / GRANULE_BYTES;
    let end = match bytes.size {
        0 => first,
        size => (bytes.address + (size - 1)) / GRANULE_BYTES + 1,
    };
    (first..end).map(move |granule| (granule, mask_within(granule, bytes)))
}

fn mask_within(granule: u64, bytes: Bytes) -> u8 {
    let start = granule * GRANULE_BYTES;
    let first = bytes.address.saturating_sub(start).min(GRANULE_BYTES);
    let end = (bytes.address + (bytes.size - 1))
        .saturating_sub(start)
        .min(GRANULE_BYTES - 1);
    if first > end {
        return 0;
    }
    (0xffu16 << first) as u8 & (0xffu16 >> (GRANULE_BYTES - 1 - end)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(
        shadow: &mut Shadow,
        slot: ThreadSlot,
        writes: bool,
        address: u64,
        size: u64,
    ) -> bool {
        let nothing = Clock::default();
        let access = PlainAccess {
            slot,
            number: 1,
            thread: ThreadId(slot as u32),
            site: SiteId(slot as u32),
            happened_before: &nothing,
            writes,
        };
        shadow.access(Bytes { address, size }, &access).is_some()
    }

    #[test]
    fn masks_cover_exactly_the_bytes() {
        let bytes = Bytes {
            address: 6,
            size: 11,
        };
        let got: Vec<_> = granules(bytes).collect();
        assert_eq!(got, [(0, 0b1100_0000), (1, 0xff), (2, 0b0000_0001)]);
        assert_eq!(
            granules(Bytes {
                address: 3,
                size: 0
            })
            .count(),
            0
        );
    }

    #[test]
    fn neighbours_do_not_race_and_overlaps_do() {
        let mut shadow = Shadow::default();
        assert!(!access(&mut shadow, 0, true, 16, 4));
        assert!(
            !access(&mut shadow, 1, true, 20, 4),
            "the other half of the granule"
        );
        assert!(
            access(&mut shadow, 1, false, 18, 4),
            "two bytes of both halves"
        );
        assert!(!access(&mut shadow, 2, false, 24, 8));
    }

    #[test]
    fn reads_do_not_race_with_reads() {
        let mut shadow = Shadow::default();
        assert!(!access(&mut shadow, 0, false, 0, 8));
        assert!(!access(&mut shadow, 1, false, 0, 8));
        assert!(access(&mut shadow, 2, true, 7, 1));
    }

    #[test]
    fn a_narrow_write_does_not_hide_a_wide_one() {
        let mut shadow = Shadow::default();
        assert!(!access(&mut shadow, 0, true, 0, 8));
        assert!(!access(&mut shadow, 0, true, 0, 4));
        assert!(access(&mut shadow, 1, false, 4, 4));
    }

    #[test]
    fn memory_given_back_is_forgotten_to_the_byte() {
        let mut shadow = Shadow::default();
        assert!(!access(&mut shadow, 0, true, 0, 32));
        shadow.forget(Bytes {
            address: 4,
            size: 20,
        });
        assert!(!access(&mut shadow, 1, true, 4, 20));
        assert!(access(&mut shadow, 1, true, 3, 1));
        assert!(access(&mut shadow, 1, true, 24, 1));
        shadow.forget(Bytes {
            address: 0,
            size: 1 << 40,
        });
        assert!(!access(&mut shadow, 2, true, 24, 1));
    }
}
