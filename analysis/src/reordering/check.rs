//! Decides from the definition whether a witness shows a race of a run: whether
//! its events are a correct reordering of the run that keeps the order of
//! synchronisation, and whether its two accesses conflict and race. Slow, simple
//! and apart from everything that finds races: it shares the events with that,
//! and nothing else.

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::{Access, Facts, Writers, counts};
use super::ordered::orders;
use super::{Meeting, RaceWitness};
use crate::event::{CasOutcome, Event, LockId, LockMode, Operation, ThreadId};
use crate::model::ReleaseSequences;
use crate::violation::EventIndex;

/// What is wrong with a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// It names an event that the run does not have, or a round of a loop.
    #[error("event {} is no event of the run", .0.0)]
    UnknownEvent(EventIndex),
    /// An event comes without the one before it in its thread, or twice.
    #[error("event {} is not the next one of its thread", .0.0)]
    OutOfProgramOrder(EventIndex),
    /// A thread acts before it was created.
    #[error("event {} comes before its thread is created", .0.0)]
    NotCreated(EventIndex),
    /// A thread is waited for that has not ended.
    #[error("event {} waits for a thread that has not ended", .0.0)]
    NotEnded(EventIndex),
    /// A read reads something else than in the run.
    #[error("event {} reads from another write", .0.0)]
    ReadsElsewhere(EventIndex),
    /// A read finds a value that no event wrote, and not all that came before it
    /// in the run has happened.
    #[error("event {} reads what no event wrote", .0.0)]
    Unexplained(EventIndex),
    /// A lock is taken that is held.
    #[error("event {} takes a lock that is held", .0.0)]
    LockHeld(EventIndex),
    /// A lock, a signal or an SC event comes in another order than in the run.
    #[error("event {} synchronises in another order", .0.0)]
    AnotherOrder(EventIndex),
    /// A signal is received without one that was given before it in the run.
    #[error("event {} lacks a signal that it had", .0.0)]
    SignalMissing(EventIndex),
    /// The two events do not conflict: not two threads, no common byte, no write,
    /// or nothing plain.
    #[error("the two accesses do not conflict")]
    NoConflict,
    /// The two accesses are not where the witness says that they are.
    #[error("the two accesses do not meet")]
    Apart,
    /// Happens-before orders the accesses.
    #[error("the first access happens before the second one")]
    HappensBefore,
}

/// Checks witnesses of one run.
#[derive(Debug)]
pub struct Checker<'a> {
    events: &'a [Event],
    release_sequences: ReleaseSequences,
    facts: Facts,
    /// By event: its number in its thread.
    numbers: Vec<u32>,
    /// Threads that are created in the run.
    created: FxHashSet<ThreadId>,
}

impl<'a> Checker<'a> {
    /// For the run with these events.
    pub fn new(events: &'a [Event], release_sequences: ReleaseSequences) -> Self {
        let mut next: FxHashMap<ThreadId, u32> = FxHashMap::default();
        let mut created = FxHashSet::default();
        let mut numbers = Vec::with_capacity(events.len());
        for event in events {
            let next = next.entry(event.thread).or_default();
            numbers.push(*next);
            *next += u32::from(counts(event));
            if let Operation::Create { child } = event.operation {
                created.insert(child);
            }
        }
        Self {
            events,
            release_sequences,
            facts: Facts::of(events),
            numbers,
            created,
        }
    }

    /// Whether the witness shows a race.
    pub fn check(&self, witness: &RaceWitness) -> Result<(), Defect> {
        let schedule = self.indices(&witness.schedule)?;
        let (first, second) = (witness.first.0 as usize, witness.second.0 as usize);
        let kept = self.is_reordering(witness, &schedule)?;
        self.meet(witness, &schedule, kept)?;
        let sequence = schedule.iter().map(|&index| (index, &self.events[index]));
        if orders(sequence, first, second, self.release_sequences) {
            return Err(Defect::HappensBefore);
        }
        Ok(())
    }

    fn indices(&self, schedule: &[EventIndex]) -> Result<Vec<usize>, Defect> {
        let known = |&index: &EventIndex| {
            let event = usize::try_from(index.0)
                .ok()
                .and_then(|at| self.events.get(at));
            match event {
                Some(event) if counts(event) => Ok(index.0 as usize),
                _ => Err(Defect::UnknownEvent(index)),
            }
        };
        schedule.iter().map(known).collect()
    }

