//! The way to a violation: the part of the run that shows it, step by step, and
//! whether the independent checker of witnesses agrees. Values and names only:
//! the report finds the words.

use std::collections::BTreeMap;
use std::sync::Mutex;

use wmfix_analysis::witness::{Edge, Proof};
use wmfix_analysis::{
    CasOutcome, Event, EventIndex, FenceOrder, LocationId, LockMode, Operation, SiteId, ThreadId,
    Violation,
};

use super::allocation::{BlockFinder, Pointer};
use super::observation::variable_at;
use crate::observe::{DecodedTrace, Places};

/// Of a longer story the end is kept, and what the proof needs.
const MAX_STEPS: usize = 30;

/// One step on the way to a violation.
#[derive(Clone, Debug)]
pub(crate) struct StoryStep {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub site: SiteId,
    /// What was done.
    pub operation: StoryOperation,
    /// Those of its values that point into blocks of memory.
    pub pointers: Vec<Pointer>,
    /// What part it plays.
    pub role: StepRole,
    /// What orders it after the step of the chain before it, if it is on the chain
    /// from the newer write to the access.
    pub edge: Option<Edge>,
}

/// What was done in a step, with the values as the program has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoryOperation {
    /// An atomic load.
    Read {
        /// Of what.
        object: StoryObject,
        /// The value.
        value: u128,
    },
    /// An atomic store.
    Store {
        /// To what.
        object: StoryObject,
        /// The value.
        value: u128,
    },
    /// A read-modify-write, or a compare-exchange that succeeded.
    Rmw {
        /// Of what.
        object: StoryObject,
        /// The value before.
        read: u128,
        /// The value after.
        written: u128,
    },
    /// A compare-exchange that failed.
    FailedExchange {
        /// Of what.
        object: StoryObject,
        /// The value that it found.
        value: u128,
    },
    /// A fence.
    Fence(FenceOrder),
    /// The start of another thread.
    ThreadStart(ThreadId),
    /// The end of another thread was waited for.
    ThreadJoin(ThreadId),
    /// The end of the thread itself.
    ThreadExit,
    /// A lock is taken, or a signal received.
    Acquire(LockMode),
    /// A lock is given back, or a signal sent.
    Release(LockMode),
    /// A plain read.
    PlainRead,
    /// A plain write.
    PlainWrite,
}

/// An atomic object of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoryObject {
    /// A variable of this name.
    Variable(String),
    /// One without a name of its own: its number in the run, and where in a variable
    /// it is (`queue+8`), if it is in one.
    Location(u32, Option<String>),
}

/// The part that a step plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepRole {
    /// On the way.
    Way,
    /// The newer write.
    Newer,
    /// The access that may be stale.
    Access,
}

/// The events of the witness, in the order of the run; without one only the two that
/// the violation is about.
pub(super) fn steps(
    violation: &Violation,
    decoded: &DecodedTrace,
    places: &Mutex<Places>,
    proof: Option<&Proof>,
) -> Vec<StoryStep> {
    let mut wanted: BTreeMap<EventIndex, Option<Edge>> = BTreeMap::new();
    if let Some(Proof {
        witness,
        explanation,
    }) = proof
    {
        let events = witness.nodes.iter().filter(|node| node.thread.is_some());
        wanted.extend(
            events
                .filter_map(|node| node.event)
                .map(|event| (event, None)),
        );
        wanted.entry(explanation.newer).or_default();
        for step in &explanation.path {
            wanted.insert(step.to, Some(step.edge));
        }
    }
    wanted.entry(violation.access).or_default();
    wanted.extend(
        violation
            .newer
            .event
            .filter(|event| !wanted.contains_key(event))
            .map(|event| (event, None)),
    );
    let too_many = wanted.len().saturating_sub(MAX_STEPS);
    let mut steps: Vec<StoryStep> = Vec::new();
    for (number, (index, edge)) in wanted.into_iter().enumerate() {
        let Some(event) = usize::try_from(index.0)
            .ok()
            .and_then(|at| decoded.events.get(at))
        else {
            continue;
        };
        let role = if index == violation.access {
            StepRole::Access
        } else if Some(index) == violation.newer.event {
            StepRole::Newer
        } else {
            StepRole::Way
        };
        if number < too_many && role == StepRole::Way && edge.is_none() {
            continue;
        }
        let Some(operation) = StoryOperation::of(event, decoded, places) else {
            continue;
        };
        steps.push(StoryStep {
            thread: event.thread,
            site: event.site,
            pointers: pointers(&operation, event, index, decoded, places),
            operation,
            role,
            edge,
        });
    }
    steps
}

