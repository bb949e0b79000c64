//! Taking the turn, giving it to another thread, and waiting for it.
//!
//! A thread that runs program code holds the turn. When it calls into the
//! runtime it moves from OUTSIDE to INSIDE, one atomic operation on its own
//! cache line and no system call; if the strategy keeps it, that is all. A
//! parked thread that sees the holder make no step for a while, asleep in the
//! kernel, preempts it: OUTSIDE becomes PREEMPTED, the watcher has the turn, and the
//! preempted one waits to be let in when it next calls.
//!
//! Under `os` the turn is a lock that is held for one operation.

#[cfg(not(test))]
mod away;
mod events;
#[cfg(not(test))]
mod let_go;
mod signals;
mod unknown;

use core::ptr;
use core::sync::atomic::{
    AtomicU8,
    Ordering::{self, SeqCst},
};

use wmfix_trace::{Cause, WaitsFor};

use crate::gate::GATE;
use crate::help;
use crate::park::{HOLDER, LEAVING, hand_to, park, write_turn};
use crate::shared_memory::address_of;
use crate::state::{State, state};
use crate::strategy::{Kind, Pending};
use crate::stuck;
use crate::sys;
use crate::thread::{Thread, phase};
use crate::tls;

#[cfg(not(test))]
pub(crate) use away::go_away;
#[cfg(not(test))]
pub(crate) use signals::{defer_signal, interrupt_for_cancellation, note_signal};
use unknown::enter_unknown;

/// Who schedules.
pub(crate) mod mode {
    /// Nobody: the runtime has not started, or the run is over.
    pub(crate) const OFF: u8 = 0;
    pub(crate) const CONTROLLED: u8 = 1;
    pub(crate) const OS: u8 = 2;
}

/// Who schedules: one of [`mode`].
pub(crate) static MODE: AtomicU8 = AtomicU8::new(mode::OFF);

/// When every thread waits for a deadline, the counted clock jumps to it. The
/// runtime sleeps for part of the skipped time, at most this long, for programs
/// that read the real clock or wait for another process.
const LONGEST_PAUSE_MS: u64 = 200;

/// The turn, held. Dropping it lets the thread go on with program code.
pub(crate) struct Held {
    thread: *mut Thread,
    controlled: bool,
}

/// Takes the turn. `None` where the runtime is not in charge: before the start,
/// after the end, and when called from within itself (by a signal handler, or a
/// library function that it uses).
#[inline(always)]
pub(crate) fn enter() -> Option<Held> {
    let mode = MODE.load(Ordering::Relaxed);
    let thread = tls::current();
    if mode == mode::OFF || thread.is_null() {
        return enter_unknown(mode);
    }
    // SAFETY: a thread's own record; `phase` and `steps` are atomic, and
    // `inside` is this thread's alone.
    unsafe {
        if mode == mode::CONTROLLED {
            let swap =
                (*thread)
                    .phase
                    .compare_exchange(phase::OUTSIDE, phase::INSIDE, SeqCst, SeqCst);
            match swap {
                Ok(_) => {}
                Err(phase::PREEMPTED) => come_back(thread),
                Err(_) => return None,
            }
            let steps = &(*thread).steps;
            steps.store(
                steps.load(Ordering::Relaxed).wrapping_add(1),
                Ordering::Relaxed,
            );
        } else {
            if (*thread).inside {
                return None;
            }
            (*thread).inside = true;
            GATE.lock();
        }
    }
    Some(Held {
        thread,
        controlled: mode == mode::CONTROLLED,
    })
}

impl Drop for Held {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: a thread's own record.
        unsafe {
            if self.controlled {
                (*self.thread)
                    .phase
                    .store(phase::OUTSIDE, Ordering::Release);
            } else {
                GATE.unlock();
                (*self.thread).inside = false;
            }
            if (*self.thread).deferred.load(Ordering::Relaxed) != 0 {
                signals::run_deferred(self.thread);
            }
        }
    }
}

impl Held {
    /// The thread that holds the turn.
    #[inline(always)]
    pub(crate) fn thread(&mut self) -> &mut Thread {
        // SAFETY: this thread's own record; others only touch its atomics.
        unsafe { &mut *self.thread }
    }

    /// What the turn protects.
    #[inline(always)]
    pub(crate) fn state(&mut self) -> &mut State {
        // SAFETY: `self` is the turn, and the borrow ends before it does.
        unsafe { state() }
    }

