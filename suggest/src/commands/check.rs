//! `wmfix check [PATH] [-- TEST COMMAND]`.

use super::examine::{examine_and_report, ready};
use crate::cli::CheckArgs;
use crate::config::ProjectConfig;
use crate::exit::ExitStatus;
use crate::options::RunOptions;
use crate::project::{Prepared, Project};

/// Builds what is at the path, runs it, and reports.
pub fn run(arguments: CheckArgs) -> anyhow::Result<ExitStatus> {
    let config = match ProjectConfig::about(&arguments.path) {
        Ok(config) => config,
        Err(mistake) => {
            eprintln!("wmfix: {mistake}");
            return Ok(ExitStatus::Usage);
        }
    };
    let mut options = RunOptions::new(arguments.how, arguments.model, &config);
    let project = match Project::find(&arguments.path, arguments.command, config) {
        Ok(project) => project,
        Err(nothing) => {
            eprintln!("wmfix: {nothing}");
            return Ok(ExitStatus::Usage);
        }
    };
    if let Some(exit) = ready(&mut options)? {
        return Ok(exit);
    }
    match project.prepare(&[], &options)? {
        Prepared::Built(subject) => examine_and_report(subject, options, &project.config),
        Prepared::Failed(trouble) => {
            trouble.tell();
            Ok(ExitStatus::Failed)
        }
    }
}
