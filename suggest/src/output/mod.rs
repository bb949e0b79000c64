//! How results leave: in the format that was asked for on stdout, what they mean
//! on stderr, and kept for `wmfix explain`. Decides how a command ends.

mod folder;
mod targets;
mod terminal;

use std::io::Write;
use std::path::{Component, Path};

use anyhow::Context;

use crate::cli::Format;
use crate::config::repository;
use crate::exit::{ExitStatus, Stop};
use crate::options::RunOptions;
use crate::patch::Patch;
use crate::pipeline::{Examination, RelaxStage, Relaxed, RepairStage};
use crate::private_files::write_file;
use crate::repair_loop::{RepairResult, Verification};
use crate::report::{
    Dossier, ExchangeSettings, Page, TextRenderer, TextStyle, Verdict, build_failure_output,
    build_failure_text, gcc, github, gitlab, junit, rdjson, relax_refusal_text, relaxation_text,
    repair_text, replacements, sarif,
};
use crate::state;

pub(crate) use targets::Targets;
pub(crate) use terminal::stdout_style;
use terminal::{shown_patch, stderr_style};

/// Prints the report of `check` and `run`.
pub(crate) fn print_report(examination: &Examination) -> Result<ExitStatus, Stop> {
    let Examination {
        dossier, options, ..
    } = examination;
    let status = verdict_status(dossier, options);
    let text = match options.format {
        Format::Text => TextRenderer::new(stdout_style(options.color)).report(dossier),
        format => machine_text(dossier, format, status)?,
    };
    std::io::stdout().write_all(text.as_bytes())?;
    keep(examination, status)?;
    Ok(status)
}

/// Where else a repair is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destinations<'a> {
    /// A folder for patches and a page.
    pub folder: Option<&'a Path>,
    /// A file for clang's replacements.
    pub fixes: Option<&'a Path>,
}

/// Prints the patch of `suggest`, and its report on stderr. Writes both into a
/// folder if one is given.
pub(crate) fn print_repair(
    examination: &Examination,
    name: &str,
    written: Destinations<'_>,
) -> Result<ExitStatus, Stop> {
    let Examination {
        dossier, options, ..
    } = examination;
    require_working(examination)?;
    let status = status(examination);
    let mut stdout = std::io::stdout();
    match options.format {
        Format::Text => stdout.write_all(&shown_patch(patch(examination), options.color))?,
        format => {
            let text = machine_text(dossier, format, status)?;
            stdout.write_all(text.as_bytes())?;
        }
    }
    if !options.quiet {
        let style = stderr_style(options.color);
        if options.format == Format::Text {
            eprint!("{}", TextRenderer::new(style).report(dossier));
        }
        eprint!("{}", repair_text(dossier, style));
    }
    keep(examination, status)?;
    if let Some(folder) = written.folder {
        let title = title(name);
        folder::write(folder, dossier, result(examination), &title, Page::Report)?;
    }
    if let Some(file) = written.fixes {
        let current = std::env::current_dir().context("cannot find the current folder")?;
        write_file(file, replacements(dossier, &current).as_bytes())?;
    }
    Ok(status)
}

/// Prints the patch of `relax`, and what it means on stderr. Writes both into a folder
/// if one is given.
pub(crate) fn print_relaxation(
    relaxed: &Relaxed,
    name: &str,
    folder: Option<&Path>,
) -> Result<ExitStatus, Stop> {
    let Relaxed { examination, stage } = relaxed;
    let Examination {
        dossier, options, ..
    } = examination;
    let status = verdict_status(dossier, options);
    let none = Patch::default();
    let patch = match stage {
        RelaxStage::Done(orders) => &orders.patch,
        RelaxStage::Refused => &none,
    };
    for path in &patch.outside {
        eprintln!(
            "wmfix: apply the patch in the root folder: {} is not below the current one",
            path.display()
        );
    }
    let mut stdout = std::io::stdout();
    match options.format {
        Format::Text => stdout.write_all(&shown_patch(&patch.text, options.color))?,
        format => {
            let text = machine_text(dossier, format, status)?;
            stdout.write_all(text.as_bytes())?;
        }
    }
    keep(examination, status)?;
    if let Some(folder) = folder {
        folder::write_relaxation(folder, dossier, &patch.text, &title(name))?;
    }
    let style = stderr_style(options.color);
    if let RelaxStage::Refused = stage {
        let text = TextRenderer::new(style).report(dossier);
        let stop = Stop::new(status, relax_refusal_text(dossier));
        return Err(match options.quiet {
            true => stop,
            false => stop.with_output(text),
        });
    }
    if !options.quiet {
        eprint!("{}", relaxation_text(dossier, style));
        for note in &dossier.report.notes {
            eprintln!("note: {note}");
        }
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
        Format::Text => TextRenderer::new(stdout_style(options.color)).audit(dossier, name),
        format => machine_text(dossier, format, status)?,
    };
    std::io::stdout().write_all(text.as_bytes())?;
    keep(examination, status)?;
    if let Some(folder) = folder {
        let title = title(name);
        folder::write(folder, dossier, result(examination), &title, Page::Audit)?;
        if !options.quiet {
            eprintln!("wmfix: wrote {}", folder.join("report.html").display());
        }
    }
    Ok(status)
}

