//! How results leave: in the format that was asked for on stdout, what they mean
//! on stderr, and kept for `wmfix explain`. Decides how a command ends.

mod folder;

use std::io::{IsTerminal, Write};
use std::path::Path;

use crate::cli::{Color, Format};
use crate::exit::{ExitStatus, Stop};
use crate::pipeline::{Examination, RepairStage};
use crate::repair_loop::{RepairResult, Verification};
use crate::report::{
    Dossier, Page, TextRenderer, Verdict, build_failure_output, build_failure_text, repair_text,
    sarif,
};
use crate::state;

/// Prints the report of `check` and `run`.
pub(crate) fn print_report(examination: &Examination) -> Result<ExitStatus, Stop> {
    let Examination {
        dossier, options, ..
    } = examination;
    let status = verdict_status(dossier);
    let text = match options.format {
        Format::Text => TextRenderer::new(colors(options.color)).report(dossier),
        format => machine_text(dossier, format, status)?,
    };
    std::io::stdout().write_all(text.as_bytes())?;
    state::save(dossier, &examination.folder)?;
    Ok(status)
}

/// Prints the patch of `suggest`, and its report on stderr. Writes both into a
/// folder if one is given.
pub(crate) fn print_repair(
    examination: &Examination,
    name: &str,
    folder: Option<&Path>,
) -> Result<ExitStatus, Stop> {
    let Examination {
        dossier, options, ..
    } = examination;
    require_working(examination)?;
    let status = status(examination);
    let mut stdout = std::io::stdout();
    match options.format {
        Format::Text => stdout.write_all(patch(examination))?,
        format => stdout.write_all(machine_text(dossier, format, status)?.as_bytes())?,
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
    state::save(dossier, &examination.folder)?;
    if let Some(folder) = folder {
        folder::write(folder, dossier, result(examination), name, Page::Report)?;
    }
    Ok(status)
}

/// Prints the report of `audit`, and writes it as a page if a folder is given.
pub(crate) fn print_audit(
    examination: &Examination,
    name: &str,
    folder: Option<&Path>,
) -> Result<ExitStatus, Stop> {
    let Examination {
        dossier, options, ..
    } = examination;
    require_working(examination)?;
    let status = status(examination);
    let text = match options.format {
        Format::Text => TextRenderer::new(colors(options.color)).audit(dossier, name),
        format => machine_text(dossier, format, status)?,
    };
    std::io::stdout().write_all(text.as_bytes())?;
    state::save(dossier, &examination.folder)?;
    if let Some(folder) = folder {
        folder::write(folder, dossier, result(examination), name, Page::Audit)?;
        if !options.quiet {
            eprintln!("wmfix: wrote {}", folder.join("report.html").display());
        }
    }
    Ok(status)
}

/// Whether to use colours on stdout.
pub(crate) fn colors(when: Color) -> bool {
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::io::stdout().is_terminal()
        }
    }
}

/// Stops with the report if the program fails in every run: nothing can be
/// verified on it.
fn require_working(examination: &Examination) -> Result<(), Stop> {
    let Examination {
        dossier,
        options,
        repair: RepairStage::NeverWorks,
        ..
    } = examination
    else {
        return Ok(());
    };
    if options.format != Format::Text {
        let text = machine_text(dossier, options.format, ExitStatus::Failed)?;
        std::io::stdout().write_all(text.as_bytes())?;
    }
    let mut output = TextRenderer::new(colors(options.color)).report(dossier);
    if let Some(printed) = dossier.output.as_deref().filter(|text| !text.is_empty()) {
        output += &format!("the program printed:\n{printed}\n");
    }
    let stop = Stop::new(
        ExitStatus::Failed,
        "the program fails in every run, before any change: fix that first",
    );
    Err(stop.with_output(output))
}

/// How a command ends that was to repair. Says on stderr what is unusual about
/// the patch.
fn status(examination: &Examination) -> ExitStatus {
    let RepairStage::Done(repaired) = &examination.repair else {
        return verdict_status(&examination.dossier);
    };
    for path in &repaired.patch.outside {
        eprintln!(
            "wmfix: apply the patch in the root folder: {} is not below the current one",
            path.display()
        );
    }
    if let Verification::DoesNotBuild(failure) = &repaired.result.verification {
        eprint!("{}", build_failure_output(failure));
        eprintln!("wmfix: {}", build_failure_text(failure));
        eprintln!(
            "wmfix: internal error: the patched program does not build, so the patch is not shown"
        );
        return ExitStatus::InternalError;
    }
    verdict_status(&examination.dossier)
}

fn verdict_status(dossier: &Dossier) -> ExitStatus {
    match dossier.report.verdict {
        Verdict::Clean => ExitStatus::Clean,
        Verdict::Findings => ExitStatus::Findings,
        Verdict::Failed => ExitStatus::Failed,
    }
}

fn result(examination: &Examination) -> Option<&RepairResult> {
    match &examination.repair {
        RepairStage::Done(repaired) => Some(&repaired.result),
        RepairStage::None | RepairStage::NeverWorks => None,
    }
}

fn patch(examination: &Examination) -> &[u8] {
    match &examination.repair {
        RepairStage::Done(repaired) => &repaired.patch.text,
        RepairStage::None | RepairStage::NeverWorks => &[],
    }
}

/// A report for programs.
fn machine_text(dossier: &Dossier, format: Format, status: ExitStatus) -> anyhow::Result<String> {
    match format {
        Format::Sarif => sarif(dossier, status),
        Format::Json | Format::Text => Ok(serde_json::to_string_pretty(&dossier.report)? + "\n"),
    }
}
