//! The first stage: from the command line and the project's wmfix.toml to a subject
//! that can be run. The one place that reads the configuration for the commands
//! that run something.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use wmfix_frontend::Vocabularies;

use crate::allow::AllowRules;
use crate::cli::{MemoryModel, RunFlags, WeakChoice};
use crate::config::ProjectConfig;
use crate::exit::{ExitStatus, Stop};
use crate::observe::Scope;
use crate::options::RunOptions;
use crate::project::{BuildFailure, Prepared, Project};
use crate::report;
use crate::run::{Launch, stop_on_interrupt};
use crate::subject::{RerunCommand, Subject, TestCommand};

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
    /// The flags.
    pub flags: RunFlags,
}

/// What the runs are made and judged by.
pub(crate) struct Settings {
    /// What the flags and the configuration mean.
    pub options: RunOptions,
    /// How the source spells its atomics.
    pub vocabularies: Vocabularies,
    /// Findings that are allowed.
    pub allow_rules: AllowRules,
    /// Whose code files are.
    pub scope: Scope,
}

/// The configuration about a path and what the flags mean with it. An interrupt
/// ends the runs from now on.
fn read_settings(
    path: &Path,
    flags: RunFlags,
    (model, weak): (MemoryModel, Option<WeakChoice>),
) -> Result<(Settings, ProjectConfig), Stop> {
    let config = ProjectConfig::about(path).map_err(Stop::usage)?;
    let mut options = RunOptions::new(flags, model, &config);
    options.weak = weak;
    if let Some(trace) = &options.replay {
        if !trace.is_file() {
            let message = format!("no such trace: {}", trace.display());
            return Err(Stop::usage(message));
        }
        options.jobs = Some(1);
    }
    stop_on_interrupt()?;
    let scope = Scope {
        folder: config.folder.clone(),
        exclude: config.repair.exclude.clone(),
        include: config.repair.include.clone(),
        system_headers: options.system_headers,
    };
    let settings = Settings {
        options,
        scope,
        vocabularies: config.vocabularies.clone(),
        allow_rules: AllowRules::of(&config),
    };
    Ok((settings, config))
}

/// What there is to build at a path.
pub(crate) fn find_project(request: Request) -> Result<(Settings, Project), Stop> {
    let semantics = (request.model, request.weak);
    let (settings, config) = read_settings(&request.path, request.flags, semantics)?;
    let project = Project::find(&request.path, request.command, config);
    Ok((settings, project.map_err(Stop::usage)?))
}

/// Builds the project in a copy.
pub(crate) fn prepare(project: &Project, options: &RunOptions) -> Result<Subject, Stop> {
    match project.prepare(&[], options)? {
        Prepared::Built(subject) => Ok(subject),
        Prepared::Failed(failure) => Err(build_failed(&failure)),
    }
}

fn build_failed(failure: &BuildFailure) -> Stop {
    let stop = Stop::new(ExitStatus::Failed, report::build_failure_text(failure));
    stop.with_output(report::build_failure_output(failure).to_owned())
}

/// What `run` runs: the command as it is, in the current folder.
pub(crate) fn prepare_command(request: Request) -> Result<(Settings, Subject), Stop> {
    let semantics = (request.model, request.weak);
    let (settings, _) = read_settings(&request.path, request.flags, semantics)?;
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
        copy: None,
    };
    Ok((settings, subject))
}
