//! The threads of the program and which of them could go on. Who does is the
//! strategy's business; handing over the turn is [`crate::turn`]'s.
//!
//! Time is counted, not measured: every choice takes a microsecond, and when
//! nobody can go on, the clock jumps to the first deadline. A sleeping thread
//! therefore wakes at the same choice in every run of a seed. When that is, is
//! drawn: a sleep orders nothing, so it may be over at any step.

use alloc::vec::Vec;
use core::ptr;
use core::sync::atomic::Ordering;

use wmfix_trace::WaitsFor;

use crate::descriptors::Channel;
use crate::spin::{Detector, Read};
use crate::strategy::{AnyStrategy, Kind, Pct, Pending, Point, Random, Strategy};
use crate::thread::{Thread, phase};
use crate::thread_table::ThreadTable;

/// What a choice costs on the counted clock, in nanoseconds.
const TICK_NS: u64 = 1_000;

/// The longest draw of a sleep that does not take its full time, as a power of two
/// of choices.
const LONGEST_DRAWN_BITS: u64 = 12;

/// A wait for something other than time takes its full time if that is longer: it
/// is how a test tells that something has gone wrong.
const LONGEST_SHORTENED_NS: u64 = 1_000_000_000;

/// For how many choices a thread that leaves the process may stay, if others are
/// left.
const LONGEST_STAY: u64 = 10_000;

/// After how many choices those who may be helped from outside look again.
const CHOICES_PER_LOOK: u64 = 1024;

pub(crate) use crate::thread_table::{Status, ThreadEntry};

/// Everything that schedules.
#[derive(Debug)]
pub(crate) struct Scheduler {
    pub(crate) threads: ThreadTable,
    /// Those that have not ended, in the order of their numbers: a program may have
    /// had any number of others.
    live: Vec<u32>,
    /// How many were not joined: those that have ended and were only detached count.
    unjoined: usize,
    /// Tell which threads spin: those of the live ones, and spare ones.
    detectors: Vec<Detector>,
    spare_detectors: Vec<usize>,
    /// Records of threads that have ended and were joined.
    spare_records: Vec<*mut Thread>,
    /// Could go on, and should.
    runnable: Vec<u32>,
    /// Changes whenever `runnable` does.
    version: u64,
    /// Could go on, but have found nothing to do.
    idle: Vec<u32>,
    strategy: AnyStrategy,
    /// Choices since the turn last changed hands.
    pub(crate) choices: u64,
    /// The counted clock.
    pub(crate) now: u64,
    /// Choices among several threads since the process began.
    pub(crate) steps: u64,
    /// Whether a sleep or a timed wait may end at any step.
    pub(crate) any_time: bool,
    /// How many threads have a deadline.
    timed: usize,
    /// How many threads run without the turn.
    pub(crate) away: usize,
    /// Something outside of this process, or a signal handler, may wake a
    /// thread: when all wait it is not yet a deadlock.
    pub(crate) outside_help: bool,
    /// Choices among idle threads since anything changed.
    pub(crate) idle_choices: u64,
    /// Counts the changes.
    pub(crate) changes: u64,
    /// Of an exploration: who waits for which condition and may give up at any step.
    pub(crate) impatient: Vec<(u64, u32)>,
}

impl Scheduler {
    pub(crate) fn new(strategy: AnyStrategy) -> Self {
        Self {
            threads: ThreadTable::new(),
            live: Vec::new(),
            unjoined: 0,
            detectors: Vec::new(),
            spare_detectors: Vec::new(),
            spare_records: Vec::new(),
            runnable: Vec::new(),
            version: 0,
            idle: Vec::new(),
            strategy,
            choices: 0,
            now: 0,
            steps: 0,
            any_time: true,
            timed: 0,
            away: 0,
            outside_help: false,
            idle_choices: 0,
            changes: 0,
            impatient: Vec::new(),
        }
    }

