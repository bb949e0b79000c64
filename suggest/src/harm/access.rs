//! Atomic accesses of a run by what they do: read an object, write it, or both.

use wmfix_analysis::{CasOutcome, LocationId, Operation};

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
