//! `--stale CHOICES` of `check` and `run`: one run that makes stale choices, shown
//! as it goes, or under gdb.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use wmfix_trace::StaleTargets;

use super::explain::one_finding;
use crate::exit::{ExitStatus, Stop};
use crate::observe::{Places, decode};
use crate::preparation::{Request, Settings, find_project, prepare, prepare_command};
use crate::report::run_end_text;
use crate::run::{Deadline, FinishedRun, Launch, RunEnd, RunFolders, Watchdog};
use crate::state;
use crate::subject::Subject;

/// The function of the runtime that is called when a choice is made.
const BREAKPOINT: &str = "__wmfix_stale_access";

/// Builds what is at the path, and runs it with the choices.
pub(super) fn check(request: Request, choices: &StaleTargets) -> Result<ExitStatus, Stop> {
    let (mut settings, project) = find_project(request)?;
    let subject = prepare(&project, &mut settings)?;
    show(&settings, &subject, choices)
}

/// Runs a command with the choices.
pub(super) fn run(request: Request, choices: &StaleTargets) -> Result<ExitStatus, Stop> {
    let (settings, subject) = prepare_command(request)?;
    show(&settings, &subject, choices)
}

/// `run --debug ID`: the command that shows a finding of the last run, as words.
pub(super) fn command_of(id: &str) -> Result<Vec<String>, Stop> {
    let dossier = state::load()?;
    let dossier = dossier.ok_or_else(|| Stop::usage("there was no run in this folder yet"))?;
    let id = one_finding(&dossier, id)?;
    let report = &dossier.report;
    let harm = match (report.violation(id), report.free_finding(id)) {
        (Some(violation), _) => violation.harm.as_ref(),
        (None, Some(finding)) => Some(&finding.harm),
        (None, None) => {
            let message = format!("{id} is a race: it has no stale choice");
            return Err(Stop::usage(message));
        }
    };
    let command = harm.and_then(|harm| harm.command.as_ref());
    let words = command.and_then(|command| shlex::split(command));
    words.ok_or_else(|| Stop::usage(format_args!("{id} could not be made to happen")))
}

/// An access that took an old write.
struct StaleAccess {
    thread: u32,
    place: String,
    function: String,
}

fn show(
    settings: &Settings,
    subject: &Subject,
    choices: &StaleTargets,
) -> Result<ExitStatus, Stop> {
    let options = &settings.options;
    if options.gdb && which::which("gdb").is_err() {
        return Err(Stop::usage("gdb is not on the PATH"));
    }
    let folders = RunFolders::new()?;
    let places = Mutex::new(Places::new(
        settings.vocabularies.clone(),
        settings.scope.clone(),
    ));
    let mut made = false;
    let mut status = ExitStatus::Clean;
    for command in &subject.commands {
        let launch = match choices.0[..] {
            [ref target] if options.weak.is_none() => command.launch.with_stale(target),
            _ => command.launch.with_choices(choices),
        };
        let folder = folders.take()?;
        let watchdog = Watchdog::new(Duration::from_secs_f64(options.timeout), Deadline::NEVER);
        // Under gdb it is run once more: this run tells where the choice is made.
        let finished = match options.gdb {
            true => launch.once(options.seed, &folder, &watchdog)?,
            false => launch.shown(options.seed, folder.path(), &watchdog)?,
        };
        let accesses = stale_accesses(&finished, &places)?;
        for StaleAccess { thread, place, .. } in &accesses {
            eprintln!("wmfix: thread {thread} took an old write at {place}");
        }
        let Some(first) = accesses.first() else {
            continue;
        };
        made = true;
        if options.gdb {
            debug(&launch, options.seed, folder.path(), &first.function)?;
            continue;
        }
        eprintln!("wmfix: the run ended with {}", run_end_text(finished.ended));
        if finished.ended != RunEnd::Exited(0) {
            status = ExitStatus::Findings;
        }
    }
    if made {
        return Ok(status);
    }
    Err(Stop::usage(
        "no run came to such a choice: is the seed the one of the report, and the program unchanged?",
    ))
}

/// The accesses of a run that took old writes.
fn stale_accesses(
    finished: &FinishedRun,
    places: &Mutex<Places>,
) -> anyhow::Result<Vec<StaleAccess>> {
    let mut accesses = Vec::new();
    for path in &finished.traces {
        let Ok(decoded) = decode(&std::fs::read(path)?, places) else {
            continue;
        };
        for &(at, _) in &decoded.stale {
            let event = &decoded.events[at];
            let places = places.lock().expect("no panic while locked");
            let place = places.get(event.site);
            accesses.push(StaleAccess {
                thread: event.thread.0,
                place: place.point.as_ref().map_or_else(
                    || "an unknown place".to_owned(),
                    |point| format!("{}:{}", point.file.display(), point.line),
                ),
                function: place.function.clone(),
            });
        }
    }
    Ok(accesses)
}

/// Runs it under gdb, which stops where a choice is made and shows the function
/// that makes it.
fn debug(launch: &Launch, seed: u64, folder: &Path, function: &str) -> anyhow::Result<()> {
    let mut gdb = Command::new("gdb");
    gdb.arg("-q")
        .args(["-iex", "set breakpoint pending on"])
        .args(["-iex", "set debuginfod enabled off"])
        .args(["-ex", &format!("break {BREAKPOINT}")])
        .args(["-ex", "run"]);
    if !function.is_empty() {
        gdb.args(["-ex", &format!("frame function {function}")]);
    }
    gdb.arg("--args")
        .args(&launch.command)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .envs(launch.settings.iter().map(|(name, value)| (name, value)))
        .env("WMFIX_SEED", seed.to_string())
        .env("WMFIX_OUT", folder.join("traces"));
    if let Some(folder) = &launch.folder {
        gdb.current_dir(folder);
    }
    gdb.status()?;
    Ok(())
}
