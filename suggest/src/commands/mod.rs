//! The subcommands, one module each: they read flags, call the stages and print.
//! Everything that takes more than that has a room of its own.

mod audit;
mod baseline;
mod check;
mod completions;
mod dry_run;
mod explain;
mod help;
mod hook;
mod init;
mod man;
mod merge;
mod relax;
mod run;
mod scan;
mod scenarios;
mod stale;
mod suggest;
mod wrappers;

use crate::cc::{self, Language};
use crate::cli::{Cli, Command};
use crate::exit::{ExitStatus, Stop};

/// Runs a command.
pub(crate) fn run(cli: Cli) -> Result<ExitStatus, Stop> {
    match cli.command {
        Command::Suggest(arguments) => suggest::run(arguments),
        Command::Relax(arguments) => relax::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Audit(arguments) => audit::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Scan(arguments) => scan::run(arguments),
        Command::Baseline(arguments) => baseline::run(arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Merge(arguments) => merge::run(arguments),
        Command::Hook(arguments) => hook::run(arguments),
        Command::Help { topic } => help::run(topic.as_deref()),
        Command::Init(arguments) => init::run(&arguments),
        Command::Scenarios(arguments) => scenarios::run(&arguments),
        Command::Cc { arguments } => cc::run(Language::C, arguments),
        Command::Cxx { arguments } => cc::run(Language::Cxx, arguments),
        Command::Wrappers { folder } => wrappers::run(folder),
        Command::Completions { shell } => completions::run(shell),
        Command::Man => man::run(),
    }
}
