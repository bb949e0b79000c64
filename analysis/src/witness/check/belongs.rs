//! Whether a graph is a part of a run: every node what its event did, nothing
//! of a thread left out in between, everything in the order of the run, and
//! only the access in another place. With [`check`](super::check) this makes a
//! proof about the program, not about some graph. Reads the events on its own,
//! not through what builds witnesses.

use std::collections::{BTreeMap, HashMap};

use super::shape::unknown_name;
use crate::event::{CasOutcome, CasStrength, Event, LocationId, Operation, ThreadId};
use crate::violation::EventIndex;
use crate::witness::graph::{Guard, Label, Node, NodeId, Start, Witness};

/// Why a graph is no part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunMismatch {
    /// The node is not what its event did, has no event where it needs one, or
    /// is named and not there.
    #[error("{0:?} is not what its event did")]
    Event(NodeId),
    /// The thread did something between two nodes that is not in the graph.
    #[error("event {} of thread {:?} is left out", .1.0, .0)]
    LeftOut(ThreadId, EventIndex),
    /// The node is not where the order of the run has it.
    #[error("{0:?} is not where the run has it")]
    Order(NodeId),
    /// The node reads from another write than in the run.
    #[error("{0:?} reads from another write than in the run")]
    Source(NodeId),
}

/// Whether the graph is a part of this run but for the place of the
/// access and the values it reads there.
///
/// # Errors
/// The first difference.
pub fn belongs(witness: &Witness, events: &[Event]) -> Result<(), RunMismatch> {
    if let Some(unknown) = unknown_name(witness) {
        return Err(RunMismatch::Event(unknown));
    }
    let mut threads: BTreeMap<ThreadId, Vec<(u32, NodeId)>> = BTreeMap::new();
    for (id, node) in witness.iter() {
        if !happened(node, id == witness.access, events) {
            return Err(RunMismatch::Event(id));
        }
        if let (Some(thread), Some(_)) = (node.thread, node.event) {
            let nodes = threads.entry(thread).or_default();
            nodes.push((node.position, id));
        }
    }
    for (&thread, nodes) in &mut threads {
        nodes.sort_unstable();
        whole_thread(witness, events, thread, nodes)?;
    }
    for order in (witness.modification.values()).chain(witness.lock_order.values()) {
        // The access may be out of order.
        in_order(witness, order.iter().filter(|&&id| id != witness.access))?;
    }
    in_order(witness, witness.fence_order.iter())?;
    sources(witness, events)
}

/// Whether the node is what its event did; the access only has to be what it
/// could have done for some value.
fn happened(node: &Node, is_access: bool, events: &[Event]) -> bool {
    let event = node.event.map(|index| events.get(index.0 as usize));
    match (node.label, event) {
        (Label::Initial { .. }, None | Some(Some(_))) | (Label::Start, None) => true,
        // A write without an event.
        (Label::Rmw { .. }, None) => !is_access && node.position == 0,
        (label, Some(Some(event))) => {
            let accessed = label.object().map(|object| object.location);
            node.thread == Some(event.thread)
                && accessed == location(&event.operation)
                && (is_access || same_values(&label, &event.operation))
                && same_kind(&label, &event.operation)
        }
        _ => false,
    }
}

fn same_kind(label: &Label, operation: &Operation) -> bool {
    match (*label, *operation) {
        (Label::Read { order, guard, .. }, Operation::Load { order: o, exit, .. }) => {
            order == o && guard == exit.map_or(Guard::Any, Guard::Leaves)
        }
        (
            Label::Read { order, guard, .. },
            Operation::CompareExchange {
                failure,
                strength,
                expected,
                blocking,
                ..
            },
        ) => {
            let demand = match strength {
                CasStrength::Strong => Guard::Differs(expected),
                CasStrength::Weak => Guard::Any,
            };
            order == failure && guard == demand && !blocking
        }
        (Label::Write { order, .. }, Operation::Store { order: o, .. }) => order == o,
        (
            Label::Rmw {
                order, read, guard, ..
            },
            Operation::Rmw { order: o, exit, .. },
        ) => {
            // A round that stays in its loop and writes something new is an event.
            let leaves = |exit| Guard::Leaves(exit).admits(read);
            order == o
                && guard
                    == exit
                        .filter(|&exit| leaves(exit))
                        .map_or(Guard::Any, Guard::Leaves)
        }
        (
            Label::Rmw { order, guard, .. },
            Operation::CompareExchange {
                success, expected, ..
            },
        ) => order == success && guard == Guard::Equals(expected),
        (Label::Fence { order }, Operation::Fence { order: o }) => order == o,
        (Label::Create { child }, Operation::Create { child: c }) => child == c,
        (Label::Join { child }, Operation::Join { child: c }) => child == c,
        (Label::Exit, Operation::Exit) => true,
        (Label::Acquire { lock, mode }, Operation::Acquire { lock: l, mode: m })
        | (Label::Release { lock, mode }, Operation::Release { lock: l, mode: m }) => {
            lock == l && mode == m
        }
        _ => false,
    }
}

