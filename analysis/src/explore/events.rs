//! From the events of a run to the steps that an exploration takes: which objects a
//! step accesses, and where a step that waits could have gone on earlier.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use smallvec::SmallVec;

use super::marks::{Mark, MarkHistory, MarkKind};
use super::step::{Access, Actor, ORDERED, Run, Step, lock_object};
use crate::event::{Bytes, CasOutcome, Event, LocationId, LockId, LockMode, Operation, ThreadId};
use crate::hash::{FxHashMap, FxHashSet};

/// What a thread did between two moments at which another one could have gone on.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Who.
    pub actor: Actor,
    /// In the order of the run.
    pub events: &'a [Event],
    /// What it did with synchronisation objects beyond what events say.
    pub marks: &'a [Mark],
    /// It is a round of a loop that is taken to wait from here on.
    pub is_cut: bool,
    /// It begins with a read of a loop that is known to wait, which found this in a round
    /// in which nothing had changed: it goes on with anything else.
    pub waits_while: Option<u64>,
}

/// A step of a thread that waits when the run has ended.
#[derive(Clone, Copy, Debug)]
pub enum Blocked {
    /// It waits to do this.
    Event(Event),
    /// It waits for a synchronisation object.
    Mark(Mark),
}

/// The steps of a run. Segments in which nothing happened but rounds of waiting loops
/// are no steps. `blocked` is what threads wait to do when the run has ended.
pub fn run_of<'a>(
    segments: impl IntoIterator<Item = Segment<'a>> + Clone,
    blocked: &[Blocked],
) -> Run {
    let marks = segments.clone().into_iter().flat_map(|one| one.marks);
    let mut history = History {
        marked: marks
            .filter(|m| !m.is_of_lock())
            .map(|m| m.object)
            .collect(),
        ..History::default()
    };
    let mut run = Run::default();
    for segment in segments {
        let number = run.steps.len();
        let mut step: Option<Step> = None;
        let new = |site| Step {
            actor: segment.actor,
            site,
            accesses: SmallVec::new(),
            waits: None,
            writes_before: None,
            repeats: false,
        };
        for mark in segment.marks {
            let step = step.get_or_insert_with(|| new(mark.site));
            history.begin(mark.thread, step);
            history.marks.describe(mark, step);
            history.describe_lock(mark, step);
            history.marks.take(number, mark);
            history.take_lock(number, mark);
        }
        let tries = segment.marks.iter().any(Mark::is_of_lock);
        for event in segment.events {
            match event.operation {
                Operation::Birth {
                    location,
                    bytes,
                    value,
                } => {
                    history.values.entry(location).or_default().now = value;
                    let is_mixed = history.place(location, bytes);
                    if is_mixed {
                        run.mixed_sizes.get_or_insert(event.site);
                    }
                }
                Operation::Write { bytes } | Operation::Death { bytes } => history.end(bytes),
                _ => {}
            }
            if let Some(step) = &mut step {
                history.plain(number, event, step);
            }
            if event.operation.stays_in_loop() || !is_step(&event.operation) {
                continue;
            }
            let step = step.get_or_insert_with(|| new(event.site));
            let is_first = step.accesses.is_empty();
            history.begin(event.thread, step);
            history.describe(event, step, tries);
            if let Some(found) = segment.waits_while.filter(|_| is_first) {
                history.describe_round(event, step, found);
            }
            history.take(number, event);
        }
        if let Some(mut step) = step {
            if segment.is_cut {
                step.waits = Some(Vec::new());
            }
            run.steps.push(step);
        }
    }
    for blocked in blocked {
        let (thread, site) = match blocked {
            Blocked::Event(event) => (event.thread, event.site),
            Blocked::Mark(mark) => (mark.thread, mark.site),
        };
        let mut step = Step {
            actor: Actor { thread: thread.0 },
            site,
            accesses: SmallVec::new(),
            waits: None,
            writes_before: None,
            repeats: false,
        };
        history.begin(thread, &mut step);
        match blocked {
            Blocked::Event(event) => history.describe(event, &mut step, false),
            Blocked::Mark(mark) => history.marks.describe(mark, &mut step),
        }
        run.blocked.push(step);
    }
    run
}

/// Whether an event is something that another thread could notice, or a fence, after
/// which the turn could change hands.
fn is_step(operation: &Operation) -> bool {
    !matches!(
        operation,
        Operation::Birth { .. }
            | Operation::Death { .. }
            | Operation::Read { .. }
            | Operation::Write { .. }
    )
}

/// How objects came to be what they are.
#[derive(Default)]
struct History {
    /// Where locations lie: the same in all runs that begin alike, unlike their numbers.
    addresses: FxHashMap<LocationId, Bytes>,
    /// The locations by where they lie, with their sizes, and whether they have ended.
    layout: BTreeMap<u64, (LocationId, u64, bool)>,
    values: FxHashMap<LocationId, Values>,
    locks: FxHashMap<LockId, Vec<LockChange>>,
    /// Threads that have taken a step.
    begun: FxHashSet<ThreadId>,
    /// Synchronisation objects of which marks tell all: events on them say no more.
    marked: FxHashSet<u64>,
    marks: MarkHistory,
}