    /// The two accesses conflict and are where they should be. `kept` tells which
    /// of them read what they read in the run.
    fn meet(
        &self,
        witness: &RaceWitness,
        schedule: &[usize],
        kept: [bool; 2],
    ) -> Result<(), Defect> {
        let racing = [witness.first.0 as usize, witness.second.0 as usize];
        let adjacent = schedule.ends_with(&racing);
        let there = schedule.contains(&racing[0]) && schedule.last() == Some(&racing[1]);
        if !there || (witness.meeting == Meeting::Adjacent && !adjacent) {
            return Err(Defect::Apart);
        }
        let [one, other] = racing.map(|index| self.facts.accesses[index].as_ref());
        let (one, other) = (
            one.ok_or(Defect::NoConflict)?,
            other.ok_or(Defect::NoConflict)?,
        );
        // Beside another access a compare-exchange may fail, unless it reads
        // what it read.
        let writes = |access: &Access, kept| access.always_writes || (access.writes && kept);
        let conflict = self.events[racing[0]].thread != self.events[racing[1]].thread
            && (writes(one, kept[0]) || writes(other, kept[1]))
            && !(one.atomic && other.atomic)
            && one.overlaps(other);
        conflict.then_some(()).ok_or(Defect::NoConflict)
    }

    /// Every event comes where the program can have it. Which of the racing
    /// accesses read what they read in the run.
    fn is_reordering(
        &self,
        witness: &RaceWitness,
        schedule: &[usize],
    ) -> Result<[bool; 2], Defect> {
        let racing = [witness.first, witness.second];
        let mut kept = [true; 2];
        let mut run = Rerun::default();
        for (place, &index) in schedule.iter().enumerate() {
            let event = &self.events[index];
            let named = EventIndex(index as u64);
            let next = run.next.entry(event.thread).or_default();
            if *next != self.numbers[index] {
                return Err(Defect::OutOfProgramOrder(named));
            }
            *next += 1;
            if self.created.contains(&event.thread) && !run.created.contains(&event.thread) {
                return Err(Defect::NotCreated(named));
            }
            // Of accesses that only C11 leaves unordered, the first one is
            // followed by more of its thread, and has to read what it read.
            let free = match witness.meeting {
                Meeting::Adjacent => racing.iter().position(|&racing| racing == named),
                Meeting::Unordered => (named == witness.second).then_some(1),
            };
            if let Some(access) = &self.facts.accesses[index] {
                if access.reads {
                    let same = run.writers.sources(access) == self.facts.sources[index];
                    match free {
                        Some(side) => kept[side] = same,
                        None if !same => return Err(Defect::ReadsElsewhere(named)),
                        None => {}
                    }
                    if free.is_none()
                        && self.facts.unexplained[index]
                        && !self.all_before(schedule, place, index)
                    {
                        return Err(Defect::Unexplained(named));
                    }
                }
                run.writers.enter(index, access);
            }
            // The two accesses come after all the others, in whatever order.
            if free.is_none() {
                run.synchronise(index, event)?;
            }
        }
        self.signals_are_there(schedule)?;
        Ok(kept)
    }

    /// Whether all events of the run before this one come before it.
    fn all_before(&self, schedule: &[usize], place: usize, index: usize) -> bool {
        let there = schedule[..place]
            .iter()
            .filter(|&&other| other < index)
            .count();
        let all = self.events[..index]
            .iter()
            .filter(|event| counts(event))
            .count();
        there == all
    }

