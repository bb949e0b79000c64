//! `wmfix suggest [PATH] [-- TEST COMMAND]`: build, run, find, repair, verify.
//! The patch goes to stdout, what it means to stderr.

use crate::apply::apply;
use crate::cli::{MemoryModel, SuggestArgs};
use crate::exit::{ExitStatus, Stop};
use crate::harm::Extent;
use crate::output::{self, Targets};
use crate::pipeline::{self, Examination, RepairRequest, RepairStage, Request};
use crate::shards::MergedShards;

/// Finds the cheapest repair of what is at the path, and prints it.
pub(super) fn run(arguments: SuggestArgs) -> Result<ExitStatus, Stop> {
    examine(arguments, None)
}

/// The same, with the runs of shards.
pub(super) fn examine(
    arguments: SuggestArgs,
    merged: Option<MergedShards>,
) -> Result<ExitStatus, Stop> {
    if arguments.weak.is_some() {
        return Err(Stop::usage(
            "suggest makes free runs by itself, where the stale values that it finds do nothing \
             one at a time: leave out --weak, or look at more of them with `wmfix check --weak`",
        ));
    }
    let targets = Targets {
        folder: arguments.output.as_deref(),
        fixes: arguments.export_fixes.as_deref(),
        ..Targets::of(&arguments.how)
    };
    targets.require_writable()?;
    let name = arguments.path.display().to_string();
    let request = Request {
        path: arguments.path,
        command: arguments.command,
        model: MemoryModel::Rc11,
        weak: None,
        build: arguments.build,
        flags: arguments.how,
        merged,
        ignore_baseline: false,
    };
    if arguments.dry_run {
        return super::dry_run::show(request);
    }
    let wanted = RepairRequest {
        cost: arguments.cost,
        extent: Extent::Whether,
        annotate: arguments.annotate,
        all_files: false,
    };
    let examination = pipeline::suggest(request, &wanted)?;
    let written = output::Destinations {
        folder: arguments.output.as_deref(),
        fixes: arguments.export_fixes.as_deref(),
    };
    let status = output::print_repair(&examination, &name, written)?;
    if !arguments.apply {
        return Ok(status);
    }
    match &examination.repair {
        RepairStage::Done(repaired) if repaired.result.holds() => {
            let none = "no change can be made";
            let text = apply(&repaired.tree, &repaired.result.files, none)?;
            eprintln!("wmfix: {text}");
            Ok(match is_all_repaired(&examination) {
                true => ExitStatus::Clean,
                false => status,
            })
        }
        RepairStage::Done(repaired) if repaired.result.files.is_empty() => {
            eprintln!("wmfix: --apply changed nothing: there is no repair yet");
            Ok(status)
        }
        RepairStage::Done(_) => {
            eprintln!("wmfix: --apply changed nothing: no repair was built, run and shown to hold");
            Ok(status)
        }
        RepairStage::None | RepairStage::NeverWorks => {
            eprintln!("wmfix: --apply changed nothing: there is nothing to repair");
            Ok(status)
        }
    }
}

/// Whether nothing is left that a repair was asked for.
fn is_all_repaired(examination: &Examination) -> bool {
    let report = &examination.dossier.report;
    let verification = report.repair.as_ref().map(|repair| &repair.verification);
    report.failures.is_empty()
        && report.counted_outside().is_empty()
        && report.unrepairable.is_empty()
        && verification.is_none_or(|shown| {
            shown.remaining.is_empty() && shown.others == 0 && !shown.lacks_free_runs()
        })
}
