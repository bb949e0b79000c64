//! The command line as typed. What the flags mean together is decided by
//! `options` and the commands; nothing here runs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde::Deserialize;
use wmfix_trace::StaleTargets;

/// Find and repair memory-order bugs in lock-free C and C++ code
#[derive(Debug, Parser)]
#[command(name = "wmfix", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find memory-order bugs and print the cheapest repair as a patch
    Suggest(SuggestArgs),
    /// Build and test a program and report its memory-order bugs and data races
    Check(CheckArgs),
    /// Run a command built with `wmfix cc` or `wmfix c++` and report its findings
    Run(RunArgs),
    /// Write a release report: untested operations, findings, patch and inventory
    Audit(AuditArgs),
    /// List the atomic operations in C and C++ sources, without building them
    Scan(ScanArgs),
    /// Explain one finding of the last run in detail
    Explain(ExplainArgs),
    /// Write a commented wmfix.toml for the current folder
    Init(InitArgs),
    /// Drop-in C compiler wrapper: CC="wmfix cc"
    #[command(disable_help_flag = true)]
    Cc {
        /// Arguments for the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Drop-in C++ compiler wrapper: CXX="wmfix c++"
    #[command(name = "c++", disable_help_flag = true)]
    Cxx {
        /// Arguments for the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Install the wrappers as single-word commands, wmfix-cc and wmfix-c++
    Wrappers {
        /// Folder to install into [default: the folder of wmfix itself]
        folder: Option<PathBuf>,
    },
    /// Print a shell completion script
    Completions {
        /// Shell to complete in
        shell: Shell,
    },
    /// Print the manual page, for `man -l -`
    Man,
}

/// `wmfix suggest`.
#[derive(Debug, Args)]
pub(crate) struct SuggestArgs {
    /// File or folder of a project. The project around it (wmfix.toml, then CMake,
    /// Meson or make, then the repository) is built and tested; the report is limited
    /// to the path. Without a build system each file with `main` is a test program
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Cost model that ranks repairs [default: portable]
    #[arg(long, value_name = "PROFILE")]
    pub cost: Option<Cost>,
    /// Apply the patch to the files, too
    #[arg(long)]
    pub apply: bool,
    /// Write report.html and numbered patches, one per group of changes, to this folder
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Repair findings that do at least this much harm
    #[arg(long, value_name = "LEVEL", default_value = "survived")]
    pub fix: HarmLevel,
    /// Add a comment to each change that names the findings it removes
    #[arg(long)]
    pub annotate: bool,
    /// How to build
    #[command(flatten)]
    pub build: BuildFlags,
    /// How to run and report
    #[command(flatten)]
    pub how: RunFlags,
    /// Test command, instead of the detected one. A program that was built is found by
    /// its name. The command runs in the build folder with an empty standard input. The environment has
    /// WMFIX_BUILD_DIR (the build folder), WMFIX_SOURCE_DIR (your folder) and, with a
    /// build system, CC and CXX (the wrappers)
    #[arg(last = true)]
    pub command: Vec<OsString>,
}

/// `wmfix audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// File or folder of a project, as for `suggest`
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Cost model that ranks repairs [default: portable]
    #[arg(long, value_name = "PROFILE")]
    pub cost: Option<Cost>,
    /// Write the report as a page, report.html, and numbered patches to this folder
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Repair findings that do at least this much harm
    #[arg(long, value_name = "LEVEL", default_value = "survived")]
    pub fix: HarmLevel,
    /// How to build
    #[command(flatten)]
    pub build: BuildFlags,
    /// How to run and report
    #[command(flatten)]
    pub how: RunFlags,
    /// Test command, instead of the detected one
    #[arg(last = true)]
    pub command: Vec<OsString>,
}

impl From<AuditArgs> for SuggestArgs {
    fn from(audit: AuditArgs) -> Self {
        Self {
            path: audit.path,
            cost: audit.cost,
            apply: false,
            fix: audit.fix,
            output: audit.output,
            annotate: false,
            build: audit.build,
            how: audit.how,
            command: audit.command,
        }
    }
}

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

