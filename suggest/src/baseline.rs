//! What is wrong with a program as it is, before any change: that it fails or
//! hangs in every run, what the reason may be; or that there was nothing to check.
//! Values only: the report finds the words. Knows nothing of findings.

use std::path::Path;

use crate::cli::Strategy;
use crate::findings::{CollectedFindings, FailedRun, Tally, fingerprint};
use crate::options::RunOptions;
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

/// Words, in small letters, of texts that check something: assertions, test
/// frameworks, and what ends a program.
const CAN_FAIL: [&str; 15] = [
    "assert",
    "wmfix_operation",
    "abort",
    "exit(",
    "throw",
    "terminate",
    "raise",
    "kill(",
    "trap",
    "expect_",
    "check",
    "require",
    "verify",
    "fail",
    "gtest",
];

/// Texts that start threads.
const STARTS_THREADS: [&str; 7] = [
    "pthread_create",
    "thrd_create",
    "std::thread",
    "std::jthread",
    "std::async",
    "boost::thread",
    "#pragma omp parallel",
];

/// Something to know about a program as it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BaselineNote {
    /// It fails in every run.
    AlwaysFails {
        /// The program's name.
        program: String,
        /// How the first run ended.
        end: RunEnd,
        /// What may be the reason.
        advice: Vec<Advice>,
    },
    /// Some runs left no trace.
    NoTrace {
        /// How many.
        untraced: u64,
        /// How many runs there were.
        runs: u64,
    },
    /// No atomic operation was executed, only data races could be found.
    OnlyRaces,
    /// No atomic operation was executed, and no second thread started.
    NothingToCheck,
    /// No run had a second thread.
    OneThread {
        /// The files in which threads are started, as one names them from here.
        started_in: Vec<String>,
    },
    /// Whatever it does, nobody could tell: it prints nothing, it always ends well,
    /// and nothing in its text could end it otherwise.
    ChecksNothing,
}

/// What may be the reason for a failure, and what to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Advice {
    /// A run may take longer than this many seconds.
    RaiseTimeout(f64),
    /// It may need arguments.
    GiveArguments,
    /// It reads its standard input, which is empty.
    GiveInput,
    /// Runs at the same time may use the same file or port.
    OneJob,
    /// It runs in a folder of its own.
    OwnFolder,
}

/// What is to be known about the program of these runs.
pub(crate) fn notes(
    collected: &CollectedFindings,
    subject: &Subject,
    options: &RunOptions,
) -> Vec<BaselineNote> {
    let tallies = || collected.tallies.values();
    let mut notes = failures(collected, subject, options);
    if collected.untraced > 0 && collected.processes > 0 {
        notes.push(BaselineNote::NoTrace {
            untraced: collected.untraced,
            runs: tallies().map(|tally| tally.runs).sum(),
        });
    }
    let worked = !collected.every_run_failed() && collected.processes > 0;
    let concurrent = tallies().any(|tally| tally.concurrent > 0);
    if worked && collected.reached.is_empty() {
        notes.push(if concurrent {
            BaselineNote::OnlyRaces
        } else {
            BaselineNote::NothingToCheck
        });
    } else if worked && options.strategy != Strategy::Os && !concurrent {
        let current = std::env::current_dir().unwrap_or_default();
        let files = subject.files.iter().filter(|file| starts_threads(file));
        let shown = files.map(|file| file.strip_prefix(&current).unwrap_or(file));
        notes.push(BaselineNote::OneThread {
            started_in: shown.map(|file| file.display().to_string()).collect(),
        });
    } else if worked && checks_nothing(collected, subject) {
        notes.push(BaselineNote::ChecksNothing);
    }
    notes
}

/// Whether nothing that the program does could have been noticed.
fn checks_nothing(collected: &CollectedFindings, subject: &Subject) -> bool {
    let silent = fingerprint(b"");
    let says_nothing = |tally: &Tally| {
        tally.ends.iter().all(|end| *end == RunEnd::Exited(0))
            && tally.printed.iter().all(|printed| *printed == silent)
    };
    !subject.files.is_empty()
        && collected.ends.is_empty()
        && collected.tallies.values().all(says_nothing)
        && !subject.files.iter().any(|file| may_fail(file))
}

