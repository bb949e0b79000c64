//! The base relations of a well-formed graph: po, rf, mo, fr, and the edges of
//! thread creation, joins, locks and (in RC20) SC fences. Each is kept by nearest
//! neighbours: the next node of the thread, the next write of the location. What
//! is farther away is reached through these, so cycles and closures are the same.

use std::collections::BTreeMap;

use crate::event::{LockMode, ThreadId};
use crate::model::Model;
use crate::witness::digraph::{Digraph, EdgeList};
use crate::witness::graph::{Label, NodeId, ObjectId, Witness};

/// The base relations.
pub(super) struct Edges {
    /// How many nodes there are.
    pub(super) nodes: usize,
    /// The nodes of each thread in program order.
    pub(super) threads: Vec<Vec<usize>>,
    /// Where a node is in its thread; `None` for initial writes. These are before
    /// every thread in po, and nothing leads to them.
    places: Vec<Option<Place>>,
    /// Program order and synchronisation: creation, joins, locks; in RC20 also the
    /// order of the SC fences.
    pub(super) ordered: EdgeList,
    /// From a write to what reads it.
    pub(super) rf: Digraph,
    /// The writes to each location, oldest first.
    pub(super) modification: Vec<Vec<usize>>,
    /// Which location a node accesses, and the number in its modification order of
    /// the write that it makes, or else reads.
    accesses: Vec<Option<Access>>,
}

/// Where a node is in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The number of the thread.
    pub(super) thread: usize,
    /// How many nodes of the thread are before it.
    pub(super) index: usize,
}

/// An access to a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The number of the location.
    pub(super) object: usize,
    /// The number of the write.
    pub(super) write: usize,
    /// It makes the write.
    pub(super) writes: bool,
}

impl Edges {
    /// The relations of a well-formed graph.
    pub(super) fn of(witness: &Witness, model: Model) -> Self {
        let nodes = witness.nodes.len();
        let named = threads(witness);
        let mut places = vec![None; nodes];
        for (thread, own) in named.values().enumerate() {
            for (index, &node) in own.iter().enumerate() {
                places[node] = Some(Place { thread, index });
            }
        }
        let mut rf = EdgeList::new(nodes);
        for (read, source) in &witness.reads_from {
            rf.add(source.0, read.0);
        }
        let orders = witness.modification.values();
        Self {
            nodes,
            ordered: program_order_and_synchronisation(witness, &named, model),
            threads: named.into_values().collect(),
            places,
            rf: rf.forward(),
            modification: orders.map(|o| o.iter().map(|id| id.0).collect()).collect(),
            accesses: accesses(witness),
        }
    }

    /// Where a node is in its thread, if it is in one; what only stands for nodes
    /// is not.
    pub(super) fn place(&self, vertex: usize) -> Option<Place> {
        self.places.get(vertex).copied().flatten()
    }

    /// The node that is next in its thread.
    pub(super) fn next(&self, node: usize) -> Option<usize> {
        let Place { thread, index } = self.place(node)?;
        self.threads[thread].get(index + 1).copied()
    }

    /// What the node accesses, if it does.
    pub(super) fn access(&self, node: usize) -> Option<Access> {
        self.accesses.get(node).copied().flatten()
    }

    /// The oldest of the writes that are newer than what the node writes or reads.
    pub(super) fn newer(&self, node: usize) -> Option<usize> {
        let Access { object, write, .. } = self.access(node)?;
        self.modification[object].get(write + 1).copied()
    }

    /// Whether the nodes access the same location.
    pub(super) fn same_object(&self, one: usize, other: usize) -> bool {
        let object = |node| self.access(node).map(|access| access.object);
        object(one).is_some() && object(one) == object(other)
    }
}

/// The nodes of each thread in program order.
fn threads(witness: &Witness) -> BTreeMap<ThreadId, Vec<usize>> {
    let mut threads: BTreeMap<ThreadId, Vec<usize>> = BTreeMap::new();
    for (id, node) in witness.iter() {
        if let Some(thread) = node.thread {
            threads.entry(thread).or_default().push(id.0);
        }
    }
    for own in threads.values_mut() {
        own.sort_unstable_by_key(|&node| witness.nodes[node].position);
    }
    threads
}

fn accesses(witness: &Witness) -> Vec<Option<Access>> {
    let mut made = vec![0; witness.nodes.len()];
    for order in witness.modification.values() {
        for (number, write) in order.iter().enumerate() {
            made[write.0] = number;
        }
    }
    let numbers: BTreeMap<ObjectId, usize> =
        witness.modification.keys().copied().zip(0..).collect();
    let access = |(id, label): (NodeId, Label)| {
        let writes = label.writes();
        let source = witness.reads_from.get(&id).unwrap_or(&id);
        Some(Access {
            object: numbers[&label.object()?],
            write: made[if writes { id } else { *source }.0],
            writes,
        })
    };
    let labelled = witness.iter().map(|(id, node)| (id, node.label));
    labelled.map(access).collect()
}

fn program_order_and_synchronisation(
    witness: &Witness,
    threads: &BTreeMap<ThreadId, Vec<usize>>,
    model: Model,
) -> EdgeList {
    let mut edges = EdgeList::new(witness.nodes.len());
    for own in threads.values() {
        add_line(&mut edges, own.iter().copied());
    }
    let of = |child| threads.get(&child).map_or(&[][..], Vec::as_slice);
    for (id, node) in witness.iter() {
        match node.label {
            // Well formed: the child's first node is its start, or it has none.
            Label::Create { child } => edges.add_some(Some(id.0), of(child).first().copied()),
            // Well formed: the child's last node is its end, or it has none.
            Label::Join { child } => edges.add_some(of(child).last().copied(), Some(id.0)),
            _ => {}
        }
    }
    for order in witness.lock_order.values() {
        add_lock(&mut edges, witness, order);
    }
    if model.orders_fences() {
        add_line(&mut edges, witness.fence_order.iter().map(|id| id.0));
    }
    edges
}

fn add_line(edges: &mut EdgeList, line: impl Iterator<Item = usize>) {
    let mut last = None;
    for node in line {
        edges.add_some(last, Some(node));
        last = Some(node);
    }
}

/// Every release of a lock leads to all later acquires that its mode orders.
fn add_lock(edges: &mut EdgeList, witness: &Witness, order: &[NodeId]) {
    let modes = [LockMode::Exclusive, LockMode::Shared, LockMode::Signal];
    let mut released = [None; 3];
    for id in order {
        let each = modes.into_iter().zip(&mut released);
        match witness.node(*id).label {
            Label::Release { mode, .. } => {
                for (_, so_far) in each.filter(|(given, _)| *given == mode) {
                    *so_far = edges.after_both(*so_far, Some(id.0));
                }
            }
            Label::Acquire { mode, .. } => {
                for (_, so_far) in each.filter(|(given, _)| hands_over(*given, mode)) {
                    edges.add_some(*so_far, Some(id.0));
                }
            }
            _ => {}
        }
    }
}

/// Whether a release of a lock orders a later acquire after it.
fn hands_over(given: LockMode, taken: LockMode) -> bool {
    match given {
        LockMode::Exclusive => taken != LockMode::Signal,
        LockMode::Shared => taken == LockMode::Exclusive,
        LockMode::Signal => taken == LockMode::Signal,
    }
}
