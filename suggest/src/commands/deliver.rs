//! How results leave: in the format that was asked for, on stdout; what they
//! mean, on stderr; and kept for `wmfix explain`.

use std::io::Write;

use super::examine::colors;
use crate::cli::Format;
use crate::exit::Exit;
use crate::mend::Mended;
use crate::options::RunOptions;
use crate::report::{Dossier, Text, Verdict, repair_text, sarif};
use crate::state;

/// Delivers a report without a repair, and says how the command ends.
pub fn report(dossier: &Dossier, options: &RunOptions) -> anyhow::Result<Exit> {
    let exit = exit_of(dossier.report.verdict);
    let text = match options.format {
        Format::Text => Text::new(colors(options.color)).report(dossier),
        Format::Json => json(dossier)?,
        Format::Sarif => sarif(dossier, exit)?,
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
    let broken = mended.is_some_and(|mended| !mended.builds());
    let exit = match broken {
        true => Exit::OurFault,
        false => exit_of(dossier.report.verdict),
    };
    let mut stdout = std::io::stdout();
    match options.format {
        Format::Text => stdout.write_all(patch)?,
        Format::Json => stdout.write_all(json(dossier)?.as_bytes())?,
        Format::Sarif => stdout.write_all(sarif(dossier, exit)?.as_bytes())?,
    }
    if !options.quiet {
        if options.format == Format::Text {
            eprint!("{}", Text::new(colors(options.color)).report(dossier));
        }
        eprint!("{}", repair_text(&dossier.report));
    }
    if broken {
        eprintln!(
            "wmfix: the patched program does not build: that is our fault, and the patch is not shown"
        );
    }
    state::save(dossier)?;
    Ok(exit)
}

fn json(dossier: &Dossier) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&dossier.report)? + "\n")
}

fn exit_of(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Clean => Exit::Clean,
        Verdict::Findings => Exit::Findings,
        Verdict::Failed => Exit::Failed,
    }
}
