//! The last plain accesses to all memory of a run: what [`super::granule`] knows of
//! eight bytes, for ranges of any length.

use super::granule::{
    GRANULE_BYTES, Granule, GranuleStore, PAGE_GRANULES, PlainAccess, Record, SpilledRecords,
};
use crate::event::Bytes;

/// Bytes of one access that are checked for races; the rest of it is not.
const MAX_ACCESS_BYTES: u64 = 1 << 16;

/// The last accesses to memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow<S> {
    store: S,
    spilled: SpilledRecords,
}

/// What a plain access came upon.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AccessResult {
    /// The first earlier plain access that it races with, and the bytes of both.
    pub(crate) race: Option<(Record, Bytes)>,
    /// The bytes may hold an atomic object.
    pub(crate) meets_atomic: bool,
    /// Something is known that was not known before it.
    pub(crate) adds: bool,
}

impl<S: GranuleStore> Shadow<S> {
    /// An empty one.
    pub(crate) fn new(store: S) -> Self {
        Self {
            store,
            spilled: SpilledRecords::default(),
        }
    }

    /// Makes a plain access.
    #[inline]
    pub(crate) fn access(&mut self, bytes: Bytes, access: &PlainAccess<'_>) -> AccessResult {
        if self.store.clear_if_full() {
            self.spilled = SpilledRecords::default();
        }
        let offset = bytes.address % GRANULE_BYTES;
        if bytes.size == 0 || offset + bytes.size > GRANULE_BYTES {
            return self.access_range(bytes, access);
        }
        let number = bytes.address / GRANULE_BYTES;
        let Some([granule, ..]) = self.store.granules(number, number + 1) else {
            return AccessResult::default();
        };
        let mask = (((1u16 << bytes.size) - 1) << offset) as u8;
        let before = *granule;
        let found = granule.access(&mut self.spilled, mask, access);
        AccessResult {
            race: found.map(|record| (record, shared_bytes(record, number, mask))),
            meets_atomic: granule.may_hold_atomic(),
            adds: *granule != before,
        }
    }

    /// Makes a plain access within a granule, if it races with nothing and there is
    /// little to look at: what [`Self::access`] does then. Whether it did.
    #[inline(always)]
    pub(crate) fn access_ordered(&mut self, bytes: Bytes, access: &PlainAccess<'_>) -> bool {
        let offset = bytes.address % GRANULE_BYTES;
        if offset + bytes.size > GRANULE_BYTES {
            return false;
        }
        let number = bytes.address / GRANULE_BYTES;
        let mask = (((1u16 << bytes.size) - 1) << offset) as u8;
        match self.store.granules(number, number + 1) {
            Some([granule, ..]) => granule.access_ordered(mask, access),
            _ => false,
        }
    }

    #[inline(never)]
    fn access_range(&mut self, bytes: Bytes, access: &PlainAccess<'_>) -> AccessResult {
        // Atomic objects behind what is checked must not be missed: a write makes them
        // fresh ones.
        let mut result = AccessResult {
            race: None,
            meets_atomic: bytes.size > MAX_ACCESS_BYTES,
            adds: false,
        };
        let bytes = checked_part(bytes);
        let (mut at, end) = granules(bytes);
        while at < end {
            let Some(some) = self.store.granules(at, end) else {
                break;
            };
            for granule in &mut *some {
                let mask = mask_within(at, bytes);
                result.meets_atomic |= granule.may_hold_atomic();
                let before = *granule;
                let found = granule.access(&mut self.spilled, mask, access);
                result.adds |= *granule != before;
                if let Some(record) = found
                    && result.race.is_none()
                {
                    result.race = Some((record, shared_bytes(record, at, mask)));
                }
                at += 1;
            }
        }
        result
    }

    /// Gives the first earlier plain access that another access races with.
    pub(crate) fn conflict(
        &mut self,
        bytes: Bytes,
        access: &PlainAccess<'_>,
    ) -> Option<(Record, Bytes)> {
        let spilled = &self.spilled;
        find(&mut self.store, bytes, |granule, number, mask| {
            let record = granule.conflict(spilled, mask, access)?;
            Some((record, shared_bytes(record, number, mask)))
        })
    }

    /// Whether any plain access to these bytes is remembered.
    pub(crate) fn touches(&mut self, bytes: Bytes) -> bool {
        let spilled = &self.spilled;
        let touched = |granule: &Granule, _, mask| granule.touches(spilled, mask).then_some(());
        find(&mut self.store, bytes, touched).is_some()
    }

    /// Whether anything about these bytes may be remembered, however many they are.
    pub(crate) fn may_know(&mut self, bytes: Bytes) -> bool {
        let (first, end) = granules(bytes);
        if bytes.size <= MAX_ACCESS_BYTES {
            return self.touches(bytes);
        }
        let pages = (self.store).known_pages(first / PAGE_GRANULES, end.div_ceil(PAGE_GRANULES));
        !pages.is_empty()
    }

