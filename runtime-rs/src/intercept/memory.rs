//! Memory that is given back: what lay there ends, and the next atomic at the
//! address is a new one. Where memory is handed out matters to reports only.
//! `operator new` comes here through `malloc`, `operator delete` through `free`.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use wmfix_trace::RecordedOperation;

use crate::allocations;
use crate::filter::{self, plain};
use crate::locations::may_hold_atomic;
use crate::real;
use crate::stale_run;
use crate::trampoline;
use crate::turn;

pub(super) fn given_back(address: u64, size: u64, pc: u64) {
    if size == 0
        || (matches!(filter::plain_mode(), plain::OFF | plain::ALONE)
            && !may_hold_atomic(address, size))
    {
        return;
    }
    if let Some(mut held) = turn::enter()
        && held.state().end_memory(address, size)
    {
        // Only now: what was asked above depends on addresses, which differ from
        // run to run, and a new context is a record.
        let context = held.context(pc);
        let free = RecordedOperation::Free { address, size };
        held.state().event(context, &free, 0);
    }
}

/// Whether a block that was given back is kept from being handed out again.
fn keep_back(address: u64, size: u64) -> bool {
    match turn::enter() {
        Some(mut held) => held.state().quarantine(address, size),
        None => false,
    }
}

fn size_of(block: *mut c_void) -> u64 {
    if block.is_null() {
        0
    } else {
        real::malloc_usable_size(block) as u64
    }
}

/// The trace is told that a block was handed out.
#[cold]
fn note_block(block: *mut c_void, size: usize, pc: u64) {
    if turn::is_in_program()
        && let Some(mut held) = turn::enter()
    {
        let (thread, state) = held.parts();
        state.hand_out(thread, pc, block as u64, size as u64);
    }
}

/// The trace is told that a block is given back.
#[cold]
fn note_end(block: *mut c_void) {
    if turn::is_in_program()
        && let Some(mut held) = turn::enter()
    {
        held.state().hand_back(block as u64);
    }
}

#[inline(always)]
fn handed_out(block: *mut c_void, size: usize, pc: u64) -> *mut c_void {
    if allocations::are_recorded() && !block.is_null() && size > 0 {
        note_block(block, size, pc);
    }
    block
}

/// Whether the library's functions can be called: they have been found by now.
#[inline(always)]
fn is_found() -> bool {
    FOUND.load(Ordering::Relaxed) != 0 || find()
}

#[cold]
fn find() -> bool {
    if real::is_finding_allocator() {
        return false;
    }
    real::find_allocator();
    FOUND.store(1, Ordering::Relaxed);
    true
}

/// Whether the library's functions have been found.
static FOUND: AtomicU8 = AtomicU8::new(0);

unsafe extern "C" fn malloc(size: usize, pc: u64) -> *mut c_void {
    if !is_found() {
        return spare_block(size);
    }
    handed_out(real::malloc(size), size, pc)
}

unsafe extern "C" fn calloc(count: usize, size: usize, pc: u64) -> *mut c_void {
    if !is_found() {
        return spare_block(count.saturating_mul(size));
    }
    // Where this overflows there is no block.
    handed_out(real::calloc(count, size), count.wrapping_mul(size), pc)
}

unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize, pc: u64) -> *mut c_void {
    handed_out(real::aligned_alloc(alignment, size), size, pc)
}

unsafe extern "C" fn memalign(alignment: usize, size: usize, pc: u64) -> *mut c_void {
    handed_out(real::memalign(alignment, size), size, pc)
}

unsafe extern "C" fn posix_memalign(
    block: *mut *mut c_void,
    alignment: usize,
    size: usize,
    pc: u64,
) -> c_int {
    let result = real::posix_memalign(block, alignment, size);
    if result == 0 {
        // SAFETY: the call has just written there.
        handed_out(unsafe { *block }, size, pc);
    }
    result
}

unsafe extern "C" fn free(block: *mut c_void, pc: u64) {
    if is_spare(block) || !is_found() {
        return;
    }
    if turn::is_on() {
        let size = size_of(block);
        given_back(block as u64, size, pc);
        if allocations::are_recorded() && size > 0 {
            note_end(block);
        }
        if stale_run::is_on() && keep_back(block as u64, size) {
            return;
        }
    }
    real::free(block);
}

unsafe extern "C" fn realloc(block: *mut c_void, size: usize, pc: u64) -> *mut c_void {
    if !is_found() {
        return spare_block(size);
    }
    if !turn::is_on() {
        return real::realloc(block, size);
    }
    let old_size = size_of(block);
    let new = real::realloc(block, size);
    if new != block && (!new.is_null() || size == 0) {
        given_back(block as u64, old_size, pc);
        if allocations::are_recorded() && old_size > 0 {
            note_end(block);
        }
    }
    handed_out(new, size, pc)
}

unsafe extern "C" fn reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
    pc: u64,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the program's own arguments.
        Some(bytes) => unsafe { realloc(block, bytes, pc) },
        None => {
            super::time::fail_with(libc::ENOMEM);
            core::ptr::null_mut()
        }
    }
}

/// Memory for whoever asks while the allocator is looked for: the loader, which then
/// has a message to keep. It is never used again.
const SPARE_BYTES: usize = 4096;

#[repr(align(16))]
struct SpareMemory(core::cell::UnsafeCell<[u8; SPARE_BYTES]>);

// SAFETY: each byte is handed out once.
unsafe impl Sync for SpareMemory {}

static SPARE: SpareMemory = SpareMemory(core::cell::UnsafeCell::new([0; SPARE_BYTES]));
static SPARE_USED: AtomicUsize = AtomicUsize::new(0);

fn spare_block(size: usize) -> *mut c_void {
    let bytes = size.saturating_add(15) & !15;
    let at = SPARE_USED.fetch_add(bytes.min(SPARE_BYTES), Ordering::Relaxed);
    if at.saturating_add(bytes) > SPARE_BYTES {
        return core::ptr::null_mut();
    }
    SPARE.0.get().cast::<c_void>().wrapping_byte_add(at)
}

fn is_spare(block: *mut c_void) -> bool {
    let first = SPARE.0.get() as usize;
    (first..first + SPARE_BYTES).contains(&(block as usize))
}

trampoline!(weak, "malloc", 1, malloc);
trampoline!(weak, "calloc", 2, calloc);
trampoline!(weak, "aligned_alloc", 2, aligned_alloc);
trampoline!(weak, "memalign", 2, memalign);
trampoline!(weak, "posix_memalign", 3, posix_memalign);
trampoline!(weak, "free", 1, free);
trampoline!(weak, "realloc", 2, realloc);
trampoline!(weak, "reallocarray", 3, reallocarray);
