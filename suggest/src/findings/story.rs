//! The way to a violation: the part of the run that proves it, in words, and
//! whether the independent checker agrees with the proof.

use std::collections::BTreeMap;
use std::sync::Mutex;

use wmfix_analysis::witness::{self, Edge, Witness};
use wmfix_analysis::{
    CasOutcome, Event, EventIndex, FenceOrder, LocationId, LockMode, Model, Operation, SiteId,
    ThreadId, Violation,
};

use super::observation::variable_at;
use crate::observe::{DecodedTrace, Places};

/// One step on the way to a violation.
#[derive(Clone, Debug)]
pub struct StoryStep {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub site: SiteId,
    /// What was done, in words, with values.
    pub what: String,
    /// What part it plays.
    pub role: StepRole,
    /// Why it comes after the step of the chain before it, if it is on the chain
    /// from the newer write to the access.
    pub because: Option<&'static str>,
}

/// The part that a step plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRole {
    /// On the way.
    Way,
    /// The newer write.
    Newer,
    /// The access that may be stale.
    Access,
}

/// Whether the violation's witness is one, decided from the axioms.
pub fn witness_holds(violation: &Violation, decoded: &DecodedTrace, model: Model) -> bool {
    Witness::build(&decoded.events, violation, model)
        .is_ok_and(|witness| witness::check(&witness, model).is_ok())
}

/// The events of the witness, in the order of the run.
pub fn steps(
    violation: &Violation,
    decoded: &DecodedTrace,
    places: &Mutex<Places>,
    model: Model,
) -> Vec<StoryStep> {
    /// What is shown of a long way: its end.
    const MOST: usize = 30;
    let mut wanted: BTreeMap<EventIndex, Option<&'static str>> = BTreeMap::new();
    if let Ok(witness) = Witness::build(&decoded.events, violation, model) {
        let events = witness.nodes.iter().filter(|node| node.thread.is_some());
        wanted.extend(
            events
                .filter_map(|node| node.event)
                .map(|event| (event, None)),
        );
    }
    if let Ok(explanation) = witness::explain::path(&decoded.events, violation, model) {
        wanted.entry(explanation.newer).or_default();
        for step in explanation.path {
            wanted.insert(step.to, Some(reason(step.edge)));
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
    let mut steps: Vec<StoryStep> = Vec::new();
    for (index, because) in wanted {
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
        let Some(what) = words(event, decoded, places) else {
            continue;
        };
        steps.push(StoryStep {
            thread: event.thread,
            site: event.site,
            what,
            role,
            because,
        });
    }
    let too_many = steps.len().saturating_sub(MOST);
    let mut at = 0;
    steps.retain(|step| {
        at += 1;
        at > too_many || step.role != StepRole::Way || step.because.is_some()
    });
    steps
}

/// An event in words; births and deaths of memory and plain accesses are not
/// part of the story.
fn words(event: &Event, decoded: &DecodedTrace, places: &Mutex<Places>) -> Option<String> {
    let name = |location: LocationId| {
        let known = decoded.locations.get(location.0 as usize);
        let name = known.and_then(|known| variable_at(known.address, decoded, places));
        name.unwrap_or_else(|| format!("location {}", location.0))
    };
    let value = |location: LocationId, value: u64| {
        let size = decoded
            .locations
            .get(location.0 as usize)
            .map_or(8, |known| known.size);
        decoded.wide_values.widen(value, size)
    };
    Some(match event.operation {
        Operation::Load {
            location,
            value: read,
            ..
        } => {
            format!("reads {} from {}", value(location, read), name(location))
        }
        Operation::Store {
            location,
            value: written,
            ..
        } => {
            format!("stores {} to {}", value(location, written), name(location))
        }
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
        } => format!(
            "changes {} from {} to {}",
            name(location),
            value(location, read),
            value(location, written)
        ),
        Operation::CompareExchange {
            location,
            read,
            outcome: CasOutcome::Failed,
            ..
        } => {
            format!(
                "reads {} from {} and does not exchange it",
                value(location, read),
                name(location)
            )
        }
        Operation::Fence { order } => match order {
            FenceOrder::Acquire => "acquire fence".to_owned(),
            FenceOrder::Release => "release fence".to_owned(),
            FenceOrder::AcqRel => "acq_rel fence".to_owned(),
            FenceOrder::SeqCst => "seq_cst fence".to_owned(),
        },
        Operation::Create { child } => format!("starts thread {}", child.0),
        Operation::Join { child } => format!("has waited for the end of thread {}", child.0),
        Operation::Exit => "ends".to_owned(),
        Operation::Acquire { mode, .. } => match mode {
            LockMode::Exclusive | LockMode::Shared => "takes a lock".to_owned(),
            LockMode::Signal => "receives a signal".to_owned(),
        },
        Operation::Release { mode, .. } => match mode {
            LockMode::Exclusive | LockMode::Shared => "gives a lock back".to_owned(),
            LockMode::Signal => "sends a signal".to_owned(),
        },
        Operation::Birth { .. }
        | Operation::Death { .. }
        | Operation::Read { .. }
        | Operation::Write { .. } => {
            return None;
        }
    })
}

fn reason(edge: Edge) -> &'static str {
    match edge {
        Edge::ProgramOrder => "later in the same thread",
        Edge::ReadsFrom => "reads that value",
        Edge::Modification => "writes after that write",
        Edge::FromRead => "writes after that read",
        Edge::Synchronisation => "is ordered by a lock or a thread's start or end",
        Edge::FenceOrder => "is a later fence",
    }
}
