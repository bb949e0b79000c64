//! The command line that shows a finding again, as a shell takes it.

use std::path::Path;

use wmfix_trace::StaleTargets;

use crate::subject::RerunCommand;

/// The command line for one run with a seed.
pub(super) fn with_seed(rerun: &RerunCommand, seed: u64) -> String {
    let seed = seed.to_string();
    shell_line(rerun, &["--seed", &seed, "--runs", "1"])
}

/// The command line for one run that makes stale choices.
pub(crate) fn with_stale(rerun: &RerunCommand, seed: u64, choices: &StaleTargets) -> String {
    let (seed, target) = (seed.to_string(), choices.to_string());
    shell_line(rerun, &["--seed", &seed, "--stale", &target])
}

/// The command line for one run that makes these stale choices, counted as free
/// runs count them.
pub(crate) fn with_choices(rerun: &RerunCommand, seed: u64, choices: &StaleTargets) -> String {
    let (seed, choices) = (seed.to_string(), choices.to_string());
    shell_line(rerun, &["--seed", &seed, "--weak", "--stale", &choices])
}

/// The command line that follows a recorded schedule.
pub(super) fn with_trace(rerun: &RerunCommand, trace: &Path) -> String {
    shell_line(rerun, &["--replay", &trace.to_string_lossy()])
}

fn shell_line(rerun: &RerunCommand, options: &[&str]) -> String {
    let words = rerun.words.iter().map(String::as_str);
    let words = words.chain(options.iter().copied());
    let separator = (!rerun.test_command.is_empty()).then_some("--");
    let test = separator
        .into_iter()
        .chain(rerun.test_command.iter().map(String::as_str));
    let quoted: Vec<_> = words.chain(test).map(quoted).collect();
    quoted.join(" ")
}

/// A word as a shell takes it. No argument of a process holds the one character
/// that cannot be quoted, a NUL.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let words = ["check", "my file.c"].map(str::as_ref);
        let rerun = RerunCommand::new(words, ["./run.sh", "it's"].map(str::as_ref));
        assert_eq!(
            with_seed(&rerun, 7),
            "wmfix check 'my file.c' --seed 7 --runs 1 -- ./run.sh \"it's\""
        );
        let plain = RerunCommand::new(["check", "a.c"].map(str::as_ref), []);
        assert_eq!(
            with_trace(&plain, Path::new("/t/V1.trace")),
            "wmfix check a.c --replay /t/V1.trace"
        );
    }
}
