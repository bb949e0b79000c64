//! `wmfix run -- COMMAND`.

use crate::cli::RunArgs;
use crate::exit::{ExitStatus, Stop};
use crate::output;
use crate::pipeline::{self, Request};

/// Runs something that was built with the wrappers, and reports.
pub(super) fn run(arguments: RunArgs) -> Result<ExitStatus, Stop> {
    let examination = pipeline::run(Request {
        path: ".".into(),
        command: arguments.command,
        model: arguments.model,
        flags: arguments.how,
    })?;
    output::print_report(&examination)
}
