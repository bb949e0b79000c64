//! Shadow memory of a run that is checked while it goes on: what the analysis knows
//! about every eight bytes of the program. A table of regions, each mapped when it is
//! first needed, so that any layout of the address space is served and memory that
//! is never touched costs nothing.
//!
//! Only the holder of the turn changes anything, through the analysis. The entry
//! points look here first, without it: [`covers`]. Under `os` others may change what
//! they look at meanwhile. A thread's tag is only ever put in place by itself, so what it
//! finds under its tag it has done itself, in this epoch, and nobody can know that epoch
//! yet: whatever another thread does there is held against what is found, before or
//! after the access that is left out.

use alloc::vec::Vec;
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use wmfix_analysis::granule::{self, GRANULE_BYTES, Granule, GranuleStore, PAGE_GRANULES};

use crate::arena;
use crate::sys;

const REGION_BITS: u32 = 24;
const REGION_GRANULES: u64 = (1 << REGION_BITS) / GRANULE_BYTES;
const REGION_PAGES: usize = (REGION_GRANULES / PAGE_GRANULES) as usize;
/// Addresses of user space have this many bits; beyond them nothing is known.
const ADDRESS_BITS: u32 = 48;
const REGION_COUNT: usize = 1 << (ADDRESS_BITS - REGION_BITS);
const END_GRANULE: u64 = 1 << ADDRESS_BITS >> GRANULE_BYTES.trailing_zeros();

const TABLE_BYTES: usize = REGION_COUNT * size_of::<AtomicPtr<Region>>();
/// Of an address space that is limited, the table takes at most one part in this many.
const LARGEST_PART: u64 = 4;

/// Pages that are given back together, if they are more than this many, go back to
/// the kernel.
const MOST_KEPT_PAGES: usize = 64;

const PAGE_SHADOW_BYTES: usize = PAGE_GRANULES as usize * size_of::<Granule>();

/// The granules of a part of the address space, zero where nothing is known.
#[repr(C)]
struct Region {
    granules: [Granule; REGION_GRANULES as usize],
    /// A bit for each page: whether it was asked for since it was last released.
    known: [u64; REGION_PAGES / 64],
    /// Which part it is.
    number: u64,
    /// The region that was mapped before it.
    next: *mut Region,
}

/// The table of regions; null where nothing is mapped. Reached without the state,
/// because the entry points look here first.
static REGIONS: AtomicPtr<AtomicPtr<Region>> = AtomicPtr::new(ptr::null_mut());

/// The region that was mapped last. The process has one list, whichever store asked
/// for them: one that takes the place of another starts with none.
static LAST_REGION: AtomicPtr<Region> = AtomicPtr::new(ptr::null_mut());

/// Races are predicted: a trace has reads that come after those of other threads, and
/// so must be what is predicted from.
static READS_COUNT: AtomicBool = AtomicBool::new(false);

/// The shadow memory of the process. The default has no memory, and no use for any.
#[derive(Debug, Default)]
pub(crate) struct ShadowStore {
    is_on: bool,
}

/// There is no memory for the shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoTable;

/// Whether a plain access of the thread in the epoch `tag` adds nothing to what is
/// known. May say no where the analysis says so too.
#[inline(always)]
pub(crate) fn covers(tag: u64, address: u64, size: u64, writes: bool) -> bool {
    let offset = address % GRANULE_BYTES;
    if size == 2 * GRANULE_BYTES && offset == 0 {
        let half = |address| covers_in_granule(tag, address, GRANULE_BYTES, writes);
        return half(address) && half(address + GRANULE_BYTES);
    }
    offset + size <= GRANULE_BYTES && covers_in_granule(tag, address, size, writes)
}

