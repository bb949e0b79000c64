//! Why sequential consistency would have shown the access the newer write: the
//! shortest chain of edges from the one to the other. It is what reports show.

use super::build::BuildError;
use super::search::{self, Edge};
use super::trace::Trace;
use crate::event::Event;
use crate::model::Model;
use crate::violation::{EventIndex, Violation, ViolationKind};

/// A way from the newer write to the access. With the edge back it is the cycle
/// that no interleaving has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The newer write.
    pub newer: EventIndex,
    /// The edges from it, each with the event it leads to; the last one leads
    /// to the access.
    pub steps: Vec<Step>,
    /// The edge that the stale access adds, from the access to the newer write.
    pub back: Edge,
}

/// One edge of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Why the event comes after the one before.
    pub edge: Edge,
    /// The event it leads to.
    pub to: EventIndex,
}

/// Why the access comes after the newer write in this run and in all that order
/// the same events in the same way.
///
/// # Errors
/// If the violation does not fit the events.
pub fn path(
    events: &[Event],
    violation: &Violation,
    model: Model,
) -> Result<Explanation, BuildError> {
    let before = super::build::before_access(events, violation)?;
    let trace = Trace::of(before);
    let (newer, _) = super::build::newer_write(&trace, violation)?;
    let path = search::shortest(&trace, newer, violation.thread, model);
    let steps = path.ok_or(BuildError::NotAfter)?.into_iter();
    Ok(Explanation {
        newer: EventIndex(trace.steps[newer].event as u64),
        steps: steps
            .map(|(edge, to)| Step {
                edge,
                to: to.map_or(violation.access, |to| {
                    EventIndex(trace.steps[to].event as u64)
                }),
            })
            .collect(),
        back: match violation.kind {
            ViolationKind::StaleRead => Edge::FromRead,
            ViolationKind::StaleWrite | ViolationKind::StaleRmw => Edge::Modification,
        },
    })
}
