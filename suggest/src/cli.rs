//! The command line as typed. What the flags mean together is decided by the
//! commands; only commands that exist are listed here.

use clap::{Parser, Subcommand};
use clap_complete::Shell;

/// Makes lock-free C and C++ code safe on weak memory.
#[derive(Debug, Parser)]
#[command(name = "wmfix", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prints a script that completes wmfix's commands and options in a shell
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Prints the manual page, for `man -l -`
    Man,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
