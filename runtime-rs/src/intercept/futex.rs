//! The futex system call, which is what `std::atomic::wait` and home-made locks
//! come down to. It reaches us through libc's `syscall`.

use core::ffi::{c_int, c_long};

use wmfix_trace::WaitsFor;

use super::time::{Timeout, fail_with, nanoseconds};
use crate::abi::flush_volatile;
use crate::finish;
use crate::memory::Word;
use crate::strategy::Kind;
use crate::sys;
use crate::turn;

/// Flag bits of a futex operation.
const FUTEX_FLAGS: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    pc: u64,
) -> c_long {
    if number == libc::SYS_futex
        && let Some(result) = futex(a as *mut u32, b as c_int, c as u32, d, pc)
    {
        return result;
    }
    if number == libc::SYS_exit_group {
        finish::leaves(a as c_int);
    }
    if number == libc::SYS_sched_yield && super::time::yields() {
        return 0;
    }
    // SAFETY: the program's own call.
    let result = unsafe { sys::raw_syscall(number, [a, b, c, d, e, f]) };
    if (-4095..0).contains(&result) {
        fail_with(-result as c_int).into()
    } else {
        result as c_long
    }
}

/// The result, where the runtime schedules and knows the operation.
fn futex(word: *mut u32, operation: c_int, value: u32, time: usize, pc: u64) -> Option<c_long> {
    match operation & !FUTEX_FLAGS {
        libc::FUTEX_WAIT => {
            // SAFETY: the program's own record, or null.
            let time = unsafe { (time as *const libc::timespec).as_ref() };
            let timeout = time.map_or(Timeout::Never, |time| Timeout::After(nanoseconds(time)));
            wait(word, value, timeout, pc)
        }
        libc::FUTEX_WAIT_BITSET => {
            let clock = if operation & libc::FUTEX_CLOCK_REALTIME != 0 {
                libc::CLOCK_REALTIME
            } else {
                libc::CLOCK_MONOTONIC
            };
            let timeout = Timeout::until(clock, time as *const libc::timespec);
            wait(word, value, timeout, pc)
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => wake(word, operation, value),
        _ => None,
    }
}

fn wait(word: *mut u32, value: u32, timeout: Timeout, pc: u64) -> Option<c_long> {
    let mut held = turn::enter()?;
    flush_volatile(&mut held);
    if !held.controlled() {
        return None;
    }
    held.point(Kind::Operation);
    let context = held.context(pc);
    // SAFETY: the program asks the kernel to read there.
    if unsafe { u32::load(word) } != value {
        return Some(fail_with(libc::EAGAIN).into());
    }
    let wait = timeout.begins(&mut held);
    if held.wait(context, WaitsFor::Futex(word as u64), wait.deadline) {
        wait.gave_up();
        return Some(fail_with(libc::ETIMEDOUT).into());
    }
    Some(0)
}

fn wake(word: *mut u32, operation: c_int, most: u32) -> Option<c_long> {
    let mut held = turn::enter()?;
    flush_volatile(&mut held);
    if !held.controlled() {
        return None;
    }
    held.point(Kind::Operation);
    let scheduler = &mut held.state().scheduler;
    let mut waiters = scheduler.waiting(WaitsFor::Futex(word as u64));
    let mut woken = 0;
    while woken < most && !waiters.is_empty() {
        let one = scheduler.pick(&waiters);
        scheduler.wake(one);
        waiters.retain(|&waiter| waiter != one);
        woken += 1;
    }
    held.has_changed();
    // Others may wait in the kernel: other processes, uncontrolled libraries.
    let left = (most - woken) as usize;
    let arguments = [
        word as usize,
        (operation & FUTEX_FLAGS | libc::FUTEX_WAKE) as usize,
        left,
        0,
        0,
        0,
    ];
    // SAFETY: waking looks at the address alone.
    let others = unsafe { sys::raw_syscall(libc::SYS_futex, arguments) };
    Some(c_long::from(woken) + others.max(0) as c_long)
}

// Variadic in C, and the sixth argument of the call lies on the stack.
#[cfg(target_arch = "x86_64")]
crate::stack_trampoline!(weak, "syscall", syscall);
#[cfg(target_arch = "aarch64")]
crate::trampoline!(weak, "syscall", 7, syscall);
