//! The definition, without closures or clocks: starting from nothing, any thread
//! may do its next event of the run if the program could have it there. Wherever
//! two threads could both make a conflicting access next, there is a race.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use wmfix_analysis::{Bytes, CasOutcome, Event, LocationId, LockId, LockMode, Operation, ThreadId};

/// Two events of a run, by their index.
pub type ConflictingPair = (usize, usize);

/// A byte of an object: its address, and how often it had been given back.
type Cell = (u64, u32);

/// Which reorderings count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncOrder {
    /// Those in which locks and SC events keep their order.
    Preserved,
    /// All correct ones.
    Free,
}

/// All pairs of events that some correct reordering of the run brings next to
/// each other. The run must have no rounds that stay in a loop.
pub fn predictable_races(events: &[Event], order: SyncOrder) -> BTreeSet<ConflictingPair> {
    let run = Run::of(events, order);
    let mut found = BTreeSet::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![State::default()];
    stack[0].next = vec![0; run.threads.len()];
    while let Some(state) = stack.pop() {
        if !seen.insert((state.next.clone(), state.writers.clone())) {
            continue;
        }
        run.collect_races(&state, &mut found);
        for thread in 0..run.threads.len() {
            stack.extend(run.step(&state, thread));
        }
    }
    found
}

/// What the run says about its events.
struct Run<'a> {
    events: &'a [Event],
    order: SyncOrder,
    /// The events of each thread.
    threads: Vec<Vec<usize>>,
    ids: Vec<ThreadId>,
    /// The bytes of each access.
    cells: Vec<Vec<Cell>>,
    /// Who wrote each of the bytes that an event reads.
    read_from: Vec<Vec<Option<usize>>>,
    created: BTreeMap<ThreadId, usize>,
}

/// Some events of the run, in some order.
#[derive(Clone, Default)]
struct State {
    /// By thread: how many events.
    next: Vec<usize>,
    /// The last writers.
    writers: BTreeMap<Cell, usize>,
}

impl<'a> Run<'a> {
    fn of(events: &'a [Event], order: SyncOrder) -> Self {
        let mut run = Self {
            events,
            order,
            threads: Vec::new(),
            ids: Vec::new(),
            cells: Vec::new(),
            read_from: Vec::new(),
            created: BTreeMap::new(),
        };
        let mut locations: BTreeMap<LocationId, Bytes> = BTreeMap::new();
        let mut deaths: BTreeMap<u64, u32> = BTreeMap::new();
        let mut writers = BTreeMap::new();
        for (index, event) in events.iter().enumerate() {
            let known = run.ids.iter().position(|&id| id == event.thread);
            let thread = known.unwrap_or_else(|| {
                run.ids.push(event.thread);
                run.threads.push(Vec::new());
                run.ids.len() - 1
            });
            run.threads[thread].push(index);
            match event.operation {
                Operation::Create { child } => {
                    run.created.insert(child, index);
                }
                Operation::Birth {
                    location, bytes, ..
                } => {
                    locations.insert(location, bytes);
                }
                Operation::Death { bytes } => {
                    for byte in bytes.address..bytes.address + bytes.size {
                        *deaths.entry(byte).or_default() += 1;
                    }
                }
                _ => {}
            }
            let bytes = bytes_of(&event.operation, &locations);
            let cells: Vec<Cell> = bytes
                .into_iter()
                .flat_map(|bytes| bytes.address..bytes.address + bytes.size)
                .map(|byte| (byte, deaths.get(&byte).copied().unwrap_or(0)))
                .collect();
            let sources = cells.iter().map(|cell| writers.get(cell).copied());
            run.read_from.push(sources.collect());
            if writes(&event.operation) {
                writers.extend(cells.iter().map(|&cell| (cell, index)));
            }
            run.cells.push(cells);
        }
        run
    }

    fn next(&self, state: &State, thread: usize) -> Option<usize> {
        self.threads[thread].get(state.next[thread]).copied()
    }

    fn done(&self, state: &State, index: usize) -> bool {
        (0..self.threads.len())
            .any(|thread| self.threads[thread][..state.next[thread]].contains(&index))
    }

    /// The events so far, by their index in the run.
    fn all_done<'s>(&'s self, state: &'s State) -> impl Iterator<Item = usize> + 's {
        (0..self.threads.len())
            .flat_map(|thread| self.threads[thread][..state.next[thread]].iter().copied())
    }

    /// Whether the thread is there to act.
    fn exists(&self, state: &State, thread: usize) -> bool {
        let creation = self.created.get(&self.ids[thread]);
        creation.is_none_or(|&index| self.done(state, index))
    }