/// The accesses to a location: the step, and the value right before it.
#[derive(Default)]
struct Values {
    before: Vec<(usize, u64, bool)>,
    now: u64,
}

/// A change of a lock: the step, and how it was held right before.
struct LockChange {
    step: usize,
    before: Hold,
    after: Hold,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Hold {
    exclusive: u32,
    shared: u32,
}

/// The size of the largest atomic object, in bytes.
const LARGEST_ATOMIC: u64 = 16;
/// Locations of which nobody has told where they lie.
const UNPLACED: u64 = 1 << 61;
/// What numbers threads: they have the same ones in all runs that begin alike because
/// those who start threads do so in the same order.
const THREADS: u64 = 1 << 60;

fn life_of(thread: ThreadId) -> u64 {
    ORDERED | u64::from(thread.0)
}

impl History {
    /// True if it lies across one of another size that has not ended.
    fn place(&mut self, location: LocationId, bytes: Bytes) -> bool {
        let mut mixed = false;
        for (address, size) in self.near(bytes) {
            let ended = self.layout.remove(&address).is_none_or(|(.., ended)| ended);
            mixed |= !ended && (address, size) != (bytes.address, bytes.size);
        }
        self.addresses.insert(location, bytes);
        self.layout
            .insert(bytes.address, (location, bytes.size, false));
        mixed
    }

    /// What lies in these bytes ends.
    fn end(&mut self, bytes: Bytes) {
        for (address, _) in self.near(bytes) {
            if let Some(entry) = self.layout.get_mut(&address) {
                entry.2 = true;
            }
        }
    }

    /// Where locations lie that overlap with these bytes, and their sizes.
    fn near(&self, bytes: Bytes) -> SmallVec<[(u64, u64); 2]> {
        let end = bytes.address.saturating_add(bytes.size);
        let from = bytes.address.saturating_sub(LARGEST_ATOMIC);
        let near = self.layout.range(from..end);
        near.filter(|&(&address, &(_, size, _))| address + size > bytes.address)
            .map(|(&address, &(_, size, _))| (address, size))
            .collect()
    }

    /// The first step of a thread comes after the one that started it.
    fn begin(&mut self, thread: ThreadId, step: &mut Step) {
        if self.begun.insert(thread) {
            step.accesses.push(Access::to(life_of(thread), false));
        }
    }

    /// A plain access to the bytes of an atomic object is part of the step before it.
    fn plain(&mut self, number: usize, event: &Event, step: &mut Step) {
        let (bytes, writes) = match event.operation {
            Operation::Read { bytes } => (bytes, false),
            Operation::Write { bytes } => (bytes, true),
            _ => return,
        };
        let near = self.near(bytes).into_iter();
        let touched: SmallVec<[LocationId; 2]> =
            near.map(|(address, _)| self.layout[&address].0).collect();
        for location in touched {
            step.accesses.push(self.access(location, writes));
            if writes {
                let values = self.values.entry(location).or_default();
                values.before.push((number, values.now, true));
            }
        }
    }

    fn access(&self, location: LocationId, writes: bool) -> Access {
        match self.addresses.get(&location) {
            Some(bytes) => Access {
                object: bytes.address,
                size: bytes.size.min(LARGEST_ATOMIC) as u8,
                writes,
            },
            None => Access::to(UNPLACED | u64::from(location.0), writes),
        }
    }

    /// Adds what an event accesses to its step, which has tried to take a lock if told.
    fn describe(&self, event: &Event, step: &mut Step, tries: bool) {
        let mut access = |access| step.accesses.push(access);
        match event.operation {
            Operation::Load { location, exit, .. } => {
                access(self.access(location, false));
                if let Some(exit) = exit {
                    step.waits = Some(self.open(location, false, |value| exit.leaves(value)));
                }
            }
            Operation::Store { location, .. } => access(self.access(location, true)),
            Operation::Rmw { location, exit, .. } => {
                access(self.access(location, true));
                if let Some(exit) = exit {
                    step.waits = Some(self.open(location, true, |value| exit.leaves(value)));
                }
            }
            Operation::CompareExchange {
                location,
                expected,
                outcome,
                blocking,
                ..
            } => {
                let writes = outcome != CasOutcome::Failed || blocking;
                access(self.access(location, writes));
                if blocking {
                    step.waits = Some(self.open(location, true, |value| value == expected));
                } else {
                    step.writes_before = Some(self.open(location, true, |value| value == expected));
                }
            }
            Operation::Create { child } => {
                access(Access::to(life_of(child), true));
                access(Access::to(THREADS, true));
            }
            Operation::Exit => access(Access::to(life_of(event.thread), true)),
            Operation::Join { child } => access(Access::to(life_of(child), false)),
            Operation::Acquire { lock, mode } if !self.is_told(lock, mode) => {
                access(Access::to(lock_object(lock), mode != LockMode::Shared));
                if !tries {
                    step.waits = Some(self.free(lock, mode));
                }
            }
            Operation::Release { lock, mode } if !self.is_told(lock, mode) => {
                access(Access::to(lock_object(lock), mode != LockMode::Shared));
            }
            _ => {}
        }
    }

