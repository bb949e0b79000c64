//! Writes a part of a run down as a graph: the initial writes, the steps in the
//! order of the run, and the access in its stale place at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Label, Node, NodeId, Start, Witness};
use super::part::Part;
use super::stale::StaleChoice;
use crate::violation::{EventIndex, Violation};

/// The graph of the part and the access.
pub(super) fn witness(
    part: &Part<'_>,
    violation: &Violation,
    stale: &StaleChoice,
    label: Label,
) -> Witness {
    let steps = part.nodes();
    let mut emitter = Emitter::new(part);
    let used = steps.iter().filter_map(|&step| part.run.nodes[step].access);
    let used: BTreeSet<usize> = used
        .map(|(object, _)| object)
        .chain([stale.object])
        .collect();
    for object in used {
        emitter.initial(object);
    }
    for step in steps {
        emitter.step(step);
    }
    emitter.access(violation, stale, label);
    emitter.witness
}

struct Emitter<'a> {
    part: &'a Part<'a>,
    witness: Witness,
    /// The node of each object's write number n.
    written: BTreeMap<(usize, usize), NodeId>,
}

impl<'a> Emitter<'a> {
    fn new(part: &'a Part<'a>) -> Self {
        let start = match part.first {
            0 => Start::Run,
            first => Start::Cut {
                first: EventIndex(first as u64),
                positions: part.beginnings(),
            },
        };
        Self {
            part,
            witness: Witness {
                nodes: Vec::new(),
                reads_from: BTreeMap::new(),
                modification: BTreeMap::new(),
                lock_order: BTreeMap::new(),
                fence_order: Vec::new(),
                access: NodeId(0),
                start,
            },
            written: BTreeMap::new(),
        }
    }

    /// What an object holds when the graph begins: its first value, or what the
    /// last write before the cut left there.
    fn initial(&mut self, id: usize) {
        let run = self.part.run;
        let object = run.object(id);
        let earlier = |&step: &usize| run.nodes[step].event < self.part.first;
        let number = object.writes.partition_point(earlier);
        let writer = object.write(number);
        let node = self.push(Node {
            thread: None,
            position: 0,
            event: writer.and_then(|step| self.event(step)),
            label: Label::Initial {
                object: object.id,
                value: run.value(id, number),
            },
        });
        self.written.insert((id, number), node);
        self.witness.modification.insert(object.id, vec![node]);
    }

    fn step(&mut self, id: usize) {
        let step = &self.part.run.nodes[id];
        let node = self.push(Node {
            thread: Some(step.thread),
            position: step.position as u32,
            event: self.event(id),
            label: step.label,
        });
        if let Some((object, number)) = step.access {
            let (reads, writes) = (step.label.reads(), step.label.writes());
            if reads {
                let source = self.written[&(object, number - usize::from(writes))];
                self.witness.reads_from.insert(node, source);
            }
            if writes {
                self.written.insert((object, number), node);
                let object = self.part.run.object(object).id;
                self.witness
                    .modification
                    .entry(object)
                    .or_default()
                    .push(node);
            }
        }
        match step.label {
            Label::Acquire { lock, .. } | Label::Release { lock, .. } => {
                self.witness.lock_order.entry(lock).or_default().push(node);
            }
            label if label.is_sc_fence() && self.part.model.orders_fences() => {
                self.witness.fence_order.push(node);
            }
            _ => {}
        }
    }

    fn access(&mut self, violation: &Violation, stale: &StaleChoice, label: Label) {
        let thread = violation.thread;
        let position = self.part.run.threads.get(&thread).map_or(0, Vec::len) as u32;
        let access = self.push(Node {
            thread: Some(thread),
            position,
            event: Some(violation.access),
            label,
        });
        self.witness.access = access;
        let taken = self.written[&(stale.object, stale.number)];
        if label.reads() {
            self.witness.reads_from.insert(access, taken);
        }
        if label.writes() {
            let object = self.part.run.object(stale.object).id;
            let order = self.witness.modification.entry(object).or_default();
            let after = order.iter().position(|&write| write == taken);
            order.insert(after.map_or(0, |at| at + 1), access);
        }
        // A thread all of whose steps are before the cut begins with the access.
        if let Start::Cut { positions, .. } = &mut self.witness.start {
            positions.entry(thread).or_insert(position);
        }
    }

    /// The event of a step, if it has one.
    fn event(&self, id: usize) -> Option<EventIndex> {
        let step = &self.part.run.nodes[id];
        step.recorded.then_some(EventIndex(step.event as u64))
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.witness.nodes.push(node);
        NodeId(self.witness.nodes.len() - 1)
    }
}
