//! Data races that the run did not show: sync-preserving race prediction.
//!
//! After "Optimal Prediction of Synchronization-Preserving Races" (Mathur,
//! Pavlogiannis, Viswanathan, POPL 2021, <https://doi.org/10.1145/3434317>). A
//! pair of conflicting accesses is reported when some of the events before them
//! can be left out so that the two come next to each other, while the locks are
//! taken in the same order. The set of events that cannot be left out is the
//! least one that is closed under what each of them needs; it is kept as a cut, a
//! number of events for each thread, and grows with the run.
//!
//! Why no report is false, in the terms of "Soundness of Predictive Concurrency
//! Analyses" (Liu, Lea, Palsberg, OOPSLA 2025,
//! <https://doi.org/10.1145/3720435>). The witness is the cut, in the order of
//! the run, followed by the two accesses:
//! - *composable*: the cut holds every event that comes before the accesses in
//!   their threads, and neither of the accesses;
//! - *well formed*: of two critical sections of one lock the first is complete,
//!   and a thread's creation, its end and a signal are there if what they allow
//!   is there;
//! - *executable*: every read of the cut, plain or atomic, has the write it read
//!   in the cut, and in the order of the run no other write of the cut comes in
//!   between. It reads what it read, so each thread does what it did. Only the
//!   two accesses may read something else, and nothing follows them;
//! - *consistent*: it is an interleaving, hence allowed by every model between SC
//!   and RC11. Nothing can order two accesses that are next to each other, one of
//!   them plain, so they race in C11 too.
//!
//! Deviations from the paper, each held against brute force:
//! 1. A read keeps the writes of all its bytes. An atomic read that finds a value
//!    which no event wrote keeps everything before it.
//! 2. An acquire of a signal (barrier, semaphore) keeps every release before it;
//!    of two readers of an rwlock neither has to be complete.
//! 3. SC accesses and SC fences stay in the order of the run, which the order of
//!    the witness gives for nothing. Rounds that stay in a waiting loop are no
//!    events.
//! 4. One clock for each thread instead of two: the cut of its events, always
//!    closed. Whether an access can be the last of its thread depends on the
//!    stretch between two steps at which the thread learnt something or took or
//!    gave back a lock, not on the variable, and is remembered for the stretch.
//! 5. A compare-exchange counts as a read: beside another access it may fail.
//!
//! Never seen, so never kept: a lock that could not be had (`trylock`), the
//! clock, input. May be missed: races that need two critical sections to change
//! places, or a read to read something else; accesses that only C11 leaves
//! unordered ([`crate::Analyzer`] reports those of the run); what a cap forgot.

mod check;
mod cut;
mod locks;
mod memory;
mod pairs;
mod threads;

use alloc::vec::Vec;

use crate::event::{Bytes, CasOutcome, Event, LocationId, LockMode, Operation, SiteId, ThreadId};
use crate::hash::FxHashMap;
use crate::race::{Race, RacingAccess};
use crate::violation::EventIndex;
use locks::Locks;
use memory::{AccessClass, Memory};
use threads::Threads;

use cut::Cut;

pub use pairs::{Pair, pair_cuts};

/// A race that some other order of the run's events shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedRace {
    /// The two accesses, in the order of the run.
    pub race: Race,
    /// The event of the first access.
    pub first_event: EventIndex,
    /// The events that have to come before the two.
    pub cut: Vec<ThreadPrefix>,
}

/// The first events of a thread. Rounds that stay in a waiting loop do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPrefix {
    /// The thread.
    pub thread: ThreadId,
    /// How many.
    pub events: u32,
}

