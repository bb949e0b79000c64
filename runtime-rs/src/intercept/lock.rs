//! Mutexes, rwlocks and spin locks.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LockMode, WaitsFor};

use super::take::{LockRequest, give, take, try_to_take};
use super::time::Timeout;
use crate::misuse::{self, LockKind};
use crate::real;
use crate::shared_memory::address_of;
use crate::trampoline;
use crate::turn;

/// A lock as its address, taken this way.
fn wanted(lock: *mut c_void, mode: LockMode, kind: LockKind) -> LockRequest {
    let lock = address_of(lock as u64);
    LockRequest {
        lock,
        mode,
        waits_for: WaitsFor::Lock(lock),
        kind,
    }
}

/// A mutex.
pub(super) fn mutex(mutex: *mut c_void) -> LockRequest {
    wanted(mutex, LockMode::Exclusive, LockKind::Mutex)
}

fn writer(lock: *mut c_void) -> LockRequest {
    wanted(lock, LockMode::Exclusive, LockKind::Other)
}

/// Tries to lock a mutex. A mutex that checks for errors says so when its owner
/// locks it again, which trying does not show: a wait that is over before it
/// began does.
pub(super) fn attempt_mutex(mutex: *mut c_void) -> c_int {
    let result = real::pthread_mutex_trylock(mutex);
    if result != libc::EBUSY {
        return result;
    }
    busy_or(real::pthread_mutex_timedlock(mutex, &PAST))
}

/// The moment at which a wait is over before it begins.
const PAST: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// What such a wait came to, as trying says it.
fn busy_or(result: c_int) -> c_int {
    match result {
        libc::ETIMEDOUT => libc::EBUSY,
        other => other,
    }
}

/// Tries to take a rwlock as a reader. As above: a writer that takes it again is told so.
fn attempt_reader(lock: *mut c_void) -> c_int {
    match real::pthread_rwlock_tryrdlock(lock) {
        libc::EBUSY => busy_or(real::pthread_rwlock_timedrdlock(lock, &PAST)),
        other => other,
    }
}

/// The same as a writer.
fn attempt_writer(lock: *mut c_void) -> c_int {
    match real::pthread_rwlock_trywrlock(lock) {
        libc::EBUSY => busy_or(real::pthread_rwlock_timedwrlock(lock, &PAST)),
        other => other,
    }
}

pub(super) unsafe extern "C" fn mutex_lock(object: *mut c_void, pc: u64) -> c_int {
    take(
        &mutex(object),
        Timeout::Never,
        pc,
        || attempt_mutex(object),
        || real::pthread_mutex_lock(object),
    )
}

pub(super) unsafe extern "C" fn mutex_trylock(object: *mut c_void, pc: u64) -> c_int {
    try_to_take(&mutex(object), pc, || real::pthread_mutex_trylock(object))
}

pub(super) unsafe extern "C" fn mutex_timedlock(
    object: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    take(
        &mutex(object),
        Timeout::until(libc::CLOCK_REALTIME, time),
        pc,
        || attempt_mutex(object),
        || real::pthread_mutex_timedlock(object, time),
    )
}

unsafe extern "C" fn mutex_clocklock(
    object: *mut c_void,
    clock: c_int,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    take(
        &mutex(object),
        Timeout::until(clock, time),
        pc,
        || attempt_mutex(object),
        || real::pthread_mutex_clocklock(object, clock, time),
    )
}

pub(super) unsafe extern "C" fn mutex_unlock(object: *mut c_void, pc: u64) -> c_int {
    give(&mutex(object), pc, || real::pthread_mutex_unlock(object))
}

/// A mutex that is destroyed must be free.
unsafe extern "C" fn mutex_destroy(object: *mut c_void, pc: u64) -> c_int {
    let result = real::pthread_mutex_destroy(object);
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        misuse::ends(
            &mut held,
            context,
            address_of(object as u64),
            result == libc::EBUSY,
        );
    }
    result
}

trampoline!(weak, "pthread_mutex_destroy", 1, mutex_destroy);

fn reader(lock: *mut c_void) -> LockRequest {
    wanted(lock, LockMode::Shared, LockKind::Other)
}

unsafe extern "C" fn rwlock_rdlock(lock: *mut c_void, pc: u64) -> c_int {
    take(
        &reader(lock),
        Timeout::Never,
        pc,
        || attempt_reader(lock),
        || real::pthread_rwlock_rdlock(lock),
    )
}

unsafe extern "C" fn rwlock_tryrdlock(lock: *mut c_void, pc: u64) -> c_int {
    try_to_take(&reader(lock), pc, || real::pthread_rwlock_tryrdlock(lock))
}

unsafe extern "C" fn rwlock_timedrdlock(
    lock: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    take(
        &reader(lock),
        Timeout::until(libc::CLOCK_REALTIME, time),
        pc,
        || attempt_reader(lock),
        || real::pthread_rwlock_timedrdlock(lock, time),
    )
}

