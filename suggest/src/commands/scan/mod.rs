//! `wmfix scan [PATH…]`: the inventory of atomic sites, from the text alone. This
//! file decides what is scanned; how it is shown is up to the formats.

mod json;
mod learn;
mod sarif;
mod text;

pub use learn::propose as propose_vocabulary;

use std::io::Write;
use std::path::{Path, PathBuf};

use wmfix_frontend::{Vocabularies, scan_tree};

use crate::cli::{ScanArgs, ScanFormat};
use crate::config::{ConfigError, ProjectConfig};
use crate::exit::ExitStatus;

/// Scans and prints. An inventory is no finding: the command ends well unless it
/// was given something that is not there.
pub fn run(arguments: ScanArgs) -> anyhow::Result<ExitStatus> {
    let paths = if arguments.paths.is_empty() {
        vec![PathBuf::from(".")]
    } else {
        arguments.paths.clone()
    };
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        eprintln!("wmfix: there is no {}", missing.display());
        return Ok(ExitStatus::Usage);
    }
    let vocabularies = match vocabularies(&paths, &arguments) {
        Ok(vocabularies) => vocabularies,
        Err(mistake) => {
            eprintln!("wmfix: {mistake}");
            return Ok(ExitStatus::Usage);
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
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitStatus::Clean),
        result => result.map(|()| ExitStatus::Clean).map_err(Into::into),
    }
}

/// The vocabularies that the wmfix.toml nearest to the first path adds.
fn vocabularies(paths: &[PathBuf], arguments: &ScanArgs) -> Result<Vocabularies, ConfigError> {
    let about = paths.first().map_or(Path::new("."), PathBuf::as_path);
    let all = ProjectConfig::about(about)?.vocabularies;
    Ok(if arguments.volatile {
        all.and_volatile()
    } else {
        all
    })
}
