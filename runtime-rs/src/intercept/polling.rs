//! Waiting for any of several descriptors: `poll`, `select`, `epoll_wait`. Which of
//! them was told what is not looked at: whoever is told anything learns from all
//! who have sent anything. And asking one of them how much there is.

use core::ffi::{c_int, c_long, c_ulong, c_void};

use super::descriptor::{receive, wait};
use super::time::{Timeout, fail_with};
use crate::abi::{self, flush_volatile};
use crate::descriptors::ANY;
use crate::real;
use crate::strategy::Kind;
use crate::sys;
use crate::trampoline;
use crate::turn;
use crate::unseen;

/// Asks until something has come or the time is over. `ask` does not wait and says
/// how many there are, or minus the error; `block` is the library's own function.
fn poll_for(
    timeout: Timeout,
    pc: u64,
    ask: impl Fn() -> isize,
    block: impl FnOnce() -> c_int,
) -> c_int {
    let entered = turn::enter().filter(|_| !matches!(timeout, Timeout::Invalid));
    let Some(mut held) = entered else {
        return block();
    };
    flush_volatile(&mut held);
    held.point(Kind::Operation);
    let context = held.context(pc);
    held.unexplored(context);
    if !held.controlled() {
        drop(held);
        let found = block();
        if found > 0
            && let Some(mut held) = turn::enter()
        {
            let context = held.context(pc);
            receive(&mut held, context, ANY);
        }
        return found;
    }
    let deadline = timeout.deadline(held.state().scheduler.now);
    held.was_interrupted();
    let found = loop {
        held.cancellation_point();
        if held.was_interrupted() {
            break -(libc::EINTR as isize);
        }
        let found = ask();
        if found != 0 {
            break found;
        }
        if matches!(timeout, Timeout::After(0)) {
            // Whoever asks again and again spins.
            super::descriptor::tries_again(&mut held, context, ANY);
            break 0;
        }
        if wait(&mut held, context, ANY, deadline) {
            break ask();
        }
    };
    if found < 0 {
        drop(held);
        return fail_with(-found as c_int);
    }
    if found > 0 {
        receive(&mut held, context, ANY);
        held.has_changed();
    }
    found as c_int
}

fn milliseconds(timeout: c_int) -> Timeout {
    match u64::try_from(timeout) {
        Ok(milliseconds) => Timeout::After(milliseconds * 1_000_000),
        Err(_) => Timeout::Never,
    }
}

const NOW: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

fn ask_poll(asked: *mut c_void, count: libc::nfds_t, mask: *const c_void) -> isize {
    let now = NOW;
    let arguments = [
        asked as usize,
        count as usize,
        &raw const now as usize,
        mask as usize,
        size_of::<u64>(),
        0,
    ];
    // SAFETY: the program's own records.
    unsafe { sys::raw_syscall(libc::SYS_ppoll, arguments) }
}

pub(super) unsafe extern "C" fn poll(
    asked: *mut c_void,
    count: libc::nfds_t,
    timeout: c_int,
    pc: u64,
) -> c_int {
    let ask = || ask_poll(asked, count, core::ptr::null());
    poll_for(milliseconds(timeout), pc, ask, || {
        real::poll(asked, count, timeout)
    })
}

pub(super) unsafe extern "C" fn ppoll(
    asked: *mut c_void,
    count: libc::nfds_t,
    time: *const libc::timespec,
    mask: *const c_void,
    pc: u64,
) -> c_int {
    let ask = || ask_poll(asked, count, mask);
    poll_for(Timeout::of(time), pc, ask, || {
        real::ppoll(asked, count, time, mask)
    })
}

/// The kernel overwrites the sets with what it found: each time they are asked
/// about as the program filled them.
fn ask_select(count: c_int, sets: [*mut libc::fd_set; 3], mask: *const c_void) -> isize {
    let mut copies = [const { core::mem::MaybeUninit::<libc::fd_set>::zeroed() }; 3];
    let mut now = NOW;
    // The kernel takes the mask with its size.
    let mask = [mask as usize, size_of::<u64>()];
    let mask_given = if mask[0] == 0 {
        0
    } else {
        mask.as_ptr() as usize
    };
    let mut arguments = [count as usize, 0, 0, 0, &raw mut now as usize, mask_given];
    for (index, set) in sets.iter().enumerate() {
        if !set.is_null() {
            // SAFETY: the program's own set.
            unsafe { copies[index].as_mut_ptr().copy_from(*set, 1) };
            arguments[index + 1] = copies[index].as_mut_ptr() as usize;
        }
    }
    // SAFETY: the copies live for as long as the call.
    let found = unsafe { sys::raw_syscall(libc::SYS_pselect6, arguments) };
    if found > 0 {
        give_back(sets, &copies);
    }
    found
}

fn give_back(sets: [*mut libc::fd_set; 3], found: &[core::mem::MaybeUninit<libc::fd_set>; 3]) {
    for (set, found) in sets.into_iter().zip(found) {
        if !set.is_null() {
            // SAFETY: the program's own set.
            unsafe { set.copy_from(found.as_ptr(), 1) };
        }
    }
}

/// What the sets are when the time is over.
fn clear(found: c_int, sets: [*mut libc::fd_set; 3]) -> c_int {
    if found == 0 && turn::is_in_program() {
        let none = [const { core::mem::MaybeUninit::zeroed() }; 3];
        give_back(sets, &none);
    }
    found
}

