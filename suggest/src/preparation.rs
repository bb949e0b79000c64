//! The first stage: from the command line and the project's wmfix.toml to a subject
//! that can be run. The one place that reads the configuration for the commands
//! that run something.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use wmfix_frontend::Vocabularies;
use wmfix_trace::{Ending, Reader};

use crate::allow::AllowRules;
use crate::apply::clean_up_after_others;
use crate::cc::NoCompiler;
use crate::cli::{BuildFlags, MemoryModel, RunFlags, Volatile, WeakChoice};
use crate::config::{FILE_NAME, ProjectConfig};
use crate::exit::{ExitStatus, Stop};
use crate::observe::Scope;
use crate::options::RunOptions;
use crate::path_limit::PathLimit;
use crate::project::{Asked, BuildFailure, Prepared, Project, locate};
use crate::regular_file;
use crate::report::{self, BaselineFile};
use crate::run::{Deadline, Launch, stop_on_interrupt};
use crate::shard_number::{Shard, ShardFlag};
use crate::shards::{MergedShards, from_environment};
use crate::subject::{RerunCommand, Subject, TestCommand};

/// The environment variable that stands in for `--runs`.
const RUNS_VARIABLE: &str = "WMFIX_RUNS";

/// What is examined, and how, as the command line has it.
pub(crate) struct Request {
    /// A source file or a folder.
    pub path: PathBuf,
    /// The test command, or what `run` runs; empty if there is none.
    pub command: Vec<OsString>,
    /// The memory model.
    pub model: MemoryModel,
    /// Whether there are free runs, and how these choose.
    pub weak: Option<WeakChoice>,
    /// How it is built.
    pub build: BuildFlags,
    /// The flags.
    pub flags: RunFlags,
    /// The shards whose runs are put together, if they are.
    pub merged: Option<MergedShards>,
    /// Whether a baseline that the project names is left aside: a new one is made.
    pub ignore_baseline: bool,
}

/// What the runs are made and judged by.
pub(crate) struct Settings {
    /// What the flags and the configuration mean.
    pub options: RunOptions,
    /// How the source spells its atomics.
    pub vocabularies: Vocabularies,
    /// Nobody said what volatile accesses are taken for.
    pub volatile_is_open: bool,
    /// Findings that are allowed.
    pub allow_rules: AllowRules,
    /// Whose code files are.
    pub scope: Scope,
    /// What the report and the repair are limited to.
    pub limit: PathLimit,
    /// The folder of the project, absolute; the current one for `run`.
    pub folder: PathBuf,
    /// Findings that are known.
    pub baseline: Option<BaselineFile>,
    /// The shards whose runs are put together, if they are.
    pub merged: Option<MergedShards>,
}

/// The configuration about a path and what the flags mean with it. An interrupt
/// ends the runs from now on.
fn read_settings(
    path: &Path,
    flags: RunFlags,
    (model, weak): (MemoryModel, Option<WeakChoice>),
    merged: Option<MergedShards>,
    ignore_baseline: bool,
) -> Result<(Settings, ProjectConfig), Stop> {
    let config = ProjectConfig::about(path).map_err(Stop::usage)?;
    let shard = flags.shard;
    let volatile_is_open = flags.volatile.or(config.run.volatile).is_none();
    let mut options = RunOptions::new(flags, model, &config);
    options.weak = weak;
    if options.runs.is_none() {
        options.runs = usual_runs()?;
    }
    if merged.is_none() && options.shard.is_none() {
        options.shard = shard_of_engine(shard, options.quiet)?;
    }
    if let Some(trace) = &options.replay {
        check_replay(trace)?;
        options.jobs = Some(1);
    }
    let baseline = match ignore_baseline {
        true => None,
        false => options.baseline.as_deref().map(read_baseline).transpose()?,
    };
    stop_on_interrupt()?;
    let scope = Scope {
        folder: config.folder.clone(),
        exclude: config.repair.exclude.clone(),
        include: config.repair.include.clone(),
        system_headers: options.system_headers,
    };
    let settings = Settings {
        scope,
        vocabularies: match options.volatile {
            Volatile::Ignore => config.vocabularies.clone(),
            Volatile::Relaxed | Volatile::Acqrel => config.vocabularies.clone().and_volatile(),
        },
        options,
        volatile_is_open,
        allow_rules: AllowRules::of(&config),
        limit: PathLimit::default(),
        folder: std::env::current_dir().context("cannot find the current folder")?,
        baseline,
        merged,
    };
    Ok((settings, config))
}

/// The shard that whatever started this says it is; tells so, and gives the sign
/// that it wants to have.
fn shard_of_engine(flag: Option<ShardFlag>, quiet: bool) -> Result<Option<Shard>, Stop> {
    let variable = |name: &str| std::env::var(name).ok();
    let engine = from_environment(flag, variable).map_err(Stop::usage)?;
    let Some(engine) = engine else {
        return Ok(None);
    };
    if let Some(file) = &engine.status_file {
        // What is there stays as it is.
        let touched = File::options().append(true).create(true).open(file);
        touched.with_context(|| format!("cannot touch {file}"))?;
    }
    if !quiet {
        let (number, total) = (engine.shard.number(), engine.shard.total());
        eprintln!("wmfix: shard {number} of {total}, says {}", engine.said_by);
    }
    Ok(Some(engine.shard))
}

