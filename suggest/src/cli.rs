//! The command line as typed. What the flags mean together is decided by the
//! commands; only commands that exist are listed here.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::Deserialize;

/// Makes lock-free C and C++ code safe on weak memory.
#[derive(Debug, Parser)]
#[command(name = "wmfix", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Finds what could go wrong on weak memory and prints the cheapest repair as a patch
    Suggest(SuggestArgs),
    /// Builds and runs a program's tests and reports what could go wrong on weak memory
    Check(CheckArgs),
    /// Runs something built with `wmfix cc` or `wmfix c++` and reports what it finds
    Run(RunArgs),
    /// Before a release: what the tests did not reach, what was found, the patch, the inventory
    Audit(AuditArgs),
    /// Lists the atomic operations in C and C++ sources, from the text alone
    Scan(ScanArgs),
    /// Shows one finding of the last run in depth
    Explain(ExplainArgs),
    /// Writes a commented wmfix.toml from what it finds in the current folder
    Init(InitArgs),
    /// Stands where the C compiler stands: CC="wmfix cc"
    #[command(disable_help_flag = true)]
    Cc {
        /// The compiler's arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Stands where the C++ compiler stands: CXX="wmfix c++"
    #[command(name = "c++", disable_help_flag = true)]
    Cxx {
        /// The compiler's arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Puts the wrappers as one word each, wmfix-cc and wmfix-c++, into a folder
    Wrappers {
        /// The folder; where wmfix itself is, if not given.
        folder: Option<PathBuf>,
    },
    /// Prints a script that completes wmfix's commands and options in a shell
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Prints the manual page, for `man -l -`
    Man,
}

/// `wmfix suggest`.
#[derive(Debug, Args)]
pub struct SuggestArgs {
    /// A source file with `main`, or a folder: built with CMake, Meson or make if
    /// it has their files, and else each file with `main` is a test program
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// What changes are weighed by [default: fewest]
    #[arg(long, value_name = "PROFILE")]
    pub cost: Option<Cost>,
    /// Change the files, too.
    #[arg(long)]
    pub apply: bool,
    /// Write numbered patches, one a group of changes, and report.html into this folder.
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Name the findings that a change removes in a comment beside it.
    #[arg(long)]
    pub annotate: bool,
    /// How to run and report.
    #[command(flatten)]
    pub how: RunFlags,
    /// The test command, instead of the guess. It runs in the folder of what was
    /// built, which is also first on PATH; it has WMFIX_BUILD_DIR (that folder),
    /// WMFIX_SOURCE_DIR (your folder), and CC and CXX (the wrappers) if a build
    /// system is used. Nothing is on its standard input
    #[arg(last = true)]
    pub command: Vec<OsString>,
}

/// `wmfix audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A source file with `main`, or a folder.
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// What changes are weighed by [default: fewest]
    #[arg(long, value_name = "PROFILE")]
    pub cost: Option<Cost>,
    /// Write report.html and numbered patches into this folder, instead of
    /// wmfix-audit.html into the current one.
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How to run and report.
    #[command(flatten)]
    pub how: RunFlags,
    /// The test command, instead of the program that was built.
    #[arg(last = true)]
    pub command: Vec<OsString>,
}

impl From<AuditArgs> for SuggestArgs {
    fn from(audit: AuditArgs) -> Self {
        Self {
            path: audit.path,
            cost: audit.cost,
            apply: false,
            output: audit.output,
            annotate: false,
            how: audit.how,
            command: audit.command,
        }
    }
}

/// What changes are weighed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cost {
    /// Every change costs the same.
    Fewest,
    /// By what x86-64 pays for it, and how often it runs.
    X86,
    /// By what AArch64 pays for it, and how often it runs.
    Arm64,
    /// By the worse of the two.
    Portable,
}

/// `wmfix check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A source file with `main`, or a folder: built with CMake, Meson or make if
    /// it has their files, and else each file with `main` is a test program
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// The memory model: RC11, or RC20's encoding of SC fences
    #[arg(long, value_name = "MODEL", default_value = "rc11")]
    pub model: MemoryModel,
    /// How to run and report.
    #[command(flatten)]
    pub how: RunFlags,
    /// The test command, instead of the guess. It runs in the folder of what was
    /// built, which is also first on PATH; it has WMFIX_BUILD_DIR (that folder),
    /// WMFIX_SOURCE_DIR (your folder), and CC and CXX (the wrappers) if a build
    /// system is used. Nothing is on its standard input
    #[arg(last = true)]
    pub command: Vec<OsString>,
}

/// `wmfix run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The memory model: RC11, or RC20's encoding of SC fences
    #[arg(long, value_name = "MODEL", default_value = "rc11")]
    pub model: MemoryModel,
    /// How to run and report.
    #[command(flatten)]
    pub how: RunFlags,
    /// The command to run.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// `wmfix scan`.
#[derive(Debug, Args)]
pub struct ScanArgs {
    /// Files and folders; the current folder if there are none.
    pub paths: Vec<PathBuf>,
    /// How the inventory is printed on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ScanFormat,
    /// Print text for wmfix.toml that describes the project's own wrappers, instead.
    #[arg(long)]
    pub learn: bool,
    /// Take accesses to volatile objects for atomic ones too.
    #[arg(long)]
    pub volatile: bool,
    /// Print the totals only.
    #[arg(long, short)]
    pub quiet: bool,
}

/// How an inventory is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScanFormat {
    /// For people.
    Text,
    /// One object, for programs.
    Json,
    /// SARIF 2.1.0, for editors and code hosts.
    Sarif,
}

/// `wmfix explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The finding's name in the last report: V1, R1, …
    pub id: String,
    /// When to use colours.
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// `wmfix init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Write it even if there is one
    #[arg(long)]
    pub force: bool,
}

/// How programs are run and findings reported. What is not given is up to the
/// project's wmfix.toml, then to what is usual.
#[derive(Clone, Debug, Args)]
pub struct RunFlags {
    /// Stop after N runs in a row with nothing new [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<f64>,
    /// Stop a run that takes longer than this: it hangs [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// The seed of the first run; the next ones count up from it [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How the next thread is chosen [default: pct]
    #[arg(long, value_name = "HOW")]
    pub strategy: Option<Strategy>,
    /// A recorded schedule (a trace file) to follow, once
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// How many runs at a time; as many as there are processors, if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub jobs: Option<u64>,
    /// What a volatile access counts as [default: ignore]
    #[arg(long, value_name = "AS")]
    pub volatile: Option<Volatile>,
    /// Look for data races on plain accesses too [default: on]
    #[arg(long, value_name = "ON|OFF")]
    pub races: Option<Switch>,
    /// How the result is printed on stdout
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Print nothing but the result
    #[arg(long, short)]
    pub quiet: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// How the next thread is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Priorities with a few changes: finds rare orders with known probability.
    Pct,
    /// Any thread, at every step.
    Random,
    /// The operating system's choice: no control.
    Os,
}

/// What a volatile access counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Volatile {
    /// A plain access.
    Ignore,
    /// A relaxed atomic.
    Relaxed,
    /// An acquire load or a release store.
    Acqrel,
}

/// The memory model that a run is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MemoryModel {
    /// RC11.
    Rc11,
    /// RC20's encoding of SC fences.
    Rc20,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One object, for programs.
    Json,
    /// SARIF 2.1.0, for editors and code hosts.
    Sarif,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("not a number of seconds above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