/// The values of a step that point into blocks of memory.
pub(super) fn pointers(
    operation: &StoryOperation,
    event: &Event,
    index: EventIndex,
    decoded: &DecodedTrace,
    places: &Mutex<Places>,
) -> Vec<Pointer> {
    let location = match event.operation {
        Operation::Load { location, .. }
        | Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. } => location,
        _ => return Vec::new(),
    };
    let known = decoded.locations.get(location.0 as usize);
    let size = known.map_or(0, |known| known.size);
    let blocks = BlockFinder { decoded, places };
    let values = operation.values().into_iter();
    let pointers = values.filter_map(|value| blocks.pointer(value, size, index.0 as usize));
    pointers.collect()
}

impl StoryOperation {
    /// The atomic object that it accesses.
    pub(crate) fn object(&self) -> Option<&StoryObject> {
        match self {
            Self::Read { object, .. }
            | Self::Store { object, .. }
            | Self::Rmw { object, .. }
            | Self::FailedExchange { object, .. } => Some(object),
            _ => None,
        }
    }

    /// The values that it reads or writes.
    fn values(&self) -> Vec<u128> {
        match *self {
            Self::Read { value, .. }
            | Self::Store { value, .. }
            | Self::FailedExchange { value, .. } => vec![value],
            Self::Rmw { read, written, .. } => vec![read, written],
            _ => Vec::new(),
        }
    }

    /// What an event does; births and deaths of memory are not part of the story.
    pub(super) fn of(
        event: &Event,
        decoded: &DecodedTrace,
        places: &Mutex<Places>,
    ) -> Option<Self> {
        let object = |location: LocationId| {
            let known = decoded.locations.get(location.0 as usize);
            let name = known.and_then(|known| variable_at(known.bytes(), decoded, places));
            match name {
                Some(name) if !name.contains('+') => StoryObject::Variable(name),
                within => StoryObject::Location(location.0, within),
            }
        };
        let widen = |location: LocationId, value: u64| {
            let known = decoded.locations.get(location.0 as usize);
            let size = known.map_or(8, |known| known.size);
            decoded.wide_values.widen(value, size)
        };
        Some(match event.operation {
            Operation::Load {
                location, value, ..
            } => Self::Read {
                object: object(location),
                value: widen(location, value),
            },
            Operation::Store {
                location, value, ..
            } => Self::Store {
                object: object(location),
                value: widen(location, value),
            },
            Operation::Rmw {
                location,
                read,
                written,
                ..
            }
            | Operation::CompareExchange {
                location,
                read,
                outcome: CasOutcome::Exchanged(written),
                ..
            } => Self::Rmw {
                object: object(location),
                read: widen(location, read),
                written: widen(location, written),
            },
            Operation::CompareExchange {
                location,
                read,
                outcome: CasOutcome::Failed,
                ..
            } => Self::FailedExchange {
                object: object(location),
                value: widen(location, read),
            },
            Operation::Fence { order } => Self::Fence(order),
            Operation::Create { child } => Self::ThreadStart(child),
            Operation::Join { child } => Self::ThreadJoin(child),
            Operation::Exit => Self::ThreadExit,
            Operation::Acquire { mode, .. } => Self::Acquire(mode),
            Operation::Release { mode, .. } => Self::Release(mode),
            Operation::Read { .. } => Self::PlainRead,
            Operation::Write { .. } => Self::PlainWrite,
            Operation::Birth { .. } | Operation::Death { .. } => return None,
        })
    }
}
