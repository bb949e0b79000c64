//! The run so far as the execution graph that it is: which events count, where
//! each read took its value from, in lists that stay small for long runs. What
//! a witness is cut from and what an explanation is searched in.

use std::collections::{BTreeMap, HashMap};

use super::graph::{Guard, Label, Place};
use crate::event::{
    Bytes, CasOutcome, CasStrength, Event, LocationId, LockId, LockMode, Operation, ThreadId,
};

/// The graph of a run.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The events that count, in the order of the run.
    pub(super) steps: Vec<Step>,
    /// Every location between one birth and the next.
    pub(super) objects: Vec<Object>,
    /// The steps of each thread in program order.
    pub(super) threads: BTreeMap<ThreadId, Vec<usize>>,
    /// The steps of each lock in the order of the run.
    pub(super) locks: BTreeMap<LockId, Vec<usize>>,
    /// The SC fences in the order of the run.
    pub(super) sc_fences: Vec<usize>,
    /// Who created a thread.
    pub(super) creator: BTreeMap<ThreadId, usize>,
    /// A thread's end.
    pub(super) exit: BTreeMap<ThreadId, usize>,
    /// The joins of a thread.
    pub(super) joins: BTreeMap<ThreadId, Vec<usize>>,
    live: HashMap<LocationId, usize>,
    /// Where the live locations lie: by first byte, the last byte and which.
    memory: BTreeMap<u64, (u64, LocationId)>,
    /// The size of the largest location, to know how far back to look.
    largest: u64,
    incarnations: HashMap<LocationId, u32>,
}

/// An event that counts.
#[derive(Debug)]
pub(super) struct Step {
    /// Its index in the stream.
    pub(super) event: usize,
    /// Who.
    pub(super) thread: ThreadId,
    /// How many steps its thread has before it.
    pub(super) position: usize,
    /// What.
    pub(super) label: Label,
    /// What it accesses, and the number of the write it read or made.
    pub(super) access: Option<(usize, usize)>,
    /// Its place among the events of its lock, or among the SC fences.
    pub(super) turn: usize,
}

/// A location from a birth on.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) place: Place,
    /// The first event that could know it.
    pub(super) born: usize,
    /// Its first value, where the run told it.
    pub(super) initial: Option<u64>,
    /// The steps that wrote, oldest first; write number n is `writes[n - 1]`,
    /// and number 0 is the initial one.
    pub(super) writes: Vec<usize>,
    /// The steps that read write number n.
    pub(super) readers: Vec<Vec<usize>>,
}

impl Trace {
    /// The graph of these events.
    pub(super) fn of(events: &[Event]) -> Self {
        let mut trace = Self::default();
        for (index, event) in events.iter().enumerate() {
            trace.push(index, event);
        }
        trace
    }

    /// What an access to the location at the end of the run would access.
    pub(super) fn object(&self, location: LocationId) -> Option<usize> {
        self.live.get(&location).copied()
    }

    /// The value of write number n to an object, where the run told it.
    pub(super) fn value(&self, object: usize, number: usize) -> Option<u64> {
        match self.objects[object].write(number) {
            None => self.objects[object].initial,
            Some(step) => self.steps[step].label.value_written(),
        }
    }

    /// Whether a step takes a lock so that it is ordered after every earlier
    /// release of this mode.
    pub(super) fn takes_from(&self, step: usize, released: LockMode) -> bool {
        match (self.steps[step].label, released) {
            (Label::Acquire { .. }, LockMode::Exclusive) => true,
            (Label::Acquire { mode, .. }, LockMode::Shared) => mode == LockMode::Exclusive,
            (Label::Acquire { mode, .. }, LockMode::Signal) => mode == LockMode::Signal,
            _ => false,
        }
    }

    fn push(&mut self, index: usize, event: &Event) {
        let thread = event.thread;
        match event.operation {
            Operation::Birth {
                location,
                bytes,
                value,
            } => {
                self.begin(location, index, Some(value));
                let last = last_byte(bytes);
                self.memory.insert(bytes.address, (last, location));
                self.largest = self.largest.max(bytes.size);
            }
            Operation::Death { bytes } => {
                for (address, location) in self.within(bytes) {
                    self.memory.remove(&address);
                    self.live.remove(&location);
                }
            }
            // A plain write starts the location afresh, and does not say with what.
            Operation::Write { bytes } => {
                for (_, location) in self.within(bytes) {
                    self.begin(location, index, None);
                }
            }
            Operation::Read { .. } => {}
            operation => {
                let object = location_of(&operation).map(|(location, read)| {
                    let object = self.object(location);
                    let object = object.unwrap_or_else(|| self.begin(location, index, None));
                    self.tell(object, read);
                    object
                });
                let place = object.map(|object| self.objects[object].place);
                if let Some(label) = label(&operation, place) {
                    self.add(index, thread, label, object);
                }
            }
        }
    }

