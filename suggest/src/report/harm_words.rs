//! What is said about the harm that a stale value does.

use nix::sys::signal::Signal;

use super::model::{
    HarmWord, Report, ReportedChoice, ReportedFreeFinding, ReportedFreeRuns, ReportedHarm,
    ReportedPlace, Violation,
};
use super::words;
use wmfix_analysis::witness::Machine;

use crate::findings::EndCause;
use crate::harm::{Effect, HarmVerdict, UntriedReason};
use crate::run::RunEnd;

/// The word of a verdict.
pub(crate) fn word(verdict: HarmVerdict) -> HarmWord {
    match verdict {
        HarmVerdict::Harmful => HarmWord::Harmful,
        HarmVerdict::NotDecided => HarmWord::NotDecided,
        HarmVerdict::NoEffectSeen => HarmWord::NoEffectSeen,
        HarmVerdict::NotTried => HarmWord::NotTried,
    }
}

/// What is known about stale values together that do not count one at a time.
pub(crate) fn one_at_a_time(free: &ReportedFreeRuns) -> String {
    let runs = counted(free.total, "free run");
    if free.are_missing() {
        let made = match free.total {
            0 => "no free runs were made".to_owned(),
            1 => "only 1 free run was made".to_owned(),
            total => format!("only {total} free runs were made"),
        };
        let why = free.why.as_deref().unwrap_or("a program has too few");
        return format!(
            "the stale values were looked at one at a time, and {made}, which take any number of \
             them ({why}): all of them count until they are (--time gives them more)"
        );
    }
    match free.telling {
        0 => format!(
            "one at a time, the stale values do no harm that the test sees; {runs}, which take any \
             number of them, showed none either ({} of them took old values)",
            free.stale
        ),
        telling => format!(
            "besides the runs that take one stale value, there were {runs}, which take any number \
             of them: {telling} came to what other runs do not come to"
        ),
    }
}

/// A number of things.
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// What a run with the stale value came to. `last_words` is the end of what the
/// program printed, `at` names a place.
pub(crate) fn effect(
    effect: Effect,
    last_words: &str,
    mut at: impl FnMut(wmfix_analysis::SiteId) -> ReportedPlace,
) -> String {
    match effect {
        Effect::Process(cause) => with_words(&end_cause(cause), last_words),
        Effect::Ended(ended) => with_words(&run_end_text(ended), last_words),
        Effect::Race { one, other, .. } => format!(
            "data race between {} and {}",
            words::at(&at(one)),
            words::at(&at(other))
        ),
        Effect::FreedMemory(site) => format!("use of freed memory at {}", words::at(&at(site))),
        Effect::Printed => "the program printed something else".to_owned(),
        Effect::Nothing => "the program went on as usual".to_owned(),
    }
}

/// The machines that can show a finding, given the most ordered of them.
pub(crate) fn machines(most_ordered: Option<Machine>) -> Vec<String> {
    let all = [
        (Machine::X86_64, "x86-64"),
        (Machine::AArch64, "aarch64"),
        (Machine::C11, "c11"),
    ];
    let shown = all
        .iter()
        .filter(|(machine, _)| most_ordered.is_some_and(|m| m <= *machine));
    shown.map(|(_, name)| (*name).to_owned()).collect()
}

/// Which machines can show a finding, in a sentence.
pub(crate) fn shown_by(violation: &Violation) -> Option<&'static str> {
    match violation.machines.first()?.as_str() {
        "x86-64" => Some("x86-64 can show it, and so can AArch64 and POWER"),
        "aarch64" => Some("AArch64 and POWER can show it; x86-64 itself cannot, a compiler may"),
        _ => Some("the C and C++ standards allow it; neither x86-64 nor AArch64 itself shows it"),
    }
}

/// Why nothing could be tried.
pub(crate) fn untried(reason: UntriedReason) -> &'static str {
    match reason {
        UntriedReason::NotControlled => "runs that the system schedules cannot be repeated",
        UntriedReason::OtherModel => "only in RC11 can a run be made to take a stale value",
        UntriedReason::NoTrace => "the run that showed it is too long",
        UntriedReason::NoChoice => "the old value is not known, or the program reads it by itself",
        UntriedReason::WentElsewhere => "the run went elsewhere when it was repeated",
        UntriedReason::TimeUp => "there was no time left",
        UntriedReason::NotAsked => "--harm is off",
    }
}

/// What the stale value does to the program, in a sentence.
pub(crate) fn consequence(violation: &Violation) -> Option<String> {
    let harm = violation.harm.as_ref()?;
    let runs = match harm.runs {
        1 => "in the run that took the stale value".to_owned(),
        runs => format!("in {runs} runs that took a stale value"),
    };
    Some(match harm.verdict {
        HarmWord::Harmful => format!("harmful: taking the stale value led to {}", harm.ended),
        HarmWord::NotDecided => format!(
            "not decided: {runs}, {}; an interleaving that was not made may do that, too",
            harm.ended
        ),
        HarmWord::NoEffectSeen => {
            format!("no effect seen: {runs}, nothing that the test looks at showed it")
        }
        HarmWord::NotTried => format!("not tried: {}", harm.ended),
    })
}

/// The same in a few words, for a line at the end.
pub(crate) fn in_short(violation: &Violation) -> String {
    let Some(harm) = &violation.harm else {
        return "not tried".to_owned();
    };
    match (harm.verdict, harm.runs) {
        (HarmWord::NotTried, _) => format!("not tried: {}", harm.ended),
        (word, 1) => format!("{} in 1 run", name(word)),
        (word, runs) => format!("{} in {runs} runs", name(word)),
    }
}

