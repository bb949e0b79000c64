//! What free runs showed, as the report has it.

use serde::{Deserialize, Serialize};

use super::{ReportedHarm, ReportedPlace, Value};

/// Runs in which every access may take any write that the memory model lets it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedFreeRuns {
    /// The user asked for them. Else stale values were found that do not count one at a
    /// time.
    #[serde(default = "yes")]
    pub(crate) asked: bool,
    /// There were as many as are needed to pass over stale values that do nothing one at a
    /// time.
    #[serde(default = "yes")]
    pub(crate) enough: bool,
    /// Why there were not as many as there should have been.
    #[serde(default)]
    pub(crate) why: Option<String>,
    /// How many there were.
    pub(crate) total: u64,
    /// In how many an access took an old write.
    pub(crate) stale: u64,
    /// In how many there was a data race, whether other runs have it or not.
    pub(crate) racy: u64,
    /// How many came to what runs without stale choices do not come to.
    pub(crate) telling: u64,
    /// How many printed what these do not print, where that does not count: more
    /// interleavings may.
    #[serde(default)]
    pub(crate) other_outputs: u64,
    /// What they came to, the worst first.
    pub(crate) findings: Vec<ReportedFreeFinding>,
}

/// Something that stale choices lead to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedFreeFinding {
    /// Its name in this report.
    pub(crate) id: String,
    /// What it is. `runs` counts the free runs that came to it.
    #[serde(flatten)]
    pub(crate) harm: ReportedHarm,
    /// The choices that lead there.
    pub(crate) choices: Vec<ReportedChoice>,
    /// Each of them is needed.
    #[serde(default = "yes")]
    pub(crate) minimal: bool,
}

/// What an older report means by saying nothing.
fn yes() -> bool {
    true
}

impl ReportedFreeRuns {
    /// Whether stale values that do nothing one at a time count, because it is not known
    /// what they do together.
    pub(crate) fn are_missing(&self) -> bool {
        !self.asked && !self.enough
    }
}

/// An access that took an old write.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedChoice {
    /// Who made it.
    pub(crate) thread: u32,
    /// The access.
    pub(crate) access: ReportedPlace,
    /// The write that it took; without a file and line for the first value.
    pub(crate) write: ReportedPlace,
    /// What it read, if it reads.
    pub(crate) value: Option<Value>,
}
