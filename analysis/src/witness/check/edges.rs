//! The base relations of a well-formed graph: po, rf, mo, fr, and the edges of
//! thread creation, joins, locks and (in RC20) SC fences.

use super::relation::Relation;
use crate::event::{LockMode, ThreadId};
use crate::model::Model;
use crate::witness::graph::{Label, NodeId, Witness};
use std::collections::BTreeMap;

/// The base relations.
pub(super) struct Edges {
    /// How many nodes there are.
    pub(super) nodes: usize,
    /// Program order; initial writes are before every thread.
    pub(super) po: Relation,
    /// From a write to what reads it.
    pub(super) rf: Relation,
    /// From a write to every newer write to the location.
    pub(super) mo: Relation,
    /// From a read to every write newer than the one it reads.
    pub(super) fr: Relation,
    /// Creation, joins, locks; in RC20 also the order of the SC fences.
    pub(super) sync: Relation,
    /// The nodes of each thread in program order.
    pub(super) threads: BTreeMap<ThreadId, Vec<usize>>,
}

impl Edges {
    /// The relations of a well-formed graph.
    pub(super) fn of(witness: &Witness, model: Model) -> Self {
        let nodes = witness.nodes.len();
        let mut threads: BTreeMap<ThreadId, Vec<usize>> = BTreeMap::new();
        for (id, node) in witness.iter() {
            if let Some(thread) = node.thread {
                threads.entry(thread).or_default().push(id.0);
            }
        }
        for thread in threads.values_mut() {
            thread.sort_unstable_by_key(|&n| witness.nodes[n].position);
        }
        let mo = Relation::of(nodes, witness.modification.values().flat_map(|o| pairs(o)));
        let mut fr = Relation::empty(nodes);
        for (read, source) in &witness.reads_from {
            for newer in mo.row(source.0).iter().filter(|&newer| newer != read.0) {
                fr.insert(read.0, newer);
            }
        }
        Self {
            po: program_order(witness, &threads),
            rf: Relation::of(nodes, witness.reads_from.iter().map(|(r, w)| (w.0, r.0))),
            mo,
            fr,
            sync: synchronisation(witness, &threads, model),
            threads,
            nodes,
        }
    }
}

fn program_order(witness: &Witness, threads: &BTreeMap<ThreadId, Vec<usize>>) -> Relation {
    let mut po = Relation::empty(witness.nodes.len());
    let initial = witness.iter().filter(|(_, node)| node.thread.is_none());
    for (id, _) in initial {
        for &node in threads.values().flatten() {
            po.insert(id.0, node);
        }
    }
    for thread in threads.values() {
        for (at, &node) in thread.iter().enumerate() {
            for &later in &thread[at + 1..] {
                po.insert(node, later);
            }
        }
    }
    po
}

fn synchronisation(
    witness: &Witness,
    threads: &BTreeMap<ThreadId, Vec<usize>>,
    model: Model,
) -> Relation {
    let mut sync = Relation::empty(witness.nodes.len());
    for (id, node) in witness.iter() {
        match node.label {
            Label::Create { child } => {
                // Well formed: the child's first node is its start, or it has none.
                if let Some(first) = threads.get(&child).and_then(|nodes| nodes.first()) {
                    sync.insert(id.0, *first);
                }
            }
            Label::Join { child } => {
                // Well formed: the child's last node is its end, or it has none.
                if let Some(last) = threads.get(&child).and_then(|nodes| nodes.last()) {
                    sync.insert(*last, id.0);
                }
            }
            _ => {}
        }
    }
    for order in witness.lock_order.values() {
        for (from, to) in pairs(order) {
            if hands_over(witness.nodes[from].label, witness.nodes[to].label) {
                sync.insert(from, to);
            }
        }
    }
    if model == Model::Rc20 {
        for (from, to) in pairs(&witness.fence_order) {
            sync.insert(from, to);
        }
    }
    sync
}

/// Whether the earlier event of a lock orders the later one after it.
fn hands_over(earlier: Label, later: Label) -> bool {
    match (earlier, later) {
        (Label::Release { mode: given, .. }, Label::Acquire { mode: taken, .. }) => match given {
            LockMode::Exclusive => taken != LockMode::Signal,
            LockMode::Shared => taken == LockMode::Exclusive,
            LockMode::Signal => taken == LockMode::Signal,
        },
        _ => false,
    }
}

/// All pairs of a line, the earlier first.
fn pairs(order: &[NodeId]) -> impl Iterator<Item = (usize, usize)> + '_ {
    order.iter().enumerate().flat_map(move |(at, from)| {
        let later = &order[at + 1..];
        later.iter().map(move |to| (from.0, to.0))
    })
}