/// The name of a verdict.
pub(crate) fn name(word: HarmWord) -> &'static str {
    match word {
        HarmWord::Harmful => "harmful",
        HarmWord::NotDecided => "not decided",
        HarmWord::NoEffectSeen => "no effect seen",
        HarmWord::NotTried => "not tried",
    }
}

/// How many violations have each verdict, the worst first; `None` if nobody asked.
pub(crate) fn verdict_counts(report: &Report) -> Option<String> {
    let of = |word: HarmWord| {
        let verdicts = report.violations.iter().filter_map(|v| v.harm.as_ref());
        verdicts.filter(|harm| harm.verdict == word).count()
    };
    let all = [
        HarmWord::Harmful,
        HarmWord::NotDecided,
        HarmWord::NoEffectSeen,
        HarmWord::NotTried,
    ];
    let counts = all.map(|word| (of(word), name(word)));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts
        .map(|(count, name)| match *name {
            "no effect seen" => format!("{count} with no effect seen"),
            name => format!("{count} {name}"),
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What stale choices lead to, as a title.
pub(crate) fn free_title(finding: &ReportedFreeFinding) -> String {
    let choices = match finding.choices.len() {
        1 => "one stale value leads".to_owned(),
        count => format!("{count} stale values together lead"),
    };
    match finding.harm.verdict {
        HarmWord::Harmful => format!("{choices} to {}", finding.harm.ended),
        _ => format!("{choices} to this: {}", finding.harm.ended),
    }
}

/// What one of the choices is.
pub(crate) fn choice(number: usize, choice: &ReportedChoice) -> String {
    let thread = choice.thread;
    match &choice.value {
        Some(value) => format!("{number}. thread {thread} takes the old value {value} here"),
        None => format!("{number}. thread {thread} writes here, and a newer write stays"),
    }
}

/// How often free runs came to a finding.
pub(crate) fn how_often_free(finding: &ReportedFreeFinding, runs: &ReportedFreeRuns) -> String {
    let needed = match finding.choices.len() {
        _ if !finding.minimal => "whether all of the choices are needed was not found out",
        1 => "without the choice, the run does not come to it",
        _ => "without any one of the choices, the run does not come to it",
    };
    format!(
        "{} of {} free runs came to it; {needed}",
        finding.harm.runs, runs.total
    )
}

/// Where the program stood when it failed, a line each.
pub(crate) fn stack(harm: Option<&ReportedHarm>) -> Option<String> {
    let stack = &harm?.stack;
    (!stack.is_empty()).then(|| format!("it stood here:\n{}", stack.join("\n")))
}

fn end_cause(cause: EndCause) -> String {
    match cause {
        EndCause::Signal(number) => signal(number),
        EndCause::Deadlock => "a deadlock".to_owned(),
        EndCause::Livelock => "a livelock".to_owned(),
        EndCause::StepLimit => "the end of its steps".to_owned(),
        other => format!("{other:?}"),
    }
}

/// How a run ended, in a few words.
pub(crate) fn run_end_text(ended: RunEnd) -> String {
    match ended {
        RunEnd::Exited(code) => format!("exit code {code}"),
        RunEnd::Signalled(number) => signal(number),
        RunEnd::TimedOut => "a hang".to_owned(),
        RunEnd::TooLarge => "traces past --trace-limit".to_owned(),
        RunEnd::OutOfTime | RunEnd::Interrupted => "an interrupt".to_owned(),
    }
}

fn signal(number: i32) -> String {
    match Signal::try_from(number) {
        Ok(signal) => signal.as_str().to_owned(),
        Err(_) => format!("signal {number}"),
    }
}

/// The end with the line of the output that says most: an assertion's, or the last
/// that the program itself has printed.
fn with_words(end: &str, last_words: &str) -> String {
    let own = || {
        let lines = last_words.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !is_of_a_runner(line))
    };
    let assertion = own().find(|line| {
        let line = line.to_lowercase();
        line.contains("assert") || line.contains("terminate called") || line.contains("fail")
    });
    match assertion.or_else(|| own().next_back()) {
        Some(line) => format!("{end}: {line}"),
        None => end.to_owned(),
    }
}

/// Whether a line is not the program's, but wmfix's, or that of a tool that started the
/// program and says how it ended.
fn is_of_a_runner(line: &str) -> bool {
    let by_make = line
        .split_once(": *** ")
        .is_some_and(|(name, _)| name.split('[').next().is_some_and(|n| n.ends_with("make")));
    by_make || line.starts_with("wmfix:") || line.starts_with("ninja: build stopped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_with_what_the_program_said() {
        let place = |_| unreachable!("no place is asked for");
        let abort = Effect::Process(EndCause::Signal(6));
        let said = "starting\nt: t.c:9: main: Assertion `a' failed.\nwmfix: signal 6\n";
        assert_eq!(
            effect(abort, said, place),
            "SIGABRT: t: t.c:9: main: Assertion `a' failed."
        );
        assert_eq!(
            effect(Effect::Ended(RunEnd::Exited(3)), "\n", place),
            "exit code 3"
        );
        assert_eq!(
            effect(Effect::Process(EndCause::Deadlock), "one\ntwo\n", place),
            "a deadlock: two"
        );
        let by_make = "make[1]: *** [Makefile:6: test] Error 122\n";
        assert_eq!(
            effect(Effect::Process(EndCause::Deadlock), by_make, place),
            "a deadlock"
        );
    }
}
