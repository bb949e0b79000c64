//! Signals: what a thread did before it sent one comes before what the handler,
//! or whoever waits for it, does next.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::descriptor::{receive, send, wait, wake};
use super::time::{Timeout, fail_with, nanoseconds};
use crate::abi::flush_volatile;
use crate::descriptors::{ANY, Channel};
use crate::real;
use crate::strategy::Kind;
use crate::sys;
use crate::trampoline;
use crate::turn;

/// Signals there can be, and none.
const SIGNALS: usize = 65;

/// A handler of the program's own.
struct Handler {
    function: AtomicUsize,
    /// Whether it takes three arguments.
    with_info: AtomicBool,
}

static HANDLERS: [Handler; SIGNALS] = [const {
    Handler {
        function: AtomicUsize::new(0),
        with_info: AtomicBool::new(false),
    }
}; SIGNALS];

/// In front of every handler of the program: it learns from those who sent the
/// signal.
unsafe extern "C" fn handle(signal: c_int, info: *mut c_void, context: *mut c_void) {
    match turn::enter() {
        Some(mut held) => {
            let place = held.context(0);
            receive(&mut held, place, Channel::of_signal(signal).key());
        }
        None => turn::note_signal(signal),
    }
    let handler = &HANDLERS[signal as usize % SIGNALS];
    let function = handler.function.load(Ordering::Relaxed);
    // SAFETY: what the program has set, with the arguments that it asked for.
    unsafe {
        if handler.with_info.load(Ordering::Relaxed) {
            let function: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) =
                core::mem::transmute(function);
            function(signal, info, context);
        } else {
            let function: unsafe extern "C" fn(c_int) = core::mem::transmute(function);
            function(signal);
        }
    }
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
    let handler = &HANDLERS[signal as usize];
    let before = handler.function.load(Ordering::Relaxed);
    // SAFETY: the program's own record, or null.
    let mut wanted = unsafe { new.as_ref() }.copied();
    if let Some(wanted) = &mut wanted
        && wanted.sa_sigaction > libc::SIG_IGN
    {
        expect_help(wanted.sa_sigaction);
        let with_info = wanted.sa_flags & libc::SA_SIGINFO != 0;
        handler.with_info.store(with_info, Ordering::Relaxed);
        handler
            .function
            .store(wanted.sa_sigaction, Ordering::Relaxed);
        wanted.sa_sigaction = ours();
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
    }
    result
}

unsafe extern "C" fn signal(signal: c_int, function: usize, _pc: u64) -> usize {
    let known = usize::try_from(signal).is_ok_and(|signal| signal < SIGNALS);
    if !known || !turn::is_on() {
        return real::signal(signal, function);
    }
    let handler = &HANDLERS[signal as usize];
    let before = handler.function.load(Ordering::Relaxed);
    let wanted = if function > libc::SIG_IGN && function != libc::SIG_ERR {
        expect_help(function);
        handler.with_info.store(false, Ordering::Relaxed);
        handler.function.store(function, Ordering::Relaxed);
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
fn sends(signal: c_int, pc: u64) {
    if let Some(mut held) = turn::enter() {
        flush_volatile(&mut held);
        held.point(Kind::Operation);
        let context = held.context(pc);
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
    if !held.controlled() {
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

unsafe extern "C" fn sigtimedwait(
    signals: *const c_void,
    info: *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    // SAFETY: the program's own record, or null.
    let timeout = match unsafe { time.as_ref() } {
        Some(time) => Timeout::After(nanoseconds(time)),
        None => Timeout::Never,
    };
    match wait_for(signals, info, timeout, pc) {
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
