//! `wmfix scan [PATH…]`: the inventory of atomic sites, from the text alone. This
//! file decides what is scanned; how it is shown is up to the formats.

mod json;
mod learn;
mod sarif;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use wmfix_frontend::{Vocabularies, scan_tree};

use crate::cli::{ScanArgs, ScanFormat};
use crate::exit::Exit;

/// Scans and prints. An inventory is no finding: the command ends well unless it
/// was given something that is not there.
pub fn run(arguments: ScanArgs) -> anyhow::Result<Exit> {
    let paths = if arguments.paths.is_empty() {
        vec![PathBuf::from(".")]
    } else {
        arguments.paths.clone()
    };
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        eprintln!("wmfix: there is no {}", missing.display());
        return Ok(Exit::Usage);
    }
    let vocabularies = match vocabularies(&paths, &arguments) {
        Ok(vocabularies) => vocabularies,
        Err(error) => {
            eprintln!("wmfix: {error:#}");
            return Ok(Exit::Usage);
        }
    };
    let output = if arguments.learn {
        learn::propose(&paths, &vocabularies)
    } else {
        let scan = scan_tree(&paths, &vocabularies);
        match arguments.format {
            ScanFormat::Text => text::render(&scan, arguments.quiet),
            ScanFormat::Json => json::render(&scan)?,
            ScanFormat::Sarif => sarif::render(&scan)?,
        }
    };
    match std::io::stdout().lock().write_all(output.as_bytes()) {
        // A reader that has seen enough, as `head` does, is no fault.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Clean),
        result => result.map(|()| Exit::Clean).map_err(Into::into),
    }
}

/// The vocabularies that the nearest wmfix.toml adds: in the first folder that is
/// scanned, or where the command is run.
fn vocabularies(paths: &[PathBuf], arguments: &ScanArgs) -> anyhow::Result<Vocabularies> {
    let folders = paths
        .iter()
        .filter(|path| path.is_dir())
        .map(PathBuf::as_path);
    let config = folders
        .chain([Path::new(".")])
        .map(|folder| folder.join("wmfix.toml"))
        .find(|config| config.is_file());
    let all = match config {
        None => Vocabularies::builtin(),
        Some(config) => {
            use anyhow::Context;
            let shown = config.display().to_string();
            let text = std::fs::read_to_string(&config).with_context(|| shown.clone())?;
            let table: toml::Table = text.parse().with_context(|| shown.clone())?;
            Vocabularies::with_project(table.get("vocabulary")).with_context(|| shown)?
        }
    };
    Ok(if arguments.volatile {
        all.and_volatile()
    } else {
        all
    })
}
