//! Threads, mutexes and conditions as C11 spells them. In the C libraries that
//! have them they are the POSIX ones with other results.

use core::ffi::{c_int, c_void};

use super::{condition, lock, once, thread, time};
use crate::trampoline;

const THRD_SUCCESS: c_int = 0;
const THRD_BUSY: c_int = 1;
const THRD_ERROR: c_int = 2;
const THRD_NOMEM: c_int = 3;
const THRD_TIMEDOUT: c_int = 4;

fn converted(result: c_int) -> c_int {
    match result {
        0 => THRD_SUCCESS,
        libc::EBUSY => THRD_BUSY,
        libc::ENOMEM => THRD_NOMEM,
        libc::ETIMEDOUT => THRD_TIMEDOUT,
        _ => THRD_ERROR,
    }
}

/// The function gives back an `int` where POSIX's gives a pointer: the same
/// register, of which `thrd_join` takes as much as was put in.
unsafe extern "C" fn thrd_create(
    handle: *mut libc::pthread_t,
    routine: *mut c_void,
    argument: *mut c_void,
    pc: u64,
) -> c_int {
    // SAFETY: the program's own arguments.
    converted(unsafe { thread::create(handle, core::ptr::null(), routine, argument, pc) })
}

unsafe extern "C" fn thrd_join(handle: libc::pthread_t, result: *mut c_int, pc: u64) -> c_int {
    let mut value = core::ptr::null_mut();
    // SAFETY: the program's own arguments.
    let outcome = unsafe { thread::join(handle, &mut value, pc) };
    if outcome == 0 && !result.is_null() {
        // SAFETY: the program wants it there.
        unsafe { *result = value as usize as c_int };
    }
    converted(outcome)
}

unsafe extern "C" fn thrd_detach(handle: libc::pthread_t, pc: u64) -> c_int {
    // SAFETY: the program's own arguments.
    converted(unsafe { thread::detach(handle, pc) })
}

unsafe extern "C" fn thrd_yield(_pc: u64) {
    if !time::yields() {
        crate::real::sched_yield();
    }
}

unsafe extern "C" fn thrd_sleep(
    duration: *const libc::timespec,
    left: *mut libc::timespec,
    pc: u64,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { time::nanosleep(duration, left, pc) }
}

unsafe extern "C" fn mtx_lock(mutex: *mut c_void, pc: u64) -> c_int {
    // SAFETY: the program's own arguments; so below.
    converted(unsafe { lock::mutex_lock(mutex, pc) })
}

unsafe extern "C" fn mtx_trylock(mutex: *mut c_void, pc: u64) -> c_int {
    // SAFETY: as above.
    converted(unsafe { lock::mutex_trylock(mutex, pc) })
}

unsafe extern "C" fn mtx_timedlock(
    mutex: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    // SAFETY: as above.
    converted(unsafe { lock::mutex_timedlock(mutex, time, pc) })
}

unsafe extern "C" fn mtx_unlock(mutex: *mut c_void, pc: u64) -> c_int {
    // SAFETY: as above.
    converted(unsafe { lock::mutex_unlock(mutex, pc) })
}

unsafe extern "C" fn cnd_wait(condition: *mut c_void, mutex: *mut c_void, pc: u64) -> c_int {
    // SAFETY: as above.
    converted(unsafe { condition::wait(condition, mutex, pc) })
}

unsafe extern "C" fn cnd_timedwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    // SAFETY: as above.
    converted(unsafe { condition::timedwait(condition, mutex, time, pc) })
}

unsafe extern "C" fn cnd_signal(condition: *mut c_void, pc: u64) -> c_int {
    // SAFETY: as above.
    converted(unsafe { condition::signal(condition, pc) })
}

unsafe extern "C" fn cnd_broadcast(condition: *mut c_void, pc: u64) -> c_int {
    // SAFETY: as above.
    converted(unsafe { condition::broadcast(condition, pc) })
}

unsafe extern "C" fn call_once(control: *mut c_int, routine: *mut c_void, pc: u64) {
    // SAFETY: as above.
    unsafe { once::once(control, routine, pc) };
}

trampoline!(weak, "thrd_create", 3, thrd_create);
trampoline!(weak, "thrd_join", 2, thrd_join);
trampoline!(weak, "thrd_detach", 1, thrd_detach);
trampoline!(weak, "thrd_yield", 0, thrd_yield);
trampoline!(weak, "thrd_sleep", 2, thrd_sleep);
trampoline!(weak, "mtx_lock", 1, mtx_lock);
trampoline!(weak, "mtx_trylock", 1, mtx_trylock);
trampoline!(weak, "mtx_timedlock", 2, mtx_timedlock);
trampoline!(weak, "mtx_unlock", 1, mtx_unlock);
trampoline!(weak, "cnd_wait", 2, cnd_wait);
trampoline!(weak, "cnd_timedwait", 3, cnd_timedwait);
trampoline!(weak, "cnd_signal", 1, cnd_signal);
trampoline!(weak, "cnd_broadcast", 1, cnd_broadcast);
trampoline!(weak, "call_once", 2, call_once);