/// `wmfix check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// File or folder of a project. The project around it (wmfix.toml, then CMake,
    /// Meson or make, then the repository) is built and tested; the report is limited
    /// to the path. Without a build system each file with `main` is a test program
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Memory model
    #[arg(long, value_name = "MODEL", default_value = "rc11")]
    pub model: MemoryModel,
    /// Also make free runs, as many as --runs says, in which accesses take any write
    /// that the memory model allows; without HOW: mixed
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "mixed"
    )]
    pub weak: Option<WeakChoice>,
    /// How to build
    #[command(flatten)]
    pub build: BuildFlags,
    /// How to run and report
    #[command(flatten)]
    pub how: RunFlags,
    /// Test command, instead of the detected one. A program that was built is found by
    /// its name. The command runs in the build folder with an empty standard input. The environment has
    /// WMFIX_BUILD_DIR (the build folder), WMFIX_SOURCE_DIR (your folder) and, with a
    /// build system, CC and CXX (the wrappers)
    #[arg(last = true)]
    pub command: Vec<OsString>,
}

/// `wmfix run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Start gdb where a finding of the last report takes its stale value
    #[arg(long, value_name = "ID", conflicts_with = "command")]
    pub(crate) debug: Option<String>,
    /// Memory model
    #[arg(long, value_name = "MODEL", default_value = "rc11")]
    pub model: MemoryModel,
    /// Also make free runs, as many as --runs says, in which accesses take any write
    /// that the memory model allows; without HOW: mixed
    #[arg(
        long,
        value_name = "HOW",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "mixed"
    )]
    pub weak: Option<WeakChoice>,
    /// How to run and report
    #[command(flatten)]
    pub how: RunFlags,
    /// Command to run
    #[arg(last = true, required_unless_present = "debug")]
    pub command: Vec<OsString>,
}

/// `wmfix scan`.
#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Files and folders [default: the current folder]
    pub paths: Vec<PathBuf>,
    /// Output format on stdout
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ScanFormat,
    /// Print wmfix.toml entries for the project's own atomic wrappers instead
    #[arg(long)]
    pub learn: bool,
    /// Count accesses to volatile objects as atomic, too
    #[arg(long)]
    pub volatile: bool,
    /// Print only the totals
    #[arg(long, short)]
    pub quiet: bool,
}

/// Output format of an inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScanFormat {
    /// For people
    Text,
    /// One JSON object, for programs
    Json,
    /// SARIF 2.1.0, for editors and code hosts
    Sarif,
}

/// `wmfix explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Name of the finding in the last report (V1, R1, …), or the beginning of its
    /// stable name
    pub id: String,
    /// When to use colors
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// `wmfix init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// Write a small test program for the push- and pop-like functions of the headers
    /// here, to be edited, instead of wmfix.toml
    #[arg(long)]
    pub harness: bool,
}

/// How a project is built, beside what its wmfix.toml says.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct BuildFlags {
    /// Set a variable of CMake, Meson or make, or a macro where there is no build system
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub define: Vec<String>,
    /// More options for the C compiler
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, value_parser = shell_words)]
    pub cflags: Option<Words>,
    /// More options for the C++ compiler
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, value_parser = shell_words)]
    pub cxxflags: Option<Words>,
    /// More options for linking, such as "-ltbb"
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, value_parser = shell_words)]
    pub ldflags: Option<Words>,
    /// Configure with this preset of CMake
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
}

/// Words as a shell would split them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words(pub Vec<String>);

impl BuildFlags {
    /// The flags as words of a command line.
    pub(crate) fn to_repeat(&self) -> Vec<String> {
        let mut words = Vec::new();
        for definition in &self.define {
            words.extend(["-D".to_owned(), definition.clone()]);
        }
        let flags = [
            ("--cflags", &self.cflags),
            ("--cxxflags", &self.cxxflags),
            ("--ldflags", &self.ldflags),
        ];
        for (name, options) in flags {
            if let Some(Words(options)) = options {
                let quoted = shlex::try_join(options.iter().map(String::as_str));
                words.push(format!("{name}={}", quoted.unwrap_or_default()));
            }
        }
        if let Some(preset) = &self.preset {
            words.extend(["--preset".to_owned(), preset.clone()]);
        }
        words
    }
}

