//! `wmfix run -- COMMAND`.

use clap::Parser;

use super::stale;
use crate::cli::{BuildFlags, Cli, RunArgs};
use crate::exit::{ExitStatus, Stop};
use crate::output::{self, Targets};
use crate::pipeline::{self, Request};
use crate::shards::MergedShards;

/// Runs something that was built with the wrappers, and reports.
pub(super) fn run(arguments: RunArgs) -> Result<ExitStatus, Stop> {
    examine(arguments, None)
}

/// The same, with the runs of shards.
pub(super) fn examine(
    arguments: RunArgs,
    merged: Option<MergedShards>,
) -> Result<ExitStatus, Stop> {
    if let Some(id) = &arguments.debug {
        return debug(stale::command_of(id)?);
    }
    Targets::of(&arguments.how).require_writable()?;
    let choices = arguments.how.stale.clone();
    let request = Request {
        path: ".".into(),
        command: arguments.command,
        model: arguments.model,
        weak: arguments.weak,
        build: BuildFlags::default(),
        flags: arguments.how,
        merged,
        ignore_baseline: false,
    };
    if let Some(choices) = choices {
        return stale::run(request, &choices);
    }
    let examination = pipeline::run(request)?;
    output::print_report(&examination)
}

/// Runs the command that shows a finding once more, under gdb.
fn debug(mut words: Vec<String>) -> Result<ExitStatus, Stop> {
    let end = words.iter().position(|word| word == "--");
    words.insert(end.unwrap_or(words.len()), "--gdb".to_owned());
    super::run(Cli::parse_from(words))
}
