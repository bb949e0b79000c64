//! Memory that is given back: what lay there ends, and the next atomic at the
//! address is a new one. Handing memory out needs no hook, and `operator
//! delete` comes here through `free`.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU8, Ordering};

use wmfix_trace::RecordedOperation;

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

unsafe extern "C" fn free(block: *mut c_void, pc: u64) {
    if turn::is_on() {
        let size = size_of(block);
        given_back(block as u64, size, pc);
        if stale_run::is_on() && keep_back(block as u64, size) {
            return;
        }
    } else if FOUND.load(Ordering::Relaxed) == 0 {
        if real::is_finding_free() {
            return;
        }
        real::find_free();
        FOUND.store(1, Ordering::Relaxed);
    }
    real::free(block);
}

/// Whether the library's `free` has been found.
static FOUND: AtomicU8 = AtomicU8::new(0);

unsafe extern "C" fn realloc(block: *mut c_void, size: usize, pc: u64) -> *mut c_void {
    if !turn::is_on() {
        return real::realloc(block, size);
    }
    let old_size = size_of(block);
    let new = real::realloc(block, size);
    if new != block && (!new.is_null() || size == 0) {
        given_back(block as u64, old_size, pc);
    }
    new
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

trampoline!(weak, "free", 1, free);
trampoline!(weak, "realloc", 2, realloc);
trampoline!(weak, "reallocarray", 3, reallocarray);
