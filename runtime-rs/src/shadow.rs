//! Shadow memory: for every eight bytes of the program, which thread accessed
//! them last and whether another access of that thread would add anything to
//! what the trace says. A table of regions, each mapped when it is first
//! needed, so that any layout of the address space is served and memory that is
//! never touched costs nothing.
//!
//! Only the holder of the turn changes anything. Under `os` others may look at the
//! same time, at their own entry points: a thread's own tag is only ever put in
//! place by itself, so whoever finds it there, and read what others did before,
//! knows that nobody came in between.
//!
//! Knows nothing of the trace: it answers, the caller records.

use alloc::vec::Vec;
use core::ops::Range;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::arena;
use crate::clocks::{Clock, ClockSlot};
use crate::sys;

/// The bytes that one cell stands for.
pub(crate) const GRANULE_BYTES: u64 = 8;

/// Of one access, only this many bytes are looked at: the analysis looks no
/// further either.
const LONGEST_RANGE_BYTES: u64 = 1 << 16;

const REGION_BITS: u32 = 24;
const REGION_CELLS: usize = (1 << REGION_BITS) / GRANULE_BYTES as usize;
const REGION_SHADOW_BYTES: usize = REGION_CELLS * size_of::<SharedCell>();
/// Addresses of user space have this many bits; beyond them nothing is known.
const ADDRESS_BITS: u32 = 48;
const REGION_COUNT: usize = 1 << (ADDRESS_BITS - REGION_BITS);

const TABLE_BYTES: usize = REGION_COUNT * size_of::<AtomicPtr<SharedCell>>();
/// Of an address space that is limited, the table takes at most one part in this many.
const LARGEST_PART: u64 = 4;

const PAGE_BYTES: usize = 4096;
const PAGE_CELLS: usize = PAGE_BYTES / size_of::<SharedCell>();

/// Behind the cells of a region: a bit for each page of them, set if it was ever
/// asked for since it was last forgotten whole.
const TOUCHED_BYTES: usize = REGION_CELLS / PAGE_CELLS / 8;
const REGION_MAP_BYTES: usize = REGION_SHADOW_BYTES + TOUCHED_BYTES;

/// A range longer than this is forgotten page by page.
const LARGE_RANGE_BYTES: u64 = 1 << 20;

/// What is known about eight bytes. All zero: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cell {
    /// The thread of the last access and its epoch ([`tag`]), the bytes that it
    /// has read and written in that epoch, and [`WROTE_BEFORE`].
    owner: u64,
    /// Earlier accesses of other threads that may not be ordered before the
    /// owner's: thread and epoch of one, or [`MANY`]; and [`WRITES`], [`STICKY`].
    others: u64,
}

const SLOT_SHIFT: u32 = 52;
const EPOCH_SHIFT: u32 = 16;
const READ_SHIFT: u32 = 8;
const TAG_MASK: u64 = 0xfff << SLOT_SHIFT | 0xffff_ffff << EPOCH_SHIFT;
/// In `owner`: there is a write that is ordered before the owner's access, by the
/// same thread or another. Who does not know the owner may not know that either.
const WROTE_BEFORE: u64 = 1 << 48;
/// In `others`: some access is a write.
const WRITES: u64 = 1;
/// In `others`: what is there is not known any better until memory is given
/// back: the bytes hold an atomic object, or a thread without a slot was here.
const STICKY: u64 = 2;
/// In `others`: several threads, or one that has no slot.
const MANY: u64 = 0xfff << SLOT_SHIFT;
/// Everything counts.
const UNKNOWN: Cell = Cell {
    owner: 0,
    others: MANY | WRITES | STICKY,
};

/// A thread and its epoch, as cells hold them. Never 0.
#[inline(always)]
pub(crate) fn tag(slot: ClockSlot, epoch: u32) -> u64 {
    (slot as u64) << SLOT_SHIFT | u64::from(epoch) << EPOCH_SHIFT
}

fn slot_of(word: u64) -> ClockSlot {
    (word >> SLOT_SHIFT) as ClockSlot
}

fn epoch_of(word: u64) -> u32 {
    (word >> EPOCH_SHIFT) as u32
}

/// An access to some bytes of a granule.
#[derive(Clone, Copy, Debug)]
struct GranuleAccess<'a> {
    tag: u64,
    known: &'a Clock,
    mask: u8,
    writes: bool,
}

