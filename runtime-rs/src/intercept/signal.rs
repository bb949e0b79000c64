//! Signals: what a thread did before it sent one comes before what the handler,
//! or whoever waits for it, does next.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use super::descriptor::{receive, send, wait, wake};
use super::time::{Timeout, fail_with};
use crate::abi::flush_volatile;
use crate::descriptors::{ANY, Channel};
use crate::handlers::{self, SIGNALS};
use crate::real;
use crate::strategy::Kind;
use crate::sys;
use crate::trampoline;
use crate::turn;

/// In front of every handler of the program: it learns from those who sent the
/// signal.
unsafe extern "C" fn handle(signal: c_int, info: *mut c_void, context: *mut c_void) {
    match turn::enter() {
        Some(mut held) => {
            let place = held.context(0);
            held.unexplored(place);
            receive(&mut held, place, Channel::of_signal(signal).key());
        }
        None if !is_fault(signal) && turn::defer_signal(signal, info) => return,
        None => turn::note_signal(signal),
    }
    // SAFETY: the kernel's own arguments.
    unsafe { handlers::of(signal).call(signal, info, context) };
}

/// Signals that a thread raises by what it does: the handler must run at once.
fn is_fault(signal: c_int) -> bool {
    matches!(
        signal,
        libc::SIGSEGV
            | libc::SIGBUS
            | libc::SIGFPE
            | libc::SIGILL
            | libc::SIGTRAP
            | libc::SIGSYS
            | libc::SIGABRT
    )
}

fn ours() -> usize {
    handle as *const () as usize
}

/// A handler of the program's own may wake threads that wait.
fn expect_help(handler: usize) {
    if let Some(mut held) = turn::enter() {
        held.state().scheduler.outside_help |= handler > libc::SIG_IGN;
    }
}

unsafe extern "C" fn action(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
    _pc: u64,
) -> c_int {
    let known = usize::try_from(signal).is_ok_and(|signal| signal < SIGNALS);
    if !known || !turn::is_on() {
        return real::sigaction(signal, new, old);
    }
    let handler = handlers::of(signal);
    let before = handler.function.load(Ordering::Relaxed);
    let before_flags = handler.flags();
    // SAFETY: the program's own record, or null.
    let mut wanted = unsafe { new.as_ref() }.copied();
    if let Some(wanted) = &mut wanted
        && wanted.sa_sigaction > libc::SIG_IGN
    {
        expect_help(wanted.sa_sigaction);
        let blocked = (&raw const wanted.sa_mask).cast::<u64>();
        // SAFETY: a set of signals begins with the first 64 of them.
        let blocked = unsafe { blocked.read() };
        handler.set(wanted.sa_sigaction, wanted.sa_flags, blocked);
        wanted.sa_sigaction = ours();
        // What the kernel says of a signal is kept where its handler runs later.
        wanted.sa_flags |= libc::SA_SIGINFO;
    }
    let new = wanted
        .as_ref()
        .map_or(core::ptr::null(), core::ptr::from_ref);
    let result = real::sigaction(signal, new, old);
    // SAFETY: the library has filled it.
    if let Some(old) = unsafe { old.as_mut() }
        && result == 0
        && old.sa_sigaction == ours()
    {
        old.sa_sigaction = before;
        old.sa_flags = before_flags;
    }
    result
}

unsafe extern "C" fn signal(signal: c_int, function: usize, _pc: u64) -> usize {
    let known = usize::try_from(signal).is_ok_and(|signal| signal < SIGNALS);
    if !known || !turn::is_on() {
        return real::signal(signal, function);
    }
    let handler = handlers::of(signal);
    let before = handler.function.load(Ordering::Relaxed);
    let wanted = if function > libc::SIG_IGN && function != libc::SIG_ERR {
        expect_help(function);
        handler.set(function, libc::SA_RESTART, 0);
        ours()
    } else {
        function
    };
    let old = real::signal(signal, wanted);
    if old == ours() { before } else { old }
}

trampoline!(weak, "sigaction", 3, action);
trampoline!(weak, "signal", 2, signal);