    /// The bytes hold an atomic object from now on. No object is longer than what is
    /// checked of an access.
    pub(crate) fn mark_atomic(&mut self, bytes: Bytes) {
        let (mut at, end) = granules(checked_part(bytes));
        while at < end {
            let Some(some) = self.store.granules(at, end) else {
                return;
            };
            some.iter_mut().for_each(Granule::mark_atomic);
            at += some.len() as u64;
        }
    }

    /// The memory is given back; whether anything was known about it.
    pub(crate) fn forget(&mut self, bytes: Bytes) -> bool {
        if bytes.size == 0 {
            return false;
        }
        let (first, end) = granules(bytes);
        // What lies in pages that are given back whole needs no masks.
        let (first_page, end_page) = (first.div_ceil(PAGE_GRANULES), end / PAGE_GRANULES);
        if first_page >= end_page {
            return self.forget_granules(first, end, bytes);
        }
        let mut any = self.forget_granules(first, first_page * PAGE_GRANULES, bytes);
        let pages = self.store.known_pages(first_page, end_page);
        for page in &pages {
            let (first, end) = (page * PAGE_GRANULES, (page + 1) * PAGE_GRANULES);
            any |= self.forget_granules(first, end, bytes);
        }
        self.store.release(&pages);
        any | self.forget_granules(end_page * PAGE_GRANULES, end, bytes)
    }

    fn forget_granules(&mut self, first: u64, end: u64, bytes: Bytes) -> bool {
        let mut any = false;
        let mut at = first;
        while at < end {
            let page_end = (at / PAGE_GRANULES + 1) * PAGE_GRANULES;
            let some = self.store.known_granules(at, end);
            for (number, granule) in (at..).zip(some) {
                if *granule != Granule::default() {
                    any = true;
                    granule.forget(&mut self.spilled, mask_within(number, bytes));
                }
            }
            at = page_end;
        }
        any
    }
}

/// The first that `look` finds among the granules of a range that are known, with
/// their numbers and the bytes of each that lie in the range.
#[inline]
fn find<S: GranuleStore, T>(
    store: &mut S,
    bytes: Bytes,
    look: impl Fn(&Granule, u64, u8) -> Option<T>,
) -> Option<T> {
    let bytes = checked_part(bytes);
    let (mut at, end) = granules(bytes);
    while at < end {
        let page_end = (at / PAGE_GRANULES + 1) * PAGE_GRANULES;
        for (number, granule) in (at..).zip(store.known_granules(at, end)) {
            let found = look(granule, number, mask_within(number, bytes));
            if found.is_some() {
                return found;
            }
        }
        at = page_end;
    }
    None
}

/// The first bytes, one after the other, that an access to the bytes `mask` of a
/// granule shares with an earlier one.
fn shared_bytes(record: Record, granule: u64, mask: u8) -> Bytes {
    let shared = record.mask() & mask;
    let offset = u64::from(shared.trailing_zeros());
    let size = u64::from((shared >> offset).trailing_ones());
    Bytes {
        address: granule * GRANULE_BYTES + offset,
        size,
    }
}

/// The granules of a range: the first, and the one after the last.
#[inline]
fn granules(bytes: Bytes) -> (u64, u64) {
    let first = bytes.address / GRANULE_BYTES;
    match bytes.size {
        0 => (first, first),
        size => (first, (bytes.address + (size - 1)) / GRANULE_BYTES + 1),
    }
}

/// The bytes of an access that are checked.
fn checked_part(bytes: Bytes) -> Bytes {
    Bytes {
        size: bytes.size.min(MAX_ACCESS_BYTES),
        ..bytes
    }
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
    use alloc::vec::Vec;

    use super::*;
    use crate::analyzer::clock::{Clock, ThreadSlot};
    use crate::analyzer::granule_map::GranuleMap;
    use crate::event::SiteId;

    fn access(
        shadow: &mut Shadow<GranuleMap>,
        slot: ThreadSlot,
        writes: bool,
        address: u64,
        size: u64,
    ) -> bool {
        let nothing = Clock::default();
        let access = PlainAccess {
            slot,
            number: 1,
            site: SiteId(slot as u32),
            happened_before: &nothing,
            writes,
        };
        let found = shadow.access(Bytes { address, size }, &access);
        found.race.is_some()
    }

    #[test]
    fn masks_cover_exactly_the_bytes() {
        let bytes = Bytes {
            address: 6,
            size: 11,
        };
        let (first, end) = granules(bytes);
        let got: Vec<_> = (first..end)
            .map(|at| (at, mask_within(at, bytes)))
            .collect();
        assert_eq!(got, [(0, 0b1100_0000), (1, 0xff), (2, 0b0000_0001)]);
        let nothing = Bytes {
            address: 3,
            size: 0,
        };
        assert_eq!(granules(nothing), (0, 0));
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