    fn step(&self, state: &State, thread: usize) -> Option<State> {
        let index = self.next(state, thread)?;
        let event = &self.events[index];
        if !self.exists(state, thread) {
            return None;
        }
        if reads(&event.operation) {
            let sources = self.cells[index]
                .iter()
                .map(|cell| state.writers.get(cell).copied());
            if !sources.eq(self.read_from[index].iter().copied()) {
                return None;
            }
        }
        if !self.synchronises(state, index) {
            return None;
        }
        let mut after = state.clone();
        after.next[thread] += 1;
        if writes(&event.operation) {
            let cells = self.cells[index].iter();
            after.writers.extend(cells.map(|&cell| (cell, index)));
        }
        Some(after)
    }

    /// Whether locks, signals and SC events let the event come now.
    fn synchronises(&self, state: &State, index: usize) -> bool {
        let event = &self.events[index];
        match event.operation {
            Operation::Join { child } => {
                let exit = self
                    .events
                    .iter()
                    .position(|other| other.thread == child && other.operation == Operation::Exit);
                exit.is_some_and(|exit| self.done(state, exit))
            }
            Operation::Acquire { lock, mode } => {
                if mode == LockMode::Signal {
                    let earlier = self.events[..index].iter().enumerate();
                    return earlier
                        .filter(|(_, other)| is_release(&other.operation, lock, mode))
                        .all(|(release, _)| self.done(state, release));
                }
                // Nobody who excludes it holds it, and none that came later in
                // the run has had it.
                self.all_done(state).all(|other| {
                    let Some(theirs) = acquires(&self.events[other].operation, lock) else {
                        return true;
                    };
                    let both_read = mode == LockMode::Shared && theirs == LockMode::Shared;
                    both_read
                        || self.events[other].thread == event.thread
                        || ((other < index || self.order == SyncOrder::Free)
                            && self.given_back(state, other, lock))
                })
            }
            _ if is_sc(&event.operation) && self.order == SyncOrder::Preserved => self
                .all_done(state)
                .all(|other| !is_sc(&self.events[other].operation) || other < index),
            _ => true,
        }
    }

    /// Whether the lock that this event took has been given back by its thread.
    fn given_back(&self, state: &State, acquire: usize, lock: LockId) -> bool {
        let thread = self.events[acquire].thread;
        let release = self.events[acquire..].iter().position(|event| {
            event.thread == thread
                && matches!(event.operation, Operation::Release { lock: l, .. } if l == lock)
        });
        release.is_some_and(|offset| self.done(state, acquire + offset))
    }

    fn collect_races(&self, state: &State, found: &mut BTreeSet<ConflictingPair>) {
        for one in 0..self.threads.len() {
            for other in one + 1..self.threads.len() {
                if let (Some(a), Some(b)) = (self.next(state, one), self.next(state, other))
                    && self.exists(state, one)
                    && self.exists(state, other)
                    && self.conflict(a, b)
                {
                    found.insert((a.min(b), a.max(b)));
                }
            }
        }
    }

    fn conflict(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.events[a].operation, &self.events[b].operation);
        let plain = |operation: &Operation| {
            matches!(operation, Operation::Read { .. } | Operation::Write { .. })
        };
        (always_writes(one) || always_writes(other))
            && (plain(one) || plain(other))
            && self.cells[a]
                .iter()
                .any(|cell| self.cells[b].contains(cell))
    }
}

fn bytes_of(operation: &Operation, locations: &BTreeMap<LocationId, Bytes>) -> Option<Bytes> {
    match *operation {
        Operation::Read { bytes } | Operation::Write { bytes } => Some(bytes),
        Operation::Load { location, .. }
        | Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. } => {
            let apart = Bytes {
                address: 1 << 40 | u64::from(location.0),
                size: 1,
            };
            Some(locations.get(&location).copied().unwrap_or(apart))
        }
        _ => None,
    }
}

fn reads(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Read { .. }
            | Operation::Load { .. }
            | Operation::Rmw { .. }
            | Operation::CompareExchange { .. }
    )
}

fn writes(operation: &Operation) -> bool {
    let exchanged = matches!(
        operation,
        Operation::CompareExchange {
            outcome: CasOutcome::Exchanged(_),
            ..
        }
    );
    exchanged || always_writes(operation)
}

fn always_writes(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Write { .. } | Operation::Store { .. } | Operation::Rmw { .. }
    )
}

fn acquires(operation: &Operation, of: LockId) -> Option<LockMode> {
    match *operation {
        Operation::Acquire { lock, mode } if lock == of && mode != LockMode::Signal => Some(mode),
        _ => None,
    }
}

fn is_release(operation: &Operation, of: LockId, how: LockMode) -> bool {
    matches!(*operation, Operation::Release { lock, mode } if lock == of && mode == how)
}

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
