//! `wmfix check [PATH] [-- TEST COMMAND]`.

use crate::cli::CheckArgs;
use crate::exit::{ExitStatus, Stop};
use crate::output;
use crate::pipeline::{self, Request};

/// Builds what is at the path, runs it, and reports.
pub(super) fn run(arguments: CheckArgs) -> Result<ExitStatus, Stop> {
    let examination = pipeline::check(Request {
        path: arguments.path,
        command: arguments.command,
        model: arguments.model,
        flags: arguments.how,
    })?;
    output::print_report(&examination)
}