pub(super) unsafe extern "C" fn select(
    count: c_int,
    reads: *mut libc::fd_set,
    writes: *mut libc::fd_set,
    errors: *mut libc::fd_set,
    time: *mut libc::timeval,
    pc: u64,
) -> c_int {
    // SAFETY: the program's own record, or null.
    let timeout = match unsafe { time.as_ref() } {
        Some(time) => match (u64::try_from(time.tv_sec), u64::try_from(time.tv_usec)) {
            (Ok(seconds), Ok(rest)) => {
                let seconds = seconds.saturating_mul(1_000_000_000);
                Timeout::After(seconds.saturating_add(rest.saturating_mul(1_000)))
            }
            _ => Timeout::Invalid,
        },
        None => Timeout::Never,
    };
    let sets = [reads, writes, errors];
    let ask = || ask_select(count, sets, core::ptr::null());
    let found = poll_for(timeout, pc, ask, || {
        real::select(count, reads, writes, errors, time)
    });
    clear(found, sets)
}

/// Its arguments fill the registers: the word of the caller's stack that the trampoline
/// hands over is nothing of theirs.
#[allow(clippy::too_many_arguments)]
pub(super) unsafe extern "C" fn pselect(
    count: c_int,
    reads: *mut libc::fd_set,
    writes: *mut libc::fd_set,
    errors: *mut libc::fd_set,
    time: *const libc::timespec,
    mask: *const c_void,
    _stack: usize,
    pc: u64,
) -> c_int {
    let sets = [reads, writes, errors];
    let ask = || ask_select(count, sets, mask);
    let found = poll_for(Timeout::of(time), pc, ask, || {
        real::pselect(count, reads, writes, errors, time, mask)
    });
    clear(found, sets)
}

fn ask_epoll(set: c_int, events: *mut c_void, most: c_int, mask: *const c_void) -> isize {
    let number: c_long = libc::SYS_epoll_pwait;
    let arguments = [
        set as usize,
        events as usize,
        most as usize,
        0,
        mask as usize,
        size_of::<u64>(),
    ];
    // SAFETY: the program's own records.
    unsafe { sys::raw_syscall(number, arguments) }
}

pub(super) unsafe extern "C" fn epoll_wait(
    set: c_int,
    events: *mut c_void,
    most: c_int,
    timeout: c_int,
    pc: u64,
) -> c_int {
    let ask = || ask_epoll(set, events, most, core::ptr::null());
    poll_for(milliseconds(timeout), pc, ask, || {
        real::epoll_wait(set, events, most, timeout)
    })
}

pub(super) unsafe extern "C" fn epoll_pwait(
    set: c_int,
    events: *mut c_void,
    most: c_int,
    timeout: c_int,
    mask: *const c_void,
    pc: u64,
) -> c_int {
    let ask = || ask_epoll(set, events, most, mask);
    poll_for(milliseconds(timeout), pc, ask, || {
        real::epoll_pwait(set, events, most, timeout, mask)
    })
}

pub(super) unsafe extern "C" fn epoll_pwait2(
    set: c_int,
    events: *mut c_void,
    most: c_int,
    time: *const libc::timespec,
    mask: *const c_void,
    pc: u64,
) -> c_int {
    let ask = || ask_epoll(set, events, most, mask);
    poll_for(Timeout::of(time), pc, ask, || {
        real::epoll_pwait2(set, events, most, time, mask)
    })
}

/// How much there is to read is a message to who asks again and again. Variadic in C.
pub(super) unsafe extern "C" fn ioctl(
    descriptor: c_int,
    request: c_ulong,
    argument: usize,
    pc: u64,
) -> c_int {
    let counts = request == libc::FIONREAD;
    if counts && turn::is_in_program() {
        abi::write(argument as u64, size_of::<c_int>() as u64, pc);
    }
    let entered = turn::enter().filter(|_| counts).and_then(|mut held| {
        let channel = held.state().descriptors.channel(descriptor)?;
        Some((held, channel))
    });
    let Some((mut held, channel)) = entered else {
        if !counts {
            unseen::called(c"ioctl", pc);
        }
        return real::ioctl(descriptor, request, argument);
    };
    flush_volatile(&mut held);
    held.point(Kind::Operation);
    let context = held.context(pc);
    held.unexplored(context);
    let arguments = [descriptor as usize, request as usize, argument, 0, 0, 0];
    // SAFETY: the program's own call, which does not wait.
    let result = unsafe { sys::raw_syscall(libc::SYS_ioctl, arguments) };
    if result < 0 {
        drop(held);
        return fail_with(-result as c_int);
    }
    // SAFETY: the kernel has just filled it.
    if unsafe { *(argument as *const c_int) } > 0 {
        receive(&mut held, context, channel.key());
        held.has_changed();
    } else {
        super::descriptor::tries_again(&mut held, context, channel.key());
    }
    result as c_int
}

trampoline!(weak, "ioctl", 3, ioctl);
trampoline!(weak, "poll", 3, poll);
trampoline!(weak, "ppoll", 4, ppoll);
trampoline!(weak, "select", 5, select);
trampoline!(weak, "epoll_wait", 4, epoll_wait);
trampoline!(weak, "epoll_pwait", 5, epoll_pwait);
trampoline!(weak, "epoll_pwait2", 5, epoll_pwait2);
crate::stack_trampoline!(weak, "pselect", pselect);
