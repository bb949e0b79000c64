//! The futex system call, which is what `std::atomic::wait` and home-made locks
//! come down to. It reaches us through libc's `syscall`, as others do.

use core::ffi::{c_int, c_long};

use wmfix_trace::{LockMode, SyncKind, WaitsFor};

use super::system_call;
use super::take::{self, LockRequest};
use super::time::{Timeout, fail_with};
use crate::abi::flush_volatile;
use crate::finish;
use crate::misuse::LockKind;
use crate::scheduler::Scheduler;
use crate::shared_memory::address_of;
use crate::strategy::Kind;
use crate::sys;
use crate::turn;
use crate::unseen;

/// Flag bits of a futex operation.
const FUTEX_FLAGS: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;

/// System calls that take numbers and give one.
const TOUCHES_NO_MEMORY: [c_long; 7] = [
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_sched_yield,
    libc::SYS_membarrier,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

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
        && let Some(result) = futex([a, b, c, d, e, f], pc)
    {
        return result;
    }
    if number == libc::SYS_membarrier && a != libc::MEMBARRIER_CMD_QUERY as usize {
        membarrier(a as c_int);
    }
    if let Some(result) = super::process::forks(number, [a, b, c, d, e, f]) {
        return result;
    }
    if turn::is_in_program() {
        // SAFETY: the program's own call.
        let wrapped = unsafe { system_call::as_wrapped(number, [a, b, c, d, e, f], pc) };
        if let Some(result) = wrapped {
            return result;
        }
    }
    if number == libc::SYS_exit_group {
        finish::leaves(a as c_int);
    }
    if number == libc::SYS_sched_yield && super::time::yields() {
        return 0;
    }
    if !TOUCHES_NO_MEMORY.contains(&number) {
        unseen::called(c"syscall", pc);
    }
    // SAFETY: the program's own call.
    let result = unsafe { sys::raw_syscall(number, [a, b, c, d, e, f]) };
    super::random::replace_call(number, [a, b, c, d, e, f], result, pc);
    if (-4095..0).contains(&result) {
        fail_with(-result as c_int).into()
    } else {
        result as c_long
    }
}

