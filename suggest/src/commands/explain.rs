//! `wmfix explain ID`.

use std::io::Write;

use crate::cli::{ExplainArgs, LitmusFormat};
use crate::exit::{ExitStatus, Stop};
use crate::output::stdout_style;
use crate::report::{Dossier, TextRenderer, herd, litmus, plain};
use crate::state;

/// Shows one finding of the last run in this folder.
pub(super) fn run(arguments: &ExplainArgs) -> Result<ExitStatus, Stop> {
    let Some(dossier) = state::load()? else {
        return Err(Stop::usage(
            "no report for this folder yet: use `wmfix check` or `wmfix run` first",
        ));
    };
    if let Some(format) = arguments.litmus {
        let id = one_finding(&dossier, &arguments.id)?;
        return print_litmus(&dossier, id, format);
    }
    let text = TextRenderer::new(stdout_style(arguments.color));
    let explanation = match text.unconfirmed(&dossier, &arguments.id) {
        Some(unconfirmed) => unconfirmed,
        None => {
            let id = one_finding(&dossier, &arguments.id)?;
            text.explanation(&dossier, id).unwrap_or_default()
        }
    };
    std::io::stdout().write_all(explanation.as_bytes())?;
    Ok(ExitStatus::Clean)
}

/// The one finding that a name or the beginning of a stable name means.
pub(super) fn one_finding<'d>(dossier: &'d Dossier, asked: &str) -> Result<&'d str, Stop> {
    let report = &dossier.report;
    match report.meant_by(asked)[..] {
        [id] => Ok(id),
        [] => {
            let names: Vec<&str> = dossier.details.keys().map(String::as_str).collect();
            let known = match names[..] {
                [] => "it had no findings".to_owned(),
                _ => format!("it had {}", names.join(", ")),
            };
            Err(Stop::usage(format_args!(
                "the last run in this folder had no finding {asked}: {known}"
            )))
        }
        ref several => {
            let stable = several.iter().filter_map(|id| report.stable_id(id));
            let stable: Vec<&str> = stable.collect();
            Err(Stop::usage(format_args!(
                "{asked} may be any of {}: write more of the name",
                stable.join(", ")
            )))
        }
    }
}

/// `--litmus`: the finding as a litmus test.
fn print_litmus(dossier: &Dossier, id: &str, format: LitmusFormat) -> Result<ExitStatus, Stop> {
    let violation = dossier.report.violation(id).zip(dossier.details.get(id));
    let (violation, detail) = violation.ok_or_else(|| {
        Stop::usage(format_args!(
            "{id} is no violation of the last report: litmus tests are about stale accesses"
        ))
    })?;
    let test = litmus(violation, detail)
        .map_err(|why| Stop::usage(format_args!("{id} has no litmus test: {}", why.text())))?;
    let text = match format {
        LitmusFormat::Herd => herd(&test),
        LitmusFormat::C => plain(&test),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitStatus::Clean)
}
