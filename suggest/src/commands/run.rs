//! `wmfix run -- COMMAND`.

use std::path::Path;

use super::examine::{examine_and_report, options_to_repeat, quoted, ready};
use crate::cli::RunArgs;
use crate::config::Config;
use crate::exit::Exit;
use crate::options::RunOptions;
use crate::pipeline::Subject;
use crate::report::RerunCommand;
use crate::run::Launch;

/// Runs something built with the wrappers, and reports.
pub fn run(arguments: RunArgs) -> anyhow::Result<Exit> {
    let config = match Config::about(Path::new(".")) {
        Ok(config) => config,
        Err(mistake) => {
            eprintln!("wmfix: {mistake}");
            return Ok(Exit::Usage);
        }
    };
    let mut options = RunOptions::new(arguments.how, arguments.model, &config);
    let words: Vec<String> = arguments.command.iter().map(|word| quoted(word)).collect();
    let again = RerunCommand {
        before: format!("wmfix run{}", options_to_repeat(&options)),
        after: format!("-- {}", words.join(" ")),
    };
    if let Some(exit) = ready(&mut options)? {
        return Ok(exit);
    }
    let subject = Subject {
        launches: vec![(Launch::new(arguments.command, &options), again)],
        files: Vec::new(),
        must_pass: false,
        copied: None,
    };
    examine_and_report(subject, options, &config)
}
