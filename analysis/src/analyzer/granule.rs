//! The last plain accesses to eight bytes of memory, as epochs: a number within a
//! thread is enough to decide whether an access happened before a later one. Byte
//! exact.
//!
//! Epochs are those of Cormac Flanagan and Stephen N. Freund, *FastTrack:
//! Efficient and Precise Dynamic Race Detection*, PLDI 2009,
//! <https://doi.org/10.1145/1542476.1542490>. Unlike there, reads that nothing
//! orders are kept as a list of epochs, not as a vector clock, and
//! happens-before is that of C++20 with its fences.
//!
//! Knows nothing of where granules are kept: a [`GranuleStore`] does.

use alloc::vec::Vec;
use core::mem;

use super::clock::{Clock, EventNumber, ThreadSlot};
use crate::event::SiteId;

/// The bytes of one granule.
pub const GRANULE_BYTES: u64 = 8;

/// The granules of a page, which a [`GranuleStore`] keeps together.
pub const PAGE_GRANULES: u64 = 512;

/// Where the granules of a run are kept. They are numbered as they lie in memory:
/// granule `n` stands for the eight bytes from address `8 n` on.
pub trait GranuleStore {
    /// Whether races name the threads of both sides. Where threads come and go, that
    /// takes a little memory for each.
    const NAMES_THREADS: bool;

    /// Granules from number `first` on, at most up to `end`: as many as lie together,
    /// at least one. `None` if there is no memory for them.
    fn granules(&mut self, first: u64, end: u64) -> Option<&mut [Granule]>;

    /// The same, but only those of one page, and none if nobody asked for them yet.
    fn known_granules(&mut self, first: u64, end: u64) -> &mut [Granule];

    /// The pages, by number, from `first` up to `end` that somebody asked for.
    fn known_pages(&self, first: u64, end: u64) -> Vec<u64>;

    /// These pages, in the order that [`Self::known_pages`] gave, are empty again.
    fn release(&mut self, pages: &[u64]);

    /// Forgets everything if there is too much of it; whether it did.
    fn clear_if_full(&mut self) -> bool;
}

/// The last accesses to eight bytes. All zero: none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Granule {
    /// The last access that was kept, as [`Record::word`] has it; 0: none.
    newest: u64,
    /// The access before it; or [`SPILLED`], then `older_site` says which list has
    /// those before it. With [`ATOMIC`].
    older: u64,
    newest_site: u32,
    older_site: u32,
}

/// One access to some bytes of a granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// From the lowest bit: the bytes of the granule, [`WRITES`], [`UNSURE`], and
    /// from [`TAG_SHIFT`] on the thread's number and slot. 0: no access.
    word: u64,
    site: u32,
}

const WRITES: u64 = 1 << 8;
/// An access like it may add something all the same: it raced, or the bytes may hold
/// an atomic object.
const UNSURE: u64 = 1 << 9;
/// In `older`: the bytes may hold an atomic object.
const ATOMIC: u64 = 1 << 10;
/// In `older`: there are several, in a list.
const SPILLED: u64 = 1 << 11;
const TAG_SHIFT: u32 = 16;
const SLOT_SHIFT: u32 = 48;
const TAG_MASK: u64 = !0 << TAG_SHIFT;
const RECORD_MASK: u64 = TAG_MASK | UNSURE | WRITES | 0xff;

/// A thread's epoch as granules have it: what it does until it next publishes what it
/// knows. Never 0.
#[inline]
pub(crate) fn epoch_tag(slot: ThreadSlot, number: EventNumber) -> u64 {
    (slot as u64) << SLOT_SHIFT | u64::from(number) << TAG_SHIFT
}

/// The slot and the number that an epoch tag is made of.
#[inline]
pub(crate) fn of_epoch_tag(tag: u64) -> (ThreadSlot, EventNumber) {
    let slot = (tag >> SLOT_SHIFT) as ThreadSlot;
    (slot, (tag >> TAG_SHIFT) as EventNumber)
}

/// A plain access about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainAccess<'a> {
    /// The thread's slot.
    pub(crate) slot: ThreadSlot,
    /// A thread that knows an event with this number or a later one knows this.
    pub(crate) number: EventNumber,
    /// Its place in the program.
    pub(crate) site: SiteId,
    /// What the thread knows.
    pub(crate) happened_before: &'a Clock,
    /// It writes.
    pub(crate) writes: bool,
}

/// Accesses to granules that have more than two, in lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpilledRecords {
    lists: Vec<Vec<Record>>,
    free: Vec<u32>,
}

impl Record {
    const NONE: Self = Self { word: 0, site: 0 };

    #[inline]
    pub(crate) fn slot(self) -> ThreadSlot {
        (self.word >> SLOT_SHIFT) as ThreadSlot
    }

