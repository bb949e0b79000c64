//! What the access does when it takes a stale write instead of the newest one:
//! it may read another value, and then succeed where it failed or the reverse.

use super::build::{BuildError, write_number};
use super::graph::{Guard, Label, ObjectId};
use super::run_graph::RunGraph;
use crate::event::{CasOutcome, CasStrength, Event, Operation};
use crate::violation::Violation;

/// The access in a stale place.
#[derive(Debug)]
pub(super) struct StaleChoice {
    /// What it accesses.
    pub(super) object: usize,
    /// The number of the write that it reads, or that it directly follows.
    pub(super) number: usize,
    /// What it then does.
    pub(super) label: Label,
    /// What it could do as well.
    pub(super) alternative: Option<Label>,
}

/// The stale places that the access can take, in the order of the violation.
pub(super) fn choices(
    run: &RunGraph,
    events: &[Event],
    violation: &Violation,
) -> Result<Vec<StaleChoice>, BuildError> {
    let missing = BuildError::NoSuchAccess(violation.access);
    let event = &events[violation.access.0 as usize];
    let object = run.live(violation.location).ok_or(missing)?;
    let newer = write_number(run, object, &violation.newer)?;
    let mut choices = Vec::new();
    for write in &violation.stale {
        let number = write_number(run, object, write)?;
        if number >= newer {
            return Err(BuildError::NoSuchWrite(*write));
        }
        let next = run.object(object).writes.get(number);
        let taken = StaleWrite {
            object: run.object(object).id,
            value: run.value(object, number),
            // Nothing comes between an RMW and the write it read.
            sealed: next.is_some_and(|&next| run.nodes[next].label.is_rmw()),
        };
        let labels = taken.labels(&event.operation).ok_or(missing)?;
        let mut labels = labels.into_iter().flatten();
        if let Some(label) = labels.next() {
            choices.push(StaleChoice {
                object,
                number,
                label,
                alternative: labels.next(),
            });
        }
    }
    Ok(choices)
}

/// A stale write from the view of the access.
struct StaleWrite {
    object: ObjectId,
    value: Option<u64>,
    sealed: bool,
}

impl StaleWrite {
    /// What the operation can do here, the worse first; `None` if it is no
    /// access to this location at all.
    fn labels(&self, operation: &Operation) -> Option<[Option<Label>; 2]> {
        let here = |location| location == self.object.location;
        match *operation {
            Operation::Load {
                location,
                order,
                exit,
                ..
            } if here(location) => {
                let guard = exit.map_or(Guard::Any, Guard::Leaves);
                let label = Label::Read {
                    object: self.object,
                    order,
                    value: self.value,
                    guard,
                };
                Some([guard.admits(self.value).then_some(label), None])
            }
            Operation::Store {
                location,
                order,
                value,
            } if here(location) => {
                let label = Label::Write {
                    object: self.object,
                    order,
                    value,
                };
                Some([(!self.sealed).then_some(label), None])
            }
            Operation::Rmw {
                location,
                order,
                read,
                written,
                exit,
            } if here(location) => {
                let guard = exit.map_or(Guard::Any, Guard::Leaves);
                let label = Label::Rmw {
                    object: self.object,
                    order,
                    read: self.value,
                    // What it makes of another value, the run does not tell.
                    written: (self.value == Some(read)).then_some(written),
                    guard,
                };
                let possible = !self.sealed && guard.admits(self.value);
                Some([possible.then_some(label), None])
            }
            Operation::CompareExchange { location, .. } if here(location) => {
                Some([self.succeeds(operation), self.fails(operation)])
            }
            _ => None,
        }
    }

    fn succeeds(&self, operation: &Operation) -> Option<Label> {
        let Operation::CompareExchange {
            success,
            expected,
            outcome,
            ..
        } = *operation
        else {
            return None;
        };
        let label = Label::Rmw {
            object: self.object,
            order: success,
            read: self.value,
            written: match outcome {
                CasOutcome::Exchanged(value) => Some(value),
                CasOutcome::Failed => None,
            },
            guard: Guard::Equals(expected),
        };
        (!self.sealed && self.value == Some(expected)).then_some(label)
    }

    fn fails(&self, operation: &Operation) -> Option<Label> {
        let Operation::CompareExchange {
            failure,
            strength,
            expected,
            blocking,
            ..
        } = *operation
        else {
            return None;
        };
        let guard = match strength {
            CasStrength::Strong => Guard::Differs(expected),
            CasStrength::Weak => Guard::Any,
        };
        let label = Label::Read {
            object: self.object,
            order: failure,
            value: self.value,
            guard,
        };
        (!blocking && guard.admits(self.value)).then_some(label)
    }
}