    /// Adds a thread that can go on; its number is given back.
    pub(crate) fn add(&mut self, thread: *mut Thread, handle: libc::pthread_t) -> u32 {
        let id = self.threads.len() as u32;
        let detector = match self.spare_detectors.pop() {
            Some(spare) => spare,
            None => {
                self.detectors.push(Detector::default());
                self.detectors.len() - 1
            }
        };
        self.detectors[detector] = Detector::default();
        self.threads.push(ThreadEntry {
            thread,
            handle,
            status: Status::Runnable,
            detector,
            context: 0,
            deadline: None,
            timed_out: false,
            joined: false,
            waits: 0,
        });
        self.strategy.started(id);
        self.live.push(id);
        self.unjoined += 1;
        self.runnable.push(id);
        self.version += 1;
        self.set_ready(id, true);
        id
    }

    /// Those that have not ended.
    pub(crate) fn live_threads(&self) -> impl Iterator<Item = &ThreadEntry> {
        self.live.iter().map(|&id| &self.threads[id as usize])
    }

    /// The entry of a thread.
    pub(crate) fn entry(&mut self, thread: u32) -> &mut ThreadEntry {
        &mut self.threads[thread as usize]
    }

    /// What tells whether a thread spins that has not ended.
    #[inline]
    pub(crate) fn detector(&mut self, thread: u32) -> &mut Detector {
        &mut self.detectors[self.threads[thread as usize].detector]
    }

    /// A thread was joined: its record can be another's.
    pub(crate) fn give_back(&mut self, thread: u32) {
        if self.entry(thread).status != Status::Ended {
            return;
        }
        let record = core::mem::replace(&mut self.entry(thread).thread, ptr::null_mut());
        // SAFETY: threads' records are never freed. One that no interceptor started
        // is in a list of its own.
        if !record.is_null() && !unsafe { (*record).routine }.is_null() {
            self.spare_records.push(record);
        }
        self.threads.let_go(thread as usize);
    }

    /// A record that was given back.
    pub(crate) fn spare_record(&mut self) -> Option<*mut Thread> {
        self.spare_records.pop()
    }

    /// From here on the schedule is drawn with another seed: by a uniform walk or
    /// by priorities.
    pub(crate) fn draw_anew(&mut self, seed: u64) {
        self.strategy = if seed.is_multiple_of(2) {
            AnyStrategy::Pct(Pct::new(seed, None, None))
        } else {
            AnyStrategy::Random(Random::new(seed))
        };
        for thread in 0..self.threads.len() as u32 {
            self.strategy.started(thread);
        }
    }

    /// Whether the strategy wants to know what threads are about to access.
    #[inline(always)]
    pub(crate) fn asks_for_objects(&self) -> bool {
        self.strategy.asks_for_objects()
    }

    /// The thread has written an atomic object.
    #[inline(always)]
    pub(crate) fn wrote(&mut self, thread: u32, object: u32) {
        self.strategy.wrote(thread, object);
    }

    /// Whether the strategy has anything to decide for this thread.
    #[inline(always)]
    pub(crate) fn alone(&self, thread: u32) -> bool {
        self.runnable.len() == 1
            && self.runnable[0] == thread
            && self.away == 0
            && self.timed == 0
            && !(self.explores() && self.threads.len() > 1)
    }

    /// Lets the counted clock go on by one choice.
    #[inline]
    pub(crate) fn tick(&mut self) {
        self.now += TICK_NS;
        self.steps += 1;
        if self.timed > 0 {
            self.wake_sleepers();
        }
        if self.away > 0 {
            self.let_in();
        }
        if self.outside_help && (self.now / TICK_NS).is_multiple_of(CHOICES_PER_LOOK) {
            self.have_all_look_again();
        }
    }

