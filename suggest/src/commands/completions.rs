//! `wmfix completions SHELL`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::{ExitStatus, Stop};

/// Prints the completion script for `shell`.
pub(super) fn run(shell: Shell) -> Result<ExitStatus, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "wmfix", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitStatus::Clean)
}