    #[inline]
    pub(crate) fn number(self) -> EventNumber {
        (self.word >> TAG_SHIFT) as EventNumber
    }

    /// The bytes of the granule.
    #[inline]
    pub(crate) fn mask(self) -> u8 {
        self.word as u8
    }

    #[inline]
    pub(crate) fn writes(self) -> bool {
        self.word & WRITES != 0
    }

    pub(crate) fn site(self) -> SiteId {
        SiteId(self.site)
    }

    #[inline]
    fn is_some(self) -> bool {
        self.word != 0
    }

    /// The same access, without some of its bytes.
    #[inline]
    fn without(self, mask: u8) -> Self {
        match self.mask() & !mask {
            0 => Self::NONE,
            left => Self {
                word: self.word & !0xff | u64::from(left),
                ..self
            },
        }
    }
}

impl PlainAccess<'_> {
    #[inline]
    fn record(&self, mask: u8) -> Record {
        let kind = if self.writes { WRITES } else { 0 };
        Record {
            word: epoch_tag(self.slot, self.number) | kind | u64::from(mask),
            site: self.site.0,
        }
    }

    /// Whether an earlier access happened before this one.
    #[inline]
    fn knows(&self, record: Record) -> bool {
        record.slot() == self.slot || record.number() <= self.happened_before.get(record.slot())
    }

    /// Whether an earlier access and this one, to the bytes `mask`, are a race.
    #[inline]
    pub(crate) fn races(&self, record: Record, mask: u8) -> bool {
        record.mask() & mask != 0 && (record.writes() || self.writes) && !self.knows(record)
    }

    /// What must be kept of an earlier access beside this one, to the bytes `mask`.
    /// What is ordered before a write, or is a read ordered before a read, is covered:
    /// what races with the old one races with the new one. A pair that raced is
    /// reported and done with.
    #[inline]
    fn left_of(&self, record: Record, mask: u8) -> Record {
        let replaces = self.writes || (!record.writes() && self.knows(record));
        if replaces {
            record.without(mask)
        } else {
            record
        }
    }

    /// The bytes for which `record` is this access, made before in the same epoch.
    #[inline]
    fn made_by(&self, record: Record) -> u8 {
        let same_epoch = record.word & TAG_MASK == epoch_tag(self.slot, self.number);
        if same_epoch && (record.writes() || !self.writes) {
            record.mask()
        } else {
            0
        }
    }
}

/// Whether an access of the epoch `tag` to the bytes `mask` of a granule, whose first
/// words are `newest` and `older`, adds nothing: its thread has made the same before,
/// raced with nothing, and nothing came in between. May say no where the granule
/// itself would find out.
#[inline(always)]
pub fn covers(newest: u64, older: impl FnOnce() -> u64, tag: u64, mask: u8, writes: bool) -> bool {
    let kind = if writes { WRITES } else { 0 };
    let (asked, wanted) = (TAG_MASK | UNSURE | kind, tag | kind);
    let mask = u64::from(mask);
    if newest & asked == wanted && mask & !newest == 0 {
        return true;
    }
    // Both of the same thread and epoch: nothing came in between either. A read of
    // another thread is nothing to a read.
    let is_own = newest & (TAG_MASK | UNSURE) == tag;
    if !is_own && (writes || newest & (WRITES | UNSURE) != 0) {
        return false;
    }
    let made = if newest & asked == wanted { newest } else { 0 };
    let older = older();
    older & asked == wanted && mask & !(made | older) == 0
}

impl Granule {
    /// Whether the bytes may hold an atomic object.
    #[inline]
    pub fn may_hold_atomic(&self) -> bool {
        self.older & ATOMIC != 0
    }

    /// The bytes hold an atomic object from now on.
    pub(crate) fn mark_atomic(&mut self) {
        self.older |= ATOMIC;
        if self.newest != 0 {
            self.newest |= UNSURE;
        }
    }

    /// Makes a plain access to the bytes `mask`. Gives the first earlier access that
    /// it races with.
    #[inline]
    pub(crate) fn access(
        &mut self,
        spilled: &mut SpilledRecords,
        mask: u8,
        access: &PlainAccess<'_>,
    ) -> Option<Record> {
        if self.older & SPILLED != 0 {
            return self.access_spilled(spilled, mask, access);
        }
        let (older, newest) = (self.older(), self.newest());
        let found = [older, newest]
            .into_iter()
            .find(|&record| access.races(record, mask));
        // Runs leave such accesses out of their traces. Of several accesses of one
        // epoch, reports name the first.
        if found.is_none() && mask & !(access.made_by(older) | access.made_by(newest)) == 0 {
            return None;
        }
        let older = access.left_of(older, mask);
        let newest = access.left_of(newest, mask);
        let made = access.record(mask);
        match (older.is_some(), newest.is_some()) {
            (false, false) => self.set(Record::NONE, made),
            (true, false) => match merged(older, made) {
                Some(both) => self.set(Record::NONE, both),
                None => self.set(older, made),
            },
            (keeps_older, true) => match (merged(newest, made), keeps_older) {
                (Some(both), true) => self.set(older, both),
                (Some(both), false) => self.set(Record::NONE, both),
                (None, false) => self.set(newest, made),
                (None, true) => {
                    self.older_site = spilled.add(older, newest);
                    self.older = SPILLED | self.older & ATOMIC;
                    self.set_newest(made);
                }
            },
        }
        self.after(found)
    }

