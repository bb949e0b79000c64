//! `wmfix audit [PATH]`: before a release. The stages of `suggest`, but the report
//! starts with what no test reached, and lists every atomic operation.

use crate::cli::{AuditArgs, MemoryModel};
use crate::exit::{ExitStatus, Stop};
use crate::harm::Extent;
use crate::output::{self, Targets};
use crate::pipeline::{self, RepairRequest, Request};

/// Examines what is at the path, and every file there.
pub(super) fn run(arguments: AuditArgs) -> Result<ExitStatus, Stop> {
    let name = arguments.path.display().to_string();
    if arguments.how.shard.is_some() {
        return Err(Stop::usage(
            "an audit is not made in parts: use `wmfix suggest --shard` and `wmfix merge`",
        ));
    }
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
        ignore_baseline: false,
    };
    let wanted = RepairRequest {
        cost: arguments.cost,
        extent: Extent::EveryOrder,
        annotate: false,
        all_files: true,
    };
    let examination = pipeline::suggest(request, &wanted)?;
    output::print_audit(&examination, &name, arguments.output.as_deref())
}