/// This thread is about to send a signal.
pub(super) fn sends(signal: c_int, pc: u64) {
    if let Some(mut held) = turn::enter() {
        flush_volatile(&mut held);
        held.point(Kind::Operation);
        let context = held.context(pc);
        held.unexplored(context);
        let channel = Channel::of_signal(signal);
        send(&mut held, context, channel);
        wake(&mut held, channel);
    }
}

macro_rules! senders {
    ($($count:tt $name:ident ( $($argument:ident : $type:ty),* ), $signal:ident;)*) => { $(
        unsafe extern "C" fn $name($($argument: $type,)* pc: u64) -> c_int {
            sends($signal, pc);
            real::$name($($argument),*)
        }
        trampoline!(weak, stringify!($name), $count, $name);
    )* };
}

senders! {
    1 raise(signal: c_int), signal;
    2 kill(process: libc::pid_t, signal: c_int), signal;
    2 pthread_kill(thread: libc::pthread_t, signal: c_int), signal;
    3 sigqueue(process: libc::pid_t, signal: c_int, value: usize), signal;
    3 pthread_sigqueue(thread: libc::pthread_t, signal: c_int, value: usize), signal;
}

/// Waits for one of these signals; its number, or minus the error. `None` where
/// the runtime does not schedule.
fn wait_for(signals: *const c_void, info: *mut c_void, timeout: Timeout, pc: u64) -> Option<c_int> {
    let mut held = turn::enter()?;
    flush_volatile(&mut held);
    if !held.controlled() || matches!(timeout, Timeout::Invalid) {
        return None;
    }
    held.point(Kind::Operation);
    let context = held.context(pc);
    let deadline = timeout.deadline(held.state().scheduler.now);
    loop {
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let arguments = [
            signals as usize,
            info as usize,
            &raw const now as usize,
            size_of::<u64>(),
            0,
            0,
        ];
        // SAFETY: the program's own set and record.
        let taken = unsafe { sys::raw_syscall(libc::SYS_rt_sigtimedwait, arguments) } as c_int;
        if taken > 0 {
            receive(&mut held, context, Channel::of_signal(taken).key());
            held.has_changed();
            return Some(taken);
        }
        if taken != -libc::EAGAIN && taken != -libc::EINTR {
            return Some(taken);
        }
        if wait(&mut held, context, ANY, deadline) {
            return Some(-libc::EAGAIN);
        }
    }
}

/// Records that a signal was taken, where the turn is not held.
fn note_taken(signal: c_int, pc: u64) {
    if signal > 0
        && let Some(mut held) = turn::enter()
    {
        let context = held.context(pc);
        receive(&mut held, context, Channel::of_signal(signal).key());
    }
}

unsafe extern "C" fn sigwait(signals: *const c_void, taken: *mut c_int, pc: u64) -> c_int {
    let mut info = MaybeUninit::<libc::siginfo_t>::uninit();
    let result = match wait_for(signals, info.as_mut_ptr().cast(), Timeout::Never, pc) {
        Some(signal) if signal > 0 => {
            // SAFETY: the program's own word.
            unsafe { *taken = signal };
            return 0;
        }
        Some(error) => return -error,
        None => real::sigwait(signals, taken),
    };
    if result == 0 {
        // SAFETY: the library has filled it.
        note_taken(unsafe { *taken }, pc);
    }
    result
}

unsafe extern "C" fn sigwaitinfo(signals: *const c_void, info: *mut c_void, pc: u64) -> c_int {
    match wait_for(signals, info, Timeout::Never, pc) {
        Some(signal) if signal > 0 => signal,
        Some(error) => fail_with(-error),
        None => {
            let signal = real::sigwaitinfo(signals, info);
            note_taken(signal, pc);
            signal
        }
    }
}

pub(super) unsafe extern "C" fn sigtimedwait(
    signals: *const c_void,
    info: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    match wait_for(signals, info, Timeout::of(time), pc) {
        Some(signal) if signal > 0 => signal,
        Some(error) => fail_with(-error),
        None => {
            let signal = real::sigtimedwait(signals, info, time);
            note_taken(signal, pc);
            signal
        }
    }
}

trampoline!(weak, "sigwait", 2, sigwait);
trampoline!(weak, "sigwaitinfo", 2, sigwaitinfo);
trampoline!(weak, "sigtimedwait", 3, sigtimedwait);
