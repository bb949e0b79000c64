//! Graphs for the checker of witnesses, made straight from a run and one access
//! put in any old place, allowed or not.

use std::collections::BTreeMap;

use wmfix_analysis::witness::{Guard, Label, Node, NodeId, ObjectId, Start, Witness};
use wmfix_analysis::{
    CasOutcome, CasStrength, Event, EventIndex, LocationId, Model, Operation, SeqCst, ThreadId,
};

use crate::brute::StaleChoice;
use crate::litmus::{Instruction, Program, thread_id};

/// The graph of a run, with the next access of a thread reading or following an
/// old write.
pub fn candidate(
    program: &Program,
    run: &[Event],
    thread: usize,
    next: &Instruction,
    stale: &StaleChoice,
    model: Model,
) -> Witness {
    let mut draft = Draft::new(program, model);
    for (index, event) in run.iter().enumerate() {
        draft.push_sequential(index, event);
    }
    let label = label_of(next, stale);
    let access = draft.push(thread_id(thread), run.len(), label);
    let object = label.object().expect("an access");
    let order = draft
        .witness
        .modification
        .get_mut(&object)
        .expect("a location");
    let taken = order[stale.position];
    if label.writes() {
        order.insert(stale.position + 1, access);
    }
    if label.reads() {
        draft.witness.reads_from.insert(access, taken);
    }
    draft.witness.access = access;
    draft.witness
}

struct Draft {
    witness: Witness,
    lengths: BTreeMap<ThreadId, u32>,
    model: Model,
}

impl Draft {
    fn new(program: &Program, model: Model) -> Self {
        let objects: Vec<ObjectId> = (0..program.locations.len())
            .map(|location| object(LocationId(location as u32)))
            .collect();
        let initial = |object| Node {
            thread: None,
            position: 0,
            event: None,
            label: Label::Initial {
                object,
                value: Some(0),
            },
        };
        let modification = (objects.iter().copied())
            .zip((0..).map(|n| vec![NodeId(n)]))
            .collect();
        Self {
            witness: Witness {
                nodes: objects.into_iter().map(initial).collect(),
                reads_from: BTreeMap::new(),
                modification,
                lock_order: BTreeMap::new(),
                fence_order: Vec::new(),
                access: NodeId(0),
                start: Start::Run,
            },
            lengths: BTreeMap::new(),
            model,
        }
    }

    fn push_sequential(&mut self, index: usize, event: &Event) {
        let Some(label) = label_of_event(&event.operation) else {
            return;
        };
        let id = self.push(event.thread, index, label);
        match label {
            Label::Create { child } => {
                self.push(child, index, Label::Start);
            }
            Label::Acquire { lock, .. } | Label::Release { lock, .. } => {
                self.witness.lock_order.entry(lock).or_default().push(id);
            }
            Label::Fence { order } if order.is_sc() && self.model.seq_cst == SeqCst::Rc20 => {
                self.witness.fence_order.push(id);
            }
            _ => {}
        }
        if let Some(object) = label.object() {
            let order = self
                .witness
                .modification
                .get_mut(&object)
                .expect("a location");
            if label.reads() {
                let newest = *order.last().expect("the first value");
                self.witness.reads_from.insert(id, newest);
            }
            if label.writes() {
                order.push(id);
            }
        }
    }

    fn push(&mut self, thread: ThreadId, index: usize, label: Label) -> NodeId {
        let position = self.lengths.entry(thread).or_default();
        self.witness.nodes.push(Node {
            thread: Some(thread),
            position: *position,
            event: Some(EventIndex(index as u64)),
            label,
        });
        *position += 1;
        NodeId(self.witness.nodes.len() - 1)
    }
}

fn object(location: LocationId) -> ObjectId {
    ObjectId {
        location,
        incarnation: 0,
    }
}

/// The node of an event; none for a round that stays in its loop.
fn label_of_event(operation: &Operation) -> Option<Label> {
    if operation.stays_in_loop() {
        return None;
    }
    Some(match *operation {
        Operation::Load {
            location,
            order,
            value,
            exit,
        } => Label::Read {
            object: object(location),
            order,
            value: Some(value),
            guard: exit.map_or(Guard::Any, Guard::Leaves),
        },
        Operation::Store {
            location,
            order,
            value,
        } => Label::Write {
            object: object(location),
            order,
            value,
        },
        Operation::Rmw {
            location,
            order,
            read,
            written,
            ..
        } => Label::Rmw {
            object: object(location),
            order,
            read: Some(read),
            written: Some(written),
            guard: Guard::Any,
        },
        Operation::CompareExchange {
            location,
            success,
            expected,
            read,
            outcome: CasOutcome::Exchanged(written),
            ..
        } => Label::Rmw {
            object: object(location),
            order: success,
            read: Some(read),
            written: Some(written),
            guard: Guard::Equals(expected),
        },
        Operation::CompareExchange {
            location,
            failure,
            strength,
            expected,
            read,
            ..
        } => Label::Read {
            object: object(location),
            order: failure,
            value: Some(read),
            guard: failed(strength, expected),
        },
        Operation::Fence { order } => Label::Fence { order },
        Operation::Create { child } => Label::Create { child },
        Operation::Join { child } => Label::Join { child },
        Operation::Exit => Label::Exit,
        Operation::Acquire { lock, mode } => Label::Acquire { lock, mode },
        Operation::Release { lock, mode } => Label::Release { lock, mode },
        _ => return None,
    })
}

fn failed(strength: CasStrength, expected: u64) -> Guard {
    match strength {
        CasStrength::Weak => Guard::Any,
        CasStrength::Strong => Guard::Differs(expected),
    }
}

/// The node that an instruction makes if it takes an old write.
fn label_of(instruction: &Instruction, stale: &StaleChoice) -> Label {
    use Instruction as I;
    let location = instruction.atomic_location().expect("an access");
    let object = object(LocationId(location.0.into()));
    let value = Some(stale.value);
    let rmw = |order, written, guard| Label::Rmw {
        object,
        order,
        read: value,
        written: Some(written),
        guard,
    };
    let read = |order, guard| Label::Read {
        object,
        order,
        value,
        guard,
    };
    match *instruction {
        I::Store { value, order, .. } => Label::Write {
            object,
            order,
            value,
        },
        I::Load { order, .. } => read(order, Guard::Any),
        I::Wait { exit, order, .. } => read(order, Guard::Leaves(exit)),
        I::FetchAdd {
            value: added,
            order,
            ..
        } => rmw(order, stale.value.wrapping_add(added), Guard::Any),
        I::Exchange { value, order, .. } => rmw(order, value, Guard::Any),
        I::CompareExchange {
            expected,
            desired,
            success,
            ..
        }
        | I::BlockingCompareExchange {
            expected,
            desired,
            success,
            ..
        } if stale.writes => rmw(success, desired, Guard::Equals(expected)),
        I::CompareExchange {
            expected,
            failure,
            strength,
            ..
        } => read(failure, failed(strength, expected)),
        _ => panic!("{instruction:?} is no access"),
    }
}