/// How programs are run and findings reported. The project's wmfix.toml, then the
/// defaults, decide what is not given.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunFlags {
    /// Stop after N consecutive runs without a new finding [default: as many as take
    /// some seconds: 2000 for a small program, fewer for a large one, never below 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// End everything after the build within this many seconds, with what is known by
    /// then [default: none with --runs; else 120, and 300 with a repair]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<f64>,
    /// Kill a run after this many seconds and count it as hung [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Seed of the first run; later runs count up from it [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How to choose the next thread [default: mixed]
    #[arg(long, value_name = "HOW")]
    pub strategy: Option<Strategy>,
    /// When sleeps and timed waits end [default: any]
    #[arg(long, value_name = "WHEN")]
    pub sleeps: Option<Sleeps>,
    /// Replay a recorded schedule (a trace file) once
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Number of parallel runs, at most 1024 [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_JOBS))]
    pub jobs: Option<u64>,
    /// Exit with 1 for findings that do at least this much harm
    #[arg(long, value_name = "LEVEL", default_value = "survived")]
    pub fail_on: HarmLevel,
    /// Make stale values happen to see what they do; without, every finding counts
    #[arg(long, value_name = "SWITCH", default_value = "on")]
    pub(crate) harm: Switch,
    /// Report and repair only what these machines can show
    #[arg(long, value_name = "MACHINE", default_value = "c11")]
    pub(crate) target: Target,
    /// Run once and make these stale choices (reports print them)
    #[arg(long, value_name = "CHOICES")]
    pub stale: Option<StaleTargets>,
    /// With --stale: run under gdb, which stops where the choice is made
    #[arg(long, requires = "stale")]
    pub gdb: bool,
    /// Start the program once and fork it just before `main` for every run, if what it
    /// does before allows that
    #[arg(long, value_name = "SWITCH", default_value = "on")]
    pub(crate) fork_server: Switch,
    /// How to treat volatile accesses [default: ignore]
    #[arg(long, value_name = "AS")]
    pub volatile: Option<Volatile>,
    /// What to make of happens-before that the program announces to a thread
    /// sanitizer [default: ignore]
    #[arg(long, value_name = "HOW")]
    pub annotations: Option<Annotations>,
    /// Look for data races on plain accesses, too [default: predict]
    #[arg(long, value_name = "HOW")]
    pub races: Option<Races>,
    /// Report what is done inside the standard library and other system headers, too
    #[arg(long)]
    pub system_headers: bool,
    /// Let the trace of a process grow to this many MiB; what comes later is not
    /// checked [default: 1024]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    pub trace_limit: Option<u64>,
    /// Output format on stdout
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Print only the result
    #[arg(long, short)]
    pub quiet: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// What findings count: by what the stale value does to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HarmLevel {
    /// The program failed, or raced where it does not otherwise.
    Harmful,
    /// Also: it printed something else.
    Visible,
    /// Also: it used the value. Everything but what it threw away.
    Survived,
    /// Everything.
    All,
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
    /// Seek or pct: the seed decides
    Mixed,
    /// A random thread, rarely one that is about to use what it wrote itself
    Seek,
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

fn shell_words(text: &str) -> Result<Words, String> {
    let words = shlex::split(text).map(Words);
    words.ok_or_else(|| "a quotation mark has no partner".to_owned())
}

/// The most runs at a time that can be asked for.
pub(crate) const MAX_JOBS: u64 = 1024;

/// The longest time that can be asked for: ten years.
pub(crate) const MAX_SECONDS: f64 = 10.0 * 365.0 * 24.0 * 3600.0;

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > MAX_SECONDS => {
            Err(format!("at most {MAX_SECONDS} seconds (ten years)"))
        }
        Ok(value) if value > 0.0 => Ok(value),
        _ => Err("expected a positive number of seconds".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_and_jobs_have_a_limit_that_is_said() {
        for (line, said) in [
            ("wmfix check --time 1e300", "ten years"),
            ("wmfix check --timeout 1e19", "ten years"),
            ("wmfix check --timeout nan", "positive"),
            ("wmfix check --time=-1", "positive"),
            ("wmfix check --jobs 100000", "1..=1024"),
            ("wmfix check --cflags '", "no partner"),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).expect_err(line);
            assert!(error.to_string().contains(said), "{line}: {error}");
        }
    }

    #[test]
    fn build_flags_are_repeated_as_they_were_given() {
        let line = ["wmfix", "check", "-D", "N=2", "--ldflags", "-ltbb '-la b'"];
        let Command::Check(arguments) = Cli::parse_from(line).command else {
            panic!("{line:?}");
        };
        let words = arguments.build.to_repeat();
        assert_eq!(words, ["-D", "N=2", "--ldflags=-ltbb '-la b'"]);
    }
}
