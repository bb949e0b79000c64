//! `wmfix run -- COMMAND`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::examine::{examine_and_report, ready};
use crate::cli::RunArgs;
use crate::config::ProjectConfig;
use crate::exit::ExitStatus;
use crate::options::RunOptions;
use crate::run::Launch;
use crate::subject::{RerunCommand, Subject, TestCommand};

/// Runs something built with the wrappers, and reports.
pub fn run(arguments: RunArgs) -> anyhow::Result<ExitStatus> {
    let config = match ProjectConfig::about(Path::new(".")) {
        Ok(config) => config,
        Err(mistake) => {
            eprintln!("wmfix: {mistake}");
            return Ok(ExitStatus::Usage);
        }
    };
    let mut options = RunOptions::new(arguments.how, arguments.model, &config);
    let repeated = options.to_repeat();
    let words = std::iter::once("run").chain(repeated.iter().map(String::as_str));
    let rerun = RerunCommand::new(
        words.map(OsStr::new),
        arguments.command.iter().map(OsString::as_os_str),
    );
    if let Some(exit) = ready(&mut options)? {
        return Ok(exit);
    }
    let subject = Subject {
        commands: vec![TestCommand {
            launch: Launch::new(arguments.command, &options),
            rerun,
        }],
        files: Vec::new(),
        must_pass: false,
        copy: None,
    };
    examine_and_report(subject, options, &config)
}
