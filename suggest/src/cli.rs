//! The command line as typed. What the flags mean together is decided by
//! `options` and the commands; nothing here runs.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use wmfix_trace::StaleTargets;

use crate::shard_number::ShardFlag;

pub(crate) use crate::choices::{
    Annotations, Color, Cost, Format, MemoryModel, Races, ReportFile, Sleeps, Strategy, Switch,
    Target, Volatile, WeakChoice,
};

/// Find and repair memory-order bugs in lock-free C and C++ code
#[derive(Debug, Parser)]
#[command(
    name = "wmfix",
    version,
    about,
    max_term_width = 100,
    disable_help_subcommand = true
)]
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
    /// Find orders and fences that could be weaker and print them as a patch
    Relax(RelaxArgs),
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
    /// Write down the findings of now, for --baseline
    Baseline(BaselineArgs),
    /// Put the parts of --shard together: one report, one repair
    Merge(MergeArgs),
    /// Write a commented wmfix.toml for the current folder
    Init(InitArgs),
    /// Write the headers of scenario files, for builds without wmfix
    Scenarios(ScenariosArgs),
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
    /// For commit hooks: check the project if one of these files has atomic operations
    Hook(HookArgs),
    /// Print the help of a command, or a page of the manual
    Help {
        /// A command or a topic; without one, all of them are listed
        topic: Option<String>,
    },
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
    /// Write the repair to this file, for clang-apply-replacements
    #[arg(long, value_name = "FILE")]
    pub export_fixes: Option<PathBuf>,
    /// Refused with the reason
    #[arg(long, value_name = "LEVEL", hide = true, value_parser = replaced)]
    pub fix: Option<String>,
    /// Add a comment to each change that names the findings it removes
    #[arg(long)]
    pub annotate: bool,
    /// Build, list what would be run and which atomic operations are looked at, and stop.
    /// The tests of a Makefile are made once for that: they may build what they run
    #[arg(long)]
    pub dry_run: bool,
    /// Refused with the reason: `check` has it
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, hide = true)]
    pub weak: Option<Option<String>>,
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

/// `wmfix relax`.
#[derive(Debug, Args)]
pub(crate) struct RelaxArgs {
    /// File or folder of a project, as for `suggest`. It must show no finding, not even a
    /// discarded one
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Cost model that ranks orders [default: portable]
    #[arg(long, value_name = "PROFILE")]
    pub cost: Option<Cost>,
    /// Apply the patch to the files, too
    #[arg(long)]
    pub apply: bool,
    /// Write report.html and the patch to this folder
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Add a comment to each changed order that says what it was
    #[arg(long)]
    pub annotate: bool,
    /// How to build
    #[command(flatten)]
    pub build: BuildFlags,
    /// How to run and report
    #[command(flatten)]
    pub how: RunFlags,
    /// Test command, instead of the detected one, as for `suggest`
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
    /// Refused with the reason
    #[arg(long, value_name = "LEVEL", hide = true, value_parser = replaced)]
    pub fix: Option<String>,
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
    /// Build, list what would be run and which atomic operations are looked at, and stop.
    /// The tests of a Makefile are made once for that: they may build what they run
    #[arg(long)]
    pub dry_run: bool,
    /// Options of a repair
    #[command(flatten)]
    #[allow(dead_code, reason = "nobody asks for what has no effect")]
    pub no_repair: RepairFlags,
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

/// Options that only a repair uses. `check` and `run` take them too, so that a script
/// can give all three the same options.
#[derive(Debug, Args)]
#[allow(dead_code, reason = "nobody asks for what has no effect")]
pub(crate) struct RepairFlags {
    /// Has no effect without a repair
    #[arg(long, value_name = "PROFILE", hide = true)]
    cost: Option<Cost>,
    /// Has no effect without a repair
    #[arg(long, value_name = "LEVEL", hide = true, value_parser = replaced)]
    fix: Option<String>,
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
    /// Options of a repair
    #[command(flatten)]
    #[allow(dead_code, reason = "nobody asks for what has no effect")]
    pub no_repair: RepairFlags,
    /// How to run and report
    #[command(flatten)]
    pub how: RunFlags,
    /// Command to run
    #[arg(last = true, required_unless_present = "debug")]
    pub command: Vec<OsString>,
}

/// `wmfix baseline`.
#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    /// Source file with `main`, or folder
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// File to write
    #[arg(long, value_name = "FILE", default_value = "wmfix-baseline.json")]
    pub output: PathBuf,
    /// Write down the findings of the last report, without running anything
    #[arg(long, conflicts_with_all = ["path", "command"])]
    pub last: bool,
    /// Memory model
    #[arg(long, value_name = "MODEL", default_value = "rc11")]
    pub model: MemoryModel,
    /// How to build
    #[command(flatten)]
    pub build: BuildFlags,
    /// How to run
    #[command(flatten)]
    pub how: RunFlags,
    /// Test command, instead of the detected one
    #[arg(last = true)]
    pub command: Vec<OsString>,
}

