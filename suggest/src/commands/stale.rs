//! `--stale CHOICE` of `check` and `run`: one run that makes a stale choice, shown
//! as it goes, or under gdb.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use wmfix_trace::StaleTarget;

use super::explain::one_finding;
use crate::exit::{ExitStatus, Stop};
use crate::observe::{Places, decode};
use crate::preparation::{Request, Settings, find_project, prepare, prepare_command};
use crate::report::run_end_text;
use crate::run::{FinishedRun, Launch, RunEnd, RunFolders, Watchdog};
use crate::state;
use crate::subject::Subject;

/// The function of the runtime that is called when the choice is made.
const BREAKPOINT: &str = "__wmfix_stale_access";

/// Builds what is at the path, and runs it with the choice.
pub(super) fn check(request: Request, target: StaleTarget) -> Result<ExitStatus, Stop> {
    let (settings, project) = find_project(request)?;
    let subject = prepare(&project, &settings.options)?;
    show(&settings, &subject, target)
}

/// Runs a command with the choice.
pub(super) fn run(request: Request, target: StaleTarget) -> Result<ExitStatus, Stop> {
    let (settings, subject) = prepare_command(request)?;
    show(&settings, &subject, target)
}

/// `run --debug ID`: the command that shows a finding of the last run, as words.
pub(super) fn command_of(id: &str) -> Result<Vec<String>, Stop> {
    let dossier = state::load()?;
    let dossier = dossier.ok_or_else(|| Stop::usage("there was no run in this folder yet"))?;
    let id = one_finding(&dossier, id)?;
    let violation = dossier.report.violation(id);
    let violation = violation
        .ok_or_else(|| Stop::usage(format_args!("{id} is a race: it has no stale choice")))?;
    let harm = violation.harm.as_ref();
    let command = harm.and_then(|harm| harm.command.as_ref());
    let words = command.and_then(|command| shlex::split(command));
    words.ok_or_else(|| Stop::usage(format_args!("{id} could not be made to happen")))
}

fn show(settings: &Settings, subject: &Subject, target: StaleTarget) -> Result<ExitStatus, Stop> {
    let options = &settings.options;
    if options.gdb && which::which("gdb").is_err() {
        return Err(Stop::usage("gdb is not on the PATH"));
    }
    let folders = RunFolders::new()?;
    let places = Mutex::new(Places::new(settings.vocabularies.clone()));
    let mut made = false;
    let mut status = ExitStatus::Clean;
    for command in &subject.commands {
        let launch = command.launch.with_stale(&target);
        let folder = folders.take()?;
        if options.gdb {
            debug(&launch, options.seed, folder.path())?;
            made = true;
            continue;
        }
        let watchdog = Watchdog::new(Duration::from_secs_f64(options.timeout));
        let finished = launch.shown(options.seed, folder.path(), &watchdog)?;
        if describe(&finished, &places)? {
            made = true;
            eprintln!("wmfix: the run ended with {}", run_end_text(finished.ended));
            if finished.ended != RunEnd::Exited(0) {
                status = ExitStatus::Findings;
            }
        }
    }
    if made {
        return Ok(status);
    }
    Err(Stop::usage(
        "no run came to that choice: is the seed the one of the report, and the program unchanged?",
    ))
}

/// Says where the choice was made; false if it was not.
fn describe(finished: &FinishedRun, places: &Mutex<Places>) -> anyhow::Result<bool> {
    let mut made = false;
    for path in &finished.traces {
        let Ok(decoded) = decode(&std::fs::read(path)?, places) else {
            continue;
        };
        for &(at, _) in &decoded.stale {
            let event = &decoded.events[at];
            let places = places.lock().expect("no panic while locked");
            let point = places.get(event.site).point.as_ref();
            let place = point.map_or_else(
                || "an unknown place".to_owned(),
                |point| format!("{}:{}", point.file.display(), point.line),
            );
            eprintln!(
                "wmfix: thread {} took an old write at {place}",
                event.thread.0
            );
            made = true;
        }
    }
    Ok(made)
}

/// Runs it under gdb, which stops where the choice is made.
fn debug(launch: &Launch, seed: u64, folder: &Path) -> anyhow::Result<()> {
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-iex", "set breakpoint pending on"])
        .args([
            "-ex",
            &format!("break {BREAKPOINT}"),
            "-ex",
            "run",
            "--args",
        ])
        .args(&launch.command)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .envs(launch.settings.iter().map(|(name, value)| (name, value)))
        .env("WMFIX_SEED", seed.to_string())
        .env("WMFIX_OUT", folder);
    if let Some(folder) = &launch.folder {
        gdb.current_dir(folder);
    }
    gdb.status()?;
    Ok(())
}
