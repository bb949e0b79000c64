//! What a search is given and how it tells how far it is. Knows nothing of how a
//! repair is found.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use wmfix_analysis::{AnalyzerConfig, Event};

use crate::allowed::AllowedFindings;
use crate::change_point::ChangePoint;
use crate::cost::Profile;
use crate::moves::FenceMove;

/// What is to be repaired.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The recorded runs. Runs without findings only weigh the costs.
    pub traces: Vec<Vec<Event>>,
    /// What may be changed, in the order of the source.
    pub points: Vec<ChangePoint>,
    /// Fences that can move, each tried alone.
    pub moves: Vec<FenceMove>,
    /// How runs are analysed. A run fails while it holds a violation or, if
    /// `races` is on, a race.
    pub analysis: AnalyzerConfig,
    /// Findings that a run does not fail for.
    pub allowed: AllowedFindings,
}

/// How to search.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What changes cost.
    pub profile: Profile,
    /// Stop after this time with the best repair known.
    pub budget: Option<Duration>,
    /// Stop when this is set.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// No repair costs less.
    pub lower_bound: u64,
    /// What the best repair known costs.
    pub best_cost: Option<u64>,
    /// How many clauses were learnt.
    pub clauses: u64,
}

/// What a search is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Looking for the cheapest repair.
    Cheapest,
    /// Choosing among the cheapest ones.
    Ties,
    /// Finding the reason for each change.
    Reasons,
}