    /// Whoever receives a signal has every one that was given before it in the run.
    fn signals_are_there(&self, schedule: &[usize]) -> Result<(), Defect> {
        let mut given: FxHashMap<LockId, Vec<usize>> = FxHashMap::default();
        for (index, event) in self.events.iter().enumerate() {
            if let Some((lock, true)) = signal(&event.operation) {
                given.entry(lock).or_default().push(index);
            }
        }
        let mut there: FxHashMap<LockId, FxHashSet<usize>> = FxHashMap::default();
        for &index in schedule {
            match signal(&self.events[index].operation) {
                Some((lock, true)) => {
                    there.entry(lock).or_default().insert(index);
                }
                Some((lock, false)) => {
                    let earlier = given.get(&lock).into_iter().flatten();
                    let mut earlier = earlier.take_while(|&&release| release < index);
                    let there = there.get(&lock);
                    if !earlier.all(|release| there.is_some_and(|there| there.contains(release))) {
                        return Err(Defect::SignalMissing(EventIndex(index as u64)));
                    }
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// A signal, and whether it is given.
fn signal(operation: &Operation) -> Option<(LockId, bool)> {
    match *operation {
        Operation::Release {
            lock,
            mode: LockMode::Signal,
        } => Some((lock, true)),
        Operation::Acquire {
            lock,
            mode: LockMode::Signal,
        } => Some((lock, false)),
        _ => None,
    }
}

/// The reordered run so far.
#[derive(Debug, Default)]
struct Rerun {
    next: FxHashMap<ThreadId, u32>,
    created: FxHashSet<ThreadId>,
    ended: FxHashSet<ThreadId>,
    writers: Writers,
    locks: FxHashMap<LockId, LockState>,
    /// The last SC event.
    last_sc: Option<usize>,
}

#[derive(Debug, Default)]
struct LockState {
    /// Who holds it alone, and how often.
    owner: Option<(ThreadId, u32)>,
    readers: Vec<ThreadId>,
    /// The last acquisitions: of an owner, of anybody.
    last_owner: Option<usize>,
    last: Option<usize>,
}

impl Rerun {
    fn synchronise(&mut self, index: usize, event: &Event) -> Result<(), Defect> {
        let named = EventIndex(index as u64);
        if is_sc(&event.operation) {
            if self.last_sc.is_some_and(|last| last > index) {
                return Err(Defect::AnotherOrder(named));
            }
            self.last_sc = Some(index);
        }
        match event.operation {
            Operation::Create { child } => {
                self.created.insert(child);
            }
            Operation::Exit => {
                self.ended.insert(event.thread);
            }
            Operation::Join { child } if !self.ended.contains(&child) => {
                return Err(Defect::NotEnded(named));
            }
            Operation::Acquire { lock, mode } => {
                let state = self.locks.entry(lock).or_default();
                state.acquire(index, event.thread, mode)?;
            }
            Operation::Release { lock, mode } => {
                let state = self.locks.entry(lock).or_default();
                state.release(event.thread, mode);
            }
            _ => {}
        }
        Ok(())
    }
}

impl LockState {
    fn acquire(&mut self, index: usize, thread: ThreadId, mode: LockMode) -> Result<(), Defect> {
        let named = EventIndex(index as u64);
        let held_by_others = self.owner.is_some_and(|(owner, _)| owner != thread);
        // Of readers the order does not matter.
        let before = match mode {
            LockMode::Exclusive => {
                if held_by_others || !self.readers.is_empty() {
                    return Err(Defect::LockHeld(named));
                }
                let times = self.owner.map_or(0, |(_, times)| times);
                self.owner = Some((thread, times + 1));
                self.last_owner.replace(index).max(self.last)
            }
            LockMode::Shared => {
                if self.owner.is_some() {
                    return Err(Defect::LockHeld(named));
                }
                self.readers.push(thread);
                self.last_owner
            }
            LockMode::Signal => return Ok(()),
        };
        if before.is_some_and(|before| before > index) {
            return Err(Defect::AnotherOrder(named));
        }
        self.last = self.last.max(Some(index));
        Ok(())
    }

    fn release(&mut self, thread: ThreadId, mode: LockMode) {
        match (mode, self.owner) {
            (LockMode::Exclusive, Some((owner, times))) if owner == thread => {
                self.owner = (times > 1).then_some((thread, times - 1));
            }
            (LockMode::Shared, _) => {
                if let Some(at) = self.readers.iter().position(|&reader| reader == thread) {
                    self.readers.swap_remove(at);
                }
            }
            _ => {}
        }
    }
}

/// Whether the order of all SC events has this one.
fn is_sc(operation: &Operation) -> bool {
    match *operation {
        Operation::Load { order, .. } => order.is_sc(),
        Operation::Store { order, .. } => order.is_sc(),
        Operation::Rmw { order, .. } => order.is_sc(),
        Operation::CompareExchange {
            success,
            failure,
            outcome,
            ..
        } => match outcome {
            CasOutcome::Exchanged(_) => success.is_sc(),
            CasOutcome::Failed => failure.is_sc(),
        },
        Operation::Fence { order } => order.is_sc(),
        _ => false,
    }
}
