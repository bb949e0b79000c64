//! A part of a run that is closed under what its steps rest on: program order,
//! reads-from, thread creation, joins, locks, and in RC20 the earlier SC fences.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::graph::Label;
use super::trace::Trace;
use crate::event::{LockId, LockMode, ThreadId};
use crate::model::Model;

/// Of every thread a stretch of its steps.
pub(super) struct Part<'a> {
    pub(super) trace: &'a Trace,
    pub(super) model: Model,
    /// The first event that may be in it.
    pub(super) first: usize,
    stretches: BTreeMap<ThreadId, Range<usize>>,
    /// How much of a lock's order has been looked through for what a step that
    /// takes it in this mode rests on.
    locks_done: HashMap<(LockId, LockMode), usize>,
    fences_done: usize,
}

impl<'a> Part<'a> {
    /// The smallest closed part with these steps, of the run from `first` on.
    pub(super) fn resting_on(
        trace: &'a Trace,
        steps: &[usize],
        first: usize,
        model: Model,
    ) -> Self {
        let mut part = Self {
            trace,
            model,
            first,
            stretches: BTreeMap::new(),
            locks_done: HashMap::new(),
            fences_done: 0,
        };
        let mut wanted = steps.to_vec();
        while let Some(step) = wanted.pop() {
            part.include(step, &mut wanted);
        }
        part
    }

    /// How many steps are in it.
    pub(super) fn size(&self) -> usize {
        self.stretches.values().map(Range::len).sum()
    }

    /// The steps in it, in the order of the run.
    pub(super) fn steps(&self) -> Vec<usize> {
        let threads = self.stretches.iter();
        let mut steps: Vec<usize> = threads
            .flat_map(|(thread, stretch)| &self.trace.threads[thread][stretch.clone()])
            .copied()
            .collect();
        steps.sort_unstable();
        steps
    }

    /// The position of the first step of each thread in it.
    pub(super) fn beginnings(&self) -> BTreeMap<ThreadId, u32> {
        let threads = self.stretches.iter();
        threads
            .map(|(&thread, stretch)| (thread, stretch.start as u32))
            .collect()
    }

    /// Adds a step and the ones before it in its thread; `wanted` gets what
    /// these rest on.
    fn include(&mut self, step: usize, wanted: &mut Vec<usize>) {
        let trace = self.trace;
        if trace.steps[step].event < self.first {
            return;
        }
        let (thread, end) = (trace.steps[step].thread, trace.steps[step].position + 1);
        let steps = &trace.threads[&thread];
        let stretch = self.stretches.entry(thread).or_insert_with(|| {
            let begin = steps.partition_point(|&own| trace.steps[own].event < self.first);
            begin..begin
        });
        let fresh = stretch.end..end.max(stretch.end);
        stretch.end = fresh.end;
        for &own in &steps[fresh] {
            self.rests_on(own, wanted);
        }
    }

    /// What a step rests on besides the steps before it in its thread.
    fn rests_on(&mut self, id: usize, wanted: &mut Vec<usize>) {
        let trace = self.trace;
        let step = &trace.steps[id];
        if let (Some((object, number)), true) = (step.access, step.label.reads()) {
            // An RMW is counted by the write it made, which follows the one it read.
            let read = number - usize::from(step.label.writes());
            wanted.extend(trace.object(object).write(read));
        }
        match step.label {
            Label::Start => wanted.extend(trace.creator.get(&step.thread)),
            Label::Join { child } => wanted.extend(trace.exit.get(&child)),
            Label::Acquire { lock, mode } => {
                let done = self.locks_done.entry((lock, mode)).or_default();
                let earlier = &trace.locks[&lock][(*done).min(step.turn)..step.turn];
                *done = step.turn.max(*done);
                wanted.extend(earlier.iter().filter(|&&from| {
                    let label = trace.steps[from].label;
                    matches!(label, Label::Release { mode, .. } if trace.takes_from(id, mode))
                }));
            }
            label if label.is_sc_fence() && self.model == Model::Rc20 => {
                wanted.extend(
                    trace
                        .sc_fences
                        .get(self.fences_done..step.turn)
                        .unwrap_or_default(),
                );
                self.fences_done = step.turn.max(self.fences_done);
            }
            _ => {}
        }
    }
}
