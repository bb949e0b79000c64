//! `wmfix run -- COMMAND`.

use super::examine::{examine_and_report, options_to_repeat, quoted};
use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::pipeline::Subject;
use crate::report::Again;
use crate::run::Launch;

/// Runs something built with the wrappers, and reports.
pub fn run(arguments: RunArgs) -> anyhow::Result<Exit> {
    let options = arguments.how;
    let words: Vec<String> = arguments.command.iter().map(|word| quoted(word)).collect();
    let again = Again {
        before: format!("wmfix run{}", options_to_repeat(&options)),
        after: format!("-- {}", words.join(" ")),
    };
    let subject = Subject {
        launches: vec![(Launch::new(arguments.command, &options), again)],
        files: Vec::new(),
    };
    examine_and_report(subject, options)
}
