//! A free run: loads may take any write that the memory model lets them, and stores
//! may come before newer ones. What there is to take the weak memory of the analysis
//! says, a strategy of its own chooses, and the trace names every choice that was
//! not the newest write. Must not know how the program is run.
//!
//! Memory itself always holds the newest write of each location. Atomics of 16 bytes
//! and volatile accesses take nothing else.

mod chooser;
mod events;

use alloc::vec::Vec;

use wmfix_analysis::weak::{LogLimits, Patience, WeakMemory};
use wmfix_analysis::{Bytes, LocationId, Operation, ReleaseSequences, SiteId, ThreadId};
use wmfix_trace::{AccessName, RecordedOperation, StaleTarget};

use chooser::Chooser;

/// How often in a row a thread may take old writes at one place.
const PATIENCE: u32 = 8;

/// How accesses choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeakStrategy {
    /// One of the others, by seed.
    Mixed,
    /// Any write, each as likely as the others.
    Uniform,
    /// Mostly the newest.
    Few,
    /// Mostly what the thread knows already. After "Probabilistic Concurrency
    /// Testing for Weak Memory Programs" (Gao, Chakraborty, Kulahcioglu Ozkan,
    /// ASPLOS 2023, <https://doi.org/10.1145/3575693.3575729>); how many
    /// communications there are is drawn instead of given.
    Pctwm,
    /// As it is told.
    Given,
}

/// A free run.
#[derive(Debug)]
pub(crate) struct FreeRun {
    memory: WeakMemory,
    patience: Patience,
    chooser: Chooser,
    /// How many atomic accesses of each thread were recorded.
    accesses: Vec<u32>,
    /// What the access that is recorded next takes.
    next: Option<Next>,
}

#[derive(Clone, Copy, Debug)]
struct Next {
    /// `None` for the newest write.
    position: Option<usize>,
    name: AccessName,
    source: Option<AccessName>,
}

/// An access that is about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedAccess {
    pub(crate) thread: u32,
    /// Its location's number in the trace.
    pub(crate) location: Option<u32>,
    pub(crate) context: u32,
    pub(crate) is_sc: bool,
    pub(crate) effect: AccessEffect,
    /// What memory holds.
    pub(crate) newest: u128,
    /// It can be given another value than that.
    pub(crate) can_take: bool,
}

/// What an access does with the write that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessEffect {
    /// Reads it.
    Reads,
    /// Writes after it.
    Writes,
    /// Writes after it if it has this value, and reads it.
    Exchanges(u128),
}

impl FreeRun {
    pub(crate) fn new(
        strategy: WeakStrategy,
        release_sequences: ReleaseSequences,
        seed: u64,
        given: Vec<StaleTarget>,
    ) -> Self {
        Self {
            memory: WeakMemory::new(LogLimits::default(), release_sequences),
            patience: Patience::new(match strategy {
                // Whoever made these choices first had patience.
                WeakStrategy::Given => u32::MAX,
                _ => PATIENCE,
            }),
            chooser: Chooser::new(strategy, seed, given),
            accesses: Vec::new(),
            next: None,
        }
    }

    /// A location has come into being.
    pub(crate) fn born(&mut self, location: u32, address: u64, size: u8, value: u128) {
        let bytes = Bytes {
            address,
            size: size.into(),
        };
        let birth = Operation::Birth {
            location: LocationId(location),
            bytes,
            value: value as u64,
        };
        self.memory.apply(&events::of_thread(0, birth), None);
    }

    /// An access will be recorded next: the value that it takes, unless that is
    /// the newest write's.
    pub(crate) fn access(&mut self, asked: &AskedAccess) -> Option<u128> {
        let thread = asked.thread as usize;
        let known = self.accesses.len().max(thread + 1);
        self.accesses.resize(known, 0);
        self.accesses[thread] += 1;
        let name = AccessName {
            thread: wmfix_trace::ThreadId(asked.thread),
            number: self.accesses[thread],
        };
        self.next = Some(Next {
            position: None,
            name,
            source: None,
        });
        let location = LocationId(asked.location?);
        let (who, site) = (ThreadId(asked.thread), SiteId(asked.context));
        let mut candidates = self.memory.candidates(who, location, asked.is_sc);
        let newest = candidates.pop()?;
        if u128::from(newest.value) != asked.newest {
            // Somebody has changed it whom we do not see, or it is too wide.
            self.memory.restart(location, asked.newest as u64);
            return None;
        }
        candidates.retain(|candidate| {
            let writes = match asked.effect {
                AccessEffect::Reads => false,
                AccessEffect::Writes => true,
                AccessEffect::Exchanges(expected) => u128::from(candidate.value) == expected,
            };
            !(writes && candidate.parts_rmw)
        });
        if !asked.can_take || !self.patience.is_left(who, site) {
            candidates.clear();
        }
        candidates.push(newest);
        let chosen = candidates[self.chooser.choose(name, &candidates)];
        let stale = chosen.position != newest.position;
        self.patience.read(who, site, stale);
        if !stale {
            return None;
        }
        self.next = Some(Next {
            position: Some(chosen.position),
            name,
            source: chosen.tag.map(name_of),
        });
        Some(u128::from(chosen.value))
    }

    /// The atomic access of the thread that was asked about last.
    pub(crate) fn last_access(&self, thread: u32) -> AccessName {
        AccessName {
            thread: wmfix_trace::ThreadId(thread),
            number: self.accesses.get(thread as usize).copied().unwrap_or(0),
        }
    }

