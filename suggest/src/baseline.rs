//! What is to be said about a program as it is, before any change: that it fails
//! or hangs, always or sometimes, what the reason may be and what to do; or that
//! there was nothing to check. Knows nothing of findings.

use std::path::{Path, PathBuf};

use crate::cli::Strategy;
use crate::findings::{CollectedFindings, FailedRun, Tally};
use crate::options::RunOptions;
use crate::report::{signal_name, with_seed};
use crate::run::RunEnd;
use crate::subject::Subject;

/// Texts that say that a program reads its standard input.
const READS_INPUT: [&str; 6] = [
    "stdin",
    "scanf",
    "getchar",
    "std::cin",
    "read(0,",
    "STDIN_FILENO",
];

/// Notes for the report.
pub fn notes(
    collected: &CollectedFindings,
    subject: &Subject,
    options: &RunOptions,
) -> Vec<String> {
    let mut notes = Vec::new();
    for (&number, tally) in &collected.tallies {
        let Some(command) = subject.commands.get(number) else {
            continue;
        };
        let Some(FailedRun {
            ended,
            seed,
            output,
        }) = &tally.failure
        else {
            continue;
        };
        let program = command.launch.command.first().map(PathBuf::from);
        let program = program.as_deref().and_then(Path::file_name);
        let name = program.unwrap_or_default().to_string_lossy().into_owned();
        let how = how(*ended);
        if tally.always_failed() {
            let mut note = format!("`{name}` {how} in every run, before any change");
            for advice in advice(tally, *ended, output, subject, options) {
                note += "\n  ";
                note += &advice;
            }
            notes.push(note);
        } else if collected.must_pass || !ended.is_of_its_own() {
            notes.push(format!(
                "`{name}` {how} in {} of {} runs; to see it again: {}",
                tally.failed,
                tally.runs,
                with_seed(&command.rerun, *seed)
            ));
        }
    }
    if collected.untraced > 0 && collected.processes > 0 {
        notes.push(format!(
            "{} of {} runs left no trace, and nothing is known of {}: was there room for it in the folder for temporary files?",
            collected.untraced,
            collected.tallies.values().map(|tally| tally.runs).sum::<u64>(),
            if collected.untraced == 1 { "it" } else { "them" }
        ));
    }
    let worked = !collected.every_run_failed() && collected.processes > 0;
    if worked && collected.reached.is_empty() {
        let threads = collected.tallies.values().any(|tally| tally.concurrent > 0);
        notes.push(if threads {
            "no atomic operation was executed: only data races were looked for".to_owned()
        } else {
            "there was nothing to check: no atomic operation was executed, and no second thread started"
                .to_owned()
        });
    } else if worked
        && options.strategy != Strategy::Os
        && collected
            .tallies
            .values()
            .all(|tally| tally.concurrent == 0)
    {
        notes.push("no run had a second thread: nothing could come in another order".to_owned());
    }
    notes
}

fn how(ended: RunEnd) -> String {
    match ended {
        RunEnd::Exited(0) => "comes to a bad end".to_owned(),
        RunEnd::Exited(code) => format!("fails with exit code {code}"),
        RunEnd::Signalled(number) => format!("is ended by {}", signal_name(number)),
        RunEnd::TimedOut => "hangs".to_owned(),
        RunEnd::Interrupted => "was interrupted".to_owned(),
    }
}

/// What may be the reason, and what to do.
fn advice(
    tally: &Tally,
    ended: RunEnd,
    output: &str,
    subject: &Subject,
    options: &RunOptions,
) -> Vec<String> {
    let mut advice = Vec::new();
    if tally.hung > 0 {
        advice.push(format!(
            "a run may take {} s: if it only needs longer, use --timeout SECONDS or `timeout` in [test] of wmfix.toml",
            options.timeout
        ));
        return advice;
    }
    let asks_for_arguments = output.to_lowercase().contains("usage");
    if matches!(ended, RunEnd::Exited(_)) && asks_for_arguments {
        advice.push(
            "if it needs arguments, give them after --, as in `-- ./PROGRAM ARGUMENTS`, or as `args` in [test] of wmfix.toml"
                .to_owned(),
        );
    }
    let no_input = subject
        .commands
        .iter()
        .all(|command| command.launch.input.is_none());
    if no_input && subject.files.iter().any(|file| reads_input(file)) {
        advice.push(
            "it reads its standard input, which is empty here: name a file as `stdin` in [test] of wmfix.toml"
                .to_owned(),
        );
    }
    if options.jobs != Some(1) {
        advice.push(
            "several runs are made at a time: if they use the same file or port, use --jobs 1"
                .to_owned(),
        );
    }
    advice.push(
        "it runs in a folder of its own, where it was built: a test command after -- finds your files below $WMFIX_SOURCE_DIR"
            .to_owned(),
    );
    advice
}

fn reads_input(file: &Path) -> bool {
    let Ok(text) = std::fs::read(file) else {
        return false;
    };
    let text = String::from_utf8_lossy(&text);
    READS_INPUT.iter().any(|word| text.contains(word))
}
