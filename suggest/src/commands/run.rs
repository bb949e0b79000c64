//! `wmfix run -- COMMAND`.

use super::examine::{examine_and_report, options_to_repeat, quoted};
use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::pipeline::Subject;
use crate::report::Again;
use crate::run::Launch;

/// Runs something built with the wrappers, and reports.
pub fn run(arguments: RunArgs) -> anyhow::Result<Exit> {
    let mut options = arguments.how;
    let words: Vec<String> = arguments.command.iter().map(|word| quoted(word)).collect();
    let mut launch = Launch::new(arguments.command, &options);
    let mut before = format!("wmfix run{}", options_to_repeat(&options));
    if let Some(trace) = arguments.replay {
        if !trace.is_file() {
            eprintln!("wmfix: there is no trace {}", trace.display());
            return Ok(Exit::Usage);
        }
        before += &format!(" --replay {}", quoted(trace.as_os_str()));
        // The schedule is given: a second run would be the first one again.
        options.runs = 1;
        launch
            .settings
            .push(("WMFIX_REPLAY", std::path::absolute(trace)?.into()));
    }
    let again = Again {
        before,
        after: format!("-- {}", words.join(" ")),
    };
    let subject = Subject {
        launches: vec![(launch, again)],
        files: Vec::new(),
    };
    examine_and_report(subject, &options)
}