    /// A location begins, or begins again.
    fn begin(&mut self, location: LocationId, index: usize, initial: Option<u64>) -> usize {
        let next = self.incarnations.entry(location).or_default();
        let place = Place {
            location,
            incarnation: *next,
        };
        *next += 1;
        self.objects.push(Object {
            place,
            born: index,
            initial,
            writes: Vec::new(),
            readers: vec![Vec::new()],
        });
        self.live.insert(location, self.objects.len() - 1);
        self.objects.len() - 1
    }

    /// A read tells a first value that was not known, even if it is no event.
    fn tell(&mut self, object: usize, read: Option<u64>) {
        let object = &mut self.objects[object];
        if object.writes.is_empty() && object.initial.is_none() {
            object.initial = read;
        }
    }

    /// The live locations that overlap these bytes.
    fn within(&self, bytes: Bytes) -> Vec<(u64, LocationId)> {
        if bytes.size == 0 {
            return Vec::new();
        }
        let from = bytes.address.saturating_sub(self.largest);
        (self.memory.range(from..=last_byte(bytes)))
            .filter(|(_, (end, _))| *end >= bytes.address)
            .map(|(address, (_, location))| (*address, *location))
            .collect()
    }

    fn add(&mut self, event: usize, thread: ThreadId, label: Label, object: Option<usize>) {
        let id = self.steps.len();
        let own = self.threads.entry(thread).or_default();
        own.push(id);
        let position = own.len() - 1;
        let access = object.map(|object| (object, self.objects[object].enter(id, &label)));
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
        self.steps.push(Step {
            event,
            thread,
            position,
            label,
            access,
            turn,
        });
    }
}

impl Object {
    /// The step that made write number n; `None` for the initial one.
    pub(super) fn write(&self, number: usize) -> Option<usize> {
        number.checked_sub(1).map(|at| self.writes[at])
    }

    /// An access in the order of the run: it reads the newest write.
    fn enter(&mut self, step: usize, label: &Label) -> usize {
        if label.reads() {
            self.readers[self.writes.len()].push(step);
        }
        if label.writes() {
            self.writes.push(step);
            self.readers.push(Vec::new());
        }
        self.writes.len()
    }
}

fn last_byte(bytes: Bytes) -> u64 {
    bytes.address.saturating_add(bytes.size.saturating_sub(1))
}

/// The location of an access, and the value that it read.
fn location_of(operation: &Operation) -> Option<(LocationId, Option<u64>)> {
    match *operation {
        Operation::Load {
            location, value, ..
        } => Some((location, Some(value))),
        Operation::Store { location, .. } => Some((location, None)),
        Operation::Rmw { location, read, .. }
        | Operation::CompareExchange { location, read, .. } => Some((location, Some(read))),
        _ => None,
    }
}

/// What the event is in the graph; `None` if it is a round of a loop that does
/// nothing, or no step at all.
fn label(operation: &Operation, place: Option<Place>) -> Option<Label> {
    Some(match (*operation, place) {
        (
            Operation::Load {
                order, value, exit, ..
            },
            Some(place),
        ) => {
            let guard = exit.map_or(Guard::Any, Guard::Leaves);
            if !guard.admits(Some(value)) {
                return None;
            }
            let value = Some(value);
            Label::Read {
                place,
                order,
                value,
                guard,
            }
        }
        (Operation::Store { order, value, .. }, Some(place)) => Label::Write {
            place,
            order,
            value,
        },
        (
            Operation::Rmw {
                order,
                read,
                written,
                exit,
                ..
            },
            Some(place),
        ) => {
            let stays = exit.is_some_and(|exit| !exit.leaves(read));
            if stays && read == written {
                return None;
            }
            Label::Update {
                place,
                order,
                read: Some(read),
                written: Some(written),
                guard: match exit {
                    Some(exit) if !stays => Guard::Leaves(exit),
                    _ => Guard::Any,
                },
            }
        }
        (
            Operation::CompareExchange {
                success,
                failure,
                strength,
                expected,
                read,
                outcome,
                blocking,
                ..
            },
            Some(place),
        ) => match outcome {
            CasOutcome::Exchanged(value) => Label::Update {
                place,
                order: success,
                read: Some(read),
                written: Some(value),
                guard: Guard::Equals(expected),
            },
            CasOutcome::Failed if blocking => return None,
            CasOutcome::Failed => Label::Read {
                place,
                order: failure,
                value: Some(read),
                guard: match strength {
                    CasStrength::Strong => Guard::Differs(expected),
                    CasStrength::Weak => Guard::Any,
                },
            },
        },
        (Operation::Fence { order }, _) => Label::Fence { order },
        (Operation::Create { child }, _) => Label::Create { child },
        (Operation::Join { child }, _) => Label::Join { child },
        (Operation::Exit, _) => Label::Exit,
        (Operation::Acquire { lock, mode }, _) => Label::Acquire { lock, mode },
        (Operation::Release { lock, mode }, _) => Label::Release { lock, mode },
        _ => return None,
    })
}
