//! What is said about the steps of a run that showed a violation. Pure text, no
//! layout.

use std::collections::BTreeMap;

use wmfix_analysis::LockMode;
use wmfix_analysis::witness::Edge;

use super::allocation_words;
use super::model::Pointer;
use crate::findings::{StoryObject, StoryOperation};

/// What was done in a step. Objects without a variable have these names, and these
/// values are pointers.
pub(super) fn operation(
    operation: &StoryOperation,
    names: &BTreeMap<u32, String>,
    pointers: &[Pointer],
) -> String {
    let object = |one: &StoryObject| object(one, names);
    let shown = |value: u128| {
        let target = allocation_words::target(&value.into(), pointers);
        target.unwrap_or_else(|| value.to_string())
    };
    match operation {
        StoryOperation::Read {
            object: from,
            value,
        } => format!("reads {} from {}", shown(*value), object(from)),
        StoryOperation::Store { object: to, value } => {
            format!("stores {} to {}", shown(*value), object(to))
        }
        StoryOperation::Rmw {
            object: of,
            read,
            written,
        } => format!(
            "changes {} from {} to {}",
            object(of),
            shown(*read),
            shown(*written)
        ),
        StoryOperation::FailedExchange { object: of, value } => {
            format!(
                "reads {} from {}; the compare-exchange fails",
                shown(*value),
                object(of)
            )
        }
        StoryOperation::Fence(order) => format!("{} fence", order.name()),
        StoryOperation::ThreadStart(child) => format!("starts thread {}", child.0),
        StoryOperation::ThreadJoin(child) => {
            format!("joins thread {}", child.0)
        }
        StoryOperation::ThreadExit => "exits".to_owned(),
        StoryOperation::Acquire(LockMode::Exclusive | LockMode::Shared) => {
            "acquires a lock".to_owned()
        }
        StoryOperation::Acquire(LockMode::Signal) => "receives a signal".to_owned(),
        StoryOperation::Release(LockMode::Exclusive | LockMode::Shared) => {
            "releases a lock".to_owned()
        }
        StoryOperation::Release(LockMode::Signal) => "sends a signal".to_owned(),
        StoryOperation::PlainRead => "reads (not atomic)".to_owned(),
        StoryOperation::PlainWrite => "writes (not atomic)".to_owned(),
    }
}

/// Why a step comes after the one before it.
pub(super) fn reason(edge: Edge) -> &'static str {
    match edge {
        Edge::ProgramOrder => "later in the same thread",
        Edge::ReadsFrom => "reads that value",
        Edge::Modification => "later write to the same object",
        Edge::FromRead => "overwrites the value read",
        Edge::Synchronisation => "ordered by a lock, or by a thread's start or end",
        Edge::FenceOrder => "later in the order of seq_cst fences",
    }
}

/// The same on an arrow from the earlier step to the later one.
pub(super) fn label(edge: Edge) -> &'static str {
    match edge {
        Edge::ProgramOrder => "then",
        Edge::ReadsFrom => "read by",
        Edge::Modification => "overwritten by",
        Edge::FromRead => "value read is overwritten by",
        Edge::Synchronisation => "ordered before",
        Edge::FenceOrder => "fences",
    }
}

/// Whether a step is about a barrier, a condition, a semaphore or the like.
pub(super) fn is_signal(operation: &StoryOperation) -> bool {
    matches!(
        operation,
        StoryOperation::Acquire(LockMode::Signal) | StoryOperation::Release(LockMode::Signal)
    )
}

/// The name of an object. Those without a variable have these names.
pub(super) fn object(object: &StoryObject, names: &BTreeMap<u32, String>) -> String {
    match object {
        StoryObject::Variable(name) => name.clone(),
        StoryObject::Location(number, within) => match names.get(number).or(within.as_ref()) {
            Some(name) => name.trim_end_matches("+0").to_owned(),
            None => format!("location {number}"),
        },
    }
}