unsafe extern "C" fn rwlock_clockrdlock(
    lock: *mut c_void,
    clock: c_int,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    take(
        &reader(lock),
        Timeout::until(clock, time),
        pc,
        || attempt_reader(lock),
        || real::pthread_rwlock_clockrdlock(lock, clock, time),
    )
}

unsafe extern "C" fn rwlock_clockwrlock(
    lock: *mut c_void,
    clock: c_int,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    let result = take(
        &writer(lock),
        Timeout::until(clock, time),
        pc,
        || attempt_writer(lock),
        || real::pthread_rwlock_clockwrlock(lock, clock, time),
    );
    has_writer(lock, result)
}

unsafe extern "C" fn rwlock_wrlock(lock: *mut c_void, pc: u64) -> c_int {
    let result = take(
        &writer(lock),
        Timeout::Never,
        pc,
        || attempt_writer(lock),
        || real::pthread_rwlock_wrlock(lock),
    );
    has_writer(lock, result)
}

unsafe extern "C" fn rwlock_trywrlock(lock: *mut c_void, pc: u64) -> c_int {
    let result = try_to_take(&writer(lock), pc, || real::pthread_rwlock_trywrlock(lock));
    has_writer(lock, result)
}

unsafe extern "C" fn rwlock_timedwrlock(
    lock: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    let result = take(
        &writer(lock),
        Timeout::until(libc::CLOCK_REALTIME, time),
        pc,
        || attempt_writer(lock),
        || real::pthread_rwlock_timedwrlock(lock, time),
    );
    has_writer(lock, result)
}

/// One function gives back both sides: whether a writer holds the lock must be
/// remembered.
fn has_writer(lock: *mut c_void, result: c_int) -> c_int {
    if result == 0
        && let Some(mut held) = turn::enter()
    {
        held.state().writers.push(address_of(lock as u64));
    }
    result
}

unsafe extern "C" fn rwlock_unlock(lock: *mut c_void, pc: u64) -> c_int {
    let mut mode = LockMode::Shared;
    if let Some(mut held) = turn::enter() {
        let writers = &mut held.state().writers;
        if let Some(at) = writers
            .iter()
            .position(|&held| held == address_of(lock as u64))
        {
            writers.swap_remove(at);
            mode = LockMode::Exclusive;
        }
    }
    give(&wanted(lock, mode, LockKind::Other), pc, || {
        real::pthread_rwlock_unlock(lock)
    })
}

unsafe extern "C" fn spin_lock(lock: *mut c_void, pc: u64) -> c_int {
    take(
        &writer(lock),
        Timeout::Never,
        pc,
        || real::pthread_spin_trylock(lock),
        || real::pthread_spin_lock(lock),
    )
}

unsafe extern "C" fn spin_trylock(lock: *mut c_void, pc: u64) -> c_int {
    try_to_take(&writer(lock), pc, || real::pthread_spin_trylock(lock))
}

unsafe extern "C" fn spin_unlock(lock: *mut c_void, pc: u64) -> c_int {
    give(&writer(lock), pc, || real::pthread_spin_unlock(lock))
}

trampoline!(weak, "pthread_mutex_lock", 1, mutex_lock);
trampoline!(weak, "pthread_mutex_trylock", 1, mutex_trylock);
trampoline!(weak, "pthread_mutex_timedlock", 2, mutex_timedlock);
trampoline!(weak, "pthread_mutex_clocklock", 3, mutex_clocklock);
trampoline!(weak, "pthread_mutex_unlock", 1, mutex_unlock);
trampoline!(weak, "pthread_rwlock_rdlock", 1, rwlock_rdlock);
trampoline!(weak, "pthread_rwlock_tryrdlock", 1, rwlock_tryrdlock);
trampoline!(weak, "pthread_rwlock_timedrdlock", 2, rwlock_timedrdlock);
trampoline!(weak, "pthread_rwlock_clockrdlock", 3, rwlock_clockrdlock);
trampoline!(weak, "pthread_rwlock_clockwrlock", 3, rwlock_clockwrlock);
trampoline!(weak, "pthread_rwlock_wrlock", 1, rwlock_wrlock);
trampoline!(weak, "pthread_rwlock_trywrlock", 1, rwlock_trywrlock);
trampoline!(weak, "pthread_rwlock_timedwrlock", 2, rwlock_timedwrlock);
trampoline!(weak, "pthread_rwlock_unlock", 1, rwlock_unlock);
trampoline!(weak, "pthread_spin_lock", 1, spin_lock);
trampoline!(weak, "pthread_spin_trylock", 1, spin_trylock);
trampoline!(weak, "pthread_spin_unlock", 1, spin_unlock);