    /// Makes a plain access to the bytes `mask` if it races with nothing and there are no
    /// lists or atomic objects to look into: what [`Self::access`] does then. Whether it
    /// did.
    #[inline(always)]
    pub(crate) fn access_ordered(&mut self, mask: u8, access: &PlainAccess<'_>) -> bool {
        let (older, newest) = (self.older(), self.newest());
        if (self.older | self.newest) & (UNSURE | ATOMIC | SPILLED) != 0
            || access.races(older, mask)
            || access.races(newest, mask)
        {
            return false;
        }
        if mask & !(access.made_by(older) | access.made_by(newest)) == 0 {
            return true;
        }
        let (older, newest) = (access.left_of(older, mask), access.left_of(newest, mask));
        let made = access.record(mask);
        let last = if newest.is_some() { newest } else { older };
        match merged(last, made) {
            Some(both) if newest.is_some() => self.set(older, both),
            Some(both) => self.set(Record::NONE, both),
            None if !newest.is_some() => self.set(older, made),
            None if !older.is_some() => self.set(newest, made),
            // A third one: these are kept in lists.
            None => return false,
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn access_spilled(
        &mut self,
        spilled: &mut SpilledRecords,
        mask: u8,
        access: &PlainAccess<'_>,
    ) -> Option<Record> {
        let newest = self.newest();
        let list = &mut spilled.lists[self.older_site as usize];
        let mut found = None;
        let mut made_before = access.made_by(newest);
        for &record in list.iter() {
            if found.is_none() && access.races(record, mask) {
                found = Some(record);
            }
            made_before |= access.made_by(record);
        }
        let found = found.or_else(|| access.races(newest, mask).then_some(newest));
        if found.is_none() && mask & !made_before == 0 {
            return None;
        }
        list.iter_mut()
            .for_each(|record| *record = access.left_of(*record, mask));
        list.push(access.left_of(newest, mask));
        list.retain(|record| record.is_some());
        let made = access.record(mask);
        let last = list.last().copied().unwrap_or(Record::NONE);
        let made = match merged(last, made) {
            Some(both) => {
                list.pop();
                both
            }
            None => made,
        };
        self.set_newest(made);
        self.settle(spilled);
        self.after(found)
    }

    /// Marks the access that was just kept, if another one like it may add something.
    #[inline]
    fn after(&mut self, found: Option<Record>) -> Option<Record> {
        if found.is_some() || self.older & ATOMIC != 0 {
            self.newest |= UNSURE;
        }
        found
    }

    /// Gives the first earlier plain access that an atomic access to the bytes
    /// `mask` races with.
    pub(crate) fn conflict(
        &self,
        spilled: &SpilledRecords,
        mask: u8,
        access: &PlainAccess<'_>,
    ) -> Option<Record> {
        self.earlier(spilled)
            .iter()
            .copied()
            .chain([self.older(), self.newest()])
            .find(|&record| access.races(record, mask))
    }

    /// Whether any access to these bytes is known.
    pub(crate) fn touches(&self, spilled: &SpilledRecords, mask: u8) -> bool {
        let mut all = self.earlier(spilled).iter();
        (self.older().mask() | self.newest().mask()) & mask != 0
            || all.any(|record| record.mask() & mask != 0)
    }

    /// These bytes are given back.
    #[inline]
    pub(crate) fn forget(&mut self, spilled: &mut SpilledRecords, mask: u8) {
        if *self == Self::default() {
            return;
        }
        if mask == 0xff {
            if self.older & SPILLED != 0 {
                spilled.remove(self.older_site);
            }
            *self = Self::default();
            return;
        }
        let newest = self.newest().without(mask);
        if self.older & SPILLED == 0 {
            self.set(self.older().without(mask), newest);
        } else {
            let list = &mut spilled.lists[self.older_site as usize];
            list.iter_mut()
                .for_each(|record| *record = record.without(mask));
            list.retain(|record| record.is_some());
            self.set_newest(newest);
            self.settle(spilled);
        }
        if self.newest == 0 && self.older & (SPILLED | RECORD_MASK) != 0 {
            self.promote(spilled);
        }
        if self.newest != 0 {
            self.newest |= UNSURE;
        }
    }

    /// The newest is gone: the one before it takes its place.
    fn promote(&mut self, spilled: &mut SpilledRecords) {
        if self.older & SPILLED == 0 {
            let newest = self.older();
            self.set(Record::NONE, newest);
            return;
        }
        let list = &mut spilled.lists[self.older_site as usize];
        let newest = list.pop().unwrap_or(Record::NONE);
        self.set_newest(newest);
        self.settle(spilled);
    }

    /// A list of one record or none is no list.
    fn settle(&mut self, spilled: &mut SpilledRecords) {
        let list = &spilled.lists[self.older_site as usize];
        if list.len() < 2 {
            let older = list.first().copied().unwrap_or(Record::NONE);
            spilled.remove(self.older_site);
            self.older = older.word | self.older & ATOMIC;
            self.older_site = older.site;
        }
    }

    #[inline]
    fn newest(&self) -> Record {
        Record {
            word: self.newest & RECORD_MASK,
            site: self.newest_site,
        }
    }

    /// The one before the newest, if it is not in a list.
    #[inline]
    fn older(&self) -> Record {
        Record {
            word: self.older & RECORD_MASK,
            site: self.older_site,
        }
    }

    fn earlier<'s>(&self, spilled: &'s SpilledRecords) -> &'s [Record] {
        match self.older & SPILLED {
            0 => &[],
            _ => &spilled.lists[self.older_site as usize],
        }
    }

