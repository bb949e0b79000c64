//! `wmfix explain ID`.

use std::io::Write;

use super::examine::colors;
use crate::cli::ExplainArgs;
use crate::exit::ExitStatus;
use crate::report::TextRenderer;
use crate::state;

/// Shows one finding of the last run in this folder.
pub fn run(arguments: &ExplainArgs) -> anyhow::Result<ExitStatus> {
    let Some(dossier) = state::load()? else {
        eprintln!(
            "wmfix: nothing was run in this folder yet: use `wmfix check` or `wmfix run` first"
        );
        return Ok(ExitStatus::Usage);
    };
    let text = TextRenderer::new(colors(arguments.color));
    let Some(explanation) = text.explanation(&dossier, &arguments.id) else {
        let names: Vec<&str> = dossier.details.keys().map(String::as_str).collect();
        let known = if names.is_empty() {
            "it had no findings".to_owned()
        } else {
            format!("it had {}", names.join(", "))
        };
        eprintln!(
            "wmfix: the last run in this folder had no finding {}: {known}",
            arguments.id
        );
        return Ok(ExitStatus::Usage);
    };
    std::io::stdout().write_all(explanation.as_bytes())?;
    Ok(ExitStatus::Clean)
}
