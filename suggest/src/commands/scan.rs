//! `wmfix scan [PATH…]`: the atomic operations of source files, from the text
//! alone.

use std::io::Write;
use std::path::PathBuf;

use crate::cli::ScanArgs;
use crate::config::ProjectConfig;
use crate::exit::{ExitStatus, Stop};
use crate::inventory;

/// Scans and prints. An inventory is no finding: the command ends well unless it
/// was given something that is not there.
pub(super) fn run(arguments: ScanArgs) -> Result<ExitStatus, Stop> {
    let mut paths = arguments.paths;
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        let message = format!("no such file or folder: {}", missing.display());
        return Err(Stop::usage(message));
    }
    // The wmfix.toml nearest to the first path counts for all of them.
    let config = ProjectConfig::about(&paths[0]).map_err(Stop::usage)?;
    let mut vocabularies = config.vocabularies;
    if arguments.volatile {
        vocabularies = vocabularies.and_volatile();
    }
    let text = if arguments.learn {
        inventory::propose_vocabulary(&paths, &vocabularies)
    } else {
        inventory::inventory(&paths, &vocabularies, arguments.format, arguments.quiet)?
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitStatus::Clean)
}