    #[inline]
    fn set(&mut self, older: Record, newest: Record) {
        self.older = older.word | self.older & ATOMIC;
        self.older_site = older.site;
        self.set_newest(newest);
    }

    #[inline]
    fn set_newest(&mut self, newest: Record) {
        self.newest = newest.word;
        self.newest_site = newest.site;
    }
}

/// Two accesses of one epoch in one place, one right after the other, as one: a loop
/// over bytes would otherwise leave a record for each.
#[inline]
fn merged(last: Record, made: Record) -> Option<Record> {
    let same = (last.word ^ made.word) & (TAG_MASK | WRITES) == 0 && last.site == made.site;
    (same && last.is_some()).then_some(Record {
        word: last.word | made.word,
        site: made.site,
    })
}

impl SpilledRecords {
    /// A list with these two.
    #[cold]
    fn add(&mut self, older: Record, newest: Record) -> u32 {
        let list = self.free.pop().unwrap_or_else(|| {
            self.lists.push(Vec::with_capacity(4));
            self.lists.len() as u32 - 1
        });
        self.lists[list as usize].extend([older, newest]);
        list
    }

    fn remove(&mut self, list: u32) {
        let records = &mut self.lists[list as usize];
        match records.capacity() {
            0..=16 => records.clear(),
            _ => drop(mem::take(records)),
        }
        self.free.push(list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said without a look at everything is what the granule itself finds.
    #[test]
    fn an_access_that_is_covered_changes_nothing() {
        let mut random = 1_u64;
        let mut draw = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % below
        };
        let (mut covered, mut beside_others, mut ordered) = (0, 0, 0);
        for _ in 0..2_000 {
            let (mut granule, mut spilled) = (Granule::default(), SpilledRecords::default());
            let mut epochs = [1; 3];
            // Thread 2 knows what the others did up to here.
            let mut known = Clock::default();
            known.set(0, 2);
            known.set(1, 1);
            let nothing = Clock::default();
            for _ in 0..30 {
                let slot = draw(3) as ThreadSlot;
                epochs[slot] += u32::from(draw(8) == 0);
                let access = PlainAccess {
                    slot,
                    number: epochs[slot],
                    site: SiteId(draw(3) as u32),
                    happened_before: if slot == 2 { &known } else { &nothing },
                    writes: draw(12) == 0,
                };
                let mask = [0xff, 0x0f, 0xf0, 0x03][draw(4) as usize];
                if draw(60) == 0 {
                    granule.mark_atomic();
                }
                let tag = epoch_tag(slot, access.number);
                let before = granule;
                let says = covers(before.newest, || before.older, tag, mask, access.writes);
                let mut made_ordered = granule;
                let is_ordered = made_ordered.access_ordered(mask, &access);
                let found = granule.access(&mut spilled, mask, &access);
                if is_ordered {
                    assert!(found.is_none(), "{before:?} {access:?}");
                    assert_eq!(granule, made_ordered, "{before:?} {access:?}");
                    ordered += u32::from(!says && before.newest().slot() != slot);
                }
                if says {
                    assert!(
                        found.is_none() && granule == before,
                        "{before:?} {access:?}"
                    );
                    covered += 1;
                    beside_others += u32::from(before.newest().slot() != slot);
                }
            }
        }
        assert!(
            covered > 1_000 && beside_others > 100 && ordered > 1_000,
            "{covered}, {beside_others}, {ordered}"
        );
    }
}
