//! Why sequential consistency would have shown the access the newer write: the
//! shortest chain of edges from the one to the other. It is what reports show.

use super::build::{BuildError, newer_write, over_plain_writes, way};
use super::graph::Label;
use super::run_graph::RunGraph;
use super::search::{Edge, Way};
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
    pub path: Vec<PathEdge>,
    /// The edge that the stale access adds, from the access to the newer write.
    pub back: Edge,
}

/// One edge of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEdge {
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
    over_plain_writes(events, violation, |run| {
        along(run, violation, &way(run, violation, model)?)
    })
}

/// The same, from the run before the access and the way through it.
pub(super) fn along(
    run: &RunGraph,
    violation: &Violation,
    way: &Way,
) -> Result<Explanation, BuildError> {
    let newer = newer_write(run, violation)?;
    let event = |node: usize| EventIndex(run.nodes[node].event as u64);
    let mut path = Vec::new();
    let mut started = false;
    for &(edge, to) in way {
        // A thread's start is no event of its own: its creator leads to the
        // first thing it does.
        let edge = match started {
            true => Edge::Synchronisation,
            false => edge,
        };
        started = to.is_some_and(|to| run.nodes[to].label == Label::Start);
        if !started {
            let to = to.map_or(violation.access, event);
            path.push(PathEdge { edge, to });
        }
    }
    Ok(Explanation {
        newer: event(newer),
        path,
        back: match violation.kind {
            ViolationKind::StaleRead => Edge::FromRead,
            ViolationKind::StaleWrite | ViolationKind::StaleRmw => Edge::Modification,
        },
    })
}
