//! `wmfix relax [PATH] [-- TEST COMMAND]`: orders and fences that could be weaker. The
//! patch goes to stdout, what it means to stderr.

use crate::apply::apply;
use crate::cli::{MemoryModel, RelaxArgs};
use crate::exit::{ExitStatus, Stop};
use crate::output::{self, Targets};
use crate::pipeline::{self, RelaxRequest, RelaxStage, Request};

/// Finds the cheapest orders of what is at the path, and prints them.
pub(super) fn run(arguments: RelaxArgs) -> Result<ExitStatus, Stop> {
    let name = arguments.path.display().to_string();
    let targets = Targets {
        folder: arguments.output.as_deref(),
        ..Targets::of(&arguments.how)
    };
    targets.require_writable()?;
    let request = Request {
        path: arguments.path,
        command: arguments.command,
        model: MemoryModel::Rc11,
        weak: None,
        build: arguments.build,
        flags: arguments.how,
        merged: None,
        ignore_baseline: true,
    };
    let wanted = RelaxRequest {
        cost: arguments.cost,
        annotate: arguments.annotate,
    };
    let relaxed = pipeline::relax(request, &wanted)?;
    let status = output::print_relaxation(&relaxed, &name, arguments.output.as_deref())?;
    if let (true, RelaxStage::Done(orders)) = (arguments.apply, &relaxed.stage) {
        let none = "no order is to be changed";
        let text = apply(&orders.tree, &orders.result.files, none)?;
        eprintln!("wmfix: {text}");
    }
    Ok(status)
}
