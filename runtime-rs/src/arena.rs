//! The runtime's own memory, mapped from the kernel: its allocations neither go
//! through the program's `malloc` nor count as the program's.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::sys;

/// Blocks of 16 bytes to 64 KiB in powers of two; larger ones are maps.
const SIZE_CLASSES: usize = 13;
const SMALLEST_BLOCK_BYTES: usize = 16;
const CHUNK_BYTES: usize = 1 << 20;

/// Size classes with free lists, under one small lock.
pub(crate) struct Arena {
    locked: AtomicBool,
    lists: UnsafeCell<Lists>,
}

struct Lists {
    free: [*mut u8; SIZE_CLASSES],
    next: *mut u8,
    end: *mut u8,
}

/// Address space that is kept for the time when the system has no more: what needs
/// much memory sees [`is_low`] and gives up, instead of ending the program.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
const RESERVE_BYTES: usize = 64 << 20;
/// Of an address space that is limited, the reserve takes at most one part in this
/// many: the program needs room, too.
const LARGEST_PART: u64 = 4;
static RESERVE_SIZE: AtomicUsize = AtomicUsize::new(0);
/// How much of the reserve is used.
static RESERVE_USED: AtomicUsize = AtomicUsize::new(0);
static IS_LOW: AtomicBool = AtomicBool::new(false);

/// Sets the reserve aside, if there is room for it.
pub(crate) fn set_reserve_aside() {
    if RESERVE.load(Ordering::Relaxed).is_null() {
        let part = sys::limit(libc::RLIMIT_AS) / LARGEST_PART;
        let size = usize::try_from(part).map_or(RESERVE_BYTES, |part| part.min(RESERVE_BYTES));
        RESERVE.store(map_fresh(size), Ordering::Relaxed);
        RESERVE_SIZE.store(size, Ordering::Relaxed);
    }
}

/// Whether the system has no more memory.
#[inline(always)]
pub(crate) fn is_low() -> bool {
    IS_LOW.load(Ordering::Relaxed)
}

/// The system has no more memory for what needs much of it.
pub(crate) fn set_low() {
    IS_LOW.store(true, Ordering::Relaxed);
}

/// A part of the reserve, which is not given back.
#[cold]
fn from_reserve(size: usize) -> *mut u8 {
    IS_LOW.store(true, Ordering::Relaxed);
    let reserve = RESERVE.load(Ordering::Relaxed);
    let size = size.next_multiple_of(4096);
    let all = RESERVE_SIZE.load(Ordering::Relaxed);
    let take = |used: usize| (used + size <= all).then_some(used + size);
    let used = RESERVE_USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    match used {
        Ok(used) if !reserve.is_null() => reserve.wrapping_add(used),
        _ => ptr::null_mut(),
    }
}

// SAFETY: `lists` is touched only while `locked` is held.
unsafe impl Sync for Arena {}

#[cfg(not(test))]
#[global_allocator]
static ARENA: Arena = Arena::new();

impl Arena {
    pub(crate) const fn new() -> Self {
        Self {
            locked: AtomicBool::new(false),
            lists: UnsafeCell::new(Lists {
                free: [ptr::null_mut(); SIZE_CLASSES],
                next: ptr::null_mut(),
                end: ptr::null_mut(),
            }),
        }
    }

    fn locked<R>(&self, body: impl FnOnce(&mut Lists) -> R) -> R {
        while self.locked.swap(true, Ordering::Acquire) {
            sys::yield_now();
        }
        // SAFETY: the lock was just taken.
        let result = body(unsafe { &mut *self.lists.get() });
        self.locked.store(false, Ordering::Release);
        result
    }

    /// A forked child has one thread, and it does not hold the lock: another
    /// thread's hold on it was left behind in the parent.
    pub(crate) fn after_fork(&self) {
        self.locked.store(false, Ordering::Release);
    }
}

/// See [`Arena::after_fork`].
#[cfg(not(test))]
pub(crate) fn after_fork() {
    ARENA.after_fork();
}

fn class(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST_BLOCK_BYTES);
    let class = (size.next_power_of_two() / SMALLEST_BLOCK_BYTES).trailing_zeros() as usize;
    (class < SIZE_CLASSES).then_some(class)
}

// SAFETY: blocks are aligned to their size, which is at least the layout's
// alignment, and belong to one owner between `alloc` and `dealloc`.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(layout) else {
            return map(layout.size());
        };
        let size = SMALLEST_BLOCK_BYTES << class;
        self.locked(|lists| {
            let head = lists.free[class];
            if !head.is_null() {
                // SAFETY: a free block's first word is the next free block.
                lists.free[class] = unsafe { head.cast::<*mut u8>().read() };
                return head;
            }
            let aligned = lists.next.wrapping_add(lists.next.align_offset(size));
            let end = aligned.wrapping_add(size);
            if lists.next.is_null() || end > lists.end {
                let chunk = map(CHUNK_BYTES);
                if chunk.is_null() {
                    return chunk;
                }
                // A map is aligned to a page only; larger blocks of one chunk
                // are aligned by skipping.
                lists.next = chunk;
                lists.end = chunk.wrapping_add(CHUNK_BYTES);
                let aligned = chunk.wrapping_add(chunk.align_offset(size));
                lists.next = aligned.wrapping_add(size);
                return aligned;
            }
            lists.next = end;
            aligned
        })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match class(layout) {
            Some(class) => self.locked(|lists| {
                // SAFETY: the block is at least a pointer in size, and free.
                unsafe { block.cast::<*mut u8>().write(lists.free[class]) };
                lists.free[class] = block;
            }),
            None => {
                // SAFETY: it was mapped with this size.
                unsafe {
                    sys::raw_syscall(
                        libc::SYS_munmap,
                        [block as usize, layout.size(), 0, 0, 0, 0],
                    )
                };
            }
        }
    }
}

/// Fresh zeroed pages, from the reserve if the system has none; null if there are
/// none at all.
fn map(size: usize) -> *mut u8 {
    match map_fresh(size) {
        block if block.is_null() => from_reserve(size),
        block => block,
    }
}

/// Fresh zeroed pages; null if there are none.
pub(crate) fn map_fresh(size: usize) -> *mut u8 {
    // SAFETY: a new private map disturbs nothing.
    let address = unsafe {
        sys::raw_syscall(
            libc::SYS_mmap,
            [
                sys::address_for_own(size),
                size,
                (libc::PROT_READ | libc::PROT_WRITE) as usize,
                (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize,
                usize::MAX,
                0,
            ],
        )
    };
    if address < 0 {
        ptr::null_mut()
    } else {
        address as *mut u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_apart_and_used_again() {
        let arena = Arena::new();
        for (size, align) in [(1, 1), (24, 8), (100, 64), (4096, 4096), (1 << 20, 16)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            // SAFETY: blocks are used within their layout and freed once.
            unsafe {
                let first = arena.alloc(layout);
                let second = arena.alloc(layout);
                assert_eq!(first as usize % align, 0);
                assert_eq!(second as usize % align, 0);
                first.write_bytes(1, size);
                second.write_bytes(2, size);
                assert_eq!(*first, 1);
                arena.dealloc(second, layout);
                if size < 1 << 20 {
                    assert_eq!(arena.alloc(layout), second);
                }
                arena.dealloc(first, layout);
            }
        }
    }
}
