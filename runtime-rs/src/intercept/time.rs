//! Sleeping, yielding, and timeouts. Where the runtime schedules, time
//! is counted: a sleep is a wait for a moment on that clock, and the moment
//! comes at once when nobody else has anything to do. The program's clocks are the
//! real ones, put forward by what sleeps and timed waits should have taken and did
//! not.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

use wmfix_trace::WaitsFor;

use crate::abi::{self, flush_volatile};
use crate::real;
use crate::strategy::Kind;
use crate::stuck;
use crate::sys;
use crate::trampoline;
use crate::turn::{self, Held};

/// How long a thread waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timeout {
    /// For ever.
    Never,
    /// This many nanoseconds.
    After(u64),
    /// It is no time: whether and when that is said is left to the library, which does not
    /// wait then.
    Invalid,
}

/// Whether a part of a second is one.
fn is_part_of_a_second(nanoseconds: libc::c_long) -> bool {
    (0..1_000_000_000).contains(&nanoseconds)
}

/// Whether the kernel takes this for a time.
fn is_valid(time: &libc::timespec) -> bool {
    time.tv_sec >= 0 && is_part_of_a_second(time.tv_nsec)
}

impl Timeout {
    /// For as long as the kernel is told to wait.
    pub(super) fn of(time: *const libc::timespec) -> Self {
        // SAFETY: the program's own record, or null.
        match unsafe { time.as_ref() } {
            Some(time) if !is_valid(time) => Self::Invalid,
            Some(time) => Self::After(nanoseconds(time)),
            None => Self::Never,
        }
    }

    /// Until a moment on one of the system's clocks. One before it began is over.
    pub(super) fn until(clock: c_int, time: *const libc::timespec) -> Self {
        // SAFETY: the program's own record, or null.
        match unsafe { time.as_ref() } {
            Some(time) if !is_part_of_a_second(time.tv_nsec) => Self::Invalid,
            Some(time) => Self::After(rounded(
                nanoseconds(time).saturating_sub(program_clock(clock)),
            )),
            None => Self::Never,
        }
    }

    /// When a wait for something outside of the process is over, counted from `now`:
    /// not before its time, as nothing here knows how long others need.
    pub(super) fn deadline(self, now: u64) -> Option<u64> {
        match self {
            Self::Never | Self::Invalid => None,
            Self::After(time) => Some(now.saturating_add(time)),
        }
    }

    /// A wait that begins now.
    pub(super) fn begins(self, held: &mut Held) -> TimedWait {
        match self {
            Self::Never | Self::Invalid => TimedWait::default(),
            Self::After(time) => TimedWait {
                deadline: Some(held.state().scheduler.end_of_patience(time)),
                over: program_clock(libc::CLOCK_MONOTONIC).saturating_add(time),
            },
        }
    }
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimedWait {
    /// When it gives up, on the counted clock.
    pub(super) deadline: Option<u64>,
    /// When it should, on the program's.
    over: u64,
}

impl TimedWait {
    /// It has given up: the program's clocks must show that the time has passed.
    pub(super) fn gave_up(self) {
        let early = self.over.saturating_sub(sys::clock(libc::CLOCK_MONOTONIC));
        AHEAD_NS.fetch_max(early, Ordering::Relaxed);
    }
}

/// The clock that a moment is on: one far in the past of one clock is meant for the
/// other, which began when the machine was started.
pub(super) fn likely_clock(time: *const libc::timespec) -> c_int {
    // SAFETY: the program's own record, or null.
    let time = unsafe { time.as_ref() }.map_or(0, nanoseconds);
    match time > program_clock(libc::CLOCK_REALTIME) / 2 {
        true => libc::CLOCK_REALTIME,
        false => libc::CLOCK_MONOTONIC,
    }
}

/// How far the program's clocks are ahead of the real ones.
static AHEAD_NS: AtomicU64 = AtomicU64::new(0);

/// One of the program's clocks.
fn program_clock(clock: c_int) -> u64 {
    sys::clock(clock).saturating_add(AHEAD_NS.load(Ordering::Relaxed))
}

/// The difference to a moment that the program computed a little earlier is
/// never the same twice; rounded up to four bits it mostly is.
fn rounded(time: u64) -> u64 {
    let Some(log) = time.checked_ilog2() else {
        return 0;
    };
    let unit = 1u64 << log.saturating_sub(3);
    time.div_ceil(unit).saturating_mul(unit)
}

pub(super) fn nanoseconds(time: &libc::timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Sleeps on the counted clock; false where the runtime does not schedule.
fn sleep_for(time: u64, pc: u64) -> bool {
    let Some(mut held) = turn::enter() else {
        return false;
    };
    flush_volatile(&mut held);
    if !held.controlled() {
        return false;
    }
    held.point(Kind::Operation);
    let context = held.context(pc);
    let sleep = TimedWait {
        deadline: Some(held.state().scheduler.end_of_sleep(time)),
        over: program_clock(libc::CLOCK_MONOTONIC).saturating_add(time),
    };
    held.cancellation_point();
    held.wait(context, WaitsFor::Time, sleep.deadline);
    held.cancellation_point();
    sleep.gave_up();
    true
}

fn sleep_really(time: u64) -> c_int {
    let time = libc::timespec {
        tv_sec: (time / 1_000_000_000) as libc::time_t,
        tv_nsec: (time % 1_000_000_000) as libc::c_long,
    };
    real::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &time, core::ptr::null_mut())
}

unsafe extern "C" fn sleep(seconds: c_uint, pc: u64) -> c_uint {
    let time = u64::from(seconds) * 1_000_000_000;
    if !sleep_for(time, pc) {
        sleep_really(time);
    }
    0
}

unsafe extern "C" fn usleep(microseconds: c_uint, pc: u64) -> c_int {
    let time = u64::from(microseconds) * 1_000;
    if sleep_for(time, pc) {
        return 0;
    }
    fail_with(sleep_really(time))
}

pub(super) unsafe extern "C" fn nanosleep(
    time: *const libc::timespec,
    left: *mut libc::timespec,
    pc: u64,
) -> c_int {
    if let Timeout::After(duration) = Timeout::of(time)
        && sleep_for(duration, pc)
    {
        return 0;
    }
    fail_with(real::clock_nanosleep(libc::CLOCK_REALTIME, 0, time, left))
}

pub(super) unsafe extern "C" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: *const libc::timespec,
    left: *mut libc::timespec,
    pc: u64,
) -> c_int {
    let timeout = match (Timeout::of(time), flags & libc::TIMER_ABSTIME != 0) {
        (Timeout::After(_), true) => Timeout::until(clock, time),
        (timeout, _) => timeout,
    };
    if let Timeout::After(duration) = timeout
        && can_be_slept_by(clock)
        && sleep_for(duration, pc)
    {
        return 0;
    }
    real::clock_nanosleep(clock, flags, time, left)
}