/// The result, where the runtime schedules and knows the operation. What the kernel refuses
/// for its arguments alone is left to it.
fn futex(arguments: [usize; 6], pc: u64) -> Option<c_long> {
    let [word, operation, value, time, other, bits] = arguments;
    let (word, operation, value) = (word as *mut u32, operation as c_int, value as u32);
    let time = time as *const libc::timespec;
    match operation & !FUTEX_FLAGS {
        libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAKE_BITSET if bits as u32 == 0 => None,
        libc::FUTEX_WAIT => wait(arguments, Timeout::of(time), pc),
        libc::FUTEX_WAIT_BITSET => {
            let clock = if operation & libc::FUTEX_CLOCK_REALTIME != 0 {
                libc::CLOCK_REALTIME
            } else {
                libc::CLOCK_MONOTONIC
            };
            wait(arguments, moment(clock, time), pc)
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => wake(word, operation, value, pc),
        libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => requeue(arguments),
        libc::FUTEX_WAKE_OP => {
            turn::enter()?.unexplored(0);
            // The program's own call: changes a word and wakes in the kernel.
            let in_kernel = kernel(arguments);
            if in_kernel < 0 {
                return Some(fail_with(-in_kernel as c_int).into());
            }
            // Whoever is woken looks again, as futexes may end a wait for no reason.
            let woken = wake(word, operation, value, pc)?;
            let others = wake(other as *mut u32, operation, time as u32, pc)?;
            Some(woken + others + in_kernel as c_long)
        }
        libc::FUTEX_LOCK_PI => {
            let timeout = moment(libc::CLOCK_REALTIME, time);
            lock_with_owner(word, operation, timeout, pc)
        }
        FUTEX_LOCK_PI2 => {
            let clock = if operation & libc::FUTEX_CLOCK_REALTIME != 0 {
                libc::CLOCK_REALTIME
            } else {
                libc::CLOCK_MONOTONIC
            };
            lock_with_owner(word, operation, moment(clock, time), pc)
        }
        libc::FUTEX_TRYLOCK_PI => lock_with_owner(word, operation, Timeout::Never, pc),
        libc::FUTEX_UNLOCK_PI => unlock_with_owner(word, operation, pc),
        _ => None,
    }
}

/// The call itself.
fn kernel(arguments: [usize; 6]) -> isize {
    // SAFETY: the kernel looks at what it is given, and says what is wrong with it.
    unsafe { sys::raw_syscall(libc::SYS_futex, arguments) }
}

/// Until a moment, as the kernel is told: none before the clock began.
fn moment(clock: c_int, time: *const libc::timespec) -> Timeout {
    match Timeout::of(time) {
        Timeout::After(_) => Timeout::until(clock, time),
        other => other,
    }
}

/// Not in every version of the C library's headers.
const FUTEX_LOCK_PI2: c_int = 13;

/// A lock whose word has the owner's number, which the kernel keeps.
fn owned(word: *mut u32) -> LockRequest {
    let word = address_of(word as u64);
    LockRequest {
        lock: word,
        // Taken and given back without the kernel where nobody waits.
        mode: LockMode::Signal,
        waits_for: WaitsFor::Lock(word),
        kind: LockKind::Other,
    }
}

fn lock_with_owner(word: *mut u32, operation: c_int, timeout: Timeout, pc: u64) -> Option<c_long> {
    let held = turn::enter()?;
    if !held.controlled() || matches!(timeout, Timeout::Invalid) {
        return None;
    }
    drop(held);
    let only_tries = operation & !FUTEX_FLAGS == libc::FUTEX_TRYLOCK_PI;
    let tried = operation & libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_TRYLOCK_PI;
    let attempt = || {
        let arguments = [word as usize, tried as usize, 0, 0, 0, 0];
        // SAFETY: the program's own word.
        match unsafe { sys::raw_syscall(libc::SYS_futex, arguments) } {
            0 => 0,
            error if -error as c_int == libc::EAGAIN => libc::EBUSY,
            error => -error as c_int,
        }
    };
    let result = if only_tries {
        match take::try_to_take(&owned(word), pc, attempt) {
            libc::EBUSY => libc::EAGAIN,
            other => other,
        }
    } else {
        take::take(&owned(word), timeout, pc, attempt, attempt)
    };
    Some(fail_with(result).into())
}

fn unlock_with_owner(word: *mut u32, operation: c_int, pc: u64) -> Option<c_long> {
    let held = turn::enter()?;
    if !held.controlled() {
        return None;
    }
    drop(held);
    let result = take::give(&owned(word), pc, || {
        let arguments = [word as usize, operation as usize, 0, 0, 0, 0];
        // SAFETY: the program's own word.
        -unsafe { sys::raw_syscall(libc::SYS_futex, arguments) } as c_int
    });
    Some(fail_with(result).into())
}

/// Has some waiters wait for another word.
fn requeue(arguments: [usize; 6]) -> Option<c_long> {
    let [word, operation, most, moved, other, value] = arguments;
    if (most as c_int) < 0 || (moved as c_int) < 0 {
        return None;
    }
    let mut held = turn::enter()?;
    flush_volatile(&mut held);
    if !held.controlled() {
        return None;
    }
    held.point(Kind::Operation);
    held.unexplored(0);
    let compares = operation as c_int & !FUTEX_FLAGS == libc::FUTEX_CMP_REQUEUE;
    // Of nobody: whether the word has the value, or what is wrong.
    let looked = kernel([word, operation, 0, 0, other, value]);
    if looked < 0 {
        return Some(fail_with(-looked as c_int).into());
    }
    let scheduler = &mut held.state().scheduler;
    let mut waiters = scheduler.waiting(WaitsFor::Futex(address_of(word as u64)));
    let mut woken = 0;
    while woken < most && !waiters.is_empty() {
        let one = scheduler.pick(&waiters);
        scheduler.wake(one);
        waiters.retain(|&waiter| waiter != one);
        woken += 1;
    }
    let rest = waiters.iter().take(moved);
    let requeued = rest.clone().count();
    rest.for_each(|&waiter| {
        scheduler.waits_for_another(waiter, WaitsFor::Futex(address_of(other as u64)))
    });
    held.has_changed();
    Some((woken + if compares { requeued } else { 0 }) as c_long)
}

/// All threads of the process pass a fence, wherever they are, before the call
/// returns: they meet.
fn membarrier(command: c_int) {
    const REGISTRATIONS: [c_int; 3] = [
        libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
        libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
        libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE,
    ];
    if let Some(mut held) = turn::enter() {
        held.state().meets_everywhere = true;
        if REGISTRATIONS.contains(&command) {
            return;
        }
        flush_volatile(&mut held);
        held.point(Kind::Operation);
        held.meet_everywhere();
    }
}

fn wait(arguments: [usize; 6], timeout: Timeout, pc: u64) -> Option<c_long> {
    let [word, operation, value, _, other, bits] = arguments;
    let mut held = turn::enter()?;
    flush_volatile(&mut held);
    if !held.controlled() || matches!(timeout, Timeout::Invalid) {
        return None;
    }
    held.point(Kind::Operation);
    let context = held.context(pc);
    held.sync(context, SyncKind::ReadWord, address_of(word as u64), 0);
    // A wait that is over before it begins tells whether there would be one: the time is
    // none from now, and a moment that has passed.
    let now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match kernel([word, operation, value, &raw const now as usize, other, bits]) {
        would_wait if would_wait == -(libc::ETIMEDOUT as isize) => {}
        result if result < 0 => return Some(fail_with(-result as c_int).into()),
        _ => return Some(0),
    }
    let wait = timeout.begins(&mut held);
    held.sync(context, SyncKind::Change, address_of(word as u64), 0);
    let impatient = matches!(timeout, Timeout::After(time) if Scheduler::is_impatient(time));
    let too_late = if impatient && held.explores() {
        held.wait_impatiently(address_of(word as u64), context)
    } else {
        let what = WaitsFor::Futex(address_of(word as u64));
        let too_late = held.wait_to_be_let(context, what, wait.deadline);
        held.was_let(context);
        too_late
    };
    if too_late {
        wait.gave_up();
        return Some(fail_with(libc::ETIMEDOUT).into());
    }
    Some(0)
}

fn wake(word: *mut u32, operation: c_int, most: u32, pc: u64) -> Option<c_long> {
    let mut held = turn::enter()?;
    flush_volatile(&mut held);
    if !held.controlled() {
        return None;
    }
    held.point(Kind::Operation);
    let context = match held.explores() {
        true => held.context(pc),
        false => 0,
    };
    let what = WaitsFor::Futex(address_of(word as u64));
    let woken = held.let_go_on(what, most as usize, context) as u32;
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
    let others = kernel(arguments);
    if others < 0 && woken == 0 {
        return Some(fail_with(-others as c_int).into());
    }
    Some(c_long::from(woken) + others.max(0) as c_long)
}

// Variadic in C, and the sixth argument of the call lies on the stack.
#[cfg(target_arch = "x86_64")]
crate::stack_trampoline!(weak, "syscall", syscall);
#[cfg(target_arch = "aarch64")]
crate::trampoline!(weak, "syscall", 7, syscall);