#[inline(always)]
fn covers_in_granule(tag: u64, address: u64, size: u64, writes: bool) -> bool {
    if address >> ADDRESS_BITS != 0 {
        return false;
    }
    let offset = address % GRANULE_BYTES;
    // Callers ask only where plain accesses are checked: there is a table then.
    let region = entry(address >> REGION_BITS).load(Ordering::Acquire);
    if region.is_null() {
        return false;
    }
    let index = (address as usize & ((1 << REGION_BITS) - 1)) / GRANULE_BYTES as usize;
    let mask = (((1u16 << size) - 1) << offset) as u8;
    // SAFETY: a region has a granule for each eight bytes of its part, and stays
    // mapped while the process has more than one thread; its first words are read as
    // such, whoever writes them meanwhile.
    let word = |at: usize| unsafe {
        let granule = (&raw const (*region).granules).cast::<Granule>().add(index);
        (*granule.cast::<AtomicU64>().add(at)).load(Ordering::Relaxed)
    };
    let newest = word(0);
    // Without bytes, this asks whose it is.
    let is_own = || granule::covers(newest, || 0, tag, 0, false);
    let older = || match READS_COUNT.load(Ordering::Relaxed) && !is_own() {
        true => 0,
        false => word(1),
    };
    granule::covers(newest, older, tag, mask, writes)
}

/// Says whether a read counts that comes after one of another thread, though its own
/// thread has made the same before.
pub(crate) fn set_reads_count(reads_count: bool) {
    READS_COUNT.store(reads_count, Ordering::Relaxed);
}

impl ShadowStore {
    /// An empty one, in place of any earlier one: of a process that has one thread.
    pub(crate) fn new() -> Result<Self, NoTable> {
        unmap_all();
        if REGIONS.load(Ordering::Relaxed).is_null() {
            // The program needs room, too: stacks for its threads, for example.
            if sys::limit(libc::RLIMIT_AS) / LARGEST_PART < TABLE_BYTES as u64 {
                return Err(NoTable);
            }
            let table: *mut AtomicPtr<Region> = arena::map_fresh(TABLE_BYTES).cast();
            if table.is_null() {
                return Err(NoTable);
            }
            REGIONS.store(table, Ordering::Relaxed);
        }
        Ok(Self { is_on: true })
    }

    #[cold]
    fn map_region(&mut self, number: u64) -> Option<*mut Region> {
        let region = match self.is_on {
            true => arena::map_fresh(size_of::<Region>()).cast::<Region>(),
            false => return None,
        };
        if region.is_null() {
            arena::set_low();
            return None;
        }
        // SAFETY: a map of our own that nobody knows yet.
        unsafe {
            (*region).number = number;
            (*region).next = LAST_REGION.load(Ordering::Relaxed);
        }
        LAST_REGION.store(region, Ordering::Relaxed);
        entry(number).store(region, Ordering::Release);
        Some(region)
    }
}

impl Drop for ShadowStore {
    /// The memory goes back; its addresses are kept, as somebody may be looking.
    fn drop(&mut self) {
        if self.is_on {
            for region in regions() {
                give_back(
                    region as usize,
                    size_of::<[Granule; REGION_GRANULES as usize]>(),
                );
            }
        }
    }
}

impl GranuleStore for ShadowStore {
    const NAMES_THREADS: bool = false;

    #[inline(always)]
    fn granules(&mut self, first: u64, end: u64) -> Option<&mut [Granule]> {
        if first >= END_GRANULE || !self.is_on {
            return None;
        }
        let mut region = entry(first / REGION_GRANULES).load(Ordering::Relaxed);
        if region.is_null() {
            region = self.map_region(first / REGION_GRANULES)?;
        }
        let page = (first % REGION_GRANULES / PAGE_GRANULES) as usize;
        // SAFETY: a region of ours, and the page lies in it.
        unsafe { (*region).known[page / 64] |= 1 << (page % 64) };
        // SAFETY: only the store hands out granules, which its borrow protects.
        Some(unsafe { slice_of(region, first, end) })
    }

    #[inline(always)]
    fn known_granules(&mut self, first: u64, end: u64) -> &mut [Granule] {
        if first >= END_GRANULE || !self.is_on {
            return &mut [];
        }
        let region = entry(first / REGION_GRANULES).load(Ordering::Relaxed);
        if region.is_null() {
            return &mut [];
        }
        let page = (first % REGION_GRANULES / PAGE_GRANULES) as usize;
        // SAFETY: as in `granules`.
        unsafe {
            match (*region).known[page / 64] >> (page % 64) & 1 {
                0 => &mut [],
                _ => slice_of(region, first, end),
            }
        }
    }