/// How much to look for, and how much to remember.
#[derive(Clone, Copy, Debug)]
pub struct PredictorConfig {
    /// Report every pair of events, not one for each pair of sites.
    pub every_pair: bool,
    /// Accesses that are remembered for each thread and variable.
    pub accesses_per_variable: usize,
    /// Accesses that are remembered in all before those that nobody needs are
    /// looked for.
    pub accesses: usize,
    /// Events after which it is looked at what all threads need by now, and can be
    /// forgotten. What is found does not depend on it.
    pub look_interval: usize,
    /// Events after which prediction ends. What an event costs grows with what is
    /// remembered, and a run of millions of accesses shows in its first part what it
    /// does all the time.
    pub events: u64,
    /// Words of memory with more of which prediction ends: each takes a few hundred
    /// bytes.
    pub words: usize,
}

impl Default for PredictorConfig {
    fn default() -> Self {
        Self {
            every_pair: false,
            accesses_per_variable: 64,
            accesses: 1 << 20,
            look_interval: 1024,
            events: 1 << 17,
            words: 1 << 17,
        }
    }
}

impl PredictorConfig {
    /// Everything is reported, and nothing is forgotten that could matter: for short
    /// runs.
    pub fn exhaustive() -> Self {
        Self {
            every_pair: true,
            accesses_per_variable: usize::MAX,
            accesses: usize::MAX,
            look_interval: 1,
            events: u64::MAX,
            words: usize::MAX,
        }
    }
}

/// Feed it the events of a run in their order. The run must be one that
/// [`crate::Analyzer`] takes; of one that it refuses, reports may fail their check.
#[derive(Debug)]
pub struct Predictor {
    config: PredictorConfig,
    threads: Threads,
    locks: Locks,
    memory: Memory,
    races: Vec<PredictedRace>,
    /// Which pairs of sites have been reported.
    known: FxHashMap<(SiteId, SiteId), usize>,
    next: EventIndex,
    /// Whether races are looked for at all.
    looks: bool,
    /// Events that were looked at.
    taken: u64,
    /// More of something than can be followed: nothing is reported any more.
    gave_up: bool,
    /// Events until it is looked at what all threads need by now.
    until_look: usize,
}

/// One more thread than this, and prediction ends: a cut has a number for each.
const MOST_THREADS: usize = 1024;

/// With more critical sections that some thread may still need, prediction ends: they
/// are kept for as long as a thread lives that has learnt nothing of them.
const MOST_SECTIONS: usize = 1 << 17;

impl Predictor {
    /// At the start of a run.
    pub fn new(config: PredictorConfig) -> Self {
        Self {
            config,
            threads: Threads::new(),
            locks: Locks::default(),
            memory: Memory::new(config),
            races: Vec::new(),
            known: FxHashMap::default(),
            next: EventIndex(0),
            looks: true,
            taken: 0,
            gave_up: false,
            until_look: config.look_interval,
        }
    }

    /// The races so far.
    pub fn races(&self) -> &[PredictedRace] {
        &self.races
    }

    /// The races.
    pub fn into_races(self) -> Vec<PredictedRace> {
        self.races
    }

    /// Whether there were too many threads, critical sections, events or words of memory
    /// to go on.
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// How many accesses are remembered right now.
    pub fn remembered(&self) -> usize {
        self.memory.remembered()
    }

    /// Takes the next event.
    pub fn feed(&mut self, event: &Event) {
        let index = self.next;
        self.next = EventIndex(index.0 + 1);
        if self.gave_up || event.operation.stays_in_loop() {
            return;
        }
        let thread = self.threads.number(event.thread);
        self.taken += 1;
        if self.threads.len() > MOST_THREADS
            || self.locks.remembered() > MOST_SECTIONS
            || self.taken > self.config.events
            || self.memory.words() > self.config.words
        {
            self.give_up();
            return;
        }
        self.step(thread, index, event);
        self.until_look -= 1;
        if self.until_look == 0 {
            self.look_at_what_all_need();
        }
    }

    /// The rest of the run is not looked at.
    #[cold]
    fn give_up(&mut self) {
        self.gave_up = true;
        self.threads = Threads::new();
        self.locks = Locks::default();
        self.memory = Memory::new(self.config);
    }

