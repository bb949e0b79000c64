//! One module a subcommand, and the table that leads to them.

mod audit;
mod check;
mod completions;
mod deliver;
mod examine;
mod explain;
mod init;
mod man;
mod output;
mod run;
mod scan;
mod suggest;
mod wrappers;

use crate::cc::{self, Language};
use crate::cli::{Cli, Command};
use crate::exit::ExitStatus;

/// Runs the command. An `Err` is our own fault or the machine's: everything
/// that users or their programs can do wrong is an [`ExitStatus`].
pub fn run(cli: Cli) -> anyhow::Result<ExitStatus> {
    match cli.command {
        Command::Suggest(arguments) => suggest::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Audit(arguments) => audit::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Scan(arguments) => scan::run(arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Cc { arguments } => cc::run(Language::C, arguments),
        Command::Cxx { arguments } => cc::run(Language::Cxx, arguments),
        Command::Wrappers { folder } => wrappers::run(folder),
        Command::Completions { shell } => completions::run(shell),
        Command::Man => man::run(),
    }
}
