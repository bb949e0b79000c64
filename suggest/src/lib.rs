//! The `wmfix` command as a library: what the binary does, callable by tests.
//! Owns the command line, building and running programs, and reports; knows
//! nothing of clocks.
#![forbid(unsafe_code)]

mod allow;
mod apply;
mod baseline;
mod candidates;
mod cc;
mod checked_runs;
mod choices;
mod cli;
mod commands;
mod config;
mod evidence;
mod exit;
mod explore;
mod findings;
mod harm;
mod harness;
mod inventory;
mod observe;
mod options;
mod output;
mod patch;
mod path_limit;
mod path_text;
mod pipeline;
mod plain_accesses;
mod predictions;
mod preparation;
mod printable;
mod private_files;
mod progress;
mod project;
mod recorded_runs;
mod regular_file;
mod relax;
mod repair_loop;
mod report;
mod run;
mod runtime_archive;
mod sarif;
mod scenario_headers;
mod shard_number;
mod shards;
mod state;
mod stopped;
mod subject;
mod symbols;
mod trace_remapper;

use std::ffi::OsString;
use std::path::Path;

use clap::Parser;

use cc::Language;
use exit::Stop;

pub use exit::ExitStatus;
pub use run::guard::this_is_our_program;

/// Runs one command, `args` with the program's name first, and says how it ended.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let args: Vec<OsString> = args.into_iter().collect();
    let name = args.first().and_then(|name| name.to_str());
    if name.is_some_and(run::guard::is_called_by) {
        run::guard::keep(std::io::stdin().lock());
        return ExitStatus::Clean;
    }
    let call = || match wrapper_call(&args) {
        Some((language, arguments)) => cc::run(language, arguments),
        None => parse_and_run(args.clone()),
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)) {
        Ok(ended) => ended.unwrap_or_else(Stop::report),
        Err(_) => {
            eprintln!(
                "wmfix: this is a fault of wmfix itself: please report it with the message above"
            );
            ExitStatus::InternalError
        }
    }
}

/// The wrappers are recognised by name before any argument is parsed: every
/// argument is the compiler's, `--help` and `--version` too.
fn wrapper_call(args: &[OsString]) -> Option<(Language, Vec<OsString>)> {
    let name = Path::new(args.first()?).file_name()?.to_str()?;
    if let Some(language) = Language::of_word(name.strip_prefix("wmfix-").unwrap_or_default()) {
        return Some((language, args[1..].to_vec()));
    }
    let language = Language::of_word(args.get(1)?.to_str()?)?;
    Some((language, args[2..].to_vec()))
}

fn parse_and_run(args: Vec<OsString>) -> Result<ExitStatus, Stop> {
    match cli::Cli::try_parse_from(args) {
        Ok(parsed) => commands::run(parsed),
        Err(error) => {
            error.print()?;
            Ok(if error.use_stderr() {
                ExitStatus::Usage
            } else {
                ExitStatus::Clean
            })
        }
    }
}
