//! What a run was seen to do: traces decoded into the events that the analysis
//! takes, with program counters turned into places of the source.

mod decode;
mod event_kind;
mod located;
mod operands;
mod orders;
mod places;
mod plan;
mod scope;
mod sources;
mod waits;

pub(crate) use decode::{DecodedTrace, decode};
pub(crate) use event_kind::EventKind;
pub(crate) use places::{Place, Places};
pub(crate) use plan::planned_schedule;
pub(crate) use scope::{Editing, Scope};
pub(crate) use sources::SourceFile;
