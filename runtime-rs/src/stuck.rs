//! Runs that get nowhere: a deadlock, where no thread can go on, and a livelock,
//! where all that can go on spin. Says who waits for what and ends the process. And
//! runs that are longer than they may be.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use wmfix_trace::{End, LocationId, MAX_RECORD, StuckThread, ThreadId, WaitsFor, encode_stuck};

use crate::scheduler::Status;
use crate::state::State;
use crate::sys;

/// The exit code of a program that came to a deadlock.
const DEADLOCK_EXIT_CODE: c_int = 122;
/// The exit code of a program that came to a livelock.
const LIVELOCK_EXIT_CODE: c_int = 123;

/// Looks for help from outside, 2 ms apart, before a deadlock is reported.
pub(crate) const MAX_FRUITLESS_LOOKS: u32 = 250;

/// No thread can go on and no help is expected: prints who waits for what and ends
/// the process.
pub(crate) fn deadlock(state: &mut State) -> ! {
    sys::say(format_args!("wmfix: deadlock: no thread can go on\n"));
    name_stuck(state);
    state.finish(End::Deadlock);
    sys::exit_now(DEADLOCK_EXIT_CODE)
}

/// The run has taken as many steps as it may: ends the process as if the program had
/// left it, so that what started it goes on.
#[cold]
pub(crate) fn step_limit(state: &mut State) -> ! {
    state.finish(End::StepLimit);
    sys::exit_now(0)
}

/// Rounds without a change after which a spinning thread that reads no clock is
/// taken to spin for ever: loops that count their rounds give up earlier.
const FUTILE_ROUNDS_PER_THREAD: u64 = 1 << 22;
/// Such a thread may read the processor's own clock, which no interceptor sees:
/// it gets this many milliseconds.
const FUTILE_MS: u64 = 500;

/// The same where all runs are explored: there may be many that hang, and a loop that
/// counts its rounds is told apart by its text.
const EXPLORED_ROUNDS_PER_THREAD: u64 = 1 << 13;
const EXPLORED_MS: u64 = 20;

static UNCHANGED_SINCE_NS: AtomicU64 = AtomicU64::new(0);
/// A clock was read since the last change.
static CLOCK_WAS_READ: AtomicBool = AtomicBool::new(false);

/// The program looks at a real clock.
pub(crate) fn looks_at_a_clock() {
    CLOCK_WAS_READ.store(true, Ordering::Relaxed);
}

/// Whether it has, since the last change.
#[cfg(not(test))]
pub(crate) fn clock_was_read() -> bool {
    CLOCK_WAS_READ.load(Ordering::Relaxed)
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
    if state.scheduler.away > 0 {
        return;
    }
    let waited = (now - UNCHANGED_SINCE_NS.load(Ordering::Relaxed)) / 1_000_000;
    let helped = state.scheduler.outside_help || CLOCK_WAS_READ.load(Ordering::Relaxed);
    // One thread alone may be waiting for the clock.
    if helped && state.scheduler.alive() == 1 {
        return;
    }
    let (most_rounds, most_ms) = match state.scheduler.explores() {
        true => (EXPLORED_ROUNDS_PER_THREAD, EXPLORED_MS),
        false => (FUTILE_ROUNDS_PER_THREAD, FUTILE_MS),
    };
    let futile = !helped && rounds >= most_rounds * state.scheduler.spinning() && waited >= most_ms;
    if futile || (rounds >= 10_000 && waited >= state.config.livelock) {
        sys::say(format_args!(
            "wmfix: livelock: every thread spins or waits, and nothing has changed for {waited} ms\n"
        ));
        name_stuck(state);
        state.finish(End::Livelock);
        sys::exit_now(LIVELOCK_EXIT_CODE)
    }
}

fn name_stuck(state: &mut State) {
    for id in 0..state.scheduler.threads.len() as u32 {
        let last_read = state.scheduler.detector(id).last_read();
        let entry = state.scheduler.entry(id);
        let context = match (entry.status, last_read) {
            (Status::Runnable, Some(read)) => read.context,
            _ => entry.context,
        };
        let spins_on = last_read.map(|read| read.location);
        let waits_for = match entry.status {
            Status::Ended => continue,
            Status::Waiting(what) => what,
            Status::Away => WaitsFor::Outside,
            Status::Runnable => match spins_on.and_then(|at| state.location_in_trace(at)) {
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
