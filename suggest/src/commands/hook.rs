//! `wmfix hook FILE…`: for commit hooks. Checks the project if one of the files has
//! atomic operations, and else is done at once.

use std::path::PathBuf;

use clap::Parser;
use wmfix_frontend::scan_tree;

use super::check;
use crate::cli::{Cli, Command, HookArgs};
use crate::config::ProjectConfig;
use crate::exit::{ExitStatus, Stop};

/// Looks at the files, and checks the project in the current folder if that is worth
/// it. A file that is gone is one that was removed: then it is.
pub(super) fn run(arguments: HookArgs) -> Result<ExitStatus, Stop> {
    let (there, gone): (Vec<&PathBuf>, Vec<&PathBuf>) =
        arguments.files.iter().partition(|file| file.exists());
    let config = ProjectConfig::about(".".as_ref()).map_err(Stop::usage)?;
    let atomics = || {
        let scan = scan_tree(&there, &config.vocabularies);
        scan.files.iter().any(|(_, file)| !file.sites.is_empty())
    };
    if gone.is_empty() && !atomics() {
        return Ok(ExitStatus::Clean);
    }
    let parsed = Cli::try_parse_from(["wmfix", "check"]).map_err(Stop::usage)?;
    match parsed.command {
        Command::Check(mut check) => {
            check.how = arguments.how;
            check.how.quiet = true;
            check::run(check)
        }
        _ => Err(Stop::usage("`wmfix check` is not a command any more")),
    }
}
