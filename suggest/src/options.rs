//! How programs are run and findings reported, as it is meant: the command line,
//! then the project's wmfix.toml, then the defaults.

use std::path::PathBuf;

use clap::ValueEnum;
use wmfix_analysis::{AnalyzerConfig, Model};
use wmfix_frontend::{MemoryOrder, VolatileOrders};

use crate::cli::{
    Annotations, Color, Format, MemoryModel, Races, ReportFile, RunFlags, Sleeps, Strategy, Switch,
    Target, Volatile, WeakChoice,
};
use crate::config::ProjectConfig;
use crate::shard_number::{Shard, ShardFlag};

/// How programs are run and findings reported.
#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    /// Stop after this many runs in a row with nothing new, if that was said.
    pub runs: Option<u64>,
    /// End everything after the build within this many seconds, if that was said.
    pub time: Option<f64>,
    /// A run that takes longer than this many seconds hangs.
    pub timeout: f64,
    /// The seed of the first run.
    pub seed: u64,
    /// How the next thread is chosen.
    pub strategy: Strategy,
    /// When sleeps and timed waits end.
    pub sleeps: Sleeps,
    /// Run all schedules.
    pub exhaustive: bool,
    /// Whether an exploration that was stopped goes on.
    pub resume: bool,
    /// A recorded schedule to follow, once.
    pub replay: Option<PathBuf>,
    /// How many runs at a time; as many as there are processors, if not given.
    pub jobs: Option<u64>,
    /// Whether programs that can do so start their runs by forking.
    pub fork_server: bool,
    /// What a volatile access counts as.
    pub volatile: Volatile,
    /// The user says what a volatile access counts as.
    pub volatile_is_said: bool,
    /// What becomes of annotations of happens-before.
    pub annotations: Annotations,
    /// The memory model.
    pub model: MemoryModel,
    /// How races on plain accesses are looked for.
    pub races: Races,
    /// What is done inside system headers is reported, too.
    pub system_headers: bool,
    /// Record every run.
    pub record: bool,
    /// How large the trace of a process may become, in MiB.
    pub trace_limit: u64,
    /// How many events it may have.
    pub event_limit: u64,
    /// After how many steps a run is ended.
    pub steps: Steps,
    /// How much memory traces may take that are read at the same time, in MiB.
    pub memory_limit: u64,
    /// Whether every stale access counts.
    pub robust: bool,
    /// Findings do not make it end so.
    pub exit_zero: bool,
    /// Whether stale values are made to happen.
    pub harm: bool,
    /// The machines that findings are reported for.
    pub target: Target,
    /// Whether there are free runs, and how these choose.
    pub weak: Option<WeakChoice>,
    /// Run under gdb.
    pub gdb: bool,
    /// The part of the runs that is made here, if not all of them.
    pub shard: Option<Shard>,
    /// How many runs all shards make together.
    pub sharded_runs: u64,
    /// The folder for the file of a shard.
    pub shard_dir: PathBuf,
    /// The file that lists the findings that are known.
    pub baseline: Option<PathBuf>,
    /// How the result is printed on stdout.
    pub format: Format,
    /// The files that the report is written to, too.
    pub reports: Vec<ReportFile>,
    /// Print nothing but the result.
    pub quiet: bool,
    /// When to use colours.
    pub color: Color,
}

/// How many runs all shards make together without `--runs`.
const DEFAULT_SHARDED_RUNS: u64 = 1000;
/// The defaults of `--timeout` (in seconds), `--seed` and `--trace-limit`.
const DEFAULT_TIMEOUT: f64 = 60.0;
const DEFAULT_SEED: u64 = 1;
const DEFAULT_TRACE_LIMIT_MIB: u64 = 1024;
/// The default of `--event-limit`: some gigabytes where the trace is read.
const DEFAULT_EVENT_LIMIT: u64 = 50_000_000;
/// The default of `--memory-limit`: enough for a run at `--trace-limit`.
const DEFAULT_MEMORY_LIMIT_MIB: u64 = 16 << 10;

impl RunOptions {
    /// The orders of volatile accesses that a repair may rely on: where the user says that
    /// they count as atomic.
    pub(crate) fn volatile_orders(&self) -> Option<VolatileOrders> {
        let (load, store) = match self.volatile {
            Volatile::Relaxed => (MemoryOrder::Relaxed, MemoryOrder::Relaxed),
            Volatile::Acqrel => (MemoryOrder::Acquire, MemoryOrder::Release),
            Volatile::Ignore => return None,
        };
        self.volatile_is_said
            .then_some(VolatileOrders { load, store })
    }

