//! Cuts a witness out of a run: the access in its stale place, and as little of
//! the run as the proof needs. That is the shortest way from the newer write to
//! the access, and everything it rests on (program order, reads-from, creation,
//! joins, locks): consistency is closed under leaving out the rest.

use super::check::check;
use super::emit;
use super::graph::{Label, Witness};
use super::part::Part;
use super::run_graph::{PlainWrites, RunGraph};
use super::search::{self, Way};
use super::stale::{self, StaleChoice};
use crate::event::Event;
use crate::model::Model;
use crate::violation::{EventIndex, Violation, WriteRef};

/// A graph with more nodes than this does not start at the beginning of the run
/// but at the write after the stale one. Whatever keeps the access from the stale
/// write begins with a newer write, so nothing before that matters; the writer of
/// the stale value may have gone a long way until it.
const MAX_FULL_NODES: usize = 512;

/// Why there is no graph for a violation. Each one says that the violation and
/// the events do not belong together, or that the violation is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The access is not among the events.
    #[error("event {} is not in the stream, or not an access of that thread and location", .0.0)]
    NoSuchAccess(EventIndex),
    /// A write that the violation names is no write to the location, or is
    /// called stale and not older than the newer one.
    #[error("{0:?} is no such write to the location of the access")]
    NoSuchWrite(WriteRef),
    /// The newer write is not before the access in the order of the run.
    #[error("nothing orders the newer write before the access")]
    NotAfter,
    /// The access cannot take the place of any of the stale writes: their values
    /// keep it in its loop, or RMWs follow them directly.
    #[error("the access can take none of the stale writes")]
    NothingToTake,
}

impl Witness {
    /// The graph that proves a violation: of the stale writes that the access
    /// can take, the newest with another value than the one it read, or the
    /// newest. `events` is the stream that was analysed, up to the access.
    ///
    /// # Errors
    /// If the violation does not fit the events.
    pub fn build(
        events: &[Event],
        violation: &Violation,
        model: Model,
    ) -> Result<Self, BuildError> {
        over_plain_writes(events, violation, |run| on(run, events, violation, model))
    }

    /// One graph for every stale write that the violation names and the access
    /// can take, oldest first.
    ///
    /// # Errors
    /// If the violation does not fit the events.
    pub fn build_all(
        events: &[Event],
        violation: &Violation,
        model: Model,
    ) -> Result<Vec<Self>, BuildError> {
        over_plain_writes(events, violation, |run| {
            let way = way(run, violation, model)?;
            let choices = stale::choices(run, events, violation)?;
            (choices.iter())
                .map(|choice| graph(run, violation, choice, model, &way, MAX_FULL_NODES))
                .collect()
        })
    }
}

/// The graph that proves a violation, from the run before the access.
pub(super) fn on(
    run: &RunGraph,
    events: &[Event],
    violation: &Violation,
    model: Model,
) -> Result<Witness, BuildError> {
    let way = way(run, violation, model)?;
    along(run, events, violation, model, &way, Taken::OtherValue)
}

/// Which of the stale writes the access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The newest with another value than the one that was read, if there is one.
    OtherValue,
    /// The newest: the least of the run comes after it.
    Newest,
}

/// The same along a way from the newer write to the access.
pub(super) fn along(
    run: &RunGraph,
    events: &[Event],
    violation: &Violation,
    model: Model,
    way: &Way,
    taken: Taken,
) -> Result<Witness, BuildError> {
    let choices = stale::choices(run, events, violation)?;
    let fits = |stale: &&StaleChoice| {
        taken == Taken::Newest || stale.label.value_read() != violation.read_value
    };
    let choice = (choices.iter().rfind(fits))
        .or(choices.last())
        .ok_or(BuildError::NothingToTake)?;
    graph(run, violation, choice, model, way, MAX_FULL_NODES)
}

/// The shortest way from the newer write to the access.
pub(super) fn way(run: &RunGraph, violation: &Violation, model: Model) -> Result<Way, BuildError> {
    let newer = newer_write(run, violation)?;
    search::shortest(run, newer, violation.thread, model).ok_or(BuildError::NotAfter)
}

/// Reads the run with plain writes that make locations begin again, and if the
/// violation does not fit that, with plain writes that race and do not.
pub(super) fn over_plain_writes<T>(
    events: &[Event],
    violation: &Violation,
    make: impl Fn(&RunGraph) -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    let before = before_access(events, violation)?;
    make(&RunGraph::of(before, PlainWrites::Restart))
        .or_else(|error| make(&RunGraph::of(before, PlainWrites::Race)).map_err(|_| error))
}

/// The events before the access.
pub(super) fn before_access<'a>(
    events: &'a [Event],
    violation: &Violation,
) -> Result<&'a [Event], BuildError> {
    usize::try_from(violation.access.0)
        .ok()
        .filter(|&access| (events.get(access)).is_some_and(|e| e.thread == violation.thread))
        .map(|access| &events[..access])
        .ok_or(BuildError::NoSuchAccess(violation.access))
}

/// The node of the newer write.
pub(super) fn newer_write(run: &RunGraph, violation: &Violation) -> Result<usize, BuildError> {
    let missing = BuildError::NoSuchWrite(violation.newer);
    let object = run.live(violation.location).ok_or(missing)?;
    let number = write_number(run, object, &violation.newer)?;
    run.object(object).write(number).ok_or(missing)
}

/// The number of a write among those to its object. What no event wrote is the
/// initial write, or the last write without an event: older ones are gone.
pub(super) fn write_number(
    run: &RunGraph,
    object: usize,
    write: &WriteRef,
) -> Result<usize, BuildError> {
    let Some(event) = write.event else {
        return Ok(run.object(object).unrecorded);
    };
    let node = |&node: &usize| (run.nodes[node].event as u64, run.nodes[node].recorded);
    let writes = &run.object(object).writes;
    let found = writes.binary_search_by_key(&(event.0, true), node);
    let at = found.map_err(|_| BuildError::NoSuchWrite(*write))?;
    Ok(at + 1)
}

/// The graph for one choice.
pub(super) fn graph(
    run: &RunGraph,
    violation: &Violation,
    stale: &StaleChoice,
    model: Model,
    way: &Way,
    max_full_nodes: usize,
) -> Result<Witness, BuildError> {
    let newer = newer_write(run, violation)?;
    let taken = run.object(stale.object).write(stale.number);
    let own = run.threads.get(&violation.thread);
    let needed: Vec<usize> = (way.iter().filter_map(|(_, node)| *node))
        .chain([newer])
        .chain(taken)
        .chain(own.and_then(|own| own.last()).copied())
        .collect();

    let object = run.object(stale.object);
    let next = object.writes.get(stale.number).copied();
    let first = next
        .or(taken)
        .map_or(object.born, |node| run.nodes[node].event);
    let part = Part::resting_on(run, &needed, 0, model, max_full_nodes)
        .or_else(|| Part::resting_on(run, &needed, first, model, usize::MAX));
    let part = part.expect("a part of any size");
    let with = |label: Label| emit::witness(&part, violation, stale, label);
    let witness = with(stale.label);
    // A weak compare-exchange that reads what it expects may fail all the same.
    // Where its two orders differ, the model may allow only one of the two.
    match stale.alternative {
        Some(other) if check(&witness, model).is_err() => Ok(with(other)),
        _ => Ok(witness),
    }
}