    /// Adds what is known of a read in a loop that waits while it finds the same.
    fn describe_round(&self, event: &Event, step: &mut Step, found: u64) {
        if let Operation::Load {
            location, value, ..
        } = event.operation
        {
            step.waits = Some(self.open(location, false, |value| value != found));
            step.repeats = value == found;
        }
    }

    /// Whether marks tell all of what an event does with a lock.
    fn is_told(&self, lock: LockId, mode: LockMode) -> bool {
        mode == LockMode::Signal && self.marked.contains(&lock.0)
    }

    /// Adds what trying to take a lock accesses. If that fails only because of readers,
    /// it is one more of those whose order with them matters.
    fn describe_lock(&self, mark: &Mark, step: &mut Step) {
        let mode = match mark.kind {
            MarkKind::TryExclusive => LockMode::Exclusive,
            MarkKind::TryShared => LockMode::Shared,
            _ => return,
        };
        let lock = LockId(mark.object);
        let hold = self.hold_of(lock);
        let writes = mode == LockMode::Exclusive && hold.exclusive == 0;
        step.accesses.push(Access::to(lock_object(lock), writes));
        if mode == LockMode::Exclusive {
            step.writes_before = Some(self.free(lock, mode));
        }
    }

    fn hold_of(&self, lock: LockId) -> Hold {
        let changes = self.locks.get(&lock);
        let last = changes.and_then(|changes| changes.last());
        last.map_or(Hold::default(), |last| last.after)
    }

    /// Who tries to take a lock and cannot has met it in a state, too.
    fn take_lock(&mut self, step: usize, mark: &Mark) {
        if mark.is_of_lock() {
            let lock = LockId(mark.object);
            let before = self.hold_of(lock);
            let changes = self.locks.entry(lock).or_default();
            changes.push(LockChange {
                step,
                before,
                after: before,
            });
        }
    }

    /// The accesses to a location before which a condition held; of those that only
    /// read, too, if what waits writes.
    fn open(&self, location: LocationId, writes: bool, leaves: impl Fn(u64) -> bool) -> Vec<usize> {
        let Some(values) = self.values.get(&location) else {
            return Vec::new();
        };
        let all = values.before.iter();
        all.filter(|&&(_, value, wrote)| (wrote || writes) && leaves(value))
            .map(|&(step, _, _)| step)
            .collect()
    }

    /// The changes of a lock before which it could have been taken. Who passes a signal
    /// (a semaphore, a condition) could have done so whenever there was one to pass,
    /// which the run does not show: all of them.
    fn free(&self, lock: LockId, mode: LockMode) -> Vec<usize> {
        let changes = self.locks.get(&lock).into_iter().flatten();
        changes
            .filter(|change| match mode {
                LockMode::Exclusive => change.before == Hold::default(),
                LockMode::Shared => change.before.exclusive == 0,
                LockMode::Signal => true,
            })
            .map(|change| change.step)
            .collect()
    }

    /// What an event changes.
    fn take(&mut self, step: usize, event: &Event) {
        match event.operation {
            Operation::Load {
                location, value, ..
            } => self.value(step, location, value, None),
            Operation::Store {
                location, value, ..
            } => {
                let before = self.values.get(&location).map_or(0, |values| values.now);
                self.value(step, location, before, Some(value));
            }
            Operation::Rmw {
                location,
                read,
                written,
                ..
            } => self.value(step, location, read, Some(written)),
            Operation::CompareExchange {
                location,
                read,
                outcome,
                ..
            } => {
                let written = match outcome {
                    CasOutcome::Exchanged(written) => Some(written),
                    CasOutcome::Failed => None,
                };
                self.value(step, location, read, written);
            }
            Operation::Acquire { lock, mode } if !self.is_told(lock, mode) => {
                self.hold(step, lock, mode, true);
            }
            Operation::Release { lock, mode } if !self.is_told(lock, mode) => {
                self.hold(step, lock, mode, false);
            }
            _ => {}
        }
    }

    fn value(&mut self, step: usize, location: LocationId, before: u64, written: Option<u64>) {
        let values = self.values.entry(location).or_default();
        values.before.push((step, before, written.is_some()));
        values.now = written.unwrap_or(before);
    }

    fn hold(&mut self, step: usize, lock: LockId, mode: LockMode, taken: bool) {
        let changes = self.locks.entry(lock).or_default();
        let before = changes.last().map_or(Hold::default(), |last| last.after);
        let mut after = before;
        let count = match mode {
            LockMode::Exclusive => &mut after.exclusive,
            LockMode::Shared => &mut after.shared,
            LockMode::Signal => &mut 0,
        };
        *count = if taken {
            *count + 1
        } else {
            count.saturating_sub(1)
        };
        changes.push(LockChange {
            step,
            before,
            after,
        });
    }
}
