//! How results leave: in the format that was asked for, on stdout; what they
//! mean, on stderr; and kept for `wmfix explain`.

use std::io::Write;

use super::examine::colors;
use crate::cli::Format;
use crate::exit::ExitStatus;
use crate::options::RunOptions;
use crate::repair_loop::RepairResult;
use crate::report::{Dossier, TextRenderer, Verdict, repair_text, sarif};
use crate::state;

/// Delivers a report without a repair, and says how the command ends.
pub fn report(dossier: &Dossier, options: &RunOptions) -> anyhow::Result<ExitStatus> {
    let exit = exit(dossier, None);
    let text = match options.format {
        Format::Text => TextRenderer::new(colors(options.color)).report(dossier),
        other => rendered(dossier, other, exit)?,
    };
    std::io::stdout().write_all(text.as_bytes())?;
    state::save(dossier)?;
    Ok(exit)
}

/// Delivers a report and its repair, which is `patch` as a diff, and says how
/// the command ends.
pub fn repair(
    dossier: &Dossier,
    mended: Option<&RepairResult>,
    patch: &[u8],
    options: &RunOptions,
) -> anyhow::Result<ExitStatus> {
    let exit = exit(dossier, mended);
    let mut stdout = std::io::stdout();
    match options.format {
        Format::Text => stdout.write_all(patch)?,
        other => stdout.write_all(rendered(dossier, other, exit)?.as_bytes())?,
    }
    if !options.quiet {
        if options.format == Format::Text {
            eprint!(
                "{}",
                TextRenderer::new(colors(options.color)).report(dossier)
            );
        }
        eprint!("{}", repair_text(dossier));
    }
    state::save(dossier)?;
    Ok(exit)
}

/// How a command ends that has come to this; says so if it is our fault.
pub fn exit(dossier: &Dossier, mended: Option<&RepairResult>) -> ExitStatus {
    if mended.is_some_and(|mended| !mended.builds()) {
        eprintln!(
            "wmfix: the patched program does not build: that is our fault, and the patch is not shown"
        );
        return ExitStatus::InternalError;
    }
    match dossier.report.verdict {
        Verdict::Clean => ExitStatus::Clean,
        Verdict::Findings => ExitStatus::Findings,
        Verdict::Failed => ExitStatus::Failed,
    }
}

/// A report for programs, of a command that ends so.
pub fn rendered(dossier: &Dossier, format: Format, exit: ExitStatus) -> anyhow::Result<String> {
    match format {
        Format::Sarif => sarif(dossier, exit),
        Format::Json | Format::Text => Ok(serde_json::to_string_pretty(&dossier.report)? + "\n"),
    }
}
