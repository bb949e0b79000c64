//! The run so far as the execution graph that it is: which events count, where
//! each read took its value from, in lists that stay small for long runs. What
//! a witness is cut from and what an explanation is searched in.

use std::collections::BTreeMap;

use super::graph::{Guard, Label};
use super::objects::{Object, Objects};
use super::operation::{label, location_of};
use crate::event::{Event, LocationId, LockId, LockMode, Operation, ThreadId};
use crate::order::RmwOrder;

/// The graph of a run.
#[derive(Debug, Default)]
pub(super) struct RunGraph {
    /// The events that count, in the order of the run.
    pub(super) nodes: Vec<RunNode>,
    /// The nodes of each thread in program order.
    pub(super) threads: BTreeMap<ThreadId, Vec<usize>>,
    /// The nodes of each lock in the order of the run.
    pub(super) locks: BTreeMap<LockId, Vec<usize>>,
    /// The SC fences in the order of the run.
    pub(super) sc_fences: Vec<usize>,
    /// The event that created a thread.
    pub(super) creator: BTreeMap<ThreadId, usize>,
    /// A thread's end.
    pub(super) exit: BTreeMap<ThreadId, usize>,
    /// The joins of a thread.
    pub(super) joins: BTreeMap<ThreadId, Vec<usize>>,
    objects: Objects,
    unrecorded: u32,
}

/// An event that counts.
#[derive(Debug)]
pub(super) struct RunNode {
    /// Its index in the stream.
    pub(super) event: usize,
    /// The stream has an event for it. What has none gets the index of the event
    /// that shows that it must have happened.
    pub(super) recorded: bool,
    /// The thread.
    pub(super) thread: ThreadId,
    /// How many nodes its thread has before it.
    pub(super) position: usize,
    /// What.
    pub(super) label: Label,
    /// What it accesses, and the number of the write it read or made.
    pub(super) access: Option<(usize, usize)>,
    /// Its place among the events of its lock, or among the SC fences.
    pub(super) turn: usize,
}

/// What a plain write does to an atomic location that lies in its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainWrites {
    /// The location begins again, as it does where nothing races.
    Restart,
    /// Nothing: it races, and what it wrote shows when a thread reads it.
    Race,
}

impl RunGraph {
    /// The graph of these events.
    pub(super) fn of(events: &[Event], plain: PlainWrites) -> Self {
        let mut run = Self::default();
        run.extend(0, events, plain);
        run
    }

    /// Continues with these events; `first` is the index of the first of them.
    pub(super) fn extend(&mut self, first: usize, events: &[Event], plain: PlainWrites) {
        for (index, event) in (first..).zip(events) {
            self.push(index, event, plain);
        }
    }

    /// What an access to the location at the end of the run would access.
    pub(super) fn live(&self, location: LocationId) -> Option<usize> {
        self.objects.live(location)
    }

    /// An object.
    pub(super) fn object(&self, id: usize) -> &Object {
        self.objects.get(id)
    }

    /// The value of write number n to an object, if the run recorded it.
    pub(super) fn value(&self, object: usize, number: usize) -> Option<u64> {
        match self.object(object).write(number) {
            None => self.object(object).initial,
            Some(node) => self.nodes[node].label.value_written(),
        }
    }

    /// Whether a node takes a lock so that it is ordered after every earlier
    /// release of this mode.
    pub(super) fn takes_from(&self, node: usize, released: LockMode) -> bool {
        match self.nodes[node].label {
            Label::Acquire { mode, .. } => match released {
                LockMode::Exclusive => mode != LockMode::Signal,
                LockMode::Shared => mode == LockMode::Exclusive,
                LockMode::Signal => mode == LockMode::Signal,
            },
            _ => false,
        }
    }

    fn push(&mut self, index: usize, event: &Event, plain: PlainWrites) {
        match event.operation {
            Operation::Birth {
                location,
                bytes,
                value,
            } => self.objects.birth(location, bytes, value, index),
            Operation::Death { bytes } => self.objects.death(bytes),
            Operation::Write { bytes } => {
                if plain == PlainWrites::Restart {
                    self.objects.overwrite(bytes, index);
                }
            }
            operation => {
                let object = location_of(&operation).map(|(location, read)| {
                    // A location without a birth holds 0.
                    let live = self.live(location);
                    let object =
                        live.unwrap_or_else(|| self.objects.begin(location, Some(0), index));
                    self.tell(object, read, index);
                    object
                });
                let accessed = object.map(|object| self.object(object).id);
                if let Some(label) = label(&operation, accessed) {
                    self.add(index, event.thread, label, object, true);
                }
                if let Operation::Create { child } = operation {
                    self.add(index, child, Label::Start, None, false);
                }
            }
        }
    }

    /// A read, even of a round that is not an event, shows what the location holds:
    /// a first value that was not known, or a write without an event. Such
    /// a write is an RMW by a thread of its own, so that it hands on what
    /// the write before it did.
    fn tell(&mut self, id: usize, read: Option<u64>, index: usize) {
        let newest = self.object(id).writes.len();
        match (self.value(id, newest), read) {
            (None, Some(_)) if newest == 0 => self.objects.get_mut(id).initial = read,
            (current, Some(value)) if current != read => {
                let label = Label::Rmw {
                    object: self.object(id).id,
                    order: RmwOrder::Relaxed,
                    read: current,
                    written: Some(value),
                    guard: Guard::Any,
                };
                let thread = ThreadId(u32::MAX - self.unrecorded);
                self.unrecorded += 1;
                self.add(index, thread, label, Some(id), false);
                self.objects.get_mut(id).unrecorded = newest + 1;
            }
            _ => {}
        }
    }

    fn add(
        &mut self,
        event: usize,
        thread: ThreadId,
        label: Label,
        object: Option<usize>,
        recorded: bool,
    ) {
        let id = self.nodes.len();
        let own = self.threads.entry(thread).or_default();
        own.push(id);
        let position = own.len() - 1;
        let access = object.map(|object| (object, self.objects.get_mut(object).enter(id, &label)));
        let mut turn = 0;
        match label {
            Label::Acquire { lock, .. } | Label::Release { lock, .. } => {
                let order = self.locks.entry(lock).or_default();
                turn = order.len();
                order.push(id);
            }
            Label::Create { child } => {
                self.creator.insert(child, id);
            }
            Label::Exit => {
                self.exit.insert(thread, id);
            }
            Label::Join { child } => self.joins.entry(child).or_default().push(id),
            label if label.is_sc_fence() => {
                turn = self.sc_fences.len();
                self.sc_fences.push(id);
            }
            _ => {}
        }
        self.nodes.push(RunNode {
            event,
            recorded,
            thread,
            position,
            label,
            access,
            turn,
        });
    }
}