impl Cell {
    /// Whether an access of the thread and epoch `tag` adds nothing: it has made
    /// the same before, nothing else came in between, and it races with nothing.
    #[inline(always)]
    fn covers(self, tag: u64, mask: u8, writes: bool) -> bool {
        let (made, conflict) = if writes {
            (self.owner as u8, self.others != 0)
        } else {
            (
                self.owner as u8 | (self.owner >> READ_SHIFT) as u8,
                self.others & WRITES != 0,
            )
        };
        self.owner & TAG_MASK == tag
            && mask & !made == 0
            && (!conflict || slot_of(self.others) == slot_of(tag))
    }

    /// Makes an access; whether it adds something.
    fn access(&mut self, access: &GranuleAccess<'_>) -> bool {
        let &GranuleAccess {
            tag,
            known,
            mask,
            writes,
        } = access;
        self.owner |= self.forget_ordered(known) * WROTE_BEFORE;
        if self.covers(tag, mask, writes) {
            return false;
        }
        // A write of all bytes is all that later accesses can race with.
        let covers_all = writes && mask == 0xff;
        if covers_all && self.others & STICKY == 0 {
            self.others = 0;
        }
        let bits = u64::from(mask) << if writes { 0 } else { READ_SHIFT };
        let owner = self.owner;
        if owner & TAG_MASK == tag {
            self.owner |= bits;
            return true;
        }
        // Whoever knows the new epoch of a thread knows the old one.
        let ordered =
            slot_of(owner) == slot_of(tag) || known.get(slot_of(owner)) >= epoch_of(owner);
        self.owner = tag | bits;
        if !covers_all && ordered {
            self.owner |= writes_of(owner) * WROTE_BEFORE;
        } else if !covers_all {
            self.add_other(owner & TAG_MASK | writes_of(owner));
        }
        true
    }

    /// Drops the one earlier access that is remembered if it is ordered before
    /// whatever a thread that knows `known` does; 1 if it was a write, else 0. Who
    /// does not know the dropped one does not know that thread's access either,
    /// and that thread is the owner now.
    fn forget_ordered(&mut self, known: &Clock) -> u64 {
        let others = self.others;
        if others == 0 || others & MANY == MANY || known.get(slot_of(others)) < epoch_of(others) {
            return 0;
        }
        self.others = 0;
        others & WRITES
    }

    fn add_other(&mut self, other: u64) {
        self.others = match self.others {
            0 => other,
            // Whoever knows the later of a thread's accesses knows the earlier.
            others if others & MANY == other & MANY => other | others & WRITES,
            others => MANY | (others | other) & (WRITES | STICKY),
        };
    }
}

/// 1 if the owner has written, else 0.
fn writes_of(owner: u64) -> u64 {
    u64::from(owner as u8 != 0 || owner & WROTE_BEFORE != 0)
}

/// A [`Cell`] in shadow memory.
#[derive(Debug)]
#[repr(C)]
struct SharedCell {
    owner: AtomicU64,
    others: AtomicU64,
}

impl SharedCell {
    #[inline(always)]
    fn get(&self) -> Cell {
        let others = self.others.load(Ordering::Acquire);
        let owner = self.owner.load(Ordering::Relaxed);
        Cell { owner, others }
    }

    /// The owner first: who sees what became of the others sees a new owner too.
    #[inline(always)]
    fn set(&self, cell: Cell) {
        self.owner.store(cell.owner, Ordering::Relaxed);
        self.others.store(cell.others, Ordering::Release);
    }
}

/// The table of regions; null where nothing is mapped. Reached without the state,
/// because the entry points look here first.
static REGIONS: AtomicPtr<AtomicPtr<SharedCell>> = AtomicPtr::new(ptr::null_mut());

/// The shadow of the process.
#[derive(Debug)]
pub(crate) struct Shadow {
    regions: Vec<(usize, *mut SharedCell)>,
}

/// There is no memory for the shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory;

/// Whether an access of the thread and epoch `tag` adds nothing. May say no where
/// [`Shadow::access`] says so too.
///
#[inline(always)]
pub(crate) fn covers(tag: u64, address: u64, size: u64, writes: bool) -> bool {
    let offset = address % GRANULE_BYTES;
    if offset + size > GRANULE_BYTES || address >> ADDRESS_BITS != 0 {
        return false;
    }
    let table = REGIONS.load(Ordering::Relaxed);
    if table.is_null() {
        return false;
    }
    // SAFETY: the table has an entry for every address of user space.
    let region = unsafe { &*table.add((address >> REGION_BITS) as usize) }.load(Ordering::Acquire);
    if region.is_null() {
        return false;
    }
    let mask = (((1u16 << size) - 1) << offset) as u8;
    // SAFETY: a region has a cell for each of its granules, and stays mapped while
    // the process has more than one thread.
    unsafe { &*region.add(cell_index(address)) }
        .get()
        .covers(tag, mask, writes)
}

