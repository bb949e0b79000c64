//! The shortest way from a write to the access that should have seen it, along
//! the edges that an interleaving respects. Looks at every event of the run at
//! most once: what a thread, a location or a lock leads to is always the rest
//! of a list, and a list that was walked from some place on is done from there.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use rustc_hash::FxHashMap;

use super::graph::Label;
use super::run_graph::RunGraph;
use crate::event::{LockId, LockMode, ThreadId};
use crate::model::Model;

/// Why one event is before another in every interleaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edge {
    /// The same thread does one before the other.
    ProgramOrder,
    /// The later one reads what the earlier one wrote.
    ReadsFrom,
    /// Both write a location, and the earlier one's write is older.
    Modification,
    /// The earlier one reads a write older than the later one's.
    FromRead,
    /// A thread's start or end, or a lock handed over.
    Synchronisation,
    /// RC20: both are SC fences.
    FenceOrder,
}

/// The edges of a way, each with the node it leads to (`None`: the access).
pub(super) type Way = Vec<(Edge, Option<usize>)>;

/// The way from node `from` to the access that comes next in `thread`, as short as
/// possible.
pub(super) fn shortest(run: &RunGraph, from: usize, thread: ThreadId, model: Model) -> Option<Way> {
    let mut search = Search {
        run,
        reached: FxHashMap::default(),
        queue: VecDeque::from([from]),
        from,
        thread_done: HashMap::new(),
        object_done: HashMap::new(),
        lock_done: HashMap::new(),
        fences_done: run.sc_fences.len(),
    };
    while let Some(node) = search.queue.pop_front() {
        if run.nodes[node].thread == thread {
            let mut path = vec![(Edge::ProgramOrder, None)];
            let mut at = node;
            while let Some(&(edge, before)) = search.reached.get(&at) {
                path.push((edge, Some(at)));
                at = before;
            }
            path.reverse();
            return Some(path);
        }
        search.expand(node, model);
    }
    None
}

struct Search<'a> {
    run: &'a RunGraph,
    /// How each node was first reached, and from which: only of those that are, as
    /// the run may be long and the way short.
    reached: FxHashMap<usize, (Edge, usize)>,
    queue: VecDeque<usize>,
    from: usize,
    /// From where on the nodes of a thread are reached.
    thread_done: HashMap<ThreadId, usize>,
    /// From which number on the writes to an object are reached.
    object_done: HashMap<usize, usize>,
    /// From where on a lock's acquires are reached by releases of this mode.
    lock_done: HashMap<(LockId, LockMode), usize>,
    fences_done: usize,
}

impl Search<'_> {
    fn expand(&mut self, from: usize, model: Model) {
        let run = self.run;
        let node = &run.nodes[from];
        let rest = &run.threads[&node.thread];
        let done = self.thread_done.entry(node.thread).or_insert(rest.len());
        let later = fresh(rest, node.position + 1, done);
        self.reach(from, Edge::ProgramOrder, later);

        if let Some((object, number)) = node.access {
            let writes = &run.object(object).writes;
            if node.label.writes() {
                self.reach(from, Edge::ReadsFrom, &run.object(object).readers[number]);
            }
            let edge = match node.label.writes() {
                true => Edge::Modification,
                false => Edge::FromRead,
            };
            let done = self.object_done.entry(object).or_insert(writes.len());
            let newer = fresh(writes, number, done);
            self.reach(from, edge, newer);
        }

        match node.label {
            Label::Create { child } => {
                self.reach(from, Edge::Synchronisation, &run.threads[&child][..1]);
            }
            Label::Exit => {
                let joins = run.joins.get(&node.thread).map_or(&[][..], Vec::as_slice);
                self.reach(from, Edge::Synchronisation, joins);
            }
            Label::Release { lock, mode } => {
                let order = &run.locks[&lock];
                let done = self.lock_done.entry((lock, mode)).or_insert(order.len());
                let later = fresh(order, node.turn + 1, done);
                let taken: Vec<usize> = (later.iter().copied())
                    .filter(|&to| run.takes_from(to, mode))
                    .collect();
                self.reach(from, Edge::Synchronisation, &taken);
            }
            label if label.is_sc_fence() && model.orders_fences() => {
                let fences = &run.sc_fences;
                let later = fresh(fences, node.turn + 1, &mut self.fences_done);
                self.reach(from, Edge::FenceOrder, later);
            }
            _ => {}
        }
    }

    fn reach(&mut self, from: usize, edge: Edge, nodes: &[usize]) {
        for &node in nodes {
            if node == self.from {
                continue;
            }
            if let Entry::Vacant(entry) = self.reached.entry(node) {
                entry.insert((edge, from));
                self.queue.push_back(node);
            }
        }
    }
}

/// The part of the list from `begin` on that was not walked before.
fn fresh<'a>(list: &'a [usize], begin: usize, done: &mut usize) -> &'a [usize] {
    let end = *done;
    if begin >= end {
        return &[];
    }
    *done = begin;
    &list[begin..end]
}
