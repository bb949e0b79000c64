//! The reversible races of a run: pairs of dependent steps that could have been taken
//! the other way round.

use alloc::vec;
use alloc::vec::Vec;

use super::step::{Access, ORDERED, Run, Step, dependent};
use crate::hash::FxHashMap;

/// The later step of a race.
#[derive(Clone, Copy, Debug)]
pub(super) enum Later {
    /// A step of the run.
    Taken(usize),
    /// A step that still waits at the end of the run.
    Blocked(usize),
}

/// Two steps that could change places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Race {
    pub(super) earlier: usize,
    pub(super) later: Later,
}

/// Which steps of a run come before which, by the order of threads and of dependent
/// steps: for each step how many steps of each thread it rests on, itself included.
pub(super) struct Causality {
    clocks: Vec<Vec<u32>>,
    /// The thread of each step, by a small number, and its place in the thread.
    places: Vec<(usize, u32)>,
    /// The last step of each thread before a step, and those at the end of the run.
    previous: Vec<Option<usize>>,
    threads: FxHashMap<u32, usize>,
    last: Vec<Option<usize>>,
    objects: FxHashMap<u64, Vec<usize>>,
}

impl Causality {
    pub(super) fn new(run: &Run) -> Self {
        let mut threads = FxHashMap::default();
        for step in &run.steps {
            let next = threads.len();
            threads.entry(step.actor.thread).or_insert(next);
        }
        let mut all = Self {
            clocks: Vec::with_capacity(run.steps.len()),
            places: Vec::with_capacity(run.steps.len()),
            previous: Vec::with_capacity(run.steps.len()),
            last: vec![None; threads.len()],
            threads,
            objects: FxHashMap::default(),
        };
        for (number, step) in run.steps.iter().enumerate() {
            all.add(run, number, step);
        }
        all
    }

    fn add(&mut self, run: &Run, number: usize, step: &Step) {
        let thread = self.threads[&step.actor.thread];
        let previous = self.last[thread];
        let mut clock = match previous {
            Some(previous) => self.clocks[previous].clone(),
            None => vec![0; self.last.len()],
        };
        for earlier in self.conflicts(run, step, number) {
            join(&mut clock, &self.clocks[earlier]);
        }
        clock[thread] += 1;
        self.places.push((thread, clock[thread]));
        self.clocks.push(clock);
        self.previous.push(previous);
        self.last[thread] = Some(number);
        for access in &step.accesses {
            for block in access.blocks() {
                self.objects.entry(block).or_default().push(number);
            }
        }
    }

    /// Whether `later` rests on `earlier`.
    pub(super) fn rests_on(&self, later: usize, earlier: usize) -> bool {
        knows(&self.clocks[later], self.places[earlier])
    }

    /// The steps before `end` that a step is dependent on, the last one first. None is on a
    /// round that repeats another: that round may have been before it or after it.
    fn conflicts(&self, run: &Run, step: &Step, end: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for block in step.accesses.iter().flat_map(Access::blocks) {
            for &other in self.objects.get(&block).into_iter().flatten() {
                let theirs = &run.steps[other];
                if other < end
                    && theirs.actor.thread != step.actor.thread
                    && !theirs.repeats
                    && dependent(&step.accesses, &theirs.accesses)
                {
                    found.push(other);
                }
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    /// All races of the run whose later step comes before `end`.
    pub(super) fn races(&self, run: &Run, end: usize) -> Vec<Race> {
        let mut found = Vec::new();
        for (number, step) in run.steps.iter().enumerate().take(end) {
            let before = self.previous[number];
            self.races_of(run, step, Later::Taken(number), before, &mut found);
        }
        if end == run.steps.len() {
            for (number, step) in run.blocked.iter().enumerate() {
                let thread = self.threads.get(&step.actor.thread);
                let before = thread.and_then(|&thread| self.last[thread]);
                self.races_of(run, step, Later::Blocked(number), before, &mut found);
            }
        }
        found
    }

    fn races_of(
        &self,
        run: &Run,
        step: &Step,
        later: Later,
        before: Option<usize>,
        found: &mut Vec<Race>,
    ) {
        let end = match later {
            Later::Taken(number) => number,
            Later::Blocked(_) => run.steps.len(),
        };
        let mut known = match before {
            Some(before) => self.clocks[before].clone(),
            None => vec![0; self.last.len()],
        };
        let conflicts = self.conflicts(run, step, end);
        let is_ordered = |earlier: usize| {
            let theirs = run.steps[earlier].accesses.iter();
            step.accesses.iter().any(|access| {
                access.object >= ORDERED
                    && theirs.clone().any(|other| other.object == access.object)
            })
        };
        for &earlier in conflicts.iter().filter(|&&earlier| is_ordered(earlier)) {
            join(&mut known, &self.clocks[earlier]);
        }
        if let Some(open) = &step.waits {
            let possible = open.iter().filter(|&&n| {
                !knows(&known, self.places[n]) && dependent(&step.accesses, &run.steps[n].accesses)
            });
            found.extend(possible.map(|&earlier| Race { earlier, later }));
            return;
        }
        for earlier in conflicts {
            if !knows(&known, self.places[earlier]) {
                found.push(Race { earlier, later });
                join(&mut known, &self.clocks[earlier]);
            }
        }
    }
}

fn knows(clock: &[u32], (thread, place): (usize, u32)) -> bool {
    clock[thread] >= place
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
