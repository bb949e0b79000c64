//! Machines by searching: whether a machine with store buffers, or one that performs
//! the accesses of a thread out of order, comes to have run a graph. Slow and simple;
//! the truth for what is decided by looking for cycles.

use std::collections::{BTreeMap, HashSet};

use wmfix_analysis::witness::{Label, NodeId, ObjectId, Witness};
use wmfix_analysis::{Event, Operation, ThreadId};

/// A graph by threads.
struct Threads<'w> {
    witness: &'w Witness,
    nodes: Vec<Vec<NodeId>>,
    exchanges: HashSet<NodeId>,
}

impl<'w> Threads<'w> {
    fn of(witness: &'w Witness, events: &[Event]) -> Self {
        let mut threads: BTreeMap<ThreadId, Vec<NodeId>> = BTreeMap::new();
        for (id, node) in witness.iter() {
            if let Some(thread) = node.thread {
                threads.entry(thread).or_default().push(id);
            }
        }
        let mut nodes: Vec<Vec<NodeId>> = threads.into_values().collect();
        for thread in &mut nodes {
            thread.sort_by_key(|&id| witness.node(id).position);
        }
        let exchange = |id: &NodeId| {
            let event = witness.node(*id).event;
            let event = event.and_then(|event| events.get(event.0 as usize));
            event.is_some_and(|e| matches!(e.operation, Operation::CompareExchange { .. }))
        };
        let all = witness.iter().map(|(id, _)| id);
        Self {
            witness,
            nodes,
            exchanges: all.filter(exchange).collect(),
        }
    }

    fn label(&self, id: NodeId) -> Label {
        self.witness.node(id).label
    }

    fn memory(&self) -> BTreeMap<ObjectId, NodeId> {
        let orders = self.witness.modification.iter();
        orders.map(|(&object, order)| (object, order[0])).collect()
    }

    fn before_in_mo(&self, write: NodeId) -> NodeId {
        let object = self.label(write).object().expect("a write");
        let order = &self.witness.modification[&object];
        let at = order.iter().position(|&id| id == write).expect("in mo");
        order[at - 1]
    }

    /// Whether a start, an end or a lock can come now.
    fn may_synchronise(&self, id: NodeId, done: impl Fn(NodeId) -> bool) -> bool {
        let thread = self.witness.node(id).thread;
        match self.label(id) {
            Label::Start => self.witness.iter().all(|(other, node)| {
                !matches!(node.label, Label::Create { child } if Some(child) == thread)
                    || done(other)
            }),
            Label::Join { child } => {
                (self.witness.iter()).all(|(other, node)| node.thread != Some(child) || done(other))
            }
            Label::Acquire { lock, .. } | Label::Release { lock, .. } => {
                let order = &self.witness.lock_order[&lock];
                order
                    .iter()
                    .take_while(|&&other| other != id)
                    .all(|&other| done(other))
            }
            _ => true,
        }
    }
}

/// Whether a machine whose threads have store buffers runs the graph.
pub fn runs_with_store_buffers(witness: &Witness, events: &[Event]) -> bool {
    type State = (Vec<usize>, Vec<Vec<NodeId>>, BTreeMap<ObjectId, NodeId>);
    let threads = Threads::of(witness, events);
    let count = threads.nodes.len();
    let start: State = (vec![0; count], vec![Vec::new(); count], threads.memory());
    let mut seen = HashSet::new();
    let mut stack = vec![start];
    while let Some(state) = stack.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let (positions, buffers, memory) = &state;
        let ended = |t: usize| positions[t] == threads.nodes[t].len();
        if (0..count).all(|t| ended(t) && buffers[t].is_empty()) {
            return true;
        }
        let done = |id: NodeId| (0..count).any(|t| threads.nodes[t][..positions[t]].contains(&id));
        for t in 0..count {
            if let Some(&oldest) = buffers[t].first() {
                let object = threads.label(oldest).object().expect("a write");
                if memory[&object] == threads.before_in_mo(oldest) {
                    let mut next = state.clone();
                    next.1[t].remove(0);
                    next.2.insert(object, oldest);
                    stack.push(next);
                }
            }
            let Some(&id) = threads.nodes[t].get(positions[t]) else {
                continue;
            };
            let mut next = state.clone();
            next.0[t] += 1;
            let drained = buffers[t].is_empty();
            let possible = match threads.label(id) {
                Label::Read { object, .. } => {
                    let own = buffers[t].iter().rev();
                    let own = own
                        .copied()
                        .find(|&w| threads.label(w).object() == Some(object));
                    let found = own.unwrap_or(memory[&object]);
                    found == witness.reads_from[&id]
                        && (drained || !threads.exchanges.contains(&id))
                }
                Label::Write { object, order, .. } => {
                    if order.is_sc() {
                        next.2.insert(object, id);
                        drained && memory[&object] == threads.before_in_mo(id)
                    } else {
                        next.1[t].push(id);
                        true
                    }
                }
                Label::Rmw { object, .. } => {
                    next.2.insert(object, id);
                    drained
                        && memory[&object] == witness.reads_from[&id]
                        && memory[&object] == threads.before_in_mo(id)
                }
                Label::Fence { order } => drained || !order.is_sc(),
                _ => drained && threads.may_synchronise(id, done),
            };
            if possible {
                stack.push(next);
            }
        }
    }
    false
}