/// Reads a baseline before anything is run for it.
fn read_baseline(file: &Path) -> Result<BaselineFile, Stop> {
    let name = file.display();
    let text = regular_file::read_text(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Stop::usage(format_args!(
            "no such baseline: {name} (`wmfix baseline` writes one)"
        )),
        _ => Stop::usage(format_args!("cannot read {name}: {error}")),
    })?;
    BaselineFile::parse(&text)
        .map_err(|error| Stop::usage(format_args!("{name} is not a baseline: {error}")))
}

/// Whether a file holds a schedule that can be followed. One that ends early can: it
/// may be that of a run that was killed.
fn check_replay(file: &Path) -> Result<(), Stop> {
    let shown = file.display();
    if !file.is_file() {
        return Err(Stop::usage(format_args!("no such trace: {shown}")));
    }
    let bytes = regular_file::read(file)
        .map_err(|error| Stop::usage(format_args!("cannot read {shown}: {error}")))?;
    let reader = Reader::new(&bytes);
    let mut reader =
        reader.map_err(|error| Stop::usage(format_args!("{shown} cannot be replayed: {error}")))?;
    reader.by_ref().for_each(drop);
    match reader.ending() {
        Some(Ending::Corrupt { offset, what }) => Err(Stop::usage(format_args!(
            "{shown} cannot be replayed: it is damaged at byte {offset}: {what}"
        ))),
        Some(Ending::Cut { offset }) => {
            eprintln!(
                "wmfix: {shown} is cut at byte {offset}: from there on the schedule is a free one"
            );
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether the file that tests are to read is there.
fn check_stdin(config: &ProjectConfig) -> Result<(), Stop> {
    let Some(stdin) = &config.test.stdin else {
        return Ok(());
    };
    match config.folder.join(stdin).is_file() {
        true => Ok(()),
        false => Err(Stop::usage(format_args!(
            "{}: `stdin` in [test] names {}, and there is no such file",
            config.folder.join(FILE_NAME).display(),
            stdin.display()
        ))),
    }
}

/// The number of quiet runs that the environment asks for, where neither the command
/// line nor the project does: for machines that check many programs.
fn usual_runs() -> Result<Option<u64>, Stop> {
    let Some(text) = std::env::var_os(RUNS_VARIABLE) else {
        return Ok(None);
    };
    let runs = text.to_str().and_then(|text| text.parse().ok());
    match runs.filter(|&runs| runs > 0) {
        Some(runs) => Ok(Some(runs)),
        None => Err(Stop::usage(format_args!(
            "{RUNS_VARIABLE} is `{}`: expected a number of runs",
            text.display()
        ))),
    }
}

/// What there is to build at a path, or around it.
pub(crate) fn find_project(request: Request) -> Result<(Settings, Project), Stop> {
    let semantics = (request.model, request.weak);
    let location = locate(&request.path, !request.command.is_empty()).map_err(Stop::usage)?;
    let (mut settings, config) = read_settings(
        &location.root,
        request.flags,
        semantics,
        request.merged,
        request.ignore_baseline,
    )?;
    check_stdin(&config)?;
    settings.limit = PathLimit::new(location.scope.clone());
    let asked = Asked {
        named: request.path,
        command: request.command,
        build: request.build,
    };
    let project = Project::find(location, asked, config);
    let project = project.map_err(Stop::usage)?;
    settings.folder = project.folder().to_owned();
    if project.builds_in_runs() {
        settings.options.jobs = Some(1);
    }
    Ok((settings, project))
}

/// Builds the project in a copy, and settles how many runs there are at a time.
pub(crate) fn prepare(project: &Project, settings: &mut Settings) -> Result<Subject, Stop> {
    clean_up_after_others(project.tree());
    match project.prepare(&[], &settings.options, Deadline::NEVER)? {
        Prepared::Built(subject) => {
            if subject.one_at_a_time {
                settings.options.jobs = Some(1);
            }
            Ok(subject)
        }
        Prepared::Failed(failure) => Err(build_failed(&failure)),
    }
}

fn build_failed(failure: &BuildFailure) -> Stop {
    let status = match failure {
        BuildFailure::NoCompiler(NoCompiler::Missing(..)) => ExitStatus::Usage,
        _ => ExitStatus::Failed,
    };
    let stop = Stop::new(status, report::build_failure_text(failure));
    stop.with_output(report::build_failure_output(failure).to_owned())
}

/// What `run` runs: the command as it is, in the current folder.
pub(crate) fn prepare_command(request: Request) -> Result<(Settings, Subject), Stop> {
    let semantics = (request.model, request.weak);
    let (settings, _) = read_settings(
        &request.path,
        request.flags,
        semantics,
        request.merged,
        request.ignore_baseline,
    )?;
    let (options, command) = (&settings.options, request.command);
    let repeated = options.to_repeat();
    let words = std::iter::once("run").chain(repeated.iter().map(String::as_str));
    let rerun = RerunCommand::new(
        words.map(OsStr::new),
        command.iter().map(OsString::as_os_str),
    );
    let launch = Launch::new(command, options);
    let subject = Subject {
        commands: vec![TestCommand { launch, rerun }],
        files: Vec::new(),
        must_pass: false,
        one_at_a_time: false,
        copy: None,
        built: Vec::new(),
        notes: Vec::new(),
    };
    Ok((settings, subject))
}
