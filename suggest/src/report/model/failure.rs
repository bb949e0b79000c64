//! Runs that failed, as data.

use serde::{Deserialize, Serialize};

use super::ReportedPlace;

/// Runs of a program that failed in the same way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// Its name in this report.
    pub id: String,
    /// How they failed.
    pub kind: FailureWord,
    /// How many runs.
    pub runs: u64,
    /// The seed of the first.
    pub seed: u64,
    /// The program, by the name of its file.
    pub program: String,
    /// The number of the signal, if one killed it.
    pub signal: Option<i32>,
    /// The exit code, if that says that it failed.
    pub exit_code: Option<i32>,
    /// Where threads stood in the first of the runs.
    pub threads: Vec<FailedThread>,
    /// The last lines that the first of the runs printed.
    pub output: Vec<String>,
    /// The command that shows it again.
    pub command: String,
}

/// How runs failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureWord {
    /// A lock was used as it must not be used.
    Misuse,
    /// Every thread waits for another one.
    Deadlock,
    /// Threads run, and none of them makes progress.
    Livelock,
    /// A signal killed it.
    Signal,
    /// Its exit code says so.
    Exit,
    /// It took too long.
    Timeout,
}

/// A thread of a run that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FailedThread {
    /// Its number.
    pub thread: u32,
    /// What it did, in words.
    pub what: String,
    /// Where.
    pub place: ReportedPlace,
    /// The calls that led there, innermost first.
    pub callers: Vec<String>,
}
