//! What a run was seen to do: traces decoded into the events that the analysis
//! takes, with program counters turned into places of the source.

mod decode;
mod operands;
mod orders;
mod places;
mod plan;
mod sources;
mod waits;

pub(crate) use decode::{DecodedTrace, decode};
pub(crate) use places::{EventKind, Place, Places};
pub(crate) use plan::planned_schedule;
pub(crate) use sources::SourceFile;
