//! What is wrong with a program as it is, in words.

use super::failure_words::some_of;
use super::words::signal_name;
use crate::baseline::{Advice, BaselineNote};
use crate::run::RunEnd;

/// A note for the report.
pub(super) fn baseline_text(note: &BaselineNote) -> String {
    match note {
        BaselineNote::AlwaysFails {
            program,
            end,
            advice,
        } => {
            let how = how(*end);
            let mut text = format!("`{program}` {how} in every run, before any change");
            for advice in advice {
                text += "\n  ";
                text += &advice_text(*advice);
            }
            text
        }
        BaselineNote::NoTrace { untraced, runs } => format!(
            "{untraced} of {runs} runs left no trace and could not be checked: is the disk with the temporary files full?"
        ),
        BaselineNote::OnlyRaces => {
            "no atomic operation was executed: only data races were checked".to_owned()
        }
        BaselineNote::NothingToCheck => {
            "there was nothing to check: no atomic operation was executed, and no second thread started".to_owned()
        }
        BaselineNote::OneThread { started_in } => format!(
            "no run had a second thread: there is only one order of operations\n  {}",
            match &started_in[..] {
                [] => "`wmfix help scenarios`: tests with threads are made of the operations that a library declares".to_owned(),
                files => format!(
                    "threads are started in {}, which no run came to: give the test that does after --",
                    some_of(files)
                ),
            }
        ),
        BaselineNote::ChecksNothing => {
            "the test checks nothing: it prints nothing, always ends with exit code 0 and has no assertion, so a stale value cannot show; add checks of the results, with assert() or an exit code".to_owned()
        }
    }
}

fn how(end: RunEnd) -> String {
    match end {
        RunEnd::Exited(0) => "fails".to_owned(),
        RunEnd::Exited(code) => format!("fails with exit code {code}"),
        RunEnd::Signalled(number) => format!("is killed by {}", signal_name(number)),
        RunEnd::TimedOut => "hangs".to_owned(),
        RunEnd::TooLarge => "writes traces past --trace-limit".to_owned(),
        RunEnd::OutOfTime | RunEnd::Interrupted => "was interrupted".to_owned(),
    }
}

fn advice_text(advice: Advice) -> String {
    match advice {
        Advice::RaiseTimeout(seconds) => format!(
            "the time limit is {seconds} s: if the program needs longer, use --timeout SECONDS or `timeout` in [test] of wmfix.toml"
        ),
        Advice::GiveArguments => {
            "if it needs arguments, give them after --, as in `-- ./PROGRAM ARGUMENTS`, or as `args` in [test] of wmfix.toml".to_owned()
        }
        Advice::GiveInput => {
            "it reads its standard input, which is empty: name a file as `stdin` in [test] of wmfix.toml".to_owned()
        }
        Advice::OneJob => {
            "several runs execute in parallel: if they share a file or a port, use --jobs 1".to_owned()
        }
        Advice::OwnFolder => {
            "it runs in its build folder: a test command after -- finds your files in $WMFIX_SOURCE_DIR".to_owned()
        }
    }
}
