//! The locks of stdio's files, as far as a program takes them itself.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LockMode, WaitsFor};

use super::take::{LockRequest, give, take, try_to_take};
use super::time::Timeout;
use crate::misuse::LockKind;
use crate::real;
use crate::trampoline;

/// They may be taken again by who has them: as signals they order, and need no
/// count.
fn wanted(file: *mut c_void) -> LockRequest {
    LockRequest {
        lock: file as u64,
        mode: LockMode::Signal,
        waits_for: WaitsFor::Lock(file as u64),
        kind: LockKind::Other,
    }
}

fn attempt(file: *mut c_void) -> c_int {
    match real::ftrylockfile(file) {
        0 => 0,
        _ => libc::EBUSY,
    }
}

unsafe extern "C" fn flockfile(file: *mut c_void, pc: u64) {
    let block = || {
        real::flockfile(file);
        0
    };
    take(&wanted(file), Timeout::Never, pc, || attempt(file), block);
}

unsafe extern "C" fn ftrylockfile(file: *mut c_void, pc: u64) -> c_int {
    try_to_take(&wanted(file), pc, || real::ftrylockfile(file))
}

unsafe extern "C" fn funlockfile(file: *mut c_void, pc: u64) {
    give(&wanted(file), pc, || {
        real::funlockfile(file);
        0
    });
}

trampoline!(weak, "flockfile", 1, flockfile);
trampoline!(weak, "ftrylockfile", 1, ftrylockfile);
trampoline!(weak, "funlockfile", 1, funlockfile);