/// `wmfix merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders with the files that the parts wrote (--shard-dir)
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// After `suggest`: apply the patch to the files, too
    #[arg(long)]
    pub apply: bool,
    /// After `suggest`: write report.html and numbered patches to this folder
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// After `suggest`: write the repair to this file, for clang-apply-replacements
    #[arg(long, value_name = "FILE")]
    pub export_fixes: Option<PathBuf>,
    /// Number of parallel runs [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub jobs: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<f64>,
    /// Findings that this file lists do not fail (`wmfix baseline` writes it)
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Output format on stdout
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Write the report to a file, too, in any format of --format; may be repeated
    #[arg(long = "report", value_name = "FORMAT=FILE")]
    pub reports: Vec<ReportFile>,
    /// Print only the result
    #[arg(long, short)]
    pub quiet: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
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
    /// Print the finding as a litmus test instead: for herd7, or as a C program
    #[arg(long, value_name = "AS", num_args = 0..=1, default_missing_value = "herd")]
    pub litmus: Option<LitmusFormat>,
    /// When to use colors
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// A notation of litmus tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LitmusFormat {
    /// The C dialect of herd7
    Herd,
    /// A C program that counts how often the outcome comes about
    C,
}

/// `wmfix hook`.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Files that change
    pub files: Vec<PathBuf>,
    /// How to run and report
    #[command(flatten)]
    pub how: RunFlags,
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

/// The flags of `wmfix scenarios`.
#[derive(Debug, Args)]
pub(crate) struct ScenariosArgs {
    /// Write wmfix/scenarios.hpp, wmfix/scenarios.h and what they include into this
    /// include folder; a file that is there and differs is left as it is
    #[arg(long, value_name = "DIR", required = true)]
    pub headers: PathBuf,
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
    /// Run all schedules of each test that differ in more than the order of independent
    /// steps, and say `proved` if nothing is found in any of them
    #[arg(long, conflicts_with_all = ["runs", "strategy", "sleeps", "replay", "stale"])]
    pub exhaustive: bool,
    /// With --exhaustive: go on with the exploration that --time or an interrupt ended
    #[arg(long, requires = "exhaustive")]
    pub resume: bool,
    /// Replay a recorded schedule (a trace file) once
    #[arg(long, value_name = "FILE")]
    pub replay: Option<PathBuf>,
    /// Number of parallel runs, at most 1024 [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_JOBS))]
    pub jobs: Option<u64>,
    /// Count and repair every stale access, whether or not it was seen to do harm
    #[arg(long)]
    pub robust: bool,
    /// Refused with the reason
    #[arg(long, value_name = "LEVEL", hide = true, value_parser = replaced)]
    pub fail_on: Option<String>,
    /// Exit with 0 if there are findings, too: only failing to check is told by the exit
    /// code
    #[arg(long)]
    pub exit_zero: bool,
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
    /// Record every run, and check it afterwards. By default a run is checked in its
    /// process and recorded only to look into a new finding; under --strategy os it is
    /// recorded meanwhile
    #[arg(long)]
    pub record: bool,
    /// Let the traces of a run, of all its processes together, grow to this many MiB;
    /// what comes later is not checked [default: 1024]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    pub trace_limit: Option<u64>,
    /// Let the traces of a run have this many events, each of which takes some
    /// dozens of bytes where it is read; what comes later is not checked [default:
    /// 50000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub event_limit: Option<u64>,
    /// End a run after this many steps of its threads, as if the program had ended there;
    /// 0: never. Without this a test that turns out to be long is ended after 200000, every
    /// eighth run after 1000000, unless --timeout says when a run hangs
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Take this many MiB of memory, by estimate, for traces that are read at the same
    /// time; a run that needs more is not checked [default: 16384]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    pub memory_limit: Option<u64>,
    /// Make only every N-th run, as part I of N; `wmfix merge` puts the parts together.
    /// --runs is then the number of runs of all parts together [default: 1000], and
    /// none of them stops early. With --exhaustive: explore only this part of the
    /// schedules. `auto` and `auto/N` take the part from the variables of Bazel, GitLab,
    /// CircleCI, Kubernetes or Slurm
    #[arg(long, value_name = "I/N")]
    pub shard: Option<ShardFlag>,
    /// Folder for the file that a part writes for `wmfix merge`
    #[arg(long, value_name = "DIR", default_value = "wmfix-shards")]
    pub shard_dir: PathBuf,
    /// Findings that this file lists do not fail (`wmfix baseline` writes it)
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Output format on stdout
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Write the report to a file, too, in any format of --format; may be repeated
    #[arg(long = "report", value_name = "FORMAT=FILE")]
    pub reports: Vec<ReportFile>,
    /// Print only the result
    #[arg(long, short)]
    pub quiet: bool,
    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

fn shell_words(text: &str) -> Result<Words, String> {
    let words = shlex::split(text).map(Words);
    words.ok_or_else(|| "a quotation mark has no partner".to_owned())
}

/// The most runs at a time that can be asked for.
pub(crate) const MAX_JOBS: u64 = 1024;

/// What has taken the place of levels of harm.
fn replaced(_level: &str) -> Result<String, String> {
    Err(
        "there are no levels any more: races and stale accesses that are harmful count, and \
         with --robust every stale access"
            .to_owned(),
    )
}

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
            ("wmfix check --report wmfix.sarif", "FORMAT=FILE"),
            ("wmfix check --report sarif=", "FORMAT=FILE"),
            (
                "wmfix check --report xml=a.xml",
                "no format xml: there are text, json",
            ),
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
