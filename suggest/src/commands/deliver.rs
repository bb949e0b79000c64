//! How results leave: in the format that was asked for, on stdout; what they
//! mean, on stderr; and kept for `wmfix explain`.

use std::io::Write;

use super::examine::colors;
use crate::cli::Format;
use crate::exit::Exit;
use crate::mend::Mended;
use crate::options::RunOptions;
use crate::report::{Dossier, TextRenderer, Verdict, repair_text, sarif};
use crate::state;

/// Delivers a report without a repair, and says how the command ends.
pub fn report(dossier: &Dossier, options: &RunOptions) -> anyhow::Result<Exit> {
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
    mended: Option<&Mended>,
    patch: &[u8],
    options: &RunOptions,
) -> anyhow::Result<Exit> {
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
pub fn exit(dossier: &Dossier, mended: Option<&Mended>) -> Exit {
    if mended.is_some_and(|mended| !mended.builds()) {
        eprintln!(
            "wmfix: the patched program does not build: that is our fault, and the patch is not shown"
        );
        return Exit::OurFault;
    }
    match dossier.report.verdict {
        Verdict::Clean => Exit::Clean,
        Verdict::Findings => Exit::Findings,
        Verdict::Failed => Exit::Failed,
    }
}

/// A report for programs, of a command that ends so.
pub fn rendered(dossier: &Dossier, format: Format, exit: Exit) -> anyhow::Result<String> {
    match format {
        Format::Sarif => sarif(dossier, exit),
        Format::Json | Format::Text => Ok(serde_json::to_string_pretty(&dossier.report)? + "\n"),
    }
}
