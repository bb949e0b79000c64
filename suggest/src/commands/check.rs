//! `wmfix check [PATH] [-- TEST COMMAND]`.

use super::stale;
use crate::cli::CheckArgs;
use crate::exit::{ExitStatus, Stop};
use crate::output::{self, Targets};
use crate::pipeline::{self, Request};
use crate::shards::MergedShards;

/// Builds what is at the path, runs it, and reports.
pub(super) fn run(arguments: CheckArgs) -> Result<ExitStatus, Stop> {
    examine(arguments, None)
}

/// The same, with the runs of shards.
pub(super) fn examine(
    arguments: CheckArgs,
    merged: Option<MergedShards>,
) -> Result<ExitStatus, Stop> {
    Targets::of(&arguments.how).require_writable()?;
    let choices = arguments.how.stale.clone();
    let dry_run = arguments.dry_run;
    let request = Request {
        path: arguments.path,
        command: arguments.command,
        model: arguments.model,
        weak: arguments.weak,
        build: arguments.build,
        flags: arguments.how,
        merged,
        ignore_baseline: false,
    };
    if dry_run {
        return super::dry_run::show(request);
    }
    if let Some(choices) = choices {
        return stale::check(request, &choices);
    }
    let examination = pipeline::check(request)?;
    output::print_report(&examination)
}
