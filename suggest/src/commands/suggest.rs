//! `wmfix suggest [PATH] [-- TEST COMMAND]`: build, run, find, repair, verify.
//! The patch goes to stdout, what it means to stderr.

use wmfix_rewriter::write_files;

use crate::cli::{MemoryModel, SuggestArgs};
use crate::exit::{ExitStatus, Stop};
use crate::output;
use crate::pipeline::{self, RepairRequest, RepairStage, Repaired, Request};

/// Finds the cheapest repair of what is at the path, and prints it.
pub(super) fn run(arguments: SuggestArgs) -> Result<ExitStatus, Stop> {
    let name = arguments.path.display().to_string();
    let request = Request {
        path: arguments.path,
        command: arguments.command,
        model: MemoryModel::Rc11,
        weak: None,
        flags: arguments.how,
    };
    let wanted = RepairRequest {
        cost: arguments.cost,
        fix: arguments.fix,
        annotate: arguments.annotate,
        all_files: false,
    };
    let examination = pipeline::suggest(request, &wanted)?;
    let status = output::print_repair(&examination, &name, arguments.output.as_deref())?;
    if let RepairStage::Done(repaired) = examination.repair
        && arguments.apply
        && repaired.result.holds()
    {
        apply(&repaired)?;
    }
    Ok(status)
}

/// `--apply`: changes the user's files, all or none.
fn apply(repaired: &Repaired) -> Result<(), Stop> {
    let files = repaired.result.files.iter();
    let files: Vec<_> = files.map(|file| (&*file.path, &file.edits)).collect();
    write_files(&repaired.tree, &files).map_err(|error| {
        let message = format!("--apply changed nothing: {error}");
        Stop::new(ExitStatus::InternalError, message)
    })
}
