//! Runs that failed, in words: what happened, where the threads stood, what was
//! printed, and how to see it again.

use super::model::{FailedThread, Failure, FailureWord};
use super::words::signal_name;

/// One line about a failure, without its program.
pub(super) fn what(failure: &Failure) -> String {
    match failure.kind {
        FailureWord::Misuse => "a lock is misused".to_owned(),
        FailureWord::Deadlock => "deadlock: every thread waits for another one".to_owned(),
        FailureWord::Livelock => "livelock: threads run, and none makes progress".to_owned(),
        FailureWord::Signal => format!("killed by {}", signal_name(failure.signal.unwrap_or(0))),
        FailureWord::Exit => format!("exit code {}", failure.exit_code.unwrap_or(0)),
        FailureWord::Timeout => "did not end in time and was killed (see --timeout)".to_owned(),
    }
}

/// The headline of a failure.
pub(super) fn title(failure: &Failure, total: u64) -> String {
    let runs = match (failure.runs, total) {
        (1, 1) => "in the only run".to_owned(),
        (runs, total) => format!("in {runs} of {total} runs"),
    };
    format!("`{}` fails {runs}: {}", failure.program, what(failure))
}

/// Where a thread stood.
pub(super) fn thread(thread: &FailedThread) -> String {
    let place = &thread.place;
    let (number, what) = (thread.thread, &thread.what);
    match (place.function.as_str(), place.line) {
        ("", 0) => format!("thread {number} {what}"),
        (function, 0) => format!("thread {number} {what}, in {function}"),
        ("", line) => format!("thread {number} {what}, at {}:{line}", place.file),
        (function, line) => {
            format!(
                "thread {number} {what}, in {function} at {}:{line}",
                place.file
            )
        }
    }
}

/// A failure as text, as long as it needs.
pub(super) fn text(failure: &Failure, total: u64) -> String {
    let mut text = format!("error[{}]: {}\n", failure.id, title(failure, total));
    for one in &failure.threads {
        text += &format!("  {}\n", thread(one));
        for caller in &one.callers {
            text += &format!("      called from {caller}\n");
        }
    }
    if !failure.output.is_empty() {
        text += "  it printed at the end:\n";
        for line in &failure.output {
            text += &format!("    {line}\n");
        }
    }
    text += &format!("  first with seed {}\n", failure.seed);
    if !failure.command.is_empty() {
        text += &format!("  to reproduce: {}\n", failure.command);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_threads_output_and_command() {
        let failure = Failure {
            id: "F1".to_owned(),
            kind: FailureWord::Signal,
            runs: 8,
            seed: 3,
            program: "prog".to_owned(),
            signal: Some(6),
            exit_code: None,
            threads: Vec::new(),
            output: vec!["assertion failed".to_owned()],
            command: "wmfix check . --seed 3".to_owned(),
        };
        let expected = "error[F1]: `prog` fails in 8 of 100 runs: killed by SIGABRT\n  \
                        it printed at the end:\n    assertion failed\n  first with seed 3\n  \
                        to reproduce: wmfix check . --seed 3\n";
        assert_eq!(text(&failure, 100), expected);
    }
}