    /// Whether the runtime schedules, rather than the system.
    #[inline(always)]
    pub(crate) fn controlled(&self) -> bool {
        self.controlled
    }

    /// The number of this thread's context at `pc`; 0 for a `pc` of 0.
    #[inline(always)]
    pub(crate) fn context(&mut self, pc: u64) -> u32 {
        if !self.controlled {
            self.goes_on();
        }
        if pc == 0 {
            return 0;
        }
        let (thread, state) = self.parts();
        state.context(thread, pc)
    }

    /// Under `os`: notes that this thread is the one that does something, and what
    /// it has learnt from signals, which a controlled thread does when it parks.
    #[inline(always)]
    fn goes_on(&mut self) {
        let (thread, state) = self.parts();
        if state.last_thread != thread.id {
            state.last_thread = thread.id;
            write_turn(state, thread.id, 0, Cause::System);
        }
        if thread.pending_signals.load(Ordering::Relaxed) != 0 {
            self.learn_from_signals();
        }
    }

    /// This thread's record and the state, both its own while it has the turn.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&mut Thread, &mut State) {
        // SAFETY: different objects; the borrows end before the turn does.
        unsafe { (&mut *self.thread, state()) }
    }

    /// Asks the strategy who goes next. Returns when it is this thread's turn.
    #[inline(always)]
    pub(crate) fn point(&mut self, kind: Kind) {
        self.point_before(kind, None, false);
    }

    /// The same, before an access to an atomic object: its address and its size, and
    /// whether it may write.
    #[inline(always)]
    pub(crate) fn point_before(&mut self, kind: Kind, access: Option<(u64, u8)>, writes: bool) {
        if !self.controlled {
            return;
        }
        let me = self.thread().id;
        if !unknown::NEWCOMERS.load(Ordering::Relaxed).is_null() {
            self.welcome();
        }
        if signals::INTERRUPTED.load(Ordering::Relaxed) {
            self.wake_interrupted();
        }
        let state = self.state();
        let scheduler = &mut state.scheduler;
        if scheduler.alone(me) {
            scheduler.now += 1_000;
            return;
        }
        scheduler.tick();
        if scheduler.steps >= state.config.step_limit {
            stuck::step_limit(state);
        }
        let object = match access {
            Some((address, size)) if scheduler.asks_for_objects() => {
                state.locations.at(address_of(address), size)
            }
            _ => None,
        };
        let pending = match access {
            Some((address, size)) => Pending::Access {
                address: address_of(address),
                size,
                writes,
            },
            None => Pending::Other,
        };
        let next = scheduler.choose(me, kind, object, pending);
        if scheduler.idle_choices > 0 {
            self.nothing_changes();
        }
        match next {
            Some(next) if next != me => self.give(next, Cause::Choice),
            _ => self.stays(me),
        }
    }

    /// Lets the others go first, once.
    pub(crate) fn stand_back(&mut self) {
        let me = self.thread().id;
        let scheduler = &mut self.state().scheduler;
        if !scheduler.follows_plan() && !scheduler.explores() {
            scheduler.idles(me);
        }
        self.point(Kind::Stop);
        self.has_paused();
    }

    /// Waits for something that another thread does; true if the time, on the
    /// counted clock, came first.
    pub(crate) fn wait(&mut self, context: u32, what: WaitsFor, deadline: Option<u64>) -> bool {
        let me = self.thread().id;
        let scheduler = &mut self.state().scheduler;
        if what == WaitsFor::Time && (scheduler.follows_plan() || scheduler.explores()) {
            scheduler.now = scheduler.now.max(deadline.unwrap_or(0));
            return true;
        }
        scheduler.entry(me).context = context;
        let is_explored = deadline.is_none()
            && matches!(
                what,
                WaitsFor::Lock(_)
                    | WaitsFor::Semaphore(_)
                    | WaitsFor::Thread(_)
                    | WaitsFor::Barrier(_)
                    | WaitsFor::Condition(_)
                    | WaitsFor::Futex(_)
            );
        let cause = match scheduler.explores() && !is_explored {
            true => Cause::Unexplored,
            false => Cause::Blocked,
        };
        scheduler.wait(me, what, deadline);
        scheduler.tick();
        self.pass(me, cause);
        if what == WaitsFor::Time {
            self.has_paused();
        }
        self.run_signals();
        self.state().scheduler.entry(me).timed_out
    }

    /// Lets the others go on for as long as they can, where all runs are explored.
    pub(crate) fn let_others_finish(&mut self) {
        let me = self.thread().id;
        let scheduler = &mut self.state().scheduler;
        scheduler.wait(me, WaitsFor::Time, Some(u64::MAX / 2));
        self.pass(me, Cause::Blocked);
    }

    /// After a pause a thread takes no write that is old by then.
    fn has_paused(&mut self) {
        let me = self.thread().id;
        if let Some(stale_run) = &mut self.state().stale_run {
            stale_run.pauses(me);
        }
    }

    /// Under `os`: makes a call that may wait for what another thread has. That one
    /// may have to act before it lets go.
    pub(crate) fn let_others_act<R>(&mut self, call: impl FnOnce() -> R) -> R {
        if self.controlled {
            return call();
        }
        GATE.unlock();
        let result = call();
        GATE.lock();
        result
    }

    /// The thread has ended: gives the turn away for good. Its phase stays INSIDE,
    /// so that hooks it runs into later are ignored.
    pub(crate) fn leave_for_good(mut self) {
        let me = self.thread().id;
        if self.controlled {
            // The first thread's number stays until the process ends.
            if me != 0 {
                LEAVING.store(sys::thread_number(), SeqCst);
            }
            self.pass(me, Cause::Ended);
        } else {
            GATE.unlock();
        }
        core::mem::forget(self);
    }

    /// Finds somebody else to go on, whatever it takes.
    fn pass(&mut self, me: u32, cause: Cause) {
        loop {
            if !unknown::NEWCOMERS.load(SeqCst).is_null() {
                self.welcome();
            }
            if signals::INTERRUPTED.load(SeqCst) {
                self.wake_interrupted();
            }
            self.state().scheduler.let_in();
            let choice = self
                .state()
                .scheduler
                .choose(me, Kind::Stop, None, Pending::Other);
            match choice {
                Some(next) if next == me => return self.stays(me),
                Some(next) => {
                    if self.state().scheduler.idle_choices > 0 {
                        self.nothing_changes();
                    }
                    if cause == Cause::Ended {
                        self.hand_over(next, cause);
                        return;
                    }
                    return self.give(next, cause);
                }
                None => {}
            }
            if self.state().end_abandoned_initialisations() {
                continue;
            }
            if let Some(pause) = self.state().scheduler.skip_time() {
                sys::sleep(pause.div_ceil(1_000_000).min(LONGEST_PAUSE_MS));
                continue;
            }
            if self.state().scheduler.away > 0 {
                if cause == Cause::Ended {
                    return self.leave_to_nobody();
                }
                self.leave_to_nobody();
                return self.park();
            }
            if cause == Cause::Ended && self.state().scheduler.alive() == 0 {
                return;
            }
            self.look_for_help();
        }
    }

    /// The thread keeps the turn: an exploration wants to know.
    #[inline(always)]
    fn stays(&mut self, me: u32) {
        let state = self.state();
        if state.scheduler.explores() && state.scheduler.idle_choices == 0 {
            let choices = core::mem::take(&mut state.scheduler.choices);
            write_turn(state, me, choices, Cause::Choice);
        }
    }

    /// Hands the turn to `next` and waits until it comes back.
    fn give(&mut self, next: u32, cause: Cause) {
        self.hand_over(next, cause);
        self.park();
    }

    /// Waits for the turn.
    fn park(&mut self) {
        park(self.thread);
        self.learn_from_signals();
    }

    fn hand_over(&mut self, next: u32, cause: Cause) {
        let state = self.state();
        let choices = core::mem::take(&mut state.scheduler.choices);
        write_turn(state, next, choices, cause);
        let thread = state.scheduler.entry(next).thread;
        hand_to(thread);
    }

    /// Everybody who could go on spins.
    #[cold]
    fn nothing_changes(&mut self) {
        let state = self.state();
        let idle_rounds = state.scheduler.idle_choices;
        if state.scheduler.away > 0 {
            // Those who are away need the processor to come back.
            sys::yield_now();
        }
        if idle_rounds.is_multiple_of(1000) {
            state.scheduler.have_messages_looked_for();
            stuck::watch_livelock(state, idle_rounds);
        }
        // A sleeper is what the spinning threads may be waiting for.
        if idle_rounds.is_multiple_of(100) {
            state.scheduler.skip_time();
        }
    }

    /// Nobody can go on. If help may come from outside, waits a little and has
    /// all look again; else it is a deadlock.
    #[cold]
    fn look_for_help(&mut self) {
        let state = self.state();
        let shared = help::waits_for_shared_memory(&state.scheduler);
        let timer = help::timer_is_due();
        let message = state.scheduler.awaits_message();
        // Relatives have the other ends of our descriptors.
        let by_relative = (shared || message) && help::has_relatives();
        let is_first = state.fruitless_looks == 0;
        // Memory that is shared may be mapped a second time in this process.
        let unknown = is_first && help::has_unknown_threads(&state.scheduler);
        state.scheduler.outside_help |= shared || timer || unknown || by_relative;
        if timer || by_relative || state.scheduler.expects_message() {
            state.fruitless_looks = 0;
        }
        // What a library of this process has sent is there by now.
        let may_look = state.scheduler.outside_help || is_first && message;
        if !may_look || state.fruitless_looks >= stuck::MAX_FRUITLESS_LOOKS {
            stuck::deadlock(state);
        }
        state.fruitless_looks += 1;
        sys::sleep(2);
        state.scheduler.have_all_look_again();
        if shared {
            state.scheduler.have_conditions_look_again();
        }
    }

    /// Leaves the turn to the first thread that comes back.
    fn leave_to_nobody(&mut self) {
        HOLDER.store(ptr::null_mut(), SeqCst);
        // Somebody may have come back just before, and seen a holder.
        if HOLDER
            .compare_exchange(ptr::null_mut(), self.thread, SeqCst, SeqCst)
            .is_err()
        {
            return;
        }
        self.state().scheduler.let_in();
        let me = self.thread().id;
        match self
            .state()
            .scheduler
            .choose(me, Kind::Stop, None, Pending::Other)
        {
            Some(next) => self.hand_over(next, Cause::Blocked),
            None => HOLDER.store(ptr::null_mut(), SeqCst),
        }
    }
}