    /// What every thread needs can be forgotten: accesses at once, where they are,
    /// critical sections when there are many.
    fn look_at_what_all_need(&mut self) {
        let threads = self.threads.len();
        let interval = self.config.look_interval;
        // To look costs a step for each pair of threads.
        self.until_look = if interval > 1 {
            interval.max(threads * threads)
        } else {
            1
        };
        let known = self.threads.known_to_all();
        if self.locks.has_sections(4 * interval) {
            self.locks.forget(&known);
            self.threads.forget(&known);
        }
        self.memory.known_to_all = known;
    }

    fn step(&mut self, thread: usize, index: EventIndex, event: &Event) {
        match event.operation {
            Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Rmw { .. }
            | Operation::CompareExchange { .. } => self.atomic(thread, index, event),
            Operation::Read { bytes } | Operation::Write { bytes } => {
                let writes = matches!(event.operation, Operation::Write { .. });
                let class = AccessClass::new(writes, false);
                self.look_for_races(thread, index, event, bytes, class, writes);
                self.access(thread, index, event.site, bytes, class);
            }
            Operation::Fence { .. } => self.threads.advance(thread),
            Operation::Exit => {
                self.threads.advance(thread);
                self.threads.end(thread);
            }
            Operation::Birth {
                location,
                bytes,
                value,
            } => {
                self.threads.advance(thread);
                self.memory.birth(location, bytes, value);
            }
            Operation::Death { bytes } => {
                self.threads.advance(thread);
                self.memory.death(bytes);
            }
            Operation::Create { child } => {
                self.threads.advance(thread);
                self.threads.create(thread, child);
            }
            Operation::Join { child } => {
                self.threads.advance(thread);
                let child = self.threads.number(child);
                let ended = self.threads.at(child).cut.clone();
                self.learn(thread, &ended);
            }
            Operation::Acquire { lock, mode } => {
                self.threads.advance(thread);
                match mode {
                    LockMode::Signal => {
                        let signalled = self.locks.signalled(lock);
                        self.learn(thread, &signalled);
                    }
                    LockMode::Exclusive | LockMode::Shared => {
                        let exclusive = mode == LockMode::Exclusive;
                        if self
                            .locks
                            .acquire(&mut self.threads, thread, lock, exclusive)
                        {
                            self.learn(thread, &Cut::default());
                        }
                    }
                }
            }
            Operation::Release { lock, mode } => {
                self.threads.advance(thread);
                match mode {
                    LockMode::Signal => {
                        let cut = &self.threads.at(thread).cut;
                        self.locks.signal(lock, cut);
                    }
                    LockMode::Exclusive | LockMode::Shared => {
                        self.locks.release(&mut self.threads, thread, lock);
                    }
                }
            }
        }
    }

    fn atomic(&mut self, thread: usize, index: EventIndex, event: &Event) {
        let made = AtomicStep::of(&event.operation);
        let bytes = self.memory.bytes_of(made.location);
        // Beside another access a compare-exchange may fail: it counts as a read.
        let class = AccessClass::new(made.always_writes, true);
        let writes = made.written.is_some();
        self.look_for_races(thread, index, event, bytes, class, writes);
        let stretch = self.threads.stretch(thread);
        let before = self.threads.at(thread).events;
        self.threads.advance(thread);
        if let Some(value) = made.read {
            if self.memory.explains(made.location, bytes, value) {
                self.learn_from_writers(thread, bytes);
            } else {
                let everything = self.threads.everything();
                self.learn(thread, &everything);
            }
        }
        self.memory
            .remember(thread, before, index, event.site, bytes, class, &stretch);
        if let Some(value) = made.written {
            let stretch = self.threads.stretch(thread);
            let at = self.threads.at(thread).events;
            self.memory.write(thread, at, bytes, &stretch, Some(value));
        }
        self.forget_what_nobody_needs();
    }

