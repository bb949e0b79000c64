//! Directed runs: one violation made to happen. The run is repeated up to the
//! access, which takes a stale write; from there on every access takes the newest
//! one. Such a run is always allowed: only that one access has an edge against the
//! order of execution, and the witness shows that nothing closes a cycle over it.

use alloc::vec::Vec;

use crate::event::{Event, ThreadId};
use crate::model::Model;
use crate::violation::{EventIndex, Violation};
use crate::witness::{self, BuildError, Label, NodeId, Witness};

/// What one access of a recorded run does instead of what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StaleChoice {
    /// The access.
    pub access: EventIndex,
    /// Who makes it.
    pub thread: ThreadId,
    /// The write that it reads, or that its own write directly follows.
    pub taken: StaleSource,
    /// What it reads, if it does and that is known.
    pub read: Option<u64>,
    /// It writes: then what it writes is older than what memory holds.
    pub writes: bool,
}

/// A write that is not the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StaleSource {
    /// The location's first value.
    First,
    /// The write of this event.
    Event(EventIndex),
    /// A write that no event told of.
    Unseen,
}

/// The choices that make a violation happen, each with the graph that shows that
/// the model allows it, oldest write first. `events` is the stream that was
/// analysed.
///
/// # Errors
/// If the violation does not fit the events.
pub fn choices(
    events: &[Event],
    violation: &Violation,
    model: Model,
) -> Result<Vec<(StaleChoice, Witness)>, BuildError> {
    let witnesses = Witness::build_all(events, violation, model)?;
    Ok((witnesses.into_iter())
        .filter(|witness| witness::check(witness, model).is_ok())
        .filter_map(|witness| Some((choice(&witness, violation)?, witness)))
        .collect())
}

fn choice(witness: &Witness, violation: &Violation) -> Option<StaleChoice> {
    let label = witness.node(witness.access).label;
    let taken = match witness.reads_from.get(&witness.access) {
        Some(&source) => source,
        None => predecessor(witness)?,
    };
    let source = witness.node(taken);
    Some(StaleChoice {
        access: violation.access,
        thread: violation.thread,
        taken: match (source.event, source.label) {
            (Some(event), _) => StaleSource::Event(event),
            (None, Label::Initial { .. }) => StaleSource::First,
            (None, _) => StaleSource::Unseen,
        },
        read: label.value_read(),
        writes: label.writes(),
    })
}

fn predecessor(witness: &Witness) -> Option<NodeId> {
    let object = witness.node(witness.access).label.object()?;
    let order = witness.modification.get(&object)?;
    let at = order.iter().position(|&write| write == witness.access)?;
    at.checked_sub(1).map(|before| order[before])
}
