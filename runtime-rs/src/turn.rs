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

use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU8,
    Ordering::{self, SeqCst},
};

use wmfix_trace::{Cause, LockMode, RecordedOperation, ThreadId, WaitsFor};

use crate::descriptors::Channel;
use crate::gate::GATE;
use crate::park::{HOLDER, hand_to, park, write_turn};
use crate::spin::Read;
use crate::state::{State, state};
use crate::strategy::Kind;
use crate::stuck;
use crate::sys;
use crate::thread::{Thread, phase};
use crate::thread_key::settle;
use crate::tls;

/// Who schedules.
pub(crate) mod mode {
    /// Nobody: the runtime has not started, or the run is over.
    pub(crate) const OFF: u8 = 0;
    pub(crate) const CONTROLLED: u8 = 1;
    pub(crate) const OS: u8 = 2;
}

/// Who schedules: one of [`mode`].
pub(crate) static MODE: AtomicU8 = AtomicU8::new(mode::OFF);

/// Threads that no interceptor announced.
static NEWCOMERS: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

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

    /// Writes what this thread did.
    #[inline(always)]
    pub(crate) fn record(&mut self, context: u32, operation: &RecordedOperation) {
        let left_out = self.state().leaves_out(context, operation);
        if self.controlled {
            let me = self.thread().id;
            let scheduler = &mut self.state().scheduler;
            scheduler.entry(me).detector.other();
            // A plan counts what traces have.
            if !left_out && !operation.is_plain() {
                scheduler.done(me, None);
            }
        }
        if !left_out {
            let (thread, state) = self.parts();
            state.record(thread, context, operation);
        }
    }

    /// Writes a plain access of this thread.
    #[inline(always)]
    pub(crate) fn record_plain(&mut self, context: u32, operation: &RecordedOperation) {
        if self.controlled {
            let me = self.thread().id;
            self.state().scheduler.entry(me).detector.other();
        }
        self.state().recorder.event(context, operation);
    }

    /// This thread's record and the state, both its own while it has the turn.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&mut Thread, &mut State) {
        // SAFETY: different objects; the borrows end before the turn does.
        unsafe { (&mut *self.thread, state()) }
    }

    /// Writes what this thread has read without changing anything, unless it
    /// tells nothing.
    #[inline(always)]
    pub(crate) fn record_read(&mut self, read: Read, operation: &RecordedOperation) {
        let left_out = self.state().leaves_out(read.context, operation);
        let known = if left_out {
            self.has_read(read)
        } else {
            self.looks(read)
        };
        if !known && !left_out {
            let (thread, state) = self.parts();
            state.record(thread, read.context, operation);
        }
    }

    /// This thread has read without changing anything. True if the read tells
    /// nothing that is not recorded.
    #[inline(always)]
    pub(crate) fn looks(&mut self, read: Read) -> bool {
        if self.controlled {
            let me = self.thread().id;
            self.state().scheduler.done(me, Some(read));
        }
        self.has_read(read)
    }

    /// Asks the strategy who goes next. Returns when it is this thread's turn.
    #[inline(always)]
    pub(crate) fn point(&mut self, kind: Kind) {
        self.point_before(kind, None);
    }

    /// The same, before an access to an atomic object: its address and its size.
    #[inline(always)]
    pub(crate) fn point_before(&mut self, kind: Kind, access: Option<(u64, u8)>) {
        if !self.controlled {
            return;
        }
        let me = self.thread().id;
        if !NEWCOMERS.load(Ordering::Relaxed).is_null() {
            self.welcome();
        }
        let state = self.state();
        let scheduler = &mut state.scheduler;
        if scheduler.alone(me) {
            scheduler.now += 1_000;
            return;
        }
        scheduler.tick();
        let object = match access {
            Some((address, size)) if scheduler.asks_for_objects() => {
                state.locations.at(address, size)
            }
            _ => None,
        };
        let next = scheduler.choose(me, kind, object);
        if scheduler.idle_choices > 0 {
            self.nothing_changes();
        }
        match next {
            Some(next) if next != me => self.give(next, Cause::Choice),
            _ => {}
        }
    }

    /// This thread has read a value and changed nothing: does it spin? True if
    /// the read tells nothing that is not recorded.
    #[inline(always)]
    pub(crate) fn has_read(&mut self, read: Read) -> bool {
        if !self.controlled {
            return false;
        }
        let me = self.thread().id;
        let scheduler = &mut self.state().scheduler;
        let changes = scheduler.changes;
        let found = scheduler.entry(me).detector.read(read, changes);
        if found.spins {
            scheduler.idles(me);
        } else if scheduler.idle_choices > 0 {
            scheduler.gets_on(me);
        }
        found.known
    }

    /// This thread has changed something that others may wait to see.
    #[inline(always)]
    pub(crate) fn has_changed(&mut self) {
        if !self.controlled {
            return;
        }
        let me = self.thread().id;
        let state = self.state();
        state.fruitless_looks = 0;
        state.scheduler.entry(me).detector.progress();
        state.scheduler.changed();
    }

    /// This thread has written an atomic object.
    #[inline(always)]
    pub(crate) fn has_written(&mut self, location: u32) {
        if self.controlled {
            let me = self.thread().id;
            self.state().scheduler.wrote(me, location);
        }
        self.has_changed();
    }

    /// Lets the others go first, once.
    pub(crate) fn stand_back(&mut self) {
        let me = self.thread().id;
        let scheduler = &mut self.state().scheduler;
        if !scheduler.follows_plan() {
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
        if what == WaitsFor::Time && scheduler.follows_plan() {
            scheduler.now = scheduler.now.max(deadline.unwrap_or(0));
            return true;
        }
        scheduler.entry(me).context = context;
        scheduler.wait(me, what, deadline);
        scheduler.tick();
        self.pass(me, Cause::Blocked);
        if what == WaitsFor::Time {
            self.has_paused();
        }
        self.state().scheduler.entry(me).timed_out
    }

    /// After a pause a thread takes no write that is old by then.
    fn has_paused(&mut self) {
        let me = self.thread().id;
        if let Some(stale_run) = &mut self.state().stale_run {
            stale_run.pauses(me);
        }
    }

    /// The thread has ended: gives the turn away for good. Its phase stays INSIDE,
    /// so that hooks it runs into later are ignored.
    pub(crate) fn leave_for_good(mut self) {
        let me = self.thread().id;
        if self.controlled {
            self.pass(me, Cause::Ended);
        } else {
            GATE.unlock();
        }
        core::mem::forget(self);
    }

    /// Finds somebody else to go on, whatever it takes.
    fn pass(&mut self, me: u32, cause: Cause) {
        loop {
            if !NEWCOMERS.load(SeqCst).is_null() {
                self.welcome();
            }
            self.state().scheduler.let_in();
            match self.state().scheduler.choose(me, Kind::Stop, None) {
                Some(next) if next == me => return,
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

    /// Whoever sent a signal that came while this thread was in the runtime did so
    /// before what this thread does next.
    fn learn_from_signals(&mut self) {
        let mut signals = self.thread().pending_signals.swap(0, SeqCst);
        while signals != 0 {
            let signal = signals.trailing_zeros() as i32;
            signals &= signals - 1;
            let (lock, mode) = (Channel::of_signal(signal).key(), LockMode::Signal);
            self.record(0, &RecordedOperation::Acquire { lock, mode });
        }
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
        if state.scheduler.expects_message() {
            state.fruitless_looks = 0;
        }
        if !state.scheduler.outside_help || state.fruitless_looks >= stuck::MAX_FRUITLESS_LOOKS {
            stuck::deadlock(state);
        }
        state.fruitless_looks += 1;
        sys::sleep(2);
        state.scheduler.have_all_look_again();
    }

    /// Numbers the threads that no interceptor announced.
    #[cold]
    fn welcome(&mut self) {
        let mut newcomer = NEWCOMERS.swap(ptr::null_mut(), SeqCst);
        while !newcomer.is_null() {
            self.state().meet_unknown_thread();
            let id = self.state().scheduler.add(newcomer, 0);
            // SAFETY: the newcomer waits to be let in.
            let next = unsafe {
                (*newcomer).id = id;
                (*newcomer).next_newcomer
            };
            let create = RecordedOperation::Create {
                child: ThreadId(id),
                start: 0,
            };
            self.record(0, &create);
            newcomer = next;
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
        match self.state().scheduler.choose(me, Kind::Stop, None) {
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

/// A hook of a thread that the runtime does not know.
#[cold]
fn enter_unknown(mode: u8) -> Option<Held> {
    if mode == mode::OFF {
        return None;
    }
    let thread = Thread::new(u32::MAX, phase::INSIDE);
    settle(thread);
    let controlled = mode == mode::CONTROLLED;
    let mut held = Held { thread, controlled };
    if controlled {
        let mut head = NEWCOMERS.load(SeqCst);
        loop {
            // SAFETY: the record is still this thread's alone.
            unsafe { (*thread).next_newcomer = head };
            match NEWCOMERS.compare_exchange(head, thread, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(other) => head = other,
            }
        }
        if HOLDER
            .compare_exchange(ptr::null_mut(), thread, SeqCst, SeqCst)
            .is_ok()
        {
            held.welcome();
        } else {
            park(thread);
        }
    } else {
        held.thread().inside = true;
        GATE.lock();
        held.state().meet_unknown_thread();
        let id = held.state().scheduler.add(thread, 0);
        held.thread().id = id;
        let create = RecordedOperation::Create {
            child: ThreadId(id),
            start: 0,
        };
        held.record(0, &create);
    }
    Some(held)
}

/// A signal came while the calling thread was in the runtime.
#[cfg(not(test))]
pub(crate) fn note_signal(signal: i32) {
    let thread = tls::current();
    if is_on() && !thread.is_null() && (0..64).contains(&signal) {
        // SAFETY: the thread's own record, and an atomic.
        unsafe { &(*thread).pending_signals }.fetch_or(1 << signal, SeqCst);
    }
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
    if mode == mode::CONTROLLED {
        matches!(
            thread.phase.load(Ordering::Relaxed),
            phase::OUTSIDE | phase::PREEMPTED
        )
    } else {
        !thread.inside
    }
}

/// Whether the runtime is in charge.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    MODE.load(Ordering::Relaxed) != mode::OFF
}

/// In a forked child, whose only thread holds the turn as it did in the parent.
pub(crate) fn after_fork() {
    NEWCOMERS.store(ptr::null_mut(), SeqCst);
}