/// A preempted thread calls again: waits to be let in.
#[cold]
fn come_back(thread: *mut Thread) {
    // SAFETY: the thread's own record.
    unsafe { &(*thread).phase }.store(phase::ARRIVED, SeqCst);
    if HOLDER
        .compare_exchange(ptr::null_mut(), thread, SeqCst, SeqCst)
        .is_ok()
    {
        // SAFETY: the turn is this thread's now.
        let state = unsafe { state() };
        state.scheduler.let_in();
        let choices = core::mem::take(&mut state.scheduler.choices);
        // SAFETY: the thread's own record.
        write_turn(state, unsafe { (*thread).id }, choices, Cause::Watchdog);
        return;
    }
    park(thread);
}

/// Whether the runtime is in charge and the calling thread, which it knows, runs
/// program code rather than the runtime's own.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn is_in_program() -> bool {
    let (mode, thread) = (MODE.load(Ordering::Relaxed), tls::current());
    if mode == mode::OFF || thread.is_null() {
        return false;
    }
    // SAFETY: the thread's own record.
    let thread = unsafe { &*thread };
    // What a library does for itself is not the program's.
    if thread.openmp.in_library {
        return false;
    }
    if mode == mode::CONTROLLED {
        matches!(
            thread.phase.load(Ordering::Relaxed),
            phase::OUTSIDE | phase::PREEMPTED
        )
    } else {
        !thread.inside
    }
}

/// Whether the calling thread has gone away to wait in a library. What it does there
/// while it waits is no step of the program.
#[cfg(not(test))]
pub(crate) fn waits_in_library() -> bool {
    let thread = tls::current();
    // SAFETY: the thread's own record.
    !thread.is_null()
        && unsafe {
            (*thread).openmp.in_library
                && (*thread).phase.load(Ordering::Relaxed) == phase::PREEMPTED
        }
}

/// Whether the runtime is in charge.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    MODE.load(Ordering::Relaxed) != mode::OFF
}

/// In a forked child, whose only thread holds the turn as it did in the parent.
pub(crate) fn after_fork() {
    unknown::NEWCOMERS.store(ptr::null_mut(), SeqCst);
}
