//! What a run was seen to do: traces decoded into the events that the analysis
//! takes, with program counters turned into places of the source.

mod allocation_place;
mod blocks;
mod call_chain;
mod checked;
mod decode;
mod directive;
mod located;
mod places;
mod plan;
mod refuted;
mod scope;
mod sources;
mod steps;
mod waits;

pub(crate) use allocation_place::AllocationPlace;
pub(crate) use blocks::BlockId;
pub(crate) use call_chain::CallChain;
pub(crate) use checked::CheckedRun;
pub(crate) use decode::{DecodedTrace, decode};
pub(crate) use places::{Place, Places};
pub(crate) use plan::{Adherence, planned_schedule};
pub(crate) use scope::{Editing, Scope};
pub(crate) use sources::{SourceFile, Sources};
pub(crate) use steps::{ExploredRun, MOST_ROUNDS, Uncontrolled, Unseen, explored};
pub(crate) use wmfix_online::EventKind;
