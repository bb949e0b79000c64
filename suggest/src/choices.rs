//! The words that options take, each kind with what its words mean. Made by the
//! command line and wmfix.toml; nothing here decides anything.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Deserialize;

/// The cost model that ranks repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cost {
    /// Fewest changes: every change costs the same
    Fewest,
    /// Cost on x86-64, times how often the change runs
    X86,
    /// Cost on AArch64, times how often the change runs
    Arm64,
    /// The higher of the two: what the change costs where it costs more
    #[default]
    Portable,
}

/// How the accesses of free runs choose the writes that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WeakChoice {
    /// One of the others, by seed
    Mixed,
    /// Any write, each as likely as the others
    Uniform,
    /// Mostly the newest write
    Few,
    /// Mostly the oldest write, but for a few communications
    Pctwm,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Do so
    On,
    /// Do not
    Off,
}

/// The machines that findings are reported for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Target {
    /// Only what x86-64 itself can show
    #[value(name = "x86-64")]
    X86_64,
    /// Also what AArch64 can show
    Aarch64,
    /// Everything that the C and C++ standards allow
    C11,
}

/// How the next thread is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Strategy {
    /// Seek, pct or pos: the seed decides
    Mixed,
    /// A random thread, rarely one that is about to use what it wrote itself
    Seek,
    /// Random priorities of operations: draws orders of operations that matter evenly
    Pos,
    /// Random priorities with a few changes: finds rare orderings with known probability
    Pct,
    /// A random thread at every step
    Random,
    /// The operating system's scheduler, without control
    Os,
}

/// When a sleep or a timed wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sleeps {
    /// At any step: a sleep orders nothing
    Any,
    /// In the order of the clock, for programs that need it
    Clock,
}

/// How volatile accesses are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Volatile {
    /// As plain accesses
    Ignore,
    /// As relaxed atomics
    Relaxed,
    /// As acquire loads and release stores
    Acqrel,
}

/// What becomes of annotations of happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Annotations {
    /// They are counted and ignored
    Ignore,
    /// They order threads
    Trust,
}

/// The memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryModel {
    /// RC11
    Rc11,
    /// RC20's encoding of SC fences, for comparison
    Rc20,
}

/// How data races are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Races {
    /// Report those that a run shows
    On,
    /// Do not look for them
    Off,
    /// Report also those that a run hides, and make them happen
    Predict,
}

/// Output format of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object, for programs
    Json,
    /// SARIF 2.1.0, for editors and code hosts
    Sarif,
    /// As gcc prints warnings, for editors
    Gcc,
    /// Annotations of GitHub Actions
    Github,
    /// Code quality report of GitLab
    Gitlab,
    /// Diagnostics and suggestions for reviewdog
    Rdjson,
    /// Test results as JUnit's XML
    Junit,
}

/// A file that the report is written to, beside what is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportFile {
    /// Its format.
    pub format: Format,
    /// Where it is written.
    pub file: PathBuf,
}

impl std::str::FromStr for ReportFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (format, file) = text
            .split_once('=')
            .filter(|(_, file)| !file.is_empty())
            .ok_or("expected FORMAT=FILE, such as sarif=wmfix.sarif")?;
        let known = Format::value_variants().iter();
        let names: Vec<String> = known
            .filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()))
            .collect();
        let format = Format::from_str(format, false)
            .map_err(|_| format!("no format {format}: there are {}", names.join(", ")))?;
        Ok(Self {
            format,
            file: file.into(),
        })
    }
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
