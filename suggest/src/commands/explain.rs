//! `wmfix explain ID`.

use std::io::Write;

use crate::cli::ExplainArgs;
use crate::exit::{ExitStatus, Stop};
use crate::output::colors;
use crate::report::TextRenderer;
use crate::state;

/// Shows one finding of the last run in this folder.
pub(super) fn run(arguments: &ExplainArgs) -> Result<ExitStatus, Stop> {
    let Some(dossier) = state::load()? else {
        return Err(Stop::usage(
            "no report for this folder yet: use `wmfix check` or `wmfix run` first",
        ));
    };
    let text = TextRenderer::new(colors(arguments.color));
    let Some(explanation) = text.explanation(&dossier, &arguments.id) else {
        let names: Vec<&str> = dossier.details.keys().map(String::as_str).collect();
        let known = match names[..] {
            [] => "it had no findings".to_owned(),
            _ => format!("it had {}", names.join(", ")),
        };
        return Err(Stop::usage(format_args!(
            "the last run in this folder had no finding {}: {known}",
            arguments.id
        )));
    };
    std::io::stdout().write_all(explanation.as_bytes())?;
    Ok(ExitStatus::Clean)
}