/// Whether a machine runs the graph that performs the accesses of a thread in any
/// order which AArch64 allows if nothing depends on anything, each one at once for
/// all other threads.
pub fn runs_out_of_order(witness: &Witness, events: &[Event]) -> bool {
    let threads = Threads::of(witness, events);
    // Reads and writes of read-modify-writes on their own.
    let mut parts: Vec<(usize, NodeId, bool)> = Vec::new();
    for (t, nodes) in threads.nodes.iter().enumerate() {
        for &id in nodes {
            match threads.label(id) {
                Label::Rmw { .. } => parts.extend([(t, id, false), (t, id, true)]),
                label => parts.push((t, id, label.writes())),
            }
        }
    }
    assert!(parts.len() < 64, "a small graph");
    let waits_for = |at: usize| -> u64 {
        let (t, id, writes) = parts[at];
        let earlier = (0..at).filter(|&other| parts[other].0 == t);
        let kept = earlier.filter(|&other| {
            let between = &parts[other..=at];
            threads.keeps(parts[other], (t, id, writes), between)
        });
        kept.fold(0, |mask, other| mask | 1 << other)
    };
    let waits_for: Vec<u64> = (0..parts.len()).map(waits_for).collect();
    let full: u64 = (1 << parts.len()) - 1;
    let mut seen = HashSet::new();
    let mut stack = vec![(0u64, threads.memory())];
    while let Some((performed, memory)) = stack.pop() {
        if performed == full {
            return true;
        }
        if !seen.insert((performed, memory.clone())) {
            continue;
        }
        let done = |node: NodeId| {
            let all = parts.iter().enumerate().filter(|(_, part)| part.1 == node);
            all.into_iter().all(|(at, _)| performed >> at & 1 == 1)
        };
        for (at, &(t, id, writes)) in parts.iter().enumerate() {
            if performed >> at & 1 == 1 || waits_for[at] & !performed != 0 {
                continue;
            }
            let mut after = memory.clone();
            let possible = match threads.label(id).object() {
                Some(object) if writes => {
                    after.insert(object, id);
                    memory[&object] == threads.before_in_mo(id)
                }
                Some(object) => {
                    let source = witness.reads_from[&id];
                    let own = parts[..at].iter().any(|&(o, w, _)| o == t && w == source);
                    memory[&object] == source || own && !done(source)
                }
                None => threads.may_synchronise(id, done),
            };
            if possible {
                stack.push((performed | 1 << at, after));
            }
        }
    }
    false
}

impl Threads<'_> {
    /// Whether AArch64 keeps two parts of a thread in order; `between` begins and
    /// ends with them.
    fn keeps(
        &self,
        (_, one, one_writes): (usize, NodeId, bool),
        (_, other, other_writes): (usize, NodeId, bool),
        between: &[(usize, NodeId, bool)],
    ) -> bool {
        let (first, second) = (self.label(one), self.label(other));
        let fence = |label: &Label| matches!(label, Label::Fence { .. });
        if one == other {
            return true;
        }
        // Fences are done where they stand; what they keep apart is below.
        if fence(&first) || fence(&second) {
            return false;
        }
        let full = |label: Label| match label {
            Label::Fence { order } => order.releases(),
            label => label.object().is_none(),
        };
        let for_loads = |label: Label| matches!(label, Label::Fence { order } if !order.releases());
        let any =
            |test: &dyn Fn(Label) -> bool| between.iter().any(|part| test(self.label(part.1)));
        let rcsc = match second {
            Label::Read { order, .. } => {
                order.is_sc() || order.acquires() && self.exchanges.contains(&other)
            }
            Label::Rmw { order, .. } => order.acquires(),
            _ => false,
        };
        let reads_own_rmw = first.is_rmw()
            && one_writes
            && second.acquires()
            && self.witness.reads_from.get(&other) == Some(&one);
        // Coherence: writes to one object, and a read before a write to it.
        let same_object = first.object().is_some() && first.object() == second.object();
        !one_writes && first.acquires()
            || other_writes && second.releases()
            || one_writes && first.releases() && !other_writes && rcsc
            || !other_writes && reads_own_rmw
            || any(&full)
            || !one_writes && first.reads() && any(&for_loads)
            || same_object && other_writes
    }
}
