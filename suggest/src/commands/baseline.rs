//! `wmfix baseline`: writes down the findings of now, for `--baseline FILE`.

use crate::cli::BaselineArgs;
use crate::exit::{ExitStatus, Stop};
use crate::output::Targets;
use crate::pipeline::{self, Request};
use crate::private_files::write_file;
use crate::report::{BaselineFile, Dossier, Verdict};
use crate::state;

/// Examines what is at the path, or takes the last report, and writes the file.
pub(super) fn run(arguments: BaselineArgs) -> Result<ExitStatus, Stop> {
    let targets = Targets {
        baseline: Some(&arguments.output),
        // A new one is made, which does not depend on the old one.
        read: [None, arguments.how.replay.as_deref()],
        ..Targets::of(&arguments.how)
    };
    targets.require_writable()?;
    let dossier = match arguments.last {
        true => last()?,
        false => {
            let request = Request {
                path: arguments.path,
                command: arguments.command,
                model: arguments.model,
                weak: None,
                build: arguments.build,
                flags: arguments.how,
                merged: None,
                ignore_baseline: true,
            };
            let examination = pipeline::check(request)?;
            state::save(&examination.dossier, &examination.folder)?;
            examination.dossier
        }
    };
    if dossier.report.verdict == Verdict::Failed {
        return Err(Stop::new(
            ExitStatus::Failed,
            "a program failed in every run: there is nothing to write down (`wmfix check` says more)",
        ));
    }
    let baseline = BaselineFile::of(&dossier);
    write_file(&arguments.output, baseline.text()?.as_bytes())?;
    let findings = match baseline.len() {
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    eprintln!("wmfix: wrote {}: {findings}", arguments.output.display());
    if !dossier.report.failures.is_empty() {
        eprintln!(
            "wmfix: runs that fail are not listed and still count: {}",
            dossier.report.failures.len()
        );
    }
    Ok(ExitStatus::Clean)
}

fn last() -> Result<Dossier, Stop> {
    let last = state::load()?;
    last.ok_or_else(|| {
        Stop::usage("no report for this folder yet: leave out --last, or use `wmfix check` first")
    })
}