    fn known_pages(&self, first: u64, end: u64) -> Vec<u64> {
        let mut pages = Vec::new();
        for region in regions().filter(|_| self.is_on) {
            // SAFETY: a region of ours.
            let first_page = unsafe { (*region).number } * REGION_PAGES as u64;
            let from = first.max(first_page);
            let to = end.min(first_page + REGION_PAGES as u64);
            if from >= to {
                continue;
            }
            // SAFETY: a region of ours.
            let known = unsafe { &(*region).known };
            for (word, &bits) in (0..).zip(known) {
                let mut bits = bits;
                while bits != 0 {
                    let page = first_page + 64 * word + u64::from(bits.trailing_zeros());
                    bits &= bits - 1;
                    if (from..to).contains(&page) {
                        pages.push(page);
                    }
                }
            }
        }
        pages
    }

    fn release(&mut self, pages: &[u64]) {
        for &page in pages {
            let region = entry(page / REGION_PAGES as u64).load(Ordering::Relaxed);
            let in_region = (page % REGION_PAGES as u64) as usize;
            // SAFETY: pages are those that regions of ours have.
            unsafe { (*region).known[in_region / 64] &= !(1 << (in_region % 64)) };
        }
        if pages.len() <= MOST_KEPT_PAGES {
            return;
        }
        let same_map = |one: &u64, next: &u64| {
            one + 1 == *next && one / REGION_PAGES as u64 == next / REGION_PAGES as u64
        };
        for run in pages.chunk_by(same_map) {
            let region = entry(run[0] / REGION_PAGES as u64).load(Ordering::Relaxed);
            let start = (run[0] % REGION_PAGES as u64) as usize * PAGE_SHADOW_BYTES;
            give_back(region as usize + start, run.len() * PAGE_SHADOW_BYTES);
        }
    }

    #[inline(always)]
    fn clear_if_full(&mut self) -> bool {
        false
    }
}

/// All regions, the last one first.
fn regions() -> impl Iterator<Item = *mut Region> {
    let mut region = LAST_REGION.load(Ordering::Relaxed);
    core::iter::from_fn(move || {
        let this = region;
        // SAFETY: regions in the list are mapped.
        region = unsafe { this.as_ref()?.next };
        Some(this)
    })
}

/// Gives all regions back: where a run begins, in a process with one thread.
fn unmap_all() {
    for region in regions() {
        // SAFETY: a map of our own, which neither the table nor the list leads to
        // any more when it goes.
        unsafe {
            entry((*region).number).store(ptr::null_mut(), Ordering::Relaxed);
            let arguments = [region as usize, size_of::<Region>(), 0, 0, 0, 0];
            sys::raw_syscall(libc::SYS_munmap, arguments);
        }
    }
    LAST_REGION.store(ptr::null_mut(), Ordering::Relaxed);
}

/// The table's entry for a region.
#[inline(always)]
fn entry<'t>(region: u64) -> &'t AtomicPtr<Region> {
    // SAFETY: the table is there as long as a store is on, and has an entry for every
    // region of user space, which callers keep to.
    unsafe { &*REGIONS.load(Ordering::Relaxed).add(region as usize) }
}

/// The granules of the page of `first`, from there on, up to `end`.
///
/// # Safety
/// The region is mapped and has `first`; nobody else has a reference to them.
#[inline(always)]
unsafe fn slice_of<'r>(region: *mut Region, first: u64, end: u64) -> &'r mut [Granule] {
    let in_page = first % PAGE_GRANULES;
    let count = (end - first).min(PAGE_GRANULES - in_page) as usize;
    let at = (first % REGION_GRANULES) as usize;
    // SAFETY: as promised by the caller; a page lies in one region.
    unsafe {
        let granules = (&raw mut (*region).granules).cast::<Granule>();
        slice::from_raw_parts_mut(granules.add(at), count)
    }
}

/// Gives pages of our own back to the kernel; they read as zeros afterwards.
fn give_back(start: usize, len: usize) {
    let arguments = [start, len, libc::MADV_DONTNEED as usize, 0, 0, 0];
    // SAFETY: private maps of our own.
    unsafe { sys::raw_syscall(libc::SYS_madvise, arguments) };
}
