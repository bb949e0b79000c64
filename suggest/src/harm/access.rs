//! Atomic accesses of a run by what they do: read an object, write it, or both.

use std::collections::BTreeSet;

use wmfix_analysis::{Bytes, CasOutcome, Event, LocationId, Operation};

/// What an operation does to an atomic object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read(LocationId),
    Write(LocationId),
    ReadAndWrite(LocationId),
}

impl Access {
    /// What the operation does, if it does anything to one.
    pub(super) fn of(operation: &Operation) -> Option<Self> {
        Some(match *operation {
            Operation::Load { location, .. }
            | Operation::CompareExchange {
                location,
                outcome: CasOutcome::Failed,
                ..
            } => Self::Read(location),
            Operation::Store { location, .. } => Self::Write(location),
            Operation::Rmw { location, .. } | Operation::CompareExchange { location, .. } => {
                Self::ReadAndWrite(location)
            }
            _ => return None,
        })
    }

    /// The object.
    pub(super) fn location(self) -> LocationId {
        match self {
            Self::Read(location) | Self::Write(location) | Self::ReadAndWrite(location) => location,
        }
    }

    /// Whether it writes this object.
    pub(super) fn writes(self, location: LocationId) -> bool {
        matches!(self, Self::Write(here) | Self::ReadAndWrite(here) if here == location)
    }
}

/// Whether atomic objects meet in the same memory: they are told apart by their
/// number. `bytes_of` says where one lies. Those that lie in exactly the same place were
/// there one after the other.
pub(super) fn has_overlaps(
    events: &[Event],
    bytes_of: impl Fn(LocationId) -> Option<Bytes>,
) -> bool {
    let accesses = events
        .iter()
        .filter_map(|event| Access::of(&event.operation));
    let locations: BTreeSet<LocationId> = accesses.map(Access::location).collect();
    let Some(mut bytes) = locations
        .into_iter()
        .map(bytes_of)
        .collect::<Option<Vec<_>>>()
    else {
        return true;
    };
    bytes.sort_unstable_by_key(|bytes| (bytes.address, bytes.size));
    bytes.dedup();
    let mut pairs = bytes.windows(2);
    pairs.any(|pair| pair[1].address < pair[0].address + pair[0].size)
}

/// The object that an atomic operation writes, and what.
pub(super) fn written(operation: &Operation) -> Option<(LocationId, u64)> {
    match *operation {
        Operation::Store {
            location, value, ..
        } => Some((location, value)),
        Operation::Rmw {
            location, written, ..
        }
        | Operation::CompareExchange {
            location,
            outcome: CasOutcome::Exchanged(written),
            ..
        } => Some((location, written)),
        _ => None,
    }
}
