//! The `wmfix` command as a library: what the binary does, callable by tests.
//! Owns the command line, building and running programs, and reports; knows
//! nothing of clocks.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod exit;

use std::ffi::OsString;

use clap::Parser;

pub use exit::Exit;

/// Runs one command, `args` with the program's name first, and says how it ended.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    let parsed = match cli::Cli::try_parse_from(args) {
        Ok(parsed) => parsed,
        Err(error) => {
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Clean
            };
            return match error.print() {
                Ok(()) => exit,
                Err(_) => Exit::OurFault,
            };
        }
    };
    commands::run(parsed).unwrap_or_else(|error| {
        eprintln!("wmfix: {error:#}");
        Exit::OurFault
    })
}
