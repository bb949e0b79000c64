//! `wmfix relax [PATH] [-- TEST COMMAND]`: orders and fences that could be weaker. The
//! patch goes to stdout, what it means to stderr.

use wmfix_rewriter::write_files;

use crate::cli::{MemoryModel, RelaxArgs};
use crate::exit::{ExitStatus, Stop};
use crate::output::{self, Targets};
use crate::pipeline::{self, RelaxRequest, RelaxStage, Request};
use crate::printable::printable_name;
use crate::subject::PatchedFile;

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
        let files = &orders.result.files;
        let pairs: Vec<_> = files
            .iter()
            .map(|file| (&*file.path, &file.edits))
            .collect();
        write_files(&orders.tree, &pairs).map_err(|error| {
            let message = format!("--apply changed nothing: {error}");
            Stop::new(ExitStatus::InternalError, message)
        })?;
        eprintln!("wmfix: {}", changed_text(files));
    }
    Ok(status)
}

/// Which files were changed.
fn changed_text(files: &[PatchedFile]) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let names = files.iter().map(|file| {
        let shown = file.path.strip_prefix(&current).unwrap_or(&file.path);
        printable_name(&shown.display().to_string())
    });
    let names: Vec<String> = names.collect();
    match names.is_empty() {
        true => "--apply changed nothing: no order is to be changed".to_owned(),
        false => format!("changed {}", names.join(", ")),
    }
}
