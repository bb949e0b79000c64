//! Programs that are made of scenarios (`<wmfix/scenarios.hpp>`): each scenario is run
//! as a test of its own, the smallest first, so that a run is short and what it shows
//! is named. Which there are, the program itself says.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::build_folder;
use super::command::{BuildCommand, CommandOutcome};
use crate::options::RunOptions;
use crate::regular_file;
use crate::run::Deadline;
use crate::subject::{Subject, TestCommand};

/// What such a program has in it (`wmfix_mark` in wmfix/scenarios/main.h).
const MARK: &[u8] = b"wmfix-scenarios:1";

/// Where it is told of the folder that says which results were explained.
const EXPLAINED_VARIABLE: &str = "WMFIX_EXPLAINED";

/// No more scenarios of a program are tried.
const MOST_SCENARIOS: u32 = 40;

/// A program is bigger than this only if it is none of these.
const MAX_PROGRAM_BYTES: u64 = 256 << 20;

/// Finding out how much an object holds takes no longer.
const MAX_LISTING: Duration = Duration::from_secs(60);

/// The subject with a command for each scenario in the place of a program of them. In
/// `folder` is kept what the programs have found out.
pub(super) fn one_by_one(
    mut subject: Subject,
    folder: &Path,
    options: &RunOptions,
    deadline: Deadline,
) -> anyhow::Result<Subject> {
    let kept = folder.join("scenarios");
    // What another build has explained says nothing about this one.
    build_folder::remove(&kept)?;
    let mut commands = Vec::new();
    for (number, mut command) in subject.commands.into_iter().enumerate() {
        if !is_made_of_scenarios(&command) {
            commands.push(command);
            continue;
        }
        let explained = kept.join(number.to_string());
        fs::create_dir_all(&explained)
            .with_context(|| format!("cannot make {}", explained.display()))?;
        let variable = (EXPLAINED_VARIABLE.into(), explained.into_os_string());
        command.launch.environment.push(variable);
        match names(&command, &kept, number_of_scenarios(options), deadline)? {
            Some(names) => commands.extend(names.lines().map(|name| of_scenario(&command, name))),
            // What is wrong with it, its own run says.
            None => commands.push(command),
        }
    }
    subject.commands = commands;
    Ok(subject)
}

/// How many scenarios are tried: each has a second of the time, or more.
fn number_of_scenarios(options: &RunOptions) -> u32 {
    let seconds = options.time.unwrap_or(f64::from(MOST_SCENARIOS));
    seconds.clamp(1.0, f64::from(MOST_SCENARIOS)) as u32
}

/// Whether a command's program has scenarios.
fn is_made_of_scenarios(command: &TestCommand) -> bool {
    let Some(program) = command.launch.program() else {
        return false;
    };
    let is_small = fs::metadata(&program).is_ok_and(|meta| meta.len() <= MAX_PROGRAM_BYTES);
    is_small
        && regular_file::read(&program).is_ok_and(|bytes| {
            bytes.starts_with(b"\x7fELF") && bytes.windows(MARK.len()).any(|at| at == MARK)
        })
}

/// The scenarios of a program, a line each; `None` if the command names one already, or
/// if the program cannot say.
fn names(
    command: &TestCommand,
    folder: &Path,
    most: u32,
    deadline: Deadline,
) -> anyhow::Result<Option<String>> {
    let launch = &command.launch;
    if launch.command.iter().any(|word| word == "--scenario") {
        return Ok(None);
    }
    let list = folder.join("list");
    let option = [
        "--scenarios".into(),
        OsString::from(most.to_string()),
        "--list-to".into(),
        list.clone().into(),
    ];
    let words = launch.command.iter().cloned().chain(option);
    let run_in = launch.folder.as_deref().unwrap_or(folder);
    let log = folder.join("log");
    let limit = Some(MAX_LISTING);
    let outcome =
        BuildCommand::new(words).run(run_in, &launch.environment, &log, limit, deadline)?;
    if outcome != CommandOutcome::Succeeded {
        return Ok(None);
    }
    let names = fs::read_to_string(&list);
    let names = names.with_context(|| format!("cannot read {}", list.display()))?;
    Ok((!names.is_empty()).then_some(names))
}

/// The command that runs one scenario, and how a user does.
fn of_scenario(command: &TestCommand, name: &str) -> TestCommand {
    let mut one = command.clone();
    let option = ["--scenario", name];
    one.launch.command.extend(option.map(OsString::from));
    if one.rerun.test_command.is_empty() {
        let mut words = command.launch.command.iter();
        let program = words.next().map(|_| command.launch.name());
        let rest = words.map(|word| word.to_string_lossy().into_owned());
        one.rerun.test_command = program.into_iter().chain(rest).collect();
    }
    one.rerun.test_command.extend(option.map(String::from));
    one
}