/// What was examined, as a page's title has it: a folder by its own name.
fn title(name: &str) -> String {
    let full = Path::new(name).canonicalize().ok();
    let folder = full.as_deref().and_then(Path::file_name);
    match folder.filter(|_| Path::new(name).components().all(is_dots)) {
        Some(folder) => folder.to_string_lossy().into_owned(),
        None => name.to_owned(),
    }
}

fn is_dots(part: Component<'_>) -> bool {
    matches!(part, Component::CurDir | Component::ParentDir)
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
    keep(examination, ExitStatus::Failed)?;
    if options.format != Format::Text {
        let text = machine_text(dossier, options.format, ExitStatus::Failed)?;
        std::io::stdout().write_all(text.as_bytes())?;
    }
    let mut output = TextRenderer::new(stderr_style(options.color)).report(dossier);
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
        return verdict_status(&examination.dossier, &examination.options);
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
            "wmfix: no patch: the last one that was tried does not build, which is a fault of wmfix"
        );
    }
    verdict_status(&examination.dossier, &examination.options)
}

fn verdict_status(dossier: &Dossier, options: &RunOptions) -> ExitStatus {
    match dossier.report.verdict {
        Verdict::Clean => ExitStatus::Clean,
        Verdict::Findings if options.exit_zero => ExitStatus::Clean,
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

/// Keeps the report for `wmfix explain`, and writes the files that were asked for.
fn keep(examination: &Examination, status: ExitStatus) -> anyhow::Result<()> {
    let Examination {
        dossier, options, ..
    } = examination;
    state::save(dossier, &examination.folder)?;
    for report in &options.reports {
        let text = machine_text(dossier, report.format, status)?;
        write_file(&report.file, text.as_bytes())?;
    }
    Ok(())
}

/// A report as a program reads it: without colours.
fn machine_text(dossier: &Dossier, format: Format, status: ExitStatus) -> anyhow::Result<String> {
    let settings = || -> anyhow::Result<ExchangeSettings> {
        Ok(ExchangeSettings {
            prefix: folder_in_repository()?,
        })
    };
    match format {
        Format::Text => Ok(TextRenderer::new(TextStyle::default()).report(dossier)),
        Format::Json => Ok(serde_json::to_string_pretty(&dossier.report)? + "\n"),
        Format::Sarif => sarif(dossier, status),
        Format::Gcc => Ok(gcc(dossier)),
        Format::Github => Ok(github(dossier, &settings()?)),
        Format::Gitlab => gitlab(dossier, &settings()?),
        Format::Rdjson => rdjson(dossier, &settings()?),
        Format::Junit => Ok(junit(dossier, &settings()?)),
    }
}

/// The current folder as seen from the root of its repository, with a slash at the
/// end; empty in the root, or outside of any repository.
fn folder_in_repository() -> anyhow::Result<String> {
    let current = std::env::current_dir().context("cannot find the current folder")?;
    let root = repository(&current);
    let inside = root.and_then(|root| Some(current.strip_prefix(root).ok()?.to_owned()));
    let inside = inside.unwrap_or_default().display().to_string();
    Ok(match inside.is_empty() {
        true => inside,
        false => inside + "/",
    })
}
