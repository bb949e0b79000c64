//! `wmfix check [PATH] [-- TEST COMMAND]`.

use super::stale;
use crate::cli::CheckArgs;
use crate::exit::{ExitStatus, Stop};
use crate::output;
use crate::pipeline::{self, Request};

/// Builds what is at the path, runs it, and reports.
pub(super) fn run(arguments: CheckArgs) -> Result<ExitStatus, Stop> {
    let choices = arguments.how.stale.clone();
    let request = Request {
        path: arguments.path,
        command: arguments.command,
        model: arguments.model,
        weak: arguments.weak,
        build: arguments.build,
        flags: arguments.how,
    };
    if let Some(choices) = choices {
        return stale::check(request, &choices);
    }
    let examination = pipeline::check(request)?;
    output::print_report(&examination)
}
