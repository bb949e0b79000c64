//! What an event of a run is in an execution graph.

use super::graph::{Guard, Label, ObjectId};
use crate::event::{CasOutcome, CasStrength, LocationId, Operation};

/// The location of an access, and the value that it read.
pub(super) fn location_of(operation: &Operation) -> Option<(LocationId, Option<u64>)> {
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
/// nothing, or no node at all.
pub(super) fn label(operation: &Operation, object: Option<ObjectId>) -> Option<Label> {
    Some(match (*operation, object) {
        (
            Operation::Load {
                order, value, exit, ..
            },
            Some(object),
        ) => {
            let guard = exit.map_or(Guard::Any, Guard::Leaves);
            if !guard.admits(Some(value)) {
                return None;
            }
            let value = Some(value);
            Label::Read {
                object,
                order,
                value,
                guard,
            }
        }
        (Operation::Store { order, value, .. }, Some(object)) => Label::Write {
            object,
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
            Some(object),
        ) => {
            let stays = exit.is_some_and(|exit| !exit.leaves(read));
            if stays && read == written {
                return None;
            }
            Label::Rmw {
                object,
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
            Some(object),
        ) => match outcome {
            CasOutcome::Exchanged(value) => Label::Rmw {
                object,
                order: success,
                read: Some(read),
                written: Some(value),
                guard: Guard::Equals(expected),
            },
            CasOutcome::Failed if blocking => return None,
            CasOutcome::Failed => Label::Read {
                object,
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