#[inline(always)]
fn cell_index(address: u64) -> usize {
    (address as usize & ((1 << REGION_BITS) - 1)) / GRANULE_BYTES as usize
}

impl Shadow {
    /// An empty shadow, in place of any earlier one.
    pub(crate) fn new() -> Result<Self, NoMemory> {
        let mut table = REGIONS.load(Ordering::Relaxed);
        if table.is_null() {
            // The program needs room, too: stacks for its threads, for example.
            if sys::limit(libc::RLIMIT_AS) / LARGEST_PART < TABLE_BYTES as u64 {
                return Err(NoMemory);
            }
            table = arena::map_fresh(TABLE_BYTES).cast();
            if table.is_null() {
                return Err(NoMemory);
            }
            REGIONS.store(table, Ordering::Relaxed);
        }
        Ok(Self {
            regions: Vec::new(),
        })
    }

    /// Makes a plain access; whether it adds something to the trace.
    pub(crate) fn access(
        &mut self,
        address: u64,
        size: u64,
        tag: u64,
        known: &Clock,
        writes: bool,
    ) -> Result<bool, NoMemory> {
        let end = address.saturating_add(size.min(LONGEST_RANGE_BYTES));
        if end > 1 << ADDRESS_BITS {
            return Ok(true);
        }
        let mut adds = false;
        let mut at = address;
        while at < end {
            let next = (at / GRANULE_BYTES + 1) * GRANULE_BYTES;
            let mask = mask_of(at, end.min(next));
            let access = GranuleAccess {
                tag,
                known,
                mask,
                writes,
            };
            let shared = self.cell(at)?;
            let mut cell = shared.get();
            let before = cell;
            adds |= cell.access(&access);
            if cell != before {
                shared.set(cell);
            }
            at = next;
        }
        Ok(adds)
    }

    /// The bytes hold an atomic object, whose accesses are not here, or a thread
    /// without a slot accesses them: from now on all plain accesses count.
    pub(crate) fn mark_unknown(&mut self, address: u64, size: u64) -> Result<(), NoMemory> {
        if address.saturating_add(size) > 1 << ADDRESS_BITS {
            return Ok(());
        }
        for granule in address / GRANULE_BYTES..=(address + size - 1) / GRANULE_BYTES {
            self.cell(granule * GRANULE_BYTES)?.set(UNKNOWN);
        }
        Ok(())
    }

    /// The memory is given back; whether anything was known about it.
    pub(crate) fn forget(&mut self, range: Range<u64>) -> bool {
        let end = range.end.min(1 << ADDRESS_BITS);
        let mut any = false;
        let mut at = range.start;
        while at < end {
            let region_end = ((at >> REGION_BITS) + 1) << REGION_BITS;
            let stop = end.min(region_end);
            if let Some(region) = self.region(at) {
                any |= forget_cells(region, at, stop);
            }
            at = stop;
        }
        any
    }

    /// Gives all memory of the shadow back: in a forked child, whose threads are
    /// others.
    pub(crate) fn clear(&mut self) {
        for (index, region) in self.regions.drain(..) {
            // SAFETY: the table has this entry, and the region was mapped whole.
            unsafe {
                let table = REGIONS.load(Ordering::Relaxed);
                (*table.add(index)).store(ptr::null_mut(), Ordering::Relaxed);
                unmap(region.cast(), REGION_MAP_BYTES);
            }
        }
    }

    fn region(&self, address: u64) -> Option<*mut SharedCell> {
        let table = REGIONS.load(Ordering::Relaxed);
        // SAFETY: callers keep to addresses of user space.
        let region =
            unsafe { &*table.add((address >> REGION_BITS) as usize) }.load(Ordering::Relaxed);
        (!region.is_null()).then_some(region)
    }

    fn cell(&mut self, address: u64) -> Result<&SharedCell, NoMemory> {
        let region = match self.region(address) {
            Some(region) => region,
            None => self.map_region((address >> REGION_BITS) as usize)?,
        };
        let index = cell_index(address);
        let (touched, bit) = touched_word(region, index / PAGE_CELLS);
        let before = touched.load(Ordering::Relaxed);
        if before & bit == 0 {
            touched.store(before | bit, Ordering::Relaxed);
        }
        // SAFETY: a region has a cell for each of its granules.
        Ok(unsafe { &*region.add(index) })
    }