/// Whether the text of a file has something that could end a program badly: the
/// words of `CAN_FAIL`, or a result other than 0. A text that cannot be read may.
fn may_fail(file: &Path) -> bool {
    let Ok(text) = std::fs::read(file) else {
        return true;
    };
    let text = String::from_utf8_lossy(&text);
    let main = text.find("main").map_or("", |at| &text[at..]);
    let mut results = main.split("return").skip(1);
    let is_zero = |rest: &str| {
        let value = rest.split(';').next().unwrap_or(rest);
        let value = value.trim_matches(|c: char| c.is_whitespace() || "()".contains(c));
        matches!(value, "" | "0" | "NULL" | "nullptr" | "EXIT_SUCCESS")
    };
    let lower = text.to_lowercase();
    CAN_FAIL.iter().any(|word| lower.contains(word)) || results.any(|rest| !is_zero(rest))
}

fn failures(
    collected: &CollectedFindings,
    subject: &Subject,
    options: &RunOptions,
) -> Vec<BaselineNote> {
    let mut notes = Vec::new();
    for (&number, tally) in &collected.tallies {
        let Some(command) = subject.commands.get(number) else {
            continue;
        };
        let Some(failure) = &tally.failure else {
            continue;
        };
        let program = command.launch.name();
        let end = failure.ended;
        if tally.always_failed() {
            let has_none = command.launch.command.len() == 1;
            let advice = advice(tally, failure, subject, has_none, options);
            notes.push(BaselineNote::AlwaysFails {
                program,
                end,
                advice,
            });
        }
    }
    notes
}

/// What may be the reason, and what to do. `has_none` says that the program has no
/// arguments.
fn advice(
    tally: &Tally,
    failure: &FailedRun,
    subject: &Subject,
    has_none: bool,
    options: &RunOptions,
) -> Vec<Advice> {
    if tally.hung > 0 {
        return vec![Advice::RaiseTimeout(options.timeout)];
    }
    let mut advice = Vec::new();
    let asks_for_arguments = match failure.ended {
        RunEnd::Exited(_) => failure.output.to_lowercase().contains("usage"),
        // It may have taken for granted that there are some.
        _ => has_none && subject.files.iter().any(|file| reads_arguments(file)),
    };
    if asks_for_arguments {
        advice.push(Advice::GiveArguments);
    }
    let mut commands = subject.commands.iter();
    let no_input = commands.all(|command| command.launch.input.is_none());
    if no_input && subject.files.iter().any(|file| reads_input(file)) {
        advice.push(Advice::GiveInput);
    }
    if options.jobs != Some(1) {
        advice.push(Advice::OneJob);
    }
    advice.push(Advice::OwnFolder);
    advice
}

/// Whether the text of a file starts threads.
fn starts_threads(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|text| {
        let text = String::from_utf8_lossy(&text);
        STARTS_THREADS.iter().any(|word| has_word(&text, word))
    })
}

fn reads_input(file: &Path) -> bool {
    let Ok(text) = std::fs::read(file) else {
        return false;
    };
    let text = String::from_utf8_lossy(&text);
    READS_INPUT.iter().any(|word| has_word(&text, word))
}

/// Whether the text of a file looks at the arguments of the program.
fn reads_arguments(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|text| has_word(&String::from_utf8_lossy(&text), "argv["))
}

/// Whether a text has a word that is no part of a longer one (`stdin`, not `stdint.h`).
fn has_word(text: &str, word: &str) -> bool {
    let of_word = |byte: Option<char>| byte.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, found)| {
        let ends_in_word = of_word(found.chars().next_back());
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        let goes_on = ends_in_word && of_word(after.chars().next());
        !of_word(before.chars().next_back()) && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn words_are_not_parts_of_others() {
        assert!(has_word("fgets(s, 9, stdin);", "stdin"));
        assert!(has_word("fscanf(f); scanf(s)", "scanf"));
        assert!(!has_word("#include <stdint.h>", "stdin"));
        assert!(!has_word("fscanf(file)", "scanf"));
        assert!(has_word("read(0,x)", "read(0,") && !has_word("pread(0,x)", "read(0,"));
        assert!(has_word("atoi(argv[1])", "argv["));
    }
}
