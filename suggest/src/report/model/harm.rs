//! What a stale value did to the program, as the report has it.

use serde::{Deserialize, Serialize};

/// What came of taking the stale value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReportedHarm {
    /// The worst of all runs that took it.
    pub(crate) verdict: HarmWord,
    /// How many runs took it.
    pub(crate) runs: u64,
    /// What it came to.
    pub(crate) ended: String,
    /// Where the program stood when it failed: the calls of the thread that a signal
    /// killed, innermost first, or the threads that could not go on.
    #[serde(default)]
    pub(crate) stack: Vec<String>,
    /// The seed of the run that shows it.
    pub(crate) seed: Option<u64>,
    /// The command that shows it again.
    pub(crate) command: Option<String>,
}

/// A verdict, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HarmWord {
    /// A run that took the stale value failed as no interleaving that was made does.
    Harmful,
    /// It printed something else, which an interleaving that was not made may print, too.
    NotDecided,
    /// Nothing that the test looks at showed it.
    NoEffectSeen,
    /// It could not be made to happen.
    NotTried,
}
