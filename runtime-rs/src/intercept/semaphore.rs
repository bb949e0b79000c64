//! Semaphores: whoever passes one learns from all who posted it before.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LockMode, WaitsFor};

use super::take::{LockRequest, give, take, try_to_take};
use super::time::{Timeout, fail_with};
use crate::real;
use crate::trampoline;

fn wanted(semaphore: *mut c_void) -> LockRequest {
    LockRequest {
        lock: semaphore as u64,
        mode: LockMode::Signal,
        waits_for: WaitsFor::Semaphore(semaphore as u64),
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

trampoline!(weak, "sem_wait", 1, wait);
trampoline!(weak, "sem_timedwait", 2, timedwait);
trampoline!(weak, "sem_clockwait", 3, clockwait);
trampoline!(weak, "sem_trywait", 1, trywait);
trampoline!(weak, "sem_post", 1, post);
