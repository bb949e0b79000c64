//! The command line as typed. What the flags mean together is decided by the
//! commands; only commands that exist are listed here.

use std::ffi::OsString;
use std::path::PathBuf;

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
    /// Stands where the C compiler stands: CC="wmfix cc"
    #[command(disable_help_flag = true)]
    Cc {
        /// The compiler's arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Stands where the C++ compiler stands: CXX="wmfix c++"
    #[command(name = "c++", disable_help_flag = true)]
    Cxx {
        /// The compiler's arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Puts the wrappers as one word each, wmfix-cc and wmfix-c++, into a folder
    Wrappers {
        /// The folder; where wmfix itself is, if not given.
        folder: Option<PathBuf>,
    },
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