/// Whether the kernel lets threads sleep by this clock. No thread's own clock can be.
fn can_be_slept_by(clock: c_int) -> bool {
    const CLOCKS: [c_int; 6] = [
        libc::CLOCK_REALTIME,
        libc::CLOCK_MONOTONIC,
        libc::CLOCK_BOOTTIME,
        libc::CLOCK_TAI,
        libc::CLOCK_REALTIME_ALARM,
        libc::CLOCK_BOOTTIME_ALARM,
    ];
    CLOCKS.contains(&clock) || clock == libc::CLOCK_PROCESS_CPUTIME_ID
}

/// Yields to the other threads; false where the runtime does not schedule.
pub(super) fn yields() -> bool {
    if turn::waits_in_library() {
        return false;
    }
    let Some(mut held) = turn::enter() else {
        return false;
    };
    flush_volatile(&mut held);
    if !held.controlled() {
        return false;
    }
    held.stand_back();
    true
}

unsafe extern "C" fn sched_yield(_pc: u64) -> c_int {
    if yields() { 0 } else { real::sched_yield() }
}

/// The program's own record is filled by the library: that is a write like any other.
fn fills<T>(record: *mut T, pc: u64) {
    if !record.is_null() {
        abi::write(record as u64, size_of::<T>() as u64, pc);
    }
}

/// Clocks that go on while threads sleep.
fn shows_sleep(clock: c_int) -> bool {
    !matches!(
        clock,
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID
    )
}

unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut libc::timespec, pc: u64) -> c_int {
    stuck::looks_at_a_clock();
    fills(time, pc);
    let result = real::clock_gettime(clock, time);
    let ahead = AHEAD_NS.load(Ordering::Relaxed);
    if result == 0 && ahead > 0 && shows_sleep(clock) {
        // SAFETY: the library has just filled it.
        let time = unsafe { &mut *time };
        let shown = nanoseconds(time).saturating_add(ahead);
        time.tv_sec = (shown / 1_000_000_000) as libc::time_t;
        time.tv_nsec = (shown % 1_000_000_000) as libc::c_long;
    }
    result
}

unsafe extern "C" fn gettimeofday(time: *mut c_void, zone: *mut c_void, pc: u64) -> c_int {
    stuck::looks_at_a_clock();
    fills(time.cast::<libc::timeval>(), pc);
    let result = real::gettimeofday(time, zone);
    let ahead = AHEAD_NS.load(Ordering::Relaxed) / 1_000;
    // SAFETY: the program's own record, or null.
    let time = unsafe { time.cast::<libc::timeval>().as_mut() };
    if result == 0
        && ahead > 0
        && let Some(time) = time
    {
        let shown = time.tv_usec as u64 + ahead;
        time.tv_sec += (shown / 1_000_000) as libc::time_t;
        time.tv_usec = (shown % 1_000_000) as libc::suseconds_t;
    }
    result
}

unsafe extern "C" fn time(into: *mut libc::time_t, pc: u64) -> libc::time_t {
    stuck::looks_at_a_clock();
    fills(into, pc);
    let shown = (program_clock(libc::CLOCK_REALTIME) / 1_000_000_000) as libc::time_t;
    // SAFETY: the program's own variable, or null.
    if let Some(into) = unsafe { into.as_mut() } {
        *into = shown;
    }
    shown
}

/// A result in the way of functions that use `errno`.
pub(super) fn fail_with(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    // SAFETY: the calling thread's own.
    unsafe { *libc::__errno_location() = error };
    -1
}

trampoline!(weak, "clock_gettime", 2, clock_gettime);
trampoline!(weak, "gettimeofday", 2, gettimeofday);
trampoline!(weak, "time", 1, time);
trampoline!(weak, "sleep", 1, sleep);
trampoline!(weak, "usleep", 1, usleep);
trampoline!(weak, "nanosleep", 2, nanosleep);
trampoline!(weak, "clock_nanosleep", 4, clock_nanosleep);
trampoline!(weak, "sched_yield", 0, sched_yield);
trampoline!(weak, "pthread_yield", 0, sched_yield);
