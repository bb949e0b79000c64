//! Everything that is said about findings, as data: the report, and beside it
//! what people are shown and programs are not (source spans, the way to a
//! finding, how to reproduce it). Kept for `wmfix explain`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::model::{Report, ReportedPlace, Value};

use super::rerun::with_seed;
use crate::path_text;
use crate::subject::RerunCommand;

/// A report with all that is known about its findings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Dossier {
    /// The report.
    pub report: Report,
    /// More about each finding, by id.
    pub details: BTreeMap<String, FindingDetail>,
    /// Where the choices of what free runs showed were made, by id.
    #[serde(default)]
    pub choices: BTreeMap<String, Vec<Spot>>,
    /// What was found and not confirmed, by a name of its own (U1).
    #[serde(default)]
    pub unconfirmed: BTreeMap<String, UnconfirmedFinding>,
    /// The text of the files that the findings are in, as it was.
    #[serde(with = "path_text::keys")]
    pub sources: BTreeMap<PathBuf, String>,
    /// Every atomic operation of the program.
    pub inventory: Vec<InventoryEntry>,
    /// How to run each program again, but for the seed.
    pub rerun: Vec<RerunCommand>,
    /// The traces that showed the findings, by id.
    #[serde(skip)]
    pub traces: BTreeMap<String, Arc<[u8]>>,
    /// The end of what the program printed, where that matters.
    pub output: Option<String>,
    /// Where the time went. Not in the report: but for `runs.seconds`, two runs
    /// with the same seed give the same one.
    pub seconds: Seconds,
}

/// Where the time went, in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Seconds {
    /// Running the program and analysing its runs.
    pub runs: f64,
    /// Searching for a repair.
    pub search: f64,
    /// Building and running the patched program.
    pub verification: f64,
}

/// An atomic operation of the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InventoryEntry {
    /// Where it is.
    pub place: ReportedPlace,
    /// Whether a run executed it.
    pub reached: bool,
}

/// More about one finding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FindingDetail {
    /// The access; of a race, the second one.
    pub access: Spot,
    /// The newer write; of a race, the first access.
    pub other: Option<Spot>,
    /// What the newer write wrote.
    pub newer_value: Option<Value>,
    /// Which of the programs showed it.
    pub program: usize,
    /// The trace that showed it, once it is kept.
    #[serde(with = "path_text::option")]
    pub trace: Option<PathBuf>,
    /// The way there.
    pub steps: Vec<ReportedStep>,
    /// The threads of a race's accesses, first and second, and whether they write.
    pub race: Option<RaceSides>,
    /// The end of what the program printed when it took the stale value, where that
    /// was harmful or visible.
    #[serde(default)]
    pub last_words: Option<String>,
}

/// A violation that the independent checker did not confirm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnconfirmedFinding {
    /// The access.
    pub access: ReportedPlace,
    /// It rests on more events than the checker decides about.
    #[serde(default)]
    pub too_large: bool,
    /// Which of the programs showed it.
    pub program: usize,
    /// The seed of the first run that showed it.
    pub seed: u64,
    /// The trace of that run, once it is kept.
    pub trace: Option<PathBuf>,
}

/// The two sides of a race.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RaceSides {
    /// Who made the first access.
    pub first_thread: u32,
    /// Whether it writes.
    pub first_writes: bool,
    /// Whether it is atomic.
    pub first_atomic: bool,
    /// Who made the second access.
    pub second_thread: u32,
    /// Whether it writes.
    pub second_writes: bool,
    /// Whether it is atomic.
    pub second_atomic: bool,
    /// How many runs showed it.
    pub runs: u64,
    /// Whether an order of the run's events puts the two next to each other.
    pub adjacent: bool,
}

/// Where to find the text of a place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Spot {
    /// The place.
    pub place: ReportedPlace,
    /// The file on disk; `None` without debug information.
    #[serde(with = "path_text::option")]
    pub path: Option<PathBuf>,
    /// The bytes to point at.
    pub span: Option<(usize, usize)>,
    /// What it is known by when lines move.
    pub identity: String,
    /// The calls that led there, innermost first: function, file and line.
    pub callers: Vec<String>,
    /// The lines through which a call leads to its operation, the operation last.
    #[serde(default)]
    pub via: Vec<ReportedPlace>,
}

/// One step on the way to a finding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedStep {
    /// Who.
    pub thread: u32,
    /// Where.
    pub place: ReportedPlace,
    /// What, in words.
    pub what: String,
    /// What, as far as a litmus test can say it.
    #[serde(default)]
    pub operation: StepOperation,
    /// Why it comes after the step of the chain before it.
    pub because: Option<String>,
    /// The same in two words, for an arrow from that step to this one.
    #[serde(default)]
    pub edge: Option<String>,
    /// Marked: the access, or the write that it may miss.
    pub mark: Option<Mark>,
}

/// What was done in a step, as far as a litmus test can say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StepOperation {
    /// An atomic load.
    Load {
        /// Of what.
        object: String,
        /// The value.
        value: u64,
    },
    /// An atomic store.
    Store {
        /// To what.
        object: String,
        /// The value.
        value: u64,
    },
    /// A read-modify-write.
    Rmw {
        /// Of what.
        object: String,
        /// The value before.
        read: u64,
        /// The value after.
        written: u64,
    },
    /// A compare-exchange that failed.
    FailedExchange,
    /// A fence.
    Fence {
        /// Its order.
        order: String,
    },
    /// The start of a thread.
    ThreadStart,
    /// The end of a thread, or waiting for it.
    ThreadEnd,
    /// A lock, a barrier, a condition.
    Lock,
    /// An access that is not atomic.
    Plain,
    /// Something else, or a value that is too large.
    #[default]
    Unknown,
}

/// What a marked step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mark {
    /// The access that may be stale.
    Access,
    /// The write that it may miss.
    Newer,
}

impl Dossier {
    /// The text of a spot's file.
    pub(crate) fn source(&self, spot: &Spot) -> Option<&str> {
        let text = self.sources.get(spot.path.as_ref()?)?;
        Some(text.as_str())
    }

    /// The command line that shows a finding again.
    pub(crate) fn again_with(&self, id: &str, seed: u64) -> String {
        let program = self.details.get(id).map_or(0, |detail| detail.program);
        self.rerun
            .get(program)
            .map_or(String::new(), |rerun| with_seed(rerun, seed))
    }
}