    /// A plain access.
    fn access(
        &mut self,
        thread: usize,
        index: EventIndex,
        site: SiteId,
        bytes: Bytes,
        class: AccessClass,
    ) {
        let stretch = self.threads.stretch(thread);
        let before = self.threads.at(thread).events;
        self.threads.advance(thread);
        self.memory
            .remember(thread, before, index, site, bytes, class, &stretch);
        if class.writes() {
            self.memory.write(thread, before + 1, bytes, &stretch, None);
        } else {
            self.learn_from_writers(thread, bytes);
        }
        self.forget_what_nobody_needs();
    }

    fn learn_from_writers(&mut self, thread: usize, bytes: Bytes) {
        let unknown = self.memory.writers(bytes, &self.threads.at(thread).cut);
        for (writer, at, stretch) in unknown {
            self.threads.learn_of(thread, writer, at, &stretch);
        }
        if self.threads.has_learnt(thread) {
            self.close_thread(thread);
        }
    }

    /// The thread's events need these, and whatever these need.
    fn learn(&mut self, thread: usize, cut: &Cut) {
        self.threads.learn(thread, cut);
        self.close_thread(thread);
    }

    fn close_thread(&mut self, thread: usize) {
        let mut cut = self.threads.take_cut(thread);
        self.locks.close(&self.threads, &mut cut, None);
        self.threads.put_cut(thread, cut);
    }

    fn forget_what_nobody_needs(&mut self) {
        if self.memory.is_full() {
            let known_to_all = self.threads.known_to_all();
            self.memory.forget(&known_to_all);
            self.locks.forget(&known_to_all);
            self.threads.forget(&known_to_all);
        }
    }

    fn look_for_races(
        &mut self,
        thread: usize,
        index: EventIndex,
        event: &Event,
        bytes: Bytes,
        class: AccessClass,
        writes: bool,
    ) {
        if !self.looks {
            return;
        }
        let second = RacingAccess {
            thread: event.thread,
            site: event.site,
            writes,
            atomic: class.atomic(),
        };
        let found = check::candidates(self, thread, bytes, class, event.site);
        for candidate in found {
            let sites = ordered(candidate.site, event.site);
            let first = RacingAccess {
                thread: self.threads.at(candidate.thread).id,
                site: candidate.site,
                writes: candidate.class.writes(),
                atomic: candidate.class.atomic(),
            };
            let race = PredictedRace {
                race: Race {
                    first,
                    second,
                    event: index,
                    bytes: candidate.bytes,
                },
                first_event: candidate.event,
                cut: self.threads.named(&candidate.cut),
            };
            self.known.entry(sites).or_insert(self.races.len());
            self.races.push(race);
        }
    }
}

fn ordered(one: SiteId, other: SiteId) -> (SiteId, SiteId) {
    if one <= other {
        (one, other)
    } else {
        (other, one)
    }
}

/// What an atomic operation reads and writes.
struct AtomicStep {
    location: LocationId,
    read: Option<u64>,
    written: Option<u64>,
    /// It writes whatever it reads.
    always_writes: bool,
}

impl AtomicStep {
    fn of(operation: &Operation) -> Self {
        match *operation {
            Operation::Load {
                location, value, ..
            } => Self {
                location,
                read: Some(value),
                written: None,
                always_writes: false,
            },
            Operation::Store {
                location, value, ..
            } => Self {
                location,
                read: None,
                written: Some(value),
                always_writes: true,
            },
            Operation::Rmw {
                location,
                read,
                written,
                ..
            } => Self {
                location,
                read: Some(read),
                written: Some(written),
                always_writes: true,
            },
            Operation::CompareExchange {
                location,
                read,
                outcome,
                ..
            } => Self {
                location,
                read: Some(read),
                written: match outcome {
                    CasOutcome::Exchanged(value) => Some(value),
                    CasOutcome::Failed => None,
                },
                always_writes: false,
            },
            _ => unreachable!("the caller hands in atomic accesses only"),
        }
    }
}
