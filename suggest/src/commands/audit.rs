//! `wmfix audit [PATH]`: before a release. What suggest does, told the other way
//! round: what no test reached comes first, and the whole inventory is there.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::examine::colors;
use super::suggest::{Suggested, suggest};
use super::{deliver, output};
use crate::cli::{AuditArgs, Format};
use crate::exit::ExitStatus;
use crate::report::{Page, TextRenderer, html};
use crate::state;

/// Where the page goes if nobody says.
const PAGE: &str = "wmfix-audit.html";

/// Examines what is at the path, and everything around it.
pub fn run(arguments: AuditArgs) -> anyhow::Result<ExitStatus> {
    let folder = arguments.output.clone();
    let subject = arguments.path.display().to_string();
    let suggested = match suggest(arguments.into(), true)? {
        Ok(suggested) => suggested,
        Err(exit) => return Ok(exit),
    };
    let Suggested {
        dossier,
        mended,
        options,
        ..
    } = suggested;
    let exit = deliver::exit(&dossier, mended.as_ref());
    let text = match options.format {
        Format::Text => TextRenderer::new(colors(options.color)).audit(&dossier, &subject),
        other => deliver::rendered(&dossier, other, exit)?,
    };
    std::io::stdout().write_all(text.as_bytes())?;
    state::save(&dossier)?;
    let page: PathBuf = match &folder {
        Some(folder) => {
            output::write(folder, &dossier, mended.as_ref(), &subject, Page::Audit)?;
            folder.join("report.html")
        }
        None => {
            let page = html(&dossier, &subject, Page::Audit);
            output::put(Path::new(PAGE), page.as_bytes())?;
            PAGE.into()
        }
    };
    if !options.quiet {
        eprintln!("wmfix: the audit as a page: {}", page.display());
    }
    Ok(exit)
}