    /// The write that the next access takes; `None` for the location's first value.
    pub(crate) fn source(&self) -> Option<AccessName> {
        self.next.and_then(|next| next.source)
    }

    /// A thread did something that was recorded. Locations are those of the trace.
    pub(crate) fn event(&mut self, thread: u32, operation: &RecordedOperation) {
        let Some(event) = events::event(thread, operation) else {
            return;
        };
        let next = match operation {
            RecordedOperation::Load { .. }
            | RecordedOperation::Store { .. }
            | RecordedOperation::Rmw { .. }
            | RecordedOperation::CompareExchange { .. } => self.next.take(),
            _ => None,
        };
        let position = next.and_then(|next| next.position);
        let tag = next.map(|next| tag_of(next.name));
        self.memory.apply_tagged(&event, position, tag);
    }

    /// The thread pauses: it sees everything afterwards.
    pub(crate) fn catch_up(&mut self, thread: u32) {
        self.memory.catch_up(ThreadId(thread));
    }
}

fn tag_of(name: AccessName) -> u64 {
    u64::from(name.thread.0) << 32 | u64::from(name.number)
}

fn name_of(tag: u64) -> AccessName {
    AccessName {
        thread: wmfix_trace::ThreadId((tag >> 32) as u32),
        number: tag as u32,
    }
}

#[cfg(test)]
mod tests {
    use wmfix_trace::Order;

    use super::*;

    fn asked(thread: u32, effect: AccessEffect, newest: u128) -> AskedAccess {
        AskedAccess {
            thread,
            location: Some(0),
            context: 1,
            is_sc: false,
            effect,
            newest,
            can_take: true,
        }
    }

    fn store(value: u128) -> RecordedOperation {
        RecordedOperation::Store {
            location: wmfix_trace::LocationId(0),
            order: Order::Relaxed,
            value,
        }
    }

    fn load(value: u128) -> RecordedOperation {
        RecordedOperation::Load {
            location: wmfix_trace::LocationId(0),
            order: Order::Relaxed,
            value,
        }
    }

    /// Two threads, of which the first has written 1, 2 and 3 over a 0.
    fn run(strategy: WeakStrategy, given: &[&str]) -> FreeRun {
        let given = given.iter().map(|text| text.parse().unwrap()).collect();
        let mut run = FreeRun::new(strategy, ReleaseSequences::Cxx20, 5, given);
        let child = wmfix_trace::ThreadId(1);
        run.event(0, &RecordedOperation::Create { child, start: 0 });
        run.born(0, 64, 4, 0);
        for value in 1..=3 {
            let writes = asked(0, AccessEffect::Writes, value - 1);
            assert_eq!(run.access(&writes), None, "it knows its own writes");
            run.event(0, &store(value));
        }
        run
    }

    #[test]
    fn given_choices_name_the_write_they_take() {
        let mut run = run(WeakStrategy::Given, &["1.1=0.1", "1.2=first", "1.3=0.2"]);
        let reads = asked(1, AccessEffect::Reads, 3);
        assert_eq!(run.access(&reads), Some(1));
        let first = AccessName {
            thread: wmfix_trace::ThreadId(0),
            number: 1,
        };
        assert_eq!(run.source(), Some(first));
        run.event(1, &load(1));
        // The first value is older than what it has read: not any more.
        assert_eq!(run.access(&reads), None);
        run.event(1, &load(3));
        assert_eq!(run.access(&reads), None);
    }

    #[test]
    fn patience_ends_and_a_pause_shows_everything() {
        let reads = asked(1, AccessEffect::Reads, 3);
        let mut free = run(WeakStrategy::Pctwm, &[]);
        let mut stale = 0;
        while let Some(value) = free.access(&reads) {
            free.event(1, &load(value));
            stale += 1;
        }
        assert!((1..=PATIENCE).contains(&stale), "{stale}");
        let mut free = run(WeakStrategy::Pctwm, &[]);
        free.catch_up(1);
        assert_eq!(free.access(&reads), None);
    }

    #[test]
    fn what_changed_unseen_or_cannot_be_given_is_taken_as_it_is() {
        let mut free = run(WeakStrategy::Given, &["1.1=first", "1.2=first"]);
        let mut reads = asked(1, AccessEffect::Reads, 3);
        reads.can_take = false;
        assert_eq!(free.access(&reads), None);
        reads = asked(1, AccessEffect::Reads, 9);
        let mut free = run(WeakStrategy::Given, &["1.1=first", "1.2=0.1"]);
        assert_eq!(free.access(&reads), None);
        free.event(1, &load(9));
        assert_eq!(free.access(&reads), None);
    }

    #[test]
    fn nothing_comes_between_a_read_modify_write_and_what_it_read() {
        let mut free = run(WeakStrategy::Given, &["1.1=0.3", "1.2=0.3"]);
        assert_eq!(free.access(&asked(0, AccessEffect::Writes, 3)), None);
        let rmw = RecordedOperation::Rmw {
            location: wmfix_trace::LocationId(0),
            order: Order::Relaxed,
            kind: wmfix_trace::RmwKind::Add,
            read: 3,
            written: 4,
        };
        free.event(0, &rmw);
        assert_eq!(free.access(&asked(1, AccessEffect::Writes, 4)), None);
        let failing = AccessEffect::Exchanges(7);
        let mut free = {
            let mut free = run(WeakStrategy::Given, &["1.1=0.3"]);
            free.access(&asked(0, AccessEffect::Writes, 3));
            free.event(0, &rmw);
            free
        };
        assert_eq!(free.access(&asked(1, failing, 4)), Some(3));
    }
}
