//! Condition variables. Where the runtime schedules, the library's own are not
//! waited on: a waiter waits in the scheduler, and which one a signal wakes is
//! a choice like any other. The order between threads comes from the mutex; a
//! signal adds none, as POSIX promises none.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LockMode, RecordedOperation, WaitsFor};

use super::lock::{attempt_mutex, wanted};
use super::take::{acquired, note};
use super::time::Timeout;
use crate::abi::flush_volatile;
use crate::real;
use crate::strategy::Kind;
use crate::trampoline;
use crate::turn;

pub(super) fn wait_for(
    condition: *mut c_void,
    mutex: *mut c_void,
    timeout: Timeout,
    pc: u64,
    block: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut held) = turn::enter() else {
        return block();
    };
    flush_volatile(&mut held);
    let owned = wanted(mutex, LockMode::Exclusive);
    held.point(Kind::Operation);
    let context = held.context(pc);
    let release = RecordedOperation::Release {
        lock: owned.lock,
        mode: owned.mode,
    };
    if !held.controlled() {
        held.record(context, &release);
        drop(held);
        let result = block();
        note(&owned, pc);
        return result;
    }
    let result = real::pthread_mutex_unlock(mutex);
    if result != 0 {
        return result;
    }
    held.record(context, &release);
    held.state().scheduler.wake_all(owned.waits_for);
    held.has_changed();
    let wait = timeout.begins(&mut held);
    let too_late = held.wait(
        context,
        WaitsFor::Condition(condition as u64),
        wait.deadline,
    );
    if too_late {
        wait.gave_up();
    }
    loop {
        let result = attempt_mutex(mutex);
        if result != libc::EBUSY {
            acquired(&mut held, context, &owned);
            return match result {
                0 if too_late => libc::ETIMEDOUT,
                result => result,
            };
        }
        held.wait(context, owned.waits_for, None);
    }
}

pub(super) unsafe extern "C" fn wait(condition: *mut c_void, mutex: *mut c_void, pc: u64) -> c_int {
    wait_for(condition, mutex, Timeout::Never, pc, || {
        real::pthread_cond_wait(condition, mutex)
    })
}

pub(super) unsafe extern "C" fn timedwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    // Which clock a condition was made with is the library's secret. A moment
    // far in the past of one clock is meant for the other.
    let by_date = Timeout::until(libc::CLOCK_REALTIME, time);
    let timeout = match by_date {
        Timeout::After(0) => Timeout::until(libc::CLOCK_MONOTONIC, time),
        timeout => timeout,
    };
    wait_for(condition, mutex, timeout, pc, || {
        real::pthread_cond_timedwait(condition, mutex, time)
    })
}

unsafe extern "C" fn clockwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    clock: c_int,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    wait_for(condition, mutex, Timeout::until(clock, time), pc, || {
        real::pthread_cond_clockwait(condition, mutex, clock, time)
    })
}

fn wake(condition: *mut c_void, all: bool) {
    let Some(mut held) = turn::enter() else {
        return;
    };
    flush_volatile(&mut held);
    if !held.controlled() {
        return;
    }
    held.point(Kind::Operation);
    let scheduler = &mut held.state().scheduler;
    let waiters = scheduler.waiting(WaitsFor::Condition(condition as u64));
    if all {
        waiters.iter().for_each(|&waiter| scheduler.wake(waiter));
    } else if !waiters.is_empty() {
        let one = scheduler.pick(&waiters);
        scheduler.wake(one);
    }
    held.has_changed();
}

pub(super) unsafe extern "C" fn signal(condition: *mut c_void, _pc: u64) -> c_int {
    wake(condition, false);
    real::pthread_cond_signal(condition)
}

pub(super) unsafe extern "C" fn broadcast(condition: *mut c_void, _pc: u64) -> c_int {
    wake(condition, true);
    real::pthread_cond_broadcast(condition)
}

trampoline!(weak, "pthread_cond_wait", 2, wait);
trampoline!(weak, "pthread_cond_timedwait", 3, timedwait);
trampoline!(weak, "pthread_cond_clockwait", 4, clockwait);
trampoline!(weak, "pthread_cond_signal", 1, signal);
trampoline!(weak, "pthread_cond_broadcast", 1, broadcast);
