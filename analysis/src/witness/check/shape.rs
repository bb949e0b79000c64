//! What makes a pile of nodes an execution graph: threads without gaps, every
//! read with a source that wrote its value, every location's writes in a line.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{LockId, ThreadId};
use crate::model::{Model, SeqCst};
use crate::witness::graph::{Label, NodeId, ObjectId, Start, Witness};

/// Why a graph is no execution graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// A node is named that is not there.
    #[error("there is no {0:?}")]
    NoSuchNode(NodeId),
    /// Exactly the initial writes belong to no thread.
    #[error("{0:?} belongs to a thread and is initial, or neither")]
    Threadless(NodeId),
    /// Two nodes of a thread have the same position, or one is missing.
    #[error("thread {thread:?} has no single event {position}")]
    Gap {
        /// The thread.
        thread: ThreadId,
        /// The first position that is not taken exactly once.
        position: u32,
    },
    /// A thread that is created does not begin with its start, or one that is
    /// not does.
    #[error("thread {0:?} has a creator without a start, or a start without a creator")]
    Start(ThreadId),
    /// Something follows a thread's end.
    #[error("{0:?} is not the last event of its thread")]
    AfterExit(NodeId),
    /// A thread is joined that has not ended.
    #[error("{0:?} waits for a thread whose end is not there")]
    JoinWithoutExit(NodeId),
    /// A node reads and has no source, or has one and does not read.
    #[error("{0:?} reads without a source, or has a source without reading")]
    Source(NodeId),
    /// A node reads from something that is no write to its location.
    #[error("{read:?} reads from {source_node:?}, which does not write its location")]
    SourceElsewhere {
        /// What reads.
        read: NodeId,
        /// Its source.
        source_node: NodeId,
    },
    /// A node reads another value than its source wrote.
    #[error("{read:?} reads another value than {source_node:?} wrote")]
    Value {
        /// What reads.
        read: NodeId,
        /// Its source.
        source_node: NodeId,
    },
    /// The program would not have done this after reading this value.
    #[error("the program does something else than {0:?} for the value read")]
    Guard(NodeId),
    /// The modification order of a location is not an order of all its writes
    /// that begins with the initial one.
    #[error("the modification order of {0:?} is no order of its writes")]
    Modification(ObjectId),
    /// The order of a lock is not an order of all its events, or not that of
    /// some thread.
    #[error("the order of {0:?} is no order of its events")]
    LockOrder(LockId),
    /// RC20 needs an order of all SC fences.
    #[error("the order of the SC fences is no order of all of them")]
    FenceOrder,
}

/// Whether the graph is an execution graph.
pub(super) fn well_formed(witness: &Witness, model: Model) -> Result<(), Defect> {
    if let Some(unknown) = unknown_name(witness) {
        return Err(Defect::NoSuchNode(unknown));
    }
    threads(witness)?;
    reads(witness)?;
    modification(witness)?;
    locks(witness)?;
    fences(witness, model)
}

/// A node that is named and not there.
pub(super) fn unknown_name(witness: &Witness) -> Option<NodeId> {
    let orders = (witness.modification.values()).chain(witness.lock_order.values());
    (witness.reads_from.iter().flat_map(|(&a, &b)| [a, b]))
        .chain(orders.flatten().copied())
        .chain(witness.fence_order.iter().copied())
        .chain([witness.access])
        .find(|id| id.0 >= witness.nodes.len())
}

fn threads(witness: &Witness) -> Result<(), Defect> {
    let mut threads: BTreeMap<ThreadId, Vec<(u32, NodeId)>> = BTreeMap::new();
    for (id, node) in witness.iter() {
        match (node.thread, node.label) {
            (None, Label::Initial { .. }) => {}
            (None, _) | (_, Label::Initial { .. }) => return Err(Defect::Threadless(id)),
            (Some(thread), _) => {
                let nodes = threads.entry(thread).or_default();
                nodes.push((node.position, id));
            }
        }
    }
    let created: BTreeSet<ThreadId> = (witness.nodes.iter())
        .filter_map(|node| match node.label {
            Label::Create { child } => Some(child),
            _ => None,
        })
        .collect();
    let mut exited = BTreeSet::new();
    for (&thread, nodes) in &mut threads {
        nodes.sort_unstable();
        let first = match &witness.start {
            Start::Run => 0,
            Start::Cut { positions, .. } => positions.get(&thread).copied().unwrap_or(0),
        };
        for (position, &(found, _)) in (first..).zip(nodes.iter()) {
            if position != found {
                return Err(Defect::Gap { thread, position });
            }
        }
        for &(position, id) in nodes.iter() {
            let starts = witness.node(id).label == Label::Start;
            if starts != (position == 0 && created.contains(&thread)) {
                return Err(Defect::Start(thread));
            }
        }
        let exit = |&&(_, id): &&(u32, NodeId)| witness.node(id).label == Label::Exit;
        if let Some(&(position, id)) = nodes.iter().find(exit) {
            if nodes.last() != Some(&(position, id)) {
                return Err(Defect::AfterExit(id));
            }
            exited.insert(thread);
        }
    }
    // A thread that ended before the cut has nothing in the graph.
    let gone = |child| witness.start != Start::Run && !threads.contains_key(child);
    for (id, node) in witness.iter() {
        if let Label::Join { child } = &node.label
            && !exited.contains(child)
            && !gone(child)
        {
            return Err(Defect::JoinWithoutExit(id));
        }
    }
    Ok(())
}

