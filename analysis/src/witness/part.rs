//! A part of a run that is closed under what its nodes rest on: program order,
//! reads-from, thread creation, joins, locks, in RC20 the earlier SC fences, and by
//! C++17's rule what ends a release sequence that would go on without it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::graph::Label;
use super::run_graph::RunGraph;
use crate::event::{LockId, LockMode, ThreadId};
use crate::model::{Model, ReleaseSequences};

/// Of every thread a stretch of its nodes.
pub(super) struct Part<'a> {
    pub(super) run: &'a RunGraph,
    pub(super) model: Model,
    /// The first event that may be in it.
    pub(super) first: usize,
    stretches: BTreeMap<ThreadId, Range<usize>>,
    /// How much of a lock's order has been looked through for what a node that
    /// takes it in this mode rests on.
    locks_done: HashMap<(LockId, LockMode), usize>,
    fences_done: usize,
    /// For objects that were asked about, the first write of each thread.
    first_writes: HashMap<usize, HashMap<ThreadId, usize>>,
    /// How many nodes are in it, and how many may be.
    size: usize,
    most: usize,
}

impl<'a> Part<'a> {
    /// The smallest closed part with these nodes, of the run from `first` on; `None`
    /// if it has more than `most` nodes, as soon as that is clear.
    pub(super) fn resting_on(
        run: &'a RunGraph,
        nodes: &[usize],
        first: usize,
        model: Model,
        most: usize,
    ) -> Option<Self> {
        let mut part = Self {
            run,
            model,
            first,
            stretches: BTreeMap::new(),
            locks_done: HashMap::new(),
            fences_done: 0,
            first_writes: HashMap::new(),
            size: 0,
            most,
        };
        let mut wanted = nodes.to_vec();
        while let Some(node) = wanted.pop() {
            part.include(node, &mut wanted)?;
        }
        Some(part)
    }

    /// The nodes in it, in the order of the run.
    pub(super) fn nodes(&self) -> Vec<usize> {
        let threads = self.stretches.iter();
        let mut nodes: Vec<usize> = threads
            .flat_map(|(thread, stretch)| &self.run.threads[thread][stretch.clone()])
            .copied()
            .collect();
        nodes.sort_unstable();
        nodes
    }

    /// The position of the first node of each thread in it.
    pub(super) fn beginnings(&self) -> BTreeMap<ThreadId, u32> {
        let threads = self.stretches.iter();
        threads
            .map(|(&thread, stretch)| (thread, stretch.start as u32))
            .collect()
    }

    /// Adds a node and the ones before it in its thread; `wanted` gets what
    /// these rest on. `None` if these are too many.
    fn include(&mut self, node: usize, wanted: &mut Vec<usize>) -> Option<()> {
        let run = self.run;
        if run.nodes[node].event < self.first {
            return Some(());
        }
        let (thread, end) = (run.nodes[node].thread, run.nodes[node].position + 1);
        let nodes = &run.threads[&thread];
        let stretch = self.stretches.entry(thread).or_insert_with(|| {
            let begin = nodes.partition_point(|&own| run.nodes[own].event < self.first);
            begin..begin
        });
        let fresh = stretch.end..end.max(stretch.end);
        stretch.end = fresh.end;
        self.size += fresh.len();
        if self.size > self.most {
            return None;
        }
        for &own in &nodes[fresh] {
            self.rests_on(own, wanted);
        }
        Some(())
    }

    /// What a node rests on besides the nodes before it in its thread.
    fn rests_on(&mut self, id: usize, wanted: &mut Vec<usize>) {
        let run = self.run;
        let node = &run.nodes[id];
        if let (Some((object, number)), true) = (node.access, node.label.reads()) {
            // An RMW is counted by the write it made, which follows the one it read.
            let read = number - usize::from(node.label.writes());
            wanted.extend(run.object(object).write(read));
        }
        wanted.extend(self.parts_sequence(id));
        match node.label {
            Label::Start => wanted.extend(run.creator.get(&node.thread)),
            Label::Join { child } => wanted.extend(run.exit.get(&child)),
            Label::Acquire { lock, mode } => {
                let done = self.locks_done.entry((lock, mode)).or_default();
                let earlier = &run.locks[&lock][(*done).min(node.turn)..node.turn];
                *done = node.turn.max(*done);
                wanted.extend(earlier.iter().filter(|&&from| {
                    let label = run.nodes[from].label;
                    matches!(label, Label::Release { mode, .. } if run.takes_from(id, mode))
                }));
            }
            label if label.is_sc_fence() && self.model.orders_fences() => {
                wanted.extend(
                    run.sc_fences
                        .get(self.fences_done..node.turn)
                        .unwrap_or_default(),
                );
                self.fences_done = node.turn.max(self.fences_done);
            }
            _ => {}
        }
    }

    /// The store of another thread without which a store would continue a release
    /// sequence of its own thread.
    fn parts_sequence(&mut self, id: usize) -> Option<usize> {
        let run = self.run;
        let node = &run.nodes[id];
        let continues = matches!(node.label, Label::Write { .. }) && !node.label.releases();
        if self.model.release_sequences != ReleaseSequences::Cxx17 || !continues {
            return None;
        }
        let (object, number) = node.access?;
        let before = &run.object(object).writes[..number - 1];
        let parting = before
            .iter()
            .rposition(|&write| !run.nodes[write].label.is_rmw())?;
        let writes = &run.object(object).writes;
        let first_writes = self.first_writes.entry(object).or_insert_with(|| {
            let numbered = writes.iter().enumerate().rev();
            let threads = numbered.map(|(at, &write)| (run.nodes[write].thread, at));
            threads.collect()
        });
        let has_head = first_writes[&node.thread] < parting;
        let is_foreign = run.nodes[before[parting]].thread != node.thread;
        (has_head && is_foreign).then(|| before[parting])
    }
}