    /// Who goes next; `None` if nobody can.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        current: u32,
        kind: Kind,
        object: Option<u32>,
        pending: Pending,
    ) -> Option<u32> {
        if let AnyStrategy::Explore(explore) = &mut self.strategy
            && let Some(due) = explore.due()
        {
            self.gets_on(due);
        }
        if let AnyStrategy::Plan(plan) = &self.strategy
            && let Some(due) = plan.due(kind, pending)
        {
            self.wake_for_no_reason(due);
        }
        if self.runnable.is_empty() {
            return self.next_idle();
        }
        let candidates = &self.runnable;
        self.choices += 1;
        Some(self.strategy.choose(&Point {
            current,
            candidates,
            version: self.version,
            kind,
            object,
            pending,
        }))
    }

    /// Those that spin take turns, one operation each: whichever of them could
    /// get on does so before long. The longer nothing changes, the longer a turn:
    /// what is left then are loops that count their rounds, and a round costs
    /// much less than a switch.
    #[cold]
    fn next_idle(&mut self) -> Option<u32> {
        let first = *self.idle.first()?;
        self.idle_choices += 1;
        let turn = 1u64 << (self.idle_choices / 512).min(12);
        if self.idle_choices.is_multiple_of(turn) {
            self.idle.rotate_left(1);
        }
        Some(first)
    }

    /// A wait for a condition may end for no reason, and does where the schedule
    /// needs it.
    #[cold]
    fn wake_for_no_reason(&mut self, thread: u32) {
        let entry = self.threads.get(thread as usize);
        let status = entry.map(|entry| entry.status);
        if matches!(status, Some(Status::Waiting(WaitsFor::Condition(_)))) {
            self.wake(thread);
        }
    }

    /// Whether a schedule that was made up is being followed. Then nobody yields
    /// or sleeps: what is next is known.
    #[inline]
    pub(crate) fn follows_plan(&self) -> bool {
        matches!(&self.strategy, AnyStrategy::Plan(plan) if plan.is_followed())
    }

    /// Whether the run is one of an exploration of all runs: then the trace has every
    /// choice and every read.
    #[inline]
    pub(crate) fn explores(&self) -> bool {
        matches!(self.strategy, AnyStrategy::Explore(_))
    }

    /// The thread has done something that a trace records: read without changing
    /// anything, if told.
    #[inline]
    pub(crate) fn done(&mut self, thread: u32, read: Option<Read>) {
        match &mut self.strategy {
            AnyStrategy::Plan(plan) => plan.done(thread, read),
            AnyStrategy::Explore(explore) => explore.done(thread),
            _ => {}
        }
    }

    /// A choice that is not about threads: which of these waiters to wake.
    pub(crate) fn pick(&mut self, waiters: &[u32]) -> u32 {
        waiters[self.strategy.pick(waiters.len() as u64) as usize]
    }

    /// The threads that wait for this, in the order of their numbers.
    pub(crate) fn waiting(&self, what: WaitsFor) -> Vec<u32> {
        let waits = |id: &u32| self.threads[*id as usize].status == Status::Waiting(what);
        self.live.iter().copied().filter(waits).collect()
    }

    /// When a sleep of this long is over.
    pub(crate) fn end_of_sleep(&mut self, time: u64) -> u64 {
        let time = if self.any_time {
            self.drawn_time(time)
        } else {
            time
        };
        self.now.saturating_add(time)
    }

    /// Whether a wait for something may give up at any step that may take this long.
    pub(crate) fn is_impatient(time: u64) -> bool {
        time <= LONGEST_SHORTENED_NS
    }

    /// When a wait for something gives up that may take this long.
    pub(crate) fn end_of_patience(&mut self, time: u64) -> u64 {
        if Self::is_impatient(time) {
            self.end_of_sleep(time)
        } else {
            self.now.saturating_add(time)
        }
    }

    /// Until when a thread that is about to end the process lets the others go on;
    /// none if there are none.
    pub(crate) fn end_of_stay(&mut self) -> Option<u64> {
        (self.alive() > 1).then(|| {
            let stay = self.drawn_time(LONGEST_STAY * TICK_NS);
            self.now.saturating_add(stay)
        })
    }

    /// At most this long: nothing, all of it, or any number of choices, small ones
    /// more often.
    fn drawn_time(&mut self, time: u64) -> u64 {
        let choices = (time / TICK_NS).max(1);
        let bits = u64::from(choices.ilog2()).min(LONGEST_DRAWN_BITS);
        // As many draws whatever comes of them: times that a program computes
        // from the clock differ a little from run to run.
        let kind = self.strategy.pick(3);
        let scale = self.strategy.pick(bits + 1);
        let drawn = self.strategy.pick(2 << scale);
        match kind {
            0 => time,
            1 => 0,
            _ => time.min(drawn * TICK_NS),
        }
    }

    /// The thread waits from now on.
    pub(crate) fn wait(&mut self, thread: u32, what: WaitsFor, deadline: Option<u64>) {
        self.leave_lists(thread);
        let entry = self.entry(thread);
        entry.status = Status::Waiting(what);
        entry.deadline = deadline;
        entry.timed_out = false;
        self.timed += usize::from(deadline.is_some());
        self.set_ready(thread, false);
        // A message may come from somebody who is in a call that is not controlled.
        let may_come = matches!(what, WaitsFor::Descriptor(_));
        self.set_timed(thread, deadline.is_some() || may_come);
    }

    /// The thread need not wait any longer.
    pub(crate) fn wake(&mut self, thread: u32) {
        let entry = self.entry(thread);
        if !matches!(entry.status, Status::Waiting(_)) {
            return;
        }
        let timed = entry.deadline.take().is_some();
        entry.status = Status::Runnable;
        self.detector(thread).progress();
        self.timed -= usize::from(timed);
        self.set_timed(thread, false);
        self.runnable.push(thread);
        self.version += 1;
        self.set_ready(thread, true);
    }

    /// A thread that waits does so for something else from now on.
    #[cfg(not(test))]
    pub(crate) fn waits_for_another(&mut self, thread: u32, what: WaitsFor) {
        self.entry(thread).status = Status::Waiting(what);
    }

    /// Wakes everyone who waits for this.
    pub(crate) fn wake_all(&mut self, what: WaitsFor) {
        for thread in self.waiting(what) {
            self.wake(thread);
        }
    }

    /// Lets those who wait for what a signal handler or another process may
    /// have given back see for themselves.
    pub(crate) fn have_all_look_again(&mut self) {
        for at in 0..self.live.len() {
            let thread = self.live[at];
            if let Status::Waiting(
                WaitsFor::Lock(_)
                | WaitsFor::Semaphore(_)
                | WaitsFor::Futex(_)
                | WaitsFor::Descriptor(_),
            ) = self.entry(thread).status
            {
                self.wake(thread);
            }
        }
    }

    /// Has a thread look again that waits for a message; whether it does.
    pub(crate) fn has_message_looked_for(&mut self, thread: u32) -> bool {
        let status = self.entry(thread).status;
        let waits = matches!(status, Status::Waiting(WaitsFor::Descriptor(_)));
        if waits {
            self.wake(thread);
        }
        waits
    }

    /// Has all look again that wait for a message: a library may have sent one that nobody
    /// told us of.
    pub(crate) fn have_messages_looked_for(&mut self) {
        for at in 0..self.live.len() {
            self.has_message_looked_for(self.live[at]);
        }
    }

    /// Whether a thread waits for a message, wherever it may come from.
    pub(crate) fn awaits_message(&self) -> bool {
        let waits = |status| matches!(status, Status::Waiting(WaitsFor::Descriptor(_)));
        self.live_threads().any(|entry| waits(entry.status))
    }

    /// Ends all waits for conditions, as may happen for no reason: another process may
    /// have signalled one.
    pub(crate) fn have_conditions_look_again(&mut self) {
        for thread in 0..self.threads.len() as u32 {
            if let Status::Waiting(WaitsFor::Condition(_)) = self.entry(thread).status {
                self.wake(thread);
            }
        }
    }

    /// Whether a thread waits for a message that may come from outside of this
    /// process.
    pub(crate) fn expects_message(&self) -> bool {
        self.live_threads().any(|entry| {
            matches!(entry.status, Status::Waiting(WaitsFor::Descriptor(key))
                if Channel::is_outside(key))
        })
    }

    /// The thread has ended.
    pub(crate) fn end(&mut self, thread: u32) {
        self.leave_lists(thread);
        self.entry(thread).status = Status::Ended;
        if let Ok(at) = self.live.binary_search(&thread) {
            self.live.remove(at);
            let detector = self.threads[thread as usize].detector;
            self.spare_detectors.push(detector);
        }
        self.set_ready(thread, false);
        self.changed();
    }

    /// The thread has been found to be stuck outside.
    pub(crate) fn send_away(&mut self, thread: u32) {
        self.leave_lists(thread);
        self.entry(thread).status = Status::Away;
        self.away += 1;
        self.set_ready(thread, false);
    }

    /// Lets in those that were away and have come back.
    pub(crate) fn let_in(&mut self) {
        for at in 0..self.live.len() {
            let id = self.live[at];
            let entry = &self.threads[id as usize];
            // SAFETY: threads' records are never freed.
            let phase_of = unsafe { &(*entry.thread).phase };
            let back = entry.status == Status::Away
                && phase_of
                    .compare_exchange(
                        phase::ARRIVED,
                        phase::INSIDE,
                        Ordering::SeqCst,
                        Ordering::SeqCst,
                    )
                    .is_ok();
            if back {
                self.entry(id).status = Status::Runnable;
                self.away -= 1;
                self.runnable.push(id);
                self.version += 1;
                self.set_ready(id, true);
                self.changed();
            }
        }
    }

    /// Something that another thread may wait to see has changed.
    #[inline]
    pub(crate) fn changed(&mut self) {
        self.idle_choices = 0;
        self.changes += 1;
        if !self.idle.is_empty() {
            for thread in core::mem::take(&mut self.idle) {
                self.detector(thread).progress();
                self.runnable.push(thread);
                self.version += 1;
            }
        }
    }

    /// The thread has nothing to do until something changes.
    pub(crate) fn idles(&mut self, thread: u32) {
        if let Some(at) = self.runnable.iter().position(|&other| other == thread) {
            self.runnable.remove(at);
            self.version += 1;
            self.idle.push(thread);
        }
    }

    /// The thread has found something to do after all.
    #[inline]
    pub(crate) fn gets_on(&mut self, thread: u32) {
        if let Some(at) = self.idle.iter().position(|&other| other == thread) {
            self.idle.remove(at);
            self.runnable.push(thread);
            self.version += 1;
        }
    }

    /// How many threads could go on, but have found nothing to do.
    pub(crate) fn spinning(&self) -> u64 {
        self.idle.len() as u64
    }

    /// How many threads have not ended.
    pub(crate) fn alive(&self) -> usize {
        self.live.len()
    }

    /// A thread was joined.
    pub(crate) fn joins(&mut self) {
        self.unjoined = self.unjoined.saturating_sub(1);
    }

    /// Whether there is, or was, a thread that nobody has joined besides the one that
    /// asks. Without one, what all others did comes before what that does next.
    pub(crate) fn has_company(&self) -> bool {
        self.unjoined > 1
    }

    /// Lets the clock jump to the first deadline. How far it was, for those who
    /// wait for something and would look at the real clock; a sleep is a jump.
    pub(crate) fn skip_time(&mut self) -> Option<u64> {
        let first = self
            .threads
            .iter()
            .map(|(_, entry)| entry)
            .filter(|entry| entry.deadline.is_some())
            .min_by_key(|entry| entry.deadline)?;
        let deadline = first.deadline?;
        let pause = match first.status {
            Status::Waiting(WaitsFor::Time) => 1,
            _ => deadline.saturating_sub(self.now),
        };
        self.now = self.now.max(deadline);
        self.wake_sleepers();
        Some(pause)
    }

    /// Lets the clock jump to the time that this thread waits for.
    pub(crate) fn reach_deadline(&mut self, thread: u32) {
        if let Some(deadline) = self.entry(thread).deadline {
            self.now = self.now.max(deadline);
            self.wake_sleepers();
        }
    }

    fn wake_sleepers(&mut self) {
        for at in 0..self.live.len() {
            let id = self.live[at];
            if self.threads[id as usize]
                .deadline
                .is_some_and(|deadline| deadline <= self.now)
            {
                self.wake(id);
                self.entry(id).timed_out = true;
            }
        }
    }

    fn leave_lists(&mut self, thread: u32) {
        self.runnable.retain(|&other| other != thread);
        self.version += 1;
        self.idle.retain(|&other| other != thread);
    }

    fn set_timed(&self, thread: u32, timed: bool) {
        let thread = self.threads[thread as usize].thread;
        if !thread.is_null() {
            // SAFETY: threads' records are never freed.
            unsafe { &(*thread).timed }.store(timed, Ordering::SeqCst);
        }
    }

    fn set_ready(&self, thread: u32, ready: bool) {
        let thread = self.threads[thread as usize].thread;
        if !thread.is_null() {
            // SAFETY: threads' records are never freed.
            unsafe { &(*thread).ready }.store(ready, Ordering::SeqCst);
        }
    }
}