    #[cold]
    fn map_region(&mut self, index: usize) -> Result<*mut SharedCell, NoMemory> {
        let region = arena::map_fresh(REGION_MAP_BYTES).cast::<SharedCell>();
        if region.is_null() {
            return Err(NoMemory);
        }
        self.regions.push((index, region));
        let table = REGIONS.load(Ordering::Relaxed);
        // SAFETY: callers keep to addresses of user space.
        unsafe { &*table.add(index) }.store(region, Ordering::Release);
        Ok(region)
    }
}

/// Where the bit of a page of cells is.
#[inline(always)]
fn touched_word<'r>(region: *mut SharedCell, page: usize) -> (&'r AtomicU64, u64) {
    // SAFETY: the bits lie behind the cells, and stay mapped as long as these.
    let word = unsafe { &*region.add(REGION_CELLS).cast::<AtomicU64>().add(page / 64) };
    (word, 1 << (page % 64))
}

/// Forgets the granules from `start` to `end`, which lie in one region; whether
/// anything was known. Of a granule that is only partly in the range, nothing
/// certain is known afterwards.
fn forget_cells(region: *mut SharedCell, start: u64, end: u64) -> bool {
    let (first, last) = (cell_index(start), cell_index(end - 1));
    // SAFETY: cells of the region.
    let cell = |index: usize| unsafe { &*region.add(index) };
    let partly = [
        (first, !start.is_multiple_of(GRANULE_BYTES)),
        (last, !end.is_multiple_of(GRANULE_BYTES)),
    ];
    let unknown = partly.map(|(index, partly)| partly && cell(index).get() != Cell::default());
    let gives_back = end - start > LARGE_RANGE_BYTES;
    let mut any = false;
    for page in first / PAGE_CELLS..=last / PAGE_CELLS {
        let (touched, bit) = touched_word(region, page);
        if touched.load(Ordering::Relaxed) & bit == 0 {
            continue;
        }
        let of_page = page * PAGE_CELLS..(page + 1) * PAGE_CELLS;
        let is_whole = first <= of_page.start && of_page.end <= last + 1;
        for index in of_page.start.max(first)..of_page.end.min(last + 1) {
            if cell(index).get() != Cell::default() {
                any = true;
                cell(index).set(Cell::default());
            }
        }
        if is_whole {
            touched.store(touched.load(Ordering::Relaxed) & !bit, Ordering::Relaxed);
            if gives_back {
                give_back(cell(of_page.start));
            }
        }
    }
    for ((index, _), unknown) in partly.into_iter().zip(unknown) {
        if unknown {
            cell(index).set(UNKNOWN);
        }
    }
    any
}

/// Gives a page of cells, which are all zero, back to the kernel.
fn give_back(first: &SharedCell) {
    let page = ptr::from_ref(first) as usize;
    let arguments = [page, PAGE_BYTES, libc::MADV_DONTNEED as usize, 0, 0, 0];
    // SAFETY: a page of our own private map, which reads as zeros afterwards.
    unsafe { sys::raw_syscall(libc::SYS_madvise, arguments) };
}

/// The bytes of a granule from `start` up to `end`.
fn mask_of(start: u64, end: u64) -> u8 {
    let size = end - start;
    (((1u16 << size) - 1) << (start % GRANULE_BYTES)) as u8
}

unsafe fn unmap(start: *mut u8, len: usize) {
    // SAFETY: a map of our own, as the caller promises.
    unsafe { sys::raw_syscall(libc::SYS_munmap, [start as usize, len, 0, 0, 0, 0]) };
}

#[cfg(test)]
mod tests {
    use wmfix_trace::{LockMode, RecordedOperation};

    use super::*;
    use crate::clocks::Clocks;

    /// Two threads, one cell.
    struct Pair {
        clocks: Clocks,
        cell: Cell,
    }

    impl Pair {
        fn new() -> Self {
            let mut clocks = Clocks::new();
            assert_eq!(clocks.create(0), Some(1));
            Self {
                clocks,
                cell: Cell::default(),
            }
        }

        fn access(&mut self, slot: ClockSlot, mask: u8, writes: bool) -> bool {
            self.cell.access(&GranuleAccess {
                tag: tag(slot, self.clocks.epoch(slot)),
                known: self.clocks.known(slot),
                mask,
                writes,
            })
        }

