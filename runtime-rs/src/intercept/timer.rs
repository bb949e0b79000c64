//! Timers: as long as one is set, threads that all wait are not in a deadlock, and
//! whoever set it did so before it goes off.

use core::ffi::{c_int, c_uint, c_void};

use super::descriptor::{note_receipt, send, wake};
use super::time::nanoseconds;
use crate::abi::flush_volatile;
use crate::descriptors::Channel;
use crate::help;
use crate::real;
use crate::trampoline;
use crate::turn;

fn microseconds(time: &libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let part = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds.saturating_mul(1_000_000).saturating_add(part)
}

unsafe extern "C" fn alarm(seconds: c_uint, _pc: u64) -> c_uint {
    help::timer_is_set(u64::from(seconds) * 1_000_000_000, false);
    real::alarm(seconds)
}

unsafe extern "C" fn setitimer(
    which: c_int,
    new: *const libc::itimerval,
    old: *mut libc::itimerval,
    _pc: u64,
) -> c_int {
    // SAFETY: the program's own record, or null.
    if let Some(new) = unsafe { new.as_ref() } {
        let first = microseconds(&new.it_value).saturating_mul(1_000);
        help::timer_is_set(first, microseconds(&new.it_interval) > 0);
    }
    real::setitimer(which, new, old)
}

/// A timer that tells by a signal or a thread.
fn is_set(flags: c_int, new: *const libc::itimerspec) {
    // SAFETY: the program's own record, or null.
    let Some(new) = (unsafe { new.as_ref() }) else {
        return;
    };
    // The moment itself is not before as much time from now.
    let repeats = nanoseconds(&new.it_interval) > 0 || flags & libc::TIMER_ABSTIME != 0;
    help::timer_is_set(nanoseconds(&new.it_value), repeats);
}

unsafe extern "C" fn timer_settime(
    timer: *mut c_void,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
    _pc: u64,
) -> c_int {
    is_set(flags, new);
    real::timer_settime(timer, flags, new, old)
}

/// A timer that tells through a descriptor.
unsafe extern "C" fn timerfd_settime(
    timer: c_int,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
    pc: u64,
) -> c_int {
    if let Some(mut held) = turn::enter()
        && let Some(channel) = held.state().descriptors.channel(timer)
    {
        flush_volatile(&mut held);
        let context = held.context(pc);
        send(&mut held, context, channel);
        wake(&mut held, channel);
    }
    real::timerfd_settime(timer, flags, new, old)
}

unsafe extern "C" fn signalfd(
    descriptor: c_int,
    signals: *const c_void,
    flags: c_int,
    _pc: u64,
) -> c_int {
    let result = real::signalfd(descriptor, signals, flags);
    if result >= 0
        && let Some(mut held) = turn::enter()
    {
        held.state().descriptors.tell_signals(result);
    }
    result
}

trampoline!(weak, "alarm", 1, alarm);
trampoline!(weak, "setitimer", 3, setitimer);
trampoline!(weak, "timer_settime", 4, timer_settime);
trampoline!(weak, "timerfd_settime", 4, timerfd_settime);
trampoline!(weak, "signalfd", 3, signalfd);

/// Transfers that the C library makes with threads of its own: whoever learns that one
/// is over learns from all who have sent anything.
unsafe extern "C" fn aio_error(request: *const c_void, pc: u64) -> c_int {
    let state = real::aio_error(request);
    if state == libc::EINPROGRESS {
        // Whoever asks again and again waits for a thread that is not ours.
        super::time::yields();
    } else {
        note_receipt(Channel::any(), pc);
    }
    state
}

unsafe extern "C" fn aio_return(request: *mut c_void, pc: u64) -> isize {
    let result = real::aio_return(request);
    note_receipt(Channel::any(), pc);
    result
}

unsafe extern "C" fn aio_suspend(
    requests: *const c_void,
    count: c_int,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    turn::go_away();
    let result = real::aio_suspend(requests, count, time);
    note_receipt(Channel::any(), pc);
    result
}

trampoline!(weak, "aio_error", 1, aio_error);
trampoline!(weak, "aio_error64", 1, aio_error);
trampoline!(weak, "aio_return", 1, aio_return);
trampoline!(weak, "aio_return64", 1, aio_return);
trampoline!(weak, "aio_suspend", 3, aio_suspend);
trampoline!(weak, "aio_suspend64", 3, aio_suspend);
