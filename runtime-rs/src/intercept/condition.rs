//! Condition variables. Where the runtime schedules, the library's own are not
//! waited on: a waiter waits in the scheduler, and which one a signal wakes is
//! a choice like any other. The order between threads comes from the mutex; a
//! signal adds none, as POSIX promises none.

use core::ffi::{c_int, c_void};

use wmfix_trace::{RecordedOperation, SyncKind, WaitsFor};

use super::lock::{attempt_mutex, mutex as lock_of};
use super::take::{acquired, note};
use super::time::{Timeout, likely_clock};
use crate::abi::flush_volatile;
use crate::misuse;
use crate::real;
use crate::scheduler::Scheduler;
use crate::shared_memory::address_of;
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
    let entered = turn::enter().filter(|_| !matches!(timeout, Timeout::Invalid));
    let Some(mut held) = entered else {
        return block();
    };
    flush_volatile(&mut held);
    let owned = lock_of(mutex);
    held.point(Kind::Operation);
    let context = held.context(pc);
    held.cancellation_point();
    let given = misuse::gives(&mut held, owned.lock, owned.mode, owned.kind);
    let lock = owned.lock;
    given.report(&mut held, context, lock);
    if !held.controlled() {
        if let Some(mode) = given.mode {
            held.record(context, &RecordedOperation::Release { lock, mode });
        }
        drop(held);
        let result = block();
        note(&owned, pc);
        return result;
    }
    let result = real::pthread_mutex_unlock(mutex);
    if result != 0 {
        return result;
    }
    if let Some(mode) = given.mode {
        held.record(context, &RecordedOperation::Release { lock, mode });
    }
    held.state().scheduler.wake_all(owned.waits_for);
    held.has_changed();
    let wait = timeout.begins(&mut held);
    held.sync(context, SyncKind::Change, address_of(condition as u64), 0);
    let impatient = matches!(timeout, Timeout::After(time) if Scheduler::is_impatient(time));
    let too_late = if impatient && held.explores() {
        let too_late = held.wait_impatiently(address_of(condition as u64), context);
        // The mutex is another step.
        held.point(Kind::Operation);
        too_late
    } else {
        let what = WaitsFor::Condition(address_of(condition as u64));
        held.wait_to_be_let(context, what, wait.deadline)
    };
    if too_late {
        wait.gave_up();
    }
    loop {
        let result = attempt_mutex(mutex);
        if result != libc::EBUSY {
            if !impatient {
                held.was_let(context);
            }
            acquired(&mut held, context, &owned);
            held.cancellation_point();
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
    // Which clock a condition was made with is the library's secret.
    let timeout = Timeout::until(likely_clock(time), time);
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

fn wake(condition: *mut c_void, all: bool, pc: u64) {
    let Some(mut held) = turn::enter() else {
        return;
    };
    flush_volatile(&mut held);
    if !held.controlled() {
        return;
    }
    held.point(Kind::Operation);
    let context = match held.explores() {
        true => held.context(pc),
        false => 0,
    };
    let most = if all { usize::MAX } else { 1 };
    held.let_go_on(
        WaitsFor::Condition(address_of(condition as u64)),
        most,
        context,
    );
    held.has_changed();
}

pub(super) unsafe extern "C" fn signal(condition: *mut c_void, pc: u64) -> c_int {
    wake(condition, false, pc);
    real::pthread_cond_signal(condition)
}

pub(super) unsafe extern "C" fn broadcast(condition: *mut c_void, pc: u64) -> c_int {
    wake(condition, true, pc);
    real::pthread_cond_broadcast(condition)
}

trampoline!(weak, "pthread_cond_wait", 2, wait);
trampoline!(weak, "pthread_cond_timedwait", 3, timedwait);
trampoline!(weak, "pthread_cond_clockwait", 4, clockwait);
trampoline!(weak, "pthread_cond_signal", 1, signal);
trampoline!(weak, "pthread_cond_broadcast", 1, broadcast);