        fn release(&mut self, slot: ClockSlot) {
            let (lock, mode) = (1, LockMode::Signal);
            self.clocks
                .event(slot, &RecordedOperation::Release { lock, mode });
        }

        fn acquire(&mut self, slot: ClockSlot) {
            let (lock, mode) = (1, LockMode::Signal);
            self.clocks
                .event(slot, &RecordedOperation::Acquire { lock, mode });
        }
    }

    #[test]
    fn the_same_access_in_the_same_epoch_adds_nothing() {
        let mut pair = Pair::new();
        assert!(pair.access(0, 0x0f, false));
        assert!(!pair.access(0, 0x0f, false));
        assert!(!pair.access(0, 0x03, false));
        assert!(pair.access(0, 0xf0, false), "other bytes");
        assert!(pair.access(0, 0x0f, true), "a write");
        assert!(!pair.access(0, 0x0f, true));
        assert!(!pair.access(0, 0x0f, false), "a read of what it wrote");
        pair.release(0);
        assert!(pair.access(0, 0x0f, true), "another epoch");
    }

    #[test]
    fn an_access_that_may_race_always_counts() {
        let mut pair = Pair::new();
        assert!(pair.access(0, 0x0f, true));
        assert!(pair.access(1, 0x0f, false));
        assert!(pair.access(1, 0x0f, false), "it races again");
        pair.release(0);
        pair.acquire(1);
        assert!(pair.access(1, 0x0f, false), "another epoch");
        assert!(!pair.access(1, 0x0f, false), "ordered by now");
    }

    #[test]
    fn readers_share() {
        let mut pair = Pair::new();
        assert!(pair.access(0, 0xff, false));
        assert!(pair.access(1, 0xff, false));
        assert!(!pair.access(1, 0xff, false));
        assert!(pair.access(1, 0x01, true), "a write among readers races");
        assert!(pair.access(1, 0x01, true));
    }

    #[test]
    fn a_write_of_an_earlier_epoch_is_not_forgotten_behind_a_read() {
        let mut pair = Pair::new();
        assert!(pair.access(0, 0xff, true));
        pair.acquire(0);
        assert!(pair.access(0, 0xff, false));
        assert!(pair.access(1, 0xff, false));
        assert!(pair.access(1, 0xff, false), "it races with the write");
    }

    #[test]
    fn a_narrow_write_does_not_hide_a_wide_one() {
        let mut pair = Pair::new();
        assert_eq!(pair.clocks.create(0), Some(2));
        assert!(pair.access(0, 0xff, true));
        pair.release(0);
        pair.acquire(1);
        assert!(pair.access(1, 0x0f, false));
        assert!(pair.access(2, 0x0f, true));
        assert!(pair.access(2, 0x0f, true), "thread 0 wrote more than that");
        assert!(pair.access(2, 0xff, true));
        assert!(!pair.access(2, 0xff, true), "nothing else is left");
    }

    #[test]
    fn memory_given_back_is_forgotten_but_for_what_it_shares() {
        let mut clocks = Clocks::new();
        assert_eq!(clocks.create(0), Some(1));
        let mut shadow = Shadow::new().unwrap();
        let tags = [tag(0, clocks.epoch(0)), tag(1, clocks.epoch(1))];
        let write = |shadow: &mut Shadow, slot: usize, address, size| {
            let known = clocks.known(slot);
            shadow.access(address, size, tags[slot], known, true)
        };
        let base = 0x7100_0000_0000;
        for size in [64, 4 << 20] {
            assert_eq!(write(&mut shadow, 0, base, 64), Ok(true));
            assert!(shadow.forget(base + 4..base + size));
            assert_eq!(write(&mut shadow, 1, base + 8, 8), Ok(true));
            assert_eq!(write(&mut shadow, 1, base + 8, 8), Ok(false));
            assert_eq!(write(&mut shadow, 1, base, 8), Ok(true));
            assert_eq!(write(&mut shadow, 1, base, 8), Ok(true));
            assert!(shadow.forget(base..base + size));
        }
        assert!(!shadow.forget(base + 8..base + 64));
        assert_eq!(write(&mut shadow, 0, base + 6, 4), Ok(true));
        assert!(covers(tags[0], base + 6, 2, false));
        assert!(!covers(tags[0], base + 6, 4, false), "two granules");
        assert!(!covers(tags[1], base + 6, 2, false));
        shadow.clear();
    }
}