fn reads(witness: &Witness) -> Result<(), Defect> {
    for (read, node) in witness.iter() {
        let source = witness.reads_from.get(&read).copied();
        let source_node = match (node.label.reads(), source) {
            (false, None) => continue,
            (true, Some(source)) => source,
            _ => return Err(Defect::Source(read)),
        };
        let write = witness.node(source_node).label;
        if !write.writes() || write.object() != node.label.object() {
            return Err(Defect::SourceElsewhere { read, source_node });
        }
        // Only an initial value may be unknown to all; what an RMW of unknown
        // effect wrote may not be read at all.
        let value = node.label.value_read();
        let untold = value.is_none() && write.is_rmw();
        if write.value_written() != value || untold {
            return Err(Defect::Value { read, source_node });
        }
        if let Label::Read { guard, .. } | Label::Rmw { guard, .. } = node.label
            && !guard.admits(value)
        {
            return Err(Defect::Guard(read));
        }
    }
    Ok(())
}

fn modification(witness: &Witness) -> Result<(), Defect> {
    let mut writes: BTreeMap<ObjectId, BTreeSet<NodeId>> = BTreeMap::new();
    for (id, node) in witness.iter() {
        if let Some(object) = node.label.object() {
            let writes = writes.entry(object).or_default();
            if node.label.writes() {
                writes.insert(id);
            }
        }
    }
    let objects: BTreeSet<ObjectId> = (writes.keys().chain(witness.modification.keys()))
        .copied()
        .collect();
    for object in objects {
        let order = witness
            .modification
            .get(&object)
            .map_or(&[][..], Vec::as_slice);
        let initial = |id: &NodeId| matches!(witness.node(*id).label, Label::Initial { .. });
        let begins = order.first().is_some_and(initial);
        let once = order.iter().filter(|id| initial(id)).count() == 1;
        if !begins || !once || !is_order_of(order, writes.get(&object)) {
            return Err(Defect::Modification(object));
        }
    }
    Ok(())
}

fn locks(witness: &Witness) -> Result<(), Defect> {
    let mut users: BTreeMap<LockId, BTreeSet<NodeId>> = BTreeMap::new();
    for (id, node) in witness.iter() {
        if let Label::Acquire { lock, .. } | Label::Release { lock, .. } = node.label {
            users.entry(lock).or_default().insert(id);
        }
    }
    let locks: BTreeSet<LockId> = (users.keys().chain(witness.lock_order.keys()))
        .copied()
        .collect();
    for lock in locks {
        let order = witness.lock_order.get(&lock).map_or(&[][..], Vec::as_slice);
        let mut last: BTreeMap<Option<ThreadId>, u32> = BTreeMap::new();
        let backwards = order.iter().any(|&id| {
            let node = witness.node(id);
            let before = last.insert(node.thread, node.position);
            before.is_some_and(|before| before > node.position)
        });
        if backwards || !is_order_of(order, users.get(&lock)) {
            return Err(Defect::LockOrder(lock));
        }
    }
    Ok(())
}

fn fences(witness: &Witness, model: Model) -> Result<(), Defect> {
    let fences = (witness.iter())
        .filter(|(_, node)| node.label.is_sc_fence())
        .map(|(id, _)| id)
        .collect();
    match model.seq_cst {
        SeqCst::Rc20 if !is_order_of(&witness.fence_order, Some(&fences)) => {
            Err(Defect::FenceOrder)
        }
        SeqCst::Rc11 | SeqCst::Rc20 => Ok(()),
    }
}

/// Whether the list has exactly these members, each once.
fn is_order_of(order: &[NodeId], members: Option<&BTreeSet<NodeId>>) -> bool {
    let found: BTreeSet<NodeId> = order.iter().copied().collect();
    found.len() == order.len()
        && match members {
            Some(members) => found == *members,
            None => found.is_empty(),
        }
}
