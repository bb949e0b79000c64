//! The end of the run, however it comes: exit, a signal that kills, a deadlock,
//! a livelock. The trace is written into a mapped file and needs none of this
//! to survive; what is added is how it ended.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use wmfix_trace::{End, LocationId, MAX_RECORD, StuckThread, ThreadId, WaitsFor, encode_stuck};

use crate::real;
use crate::scheduler::Status;
use crate::state::State;
use crate::sys;
use crate::turn;

/// The exit code of a program that came to a deadlock.
const DEADLOCK_EXIT_CODE: c_int = 122;
/// The exit code of a program that came to a livelock.
const LIVELOCK_EXIT_CODE: c_int = 123;

/// Looks for help from outside, 2 ms apart, before a deadlock is reported.
pub(crate) const MAX_FRUITLESS_LOOKS: u32 = 250;

/// Signals that kill and that a fault of the program raises.
const FATAL_SIGNALS: [c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
];

unsafe extern "C" {
    fn on_exit(function: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Arranges that the end is noticed.
pub(crate) fn watch_for_the_end() {
    // SAFETY: handlers of the right types; those that the program has set stay.
    unsafe {
        on_exit(exits, core::ptr::null_mut());
        for signal in FATAL_SIGNALS {
            let mut action = core::mem::zeroed::<libc::sigaction>();
            if real::sigaction(signal, core::ptr::null(), &mut action) != 0
                || action.sa_sigaction != libc::SIG_DFL
            {
                continue;
            }
            action.sa_sigaction = dies as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            real::sigaction(signal, &action, core::ptr::null_mut());
        }
    }
}

unsafe extern "C" fn exits(code: c_int, _: *mut c_void) {
    leaves(code);
}

/// The process is about to leave with this code. Threads are still scheduled:
/// destructors that run later may wait for them.
pub(crate) fn leaves(code: c_int) {
    if let Some(mut held) = turn::enter() {
        held.state().recorder.finish(End::Exit { code });
    }
}

unsafe extern "C" fn dies(signal: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    if let Some(mut held) = turn::enter() {
        let thread = ThreadId(held.thread().id);
        // SAFETY: the kernel's record of where the thread was.
        let pc = unsafe { program_counter(context.cast()) };
        held.state().recorder.finish(End::Signal {
            number: signal,
            thread,
            pc,
        });
        // Nobody else may run any more: the process is about to die.
        core::mem::forget(held);
    }
    // SAFETY: back to the default, then the same signal again, which stays
    // pending until this handler returns.
    unsafe {
        let mut action = core::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = libc::SIG_DFL;
        real::sigaction(signal, &action, core::ptr::null_mut());
        let process = sys::raw_syscall(libc::SYS_getpid, [0; 6]) as usize;
        let thread = sys::thread_number() as usize;
        sys::raw_syscall(
            libc::SYS_tgkill,
            [process, thread, signal as usize, 0, 0, 0],
        );
    }
}

unsafe fn program_counter(context: *const libc::ucontext_t) -> u64 {
    // SAFETY: as promised by the kernel.
    let machine = unsafe { &(*context).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    return machine.gregs[libc::REG_RIP as usize] as u64;
    #[cfg(target_arch = "aarch64")]
    return machine.pc;
}

/// No thread can go on and no help is expected: prints who waits for what and ends
/// the process.
pub(crate) fn deadlock(state: &mut State) -> ! {
    sys::say(format_args!("wmfix: deadlock: no thread can go on\n"));
    name_stuck(state);
    state.recorder.finish(End::Deadlock);
    sys::exit_now(DEADLOCK_EXIT_CODE)
}

/// Rounds without a change after which a spinning thread that reads no clock is
/// taken to spin for ever: loops that count their rounds give up earlier.
const FUTILE_ROUNDS_PER_THREAD: u64 = 1 << 22;
/// Such a thread may read the processor's own clock, which no interceptor sees:
/// it gets this many milliseconds.
const FUTILE_MS: u64 = 500;

static UNCHANGED_SINCE_NS: AtomicU64 = AtomicU64::new(0);
/// A clock was read since the last change.
static CLOCK_WAS_READ: AtomicBool = AtomicBool::new(false);

/// The program looks at a real clock.
pub(crate) fn looks_at_a_clock() {
    CLOCK_WAS_READ.store(true, Ordering::Relaxed);
}

/// Called every now and then while all threads that could go on spin; `rounds`
/// counts up from the last change.
pub(crate) fn watch_livelock(state: &mut State, rounds: u64) {
    let now = sys::clock(libc::CLOCK_MONOTONIC);
    if rounds <= 1000 {
        UNCHANGED_SINCE_NS.store(now, Ordering::Relaxed);
        CLOCK_WAS_READ.store(false, Ordering::Relaxed);
        return;
    }
    // One thread alone may be waiting for the clock.
    if state.scheduler.alive() == 1 || state.scheduler.away > 0 {
        return;
    }
    let waited = (now - UNCHANGED_SINCE_NS.load(Ordering::Relaxed)) / 1_000_000;
    let helped = state.scheduler.outside_help || CLOCK_WAS_READ.load(Ordering::Relaxed);
    let futile = !helped
        && rounds >= FUTILE_ROUNDS_PER_THREAD * state.scheduler.spinning()
        && waited >= FUTILE_MS;
    if futile || (rounds >= 10_000 && waited >= state.config.livelock) {
        sys::say(format_args!(
            "wmfix: livelock: every thread spins or waits, and nothing has changed for {waited} ms\n"
        ));
        name_stuck(state);
        state.recorder.finish(End::Livelock);
        sys::exit_now(LIVELOCK_EXIT_CODE)
    }
}

fn name_stuck(state: &mut State) {
    for id in 0..state.scheduler.threads.len() as u32 {
        let entry = state.scheduler.entry(id);
        let (context, spins_on) = (entry.context, entry.detector.last_location());
        let waits_for = match entry.status {
            Status::Ended => continue,
            Status::Waiting(what) => what,
            Status::Away => WaitsFor::Outside,
            Status::Runnable => match spins_on.and_then(|at| state.locations.trace_number(at)) {
                Some(location) => WaitsFor::Value(LocationId(location)),
                None => WaitsFor::Nothing,
            },
        };
        sys::say(format_args!(
            "wmfix:   thread {id} waits for {waits_for:?}\n"
        ));
        let stuck = StuckThread {
            thread: ThreadId(id),
            context: wmfix_trace::ContextId(context),
            waits_for,
        };
        state
            .recorder
            .write(MAX_RECORD, |out| encode_stuck(out, &stuck));
    }
}
