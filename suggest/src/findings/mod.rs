//! From runs to findings: each run's trace is analysed, and what all runs have
//! shown is collected, told apart by place and kind. Holds enums, numbers and
//! names from the program; every sentence about them is the report's.

mod allocation;
mod carrier;
mod collect;
mod failure;
mod identity;
mod memory;
mod names;
mod observation;
mod prediction;
mod private_accesses;
mod process_end;
mod story;
#[cfg(test)]
mod tests;

pub(crate) use allocation::Pointer;
pub(crate) use carrier::Carrier;
pub(crate) use collect::{
    CollectedFindings, CountedEnd, FailedRun, RaceFinding, Tally, ViolationFinding,
};
pub(crate) use failure::{Doing, FailedThread, FailureFinding, FailureKind, RunFailure};
pub(crate) use identity::Identity;
pub(crate) use names::{FindingKey, FindingNames, sort_ids};
pub(crate) use observation::{
    Doubt, KnownFindings, Observation, ObservationConfig, RaceKey, RecordNeed, TraceProblem,
    ViolationKey, fingerprint, observe, race_key,
};
pub(crate) use prediction::{Deviation, PredictionOutcome, RaceOrigin};
pub(crate) use process_end::{EndCause, ProcessEnd, StuckThread, WaitTarget};
pub(crate) use story::{StepRole, StoryObject, StoryOperation, StoryStep};