fn same_values(label: &Label, operation: &Operation) -> bool {
    let (read, written) = match *operation {
        Operation::Load { value, .. } => (Some(value), None),
        Operation::Store { value, .. } => (None, Some(value)),
        Operation::Rmw { read, written, .. } => (Some(read), Some(written)),
        Operation::CompareExchange { read, outcome, .. } => match outcome {
            CasOutcome::Exchanged(value) => (Some(read), Some(value)),
            CasOutcome::Failed => (Some(read), None),
        },
        _ => (None, None),
    };
    label.value_read() == read && label.value_written() == written
}

/// The nodes of a thread are all that it did from the first to the last.
fn whole_thread(
    witness: &Witness,
    events: &[Event],
    thread: ThreadId,
    nodes: &[(u32, NodeId)],
) -> Result<(), RunMismatch> {
    let index = |id: NodeId| witness.node(id).event.map_or(0, |event| event.0);
    let begin = match witness.start {
        Start::Run => 0,
        Start::Cut { first, .. } => first.0,
    };
    let mut next = begin;
    for &(_, id) in nodes {
        let at = index(id);
        if at < next {
            return Err(RunMismatch::Order(id));
        }
        let between = next..at;
        let missed = between.clone().zip(&events[next as usize..at as usize]);
        for (missed, event) in missed {
            if event.thread == thread && counts(&event.operation) {
                return Err(RunMismatch::LeftOut(thread, EventIndex(missed)));
            }
        }
        next = at + 1;
    }
    Ok(())
}

/// Whether an event is one of the graph.
fn counts(operation: &Operation) -> bool {
    let elsewhere = matches!(
        operation,
        Operation::Birth { .. }
            | Operation::Death { .. }
            | Operation::Read { .. }
            | Operation::Write { .. }
    );
    !elsewhere && !operation.stays_in_loop()
}

fn in_order<'a>(
    witness: &Witness,
    nodes: impl Iterator<Item = &'a NodeId>,
) -> Result<(), RunMismatch> {
    let mut last = None;
    for &id in nodes {
        let event = witness.node(id).event;
        if event.is_some() {
            if last >= event {
                return Err(RunMismatch::Order(id));
            }
            last = event;
        }
    }
    Ok(())
}

/// Every read but the access takes what was the newest write in the run.
fn sources(witness: &Witness, events: &[Event]) -> Result<(), RunMismatch> {
    let reads = witness.reads_from.iter();
    let mut wanted: Vec<(EventIndex, NodeId, EventIndex)> = reads
        .filter(|(read, _)| **read != witness.access)
        .filter_map(|(&read, &source)| {
            Some((witness.node(read).event?, read, witness.node(source).event?))
        })
        .collect();
    wanted.sort_unstable();
    // What came before all of the sources, or comes after the last read, is of no
    // importance: runs are long, and witnesses short.
    let begin = wanted.iter().map(|&(_, _, source)| source.0).min();
    let end = wanted.last().map(|&(read, ..)| read.0);
    let (Some(begin), Some(end)) = (begin, end) else {
        return Ok(());
    };
    let mut newest: HashMap<LocationId, EventIndex> = HashMap::new();
    let mut wanted = wanted.into_iter().peekable();
    let looked_at = (0..).map(EventIndex).zip(events);
    let looked_at = looked_at.skip(begin as usize);
    for (index, event) in looked_at.take_while(|(index, _)| index.0 <= end) {
        let accessed = location(&event.operation);
        while let Some((_, read, source)) = wanted.next_if(|&(at, ..)| at == index) {
            if accessed.and_then(|location| newest.get(&location)) != Some(&source) {
                return Err(RunMismatch::Source(read));
            }
        }
        if let Some(location) = accessed
            && writes(&event.operation)
        {
            newest.insert(location, index);
        }
    }
    match wanted.next() {
        // It reads from a write that comes after it.
        Some((_, read, _)) => Err(RunMismatch::Source(read)),
        None => Ok(()),
    }
}

fn location(operation: &Operation) -> Option<LocationId> {
    match *operation {
        Operation::Load { location, .. }
        | Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. } => Some(location),
        _ => None,
    }
}

fn writes(operation: &Operation) -> bool {
    match operation {
        Operation::Store { .. } => true,
        Operation::Rmw { .. } => !operation.stays_in_loop(),
        Operation::CompareExchange { outcome, .. } => *outcome != CasOutcome::Failed,
        _ => false,
    }
}
