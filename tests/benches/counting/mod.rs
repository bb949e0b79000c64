//! An allocator that counts the bytes in use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, counted.
pub(crate) struct CountingAllocator;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// How many bytes are in use.
pub(crate) fn bytes_in_use() -> usize {
    IN_USE.load(Ordering::Relaxed)
}

// SAFETY: every call is passed on unchanged to the system's allocator, which
// keeps the promises of `GlobalAlloc`; counting touches no memory of the caller.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller promises that `pointer` came from `alloc` with this
        // layout, and `alloc` got it from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        IN_USE.fetch_add(size, Ordering::Relaxed);
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as for `dealloc`, and the caller promises that `size` is valid.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
