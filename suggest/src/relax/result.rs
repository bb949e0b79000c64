//! What came of the search for weaker orders, as data. The report finds the words.

use std::time::Duration;

use wmfix_repair::{ChangeKind, Orders, Saving};

use crate::repair_loop::{ChangeSite, Verification, VerificationFailure};
use crate::subject::PatchedFile;

/// What came of the search for weaker orders.
pub(crate) struct RelaxResult {
    /// The patched files; none if nothing is changed.
    pub files: Vec<PatchedFile>,
    /// The operations that get other orders, in the order of the source.
    pub changes: Vec<RelaxedSite>,
    /// What keeps its order though no run says that it must.
    pub kept: Vec<KeptSite>,
    /// How many operations had a choice of orders.
    pub choices: u64,
    /// What all operations cost as they are.
    pub cost_before: u64,
    /// What they cost with the changes.
    pub cost: u64,
    /// No orders that are enough for the runs cost less than this.
    pub lower_bound: u64,
    /// Whether no cheaper orders are enough for the runs.
    pub optimal: bool,
    /// The recorded runs were all that the program has.
    pub all_runs: bool,
    /// How many recorded runs decided.
    pub recorded_runs: u64,
    /// What the changes save on each machine.
    pub savings: Vec<Saving>,
    /// What the patched program showed.
    pub verification: Verification,
    /// All runs of the original and of the patched program were explored, and nothing
    /// was found.
    pub proved: bool,
    /// How many patches were tried, this one included.
    pub rounds: u64,
    /// What was wrong with the last patch, if none held.
    pub gave_up: Option<VerificationFailure>,
    /// How long the search took, all rounds together.
    pub search_time: Duration,
    /// How long patched programs were built and run.
    pub verification_time: Duration,
}

/// An operation that gets other orders.
pub(crate) struct RelaxedSite {
    /// Where it is.
    pub at: ChangeSite,
    /// What it gets.
    pub kind: ChangeKind,
    /// What it had.
    pub before: Orders,
    /// How often it was executed in the recorded runs.
    pub executions: u64,
}

impl RelaxedSite {
    /// Whether the order becomes stronger, so that others can be weaker.
    pub(crate) fn is_raise(&self) -> bool {
        !self.before.covers(self.before.after(self.kind))
    }
}

/// An operation that keeps its order.
pub(crate) struct KeptSite {
    /// Where it is.
    pub at: ChangeSite,
    /// Why.
    pub why: KeptReason,
}

/// Why an operation keeps its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeptReason {
    /// There is no weaker one.
    Weakest,
    /// In no run did two threads access its object.
    OneThread,
    /// It cannot be changed.
    Refused(String),
}

impl RelaxResult {
    /// Whether the patch was built and run, and held.
    pub(crate) fn holds(&self) -> bool {
        matches!(self.verification, Verification::Clean(_))
    }
}