    /// What the flags mean for a project.
    pub(crate) fn new(flags: RunFlags, model: MemoryModel, config: &ProjectConfig) -> Self {
        let run = &config.run;
        let runs = flags.runs.or(run.runs.map(u64::from));
        let shard = match flags.shard {
            Some(ShardFlag::Given(shard)) => Some(shard),
            Some(ShardFlag::Auto(_)) | None => None,
        };
        let seconds = |value: Option<crate::config::Seconds>| value.map(|seconds| seconds.0);
        Self {
            runs,
            time: flags.time.or(seconds(run.time)),
            timeout: flags
                .timeout
                .or(seconds(config.test.timeout))
                .unwrap_or(DEFAULT_TIMEOUT),
            seed: flags.seed.or(run.seed).unwrap_or(DEFAULT_SEED),
            strategy: flags.strategy.or(run.strategy).unwrap_or(Strategy::Mixed),
            sleeps: flags.sleeps.or(run.sleeps).unwrap_or(Sleeps::Any),
            exhaustive: flags.exhaustive,
            resume: flags.resume,
            replay: flags.replay,
            jobs: flags.jobs.or(run.jobs.map(|jobs| jobs.0)),
            fork_server: flags.fork_server == Switch::On,
            annotations: flags
                .annotations
                .or(run.annotations)
                .unwrap_or(Annotations::Ignore),
            volatile: flags.volatile.or(run.volatile).unwrap_or(Volatile::Ignore),
            volatile_is_said: flags.volatile.or(run.volatile).is_some(),
            model,
            races: flags.races.or(run.races).unwrap_or(Races::Predict),
            system_headers: flags.system_headers,
            record: flags.record,
            trace_limit: flags.trace_limit.unwrap_or(DEFAULT_TRACE_LIMIT_MIB),
            event_limit: flags.event_limit.unwrap_or(DEFAULT_EVENT_LIMIT),
            steps: Steps::of(
                flags.steps,
                flags.timeout.is_some() || config.test.timeout.is_some(),
            ),
            memory_limit: flags.memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT_MIB),
            robust: flags.robust,
            exit_zero: flags.exit_zero,
            harm: flags.harm == Switch::On,
            target: flags.target,
            weak: None,
            gdb: flags.gdb,
            shard,
            sharded_runs: runs.unwrap_or(DEFAULT_SHARDED_RUNS),
            shard_dir: flags.shard_dir,
            baseline: flags.baseline.or_else(|| {
                let named = run.baseline.as_ref();
                named.map(|file| config.folder.join(file))
            }),
            format: flags.format,
            reports: flags.reports,
            quiet: flags.quiet,
            color: flags.color,
        }
    }
}

/// After how many steps of its threads a run is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steps {
    /// After so many that a long test leaves time for many runs.
    Usual,
    /// After this many.
    After(u64),
    /// It is not.
    Never,
}

impl Steps {
    /// Where the time after which a run hangs was said, a run is not ended earlier.
    fn of(flag: Option<u64>, has_timeout: bool) -> Self {
        match flag {
            Some(0) => Self::Never,
            Some(steps) => Self::After(steps),
            None if has_timeout => Self::Never,
            None => Self::Usual,
        }
    }
}

/// How much of a run is read, all its traces together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadLimits {
    /// Events.
    pub events: u64,
    /// Bytes of memory, for all runs that are read at the same time.
    pub memory: u64,
}

impl RunOptions {
    /// How much of a run is read.
    pub(crate) fn read_limits(&self) -> ReadLimits {
        ReadLimits {
            events: self.event_limit,
            memory: self.memory_limit.saturating_mul(1 << 20),
        }
    }

    /// How runs are analysed.
    pub(crate) fn analyzer_config(&self) -> AnalyzerConfig {
        AnalyzerConfig {
            model: match self.model {
                MemoryModel::Rc11 => Model::RC11,
                MemoryModel::Rc20 => Model::RC20,
            },
            races: self.races != Races::Off,
            ..AnalyzerConfig::default()
        }
    }

    /// The same, and the way to choose schedules where it is not by seeds.
    pub(crate) fn to_repeat_all(&self) -> Vec<String> {
        let mut words = self.to_repeat();
        words.extend(self.exhaustive.then(|| "--exhaustive".to_owned()));
        words
    }

    /// How many runs at a time: as many as asked for, or as there are processors.
    pub(crate) fn jobs(&self) -> usize {
        let asked = self.jobs.and_then(|jobs| usize::try_from(jobs).ok());
        asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// The options that change what a run shows, as far as they are not the
    /// defaults, as words of a command line.
    pub(crate) fn to_repeat(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
        if self.strategy != Strategy::Mixed {
            add("--strategy", value_name(self.strategy));
        }
        if self.sleeps != Sleeps::Any {
            add("--sleeps", value_name(self.sleeps));
        }
        if self.volatile != Volatile::Ignore {
            add("--volatile", value_name(self.volatile));
        }
        if self.annotations != Annotations::Ignore {
            add("--annotations", value_name(self.annotations));
        }
        if self.model != MemoryModel::Rc11 {
            add("--model", value_name(self.model));
        }
        if self.races != Races::Predict {
            add("--races", value_name(self.races));
        }
        match self.steps {
            Steps::After(steps) => add("--steps", steps.to_string()),
            Steps::Usual | Steps::Never => {}
        }
        if self.system_headers {
            words.push("--system-headers".to_owned());
        }
        words
    }
}

/// The name of a value on the command line.
pub(crate) fn value_name(value: impl ValueEnum) -> String {
    let possible = value.to_possible_value().expect("no value is hidden");
    possible.get_name().to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn meant(line: &str, config: &ProjectConfig) -> RunOptions {
        let Command::Check(arguments) = Cli::parse_from(line.split(' ')).command else {
            panic!("{line}");
        };
        RunOptions::new(arguments.how, arguments.model, config)
    }

    #[test]
    fn the_command_line_wins_over_the_project_and_that_over_what_is_usual() {
        let mut config = ProjectConfig::none(Path::new("."));
        assert_eq!(meant("wmfix check", &config).runs, None);
        config.run.runs = std::num::NonZeroU64::new(7);
        config.run.races = Some(Races::Off);
        let options = meant("wmfix check --races on --seed 3", &config);
        assert_eq!(
            (options.runs, options.races, options.seed),
            (Some(7), Races::On, 3)
        );
        assert_eq!(meant("wmfix check --runs 9", &config).runs, Some(9));
    }

    #[test]
    fn only_what_is_not_the_default_is_repeated() {
        let config = ProjectConfig::none(Path::new("."));
        let options = meant("wmfix check --runs 9 --model rc20 --races off", &config);
        assert_eq!(options.to_repeat(), ["--model", "rc20", "--races", "off"]);
        assert!(meant("wmfix check", &config).to_repeat().is_empty());
    }
}
