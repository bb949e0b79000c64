//! `wmfix check [PATH] [-- TEST COMMAND]`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::examine::{examine_and_report, options_to_repeat, quoted};
use crate::cli::CheckArgs;
use crate::config::Config;
use crate::exit::Exit;
use crate::options::RunOptions;
use crate::pipeline::Subject;
use crate::project::{Build, Program, build, find_programs};
use crate::report::Again;
use crate::run::Launch;

/// Builds what is at the path, runs it, and reports.
pub fn run(arguments: CheckArgs) -> anyhow::Result<Exit> {
    let config = match Config::about(&arguments.path) {
        Ok(config) => config,
        Err(mistake) => {
            eprintln!("wmfix: {mistake}");
            return Ok(Exit::Usage);
        }
    };
    let options = RunOptions::new(arguments.how, arguments.model, &config);
    let programs = match find_programs(&arguments.path) {
        Ok(programs) => programs,
        Err(nothing) => {
            eprintln!("wmfix: {nothing}");
            return Ok(Exit::Usage);
        }
    };
    let folder = tempfile::Builder::new().prefix("wmfix-build-").tempdir()?;
    let executables = match executables(&programs, &[], folder.path())? {
        Ok(executables) => executables,
        Err(exit) => return Ok(exit),
    };
    let subject = Subject {
        launches: launches(
            &arguments.path,
            &arguments.command,
            &options,
            executables,
            folder.path(),
        ),
        files: source_files(&programs)?,
    };
    examine_and_report(subject, options, &config)
}

/// Builds programs into a folder; says why not, and gives the exit for that.
pub fn executables(
    programs: &[Program],
    include: &[PathBuf],
    folder: &Path,
) -> anyhow::Result<Result<Vec<PathBuf>, Exit>> {
    let mut executables = Vec::new();
    for program in programs {
        match build(program, include, folder)? {
            Build::Built(executable) => executables.push(executable),
            Build::Failed(output) => {
                eprint!("{output}");
                eprintln!(
                    "wmfix: {} does not build; what the compiler said is above",
                    program.name
                );
                return Ok(Err(Exit::Failed));
            }
            Build::NoCompiler(why) => {
                eprintln!("wmfix: {why}");
                return Ok(Err(Exit::Failed));
            }
        }
    }
    Ok(Ok(executables))
}

/// The programs, one after the other; or the test command, with them on PATH.
pub fn launches(
    path: &Path,
    command: &[OsString],
    options: &RunOptions,
    executables: Vec<PathBuf>,
    folder: &Path,
) -> Vec<(Launch, Again)> {
    let before = format!(
        "wmfix check {}{}",
        quoted(path.as_os_str()),
        options_to_repeat(options)
    );
    if command.is_empty() {
        let again = Again {
            before,
            after: String::new(),
        };
        let launch = |executable: PathBuf| Launch::new(vec![executable.into()], options);
        return executables
            .into_iter()
            .map(|executable| (launch(executable), again.clone()))
            .collect();
    }
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let again = Again {
        before,
        after: format!("-- {}", words.join(" ")),
    };
    let mut launch = Launch::new(command.to_vec(), options);
    let mut path = OsString::from(folder);
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    launch.environment.push(("PATH".into(), path));
    vec![(launch, again)]
}

/// The source files of programs, absolute.
pub fn source_files(programs: &[Program]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for source in programs.iter().flat_map(|program| &program.sources) {
        files.push(std::path::absolute(source)?);
    }
    files.sort();
    files.dedup();
    Ok(files)
}
