//! `wmfix man`: the manual, one page with every command's section.

use std::io::Write;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::exit::{ExitStatus, Stop};

/// Prints the manual page of wmfix, then that of each command.
pub(super) fn run() -> Result<ExitStatus, Stop> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        if subcommand.get_name() != "help" {
            Man::new(subcommand.clone()).render(&mut page)?;
        }
    }
    std::io::stdout().write_all(&page)?;
    Ok(ExitStatus::Clean)
}
