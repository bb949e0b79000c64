//! Semaphores: whoever passes one learns from all who posted it before.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LockMode, SyncKind, WaitsFor};

use super::take::{LockRequest, give, take, try_to_take};
use super::time::{Timeout, fail_with};
use crate::misuse::LockKind;
use crate::real;
use crate::shared_memory::address_of;
use crate::strategy::Kind;
use crate::trampoline;
use crate::turn;

fn wanted(semaphore: *mut c_void) -> LockRequest {
    let semaphore = address_of(semaphore as u64);
    LockRequest {
        lock: semaphore,
        mode: LockMode::Signal,
        waits_for: WaitsFor::Semaphore(semaphore),
        kind: LockKind::Semaphore,
    }
}

/// The error behind a result that is told through `errno`.
fn error_of(result: c_int) -> c_int {
    if result == 0 {
        return 0;
    }
    // SAFETY: the calling thread's own.
    unsafe { *libc::__errno_location() }
}

fn attempt(semaphore: *mut c_void) -> c_int {
    match error_of(real::sem_trywait(semaphore)) {
        libc::EAGAIN => libc::EBUSY,
        other => other,
    }
}

unsafe extern "C" fn wait(semaphore: *mut c_void, pc: u64) -> c_int {
    fail_with(take(
        &wanted(semaphore),
        Timeout::Never,
        pc,
        || attempt(semaphore),
        || error_of(real::sem_wait(semaphore)),
    ))
}

unsafe extern "C" fn timedwait(
    semaphore: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    fail_with(take(
        &wanted(semaphore),
        Timeout::until(libc::CLOCK_REALTIME, time),
        pc,
        || attempt(semaphore),
        || error_of(real::sem_timedwait(semaphore, time)),
    ))
}

unsafe extern "C" fn clockwait(
    semaphore: *mut c_void,
    clock: c_int,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    fail_with(take(
        &wanted(semaphore),
        Timeout::until(clock, time),
        pc,
        || attempt(semaphore),
        || error_of(real::sem_clockwait(semaphore, clock, time)),
    ))
}

unsafe extern "C" fn trywait(semaphore: *mut c_void, pc: u64) -> c_int {
    fail_with(try_to_take(&wanted(semaphore), pc, || {
        error_of(real::sem_trywait(semaphore))
    }))
}

unsafe extern "C" fn post(semaphore: *mut c_void, pc: u64) -> c_int {
    fail_with(give(&wanted(semaphore), pc, || {
        error_of(real::sem_post(semaphore))
    }))
}

/// Looking at a semaphore orders nothing, but what it shows depends on who came first.
unsafe extern "C" fn getvalue(semaphore: *mut c_void, level: *mut c_int, pc: u64) -> c_int {
    crate::abi::write(level as u64, size_of::<c_int>() as u64, pc);
    if let Some(mut held) = turn::enter()
        && held.explores()
    {
        held.point(Kind::Operation);
        let context = held.context(pc);
        let result = real::sem_getvalue(semaphore, level);
        held.sync(context, SyncKind::Look, address_of(semaphore as u64), 0);
        return result;
    }
    real::sem_getvalue(semaphore, level)
}

trampoline!(weak, "sem_getvalue", 2, getvalue);
trampoline!(weak, "sem_wait", 1, wait);
trampoline!(weak, "sem_timedwait", 2, timedwait);
trampoline!(weak, "sem_clockwait", 3, clockwait);
trampoline!(weak, "sem_trywait", 1, trywait);
trampoline!(weak, "sem_post", 1, post);
