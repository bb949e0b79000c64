//! By what violations count, and what the tests notice, as the report has it.

use serde::{Deserialize, Serialize};

use super::ReportedPlace;

/// By what violations count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReportedCriterion {
    /// What is asked of the program.
    pub(crate) asks_for: AskedFor,
    /// Why it is more than that no failing run is known.
    pub(crate) because: Option<String>,
}

/// What is asked of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AskedFor {
    /// No stale access that makes it fail, and no race.
    Correctness,
    /// No stale access and no race.
    Robustness,
}

/// What the test of a program notices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReportedNotice {
    /// The program.
    pub(crate) program: String,
    /// It fails when something is lost that it should miss.
    pub(crate) sees: bool,
    /// What made it fail first, in words.
    pub(crate) seen_by: Option<String>,
    /// Stores that were undone, one in a run.
    pub(crate) stores_undone: usize,
    /// In how many of these runs it failed.
    pub(crate) stores_noticed: usize,
    /// Orders that were lost, one at a time.
    pub(crate) orders: Vec<ReportedLoss>,
    /// Everything was tried that was to be.
    pub(crate) complete: bool,
}

/// The loss of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReportedLoss {
    /// The operation.
    pub(crate) place: ReportedPlace,
    /// The order that it has.
    pub(crate) had: String,
    /// The one that was left.
    pub(crate) left: String,
    /// It is the order for the case that a compare-exchange fails.
    pub(crate) on_failure: bool,
    /// What showed it.
    pub(crate) noticed: NoticedWord,
}

/// What shows that an order is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoticedWord {
    /// The test fails.
    Failure,
    /// The race detector, which looks in every test.
    Race,
    /// Nothing.
    Nothing,
}
