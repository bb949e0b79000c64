//! How the runs ended, in words, for those that did not exit by themselves.

use super::spots::SpotFinder;
use crate::findings::{
    CollectedFindings, CountedEnd, EndCause, StuckThread, TraceProblem, WaitTarget,
};
use crate::report::words::signal_name;
use crate::run::RunEnd;

/// What else there is to know of how runs ended, beside their failures: codes of
/// commands that need not pass, and traces that do not tell everything.
pub(super) fn ends(collected: &CollectedFindings) -> Vec<String> {
    let mut notes = Vec::new();
    let incomplete = |counted: &&CountedEnd| !counted.end.cause.is_failure();
    for counted in collected.ends.iter().filter(incomplete) {
        notes.push(format!(
            "{} (first with seed {})",
            cause(counted.processes, counted.end.cause),
            counted.first_seed
        ));
    }
    let total: u64 = collected.ended.values().sum();
    for (&ended, &count) in &collected.ended {
        if let RunEnd::Exited(code) = ended
            && code != 0
            && !collected.must_pass
        {
            notes.push(format!(
                "{count} of {total} runs ended with exit code {code}"
            ));
        }
    }
    for (problem, count) in &collected.problems {
        let processes = processes(*count);
        notes.push(match problem {
            TraceProblem::Unreadable(error) => format!("{processes}: {error}"),
            TraceProblem::Contradictory(error) => {
                format!("{processes}: the trace contradicts itself: {error}")
            }
            TraceProblem::UnprovedRace(defect) => {
                format!("{processes}: a race is not reported, its check failed: {defect}")
            }
            TraceProblem::IgnoredAnnotations(least) => format!(
                "{processes}: ignored {least} or more annotations of happens-before, as if the program had none (--annotations trust believes them)"
            ),
            TraceProblem::TooManyThreads => {
                format!("{processes}: too many threads to predict races")
            }
        });
    }
    notes.sort();
    notes
}

/// A thread that could not go on.
pub(super) fn stuck(spots: &mut SpotFinder<'_>, stuck: &StuckThread) -> String {
    let place = spots.spot(stuck.site).place;
    format!(
        "thread {} {}, in {} at {}:{}",
        stuck.thread,
        waits_for(&stuck.waits_for),
        place.function,
        place.file,
        place.line
    )
}

/// How these processes ended.
fn cause(count: u64, cause: EndCause) -> String {
    let processes = processes(count);
    match cause {
        EndCause::Signal(number) if count == 1 => {
            format!("{processes} was killed by {}", signal_name(number))
        }
        EndCause::Signal(number) => format!("{processes} were killed by {}", signal_name(number)),
        EndCause::Deadlock => format!("{processes} ended in a deadlock"),
        EndCause::Livelock => format!("{processes} ended in a livelock"),
        EndCause::NoSpace { errno } => {
            format!("{processes}: the trace could not grow (errno {errno})")
        }
        EndCause::TraceLimit => format!(
            "{processes}: the trace reached its limit, and what came later was not checked: \
             raise it with --trace-limit"
        ),
        EndCause::Cut { offset } => format!("{processes}: the trace is cut at byte {offset}"),
        EndCause::Corrupt { offset, what } => {
            format!("{processes}: the trace is damaged at byte {offset}: {what}")
        }
    }
}

/// What a stuck thread waits for.
pub(super) fn waits_for(target: &WaitTarget) -> String {
    let named = |words: &str, name: &Option<String>| match name {
        Some(name) => format!("{words} {name}"),
        None => words.to_owned(),
    };
    match target {
        WaitTarget::Lock(name) => named("waits for the lock", name),
        WaitTarget::Condition(name) => named("waits for the condition", name),
        WaitTarget::Semaphore(name) => named("waits for the semaphore", name),
        WaitTarget::Barrier(name) => named("waits at the barrier", name),
        WaitTarget::Futex(Some(name)) => format!("waits for a change of {name}"),
        WaitTarget::Futex(None) => "waits for a futex".to_owned(),
        WaitTarget::Thread(thread) => format!("waits for the end of thread {thread}"),
        WaitTarget::Value(Some(name)) => format!("reads {name} again and again"),
        WaitTarget::Value(None) => "reads again and again".to_owned(),
        WaitTarget::Nothing => "could run".to_owned(),
        WaitTarget::Outside => "is in a call that wmfix does not control".to_owned(),
        WaitTarget::Time => "sleeps".to_owned(),
        WaitTarget::Message => "waits for a message or a signal".to_owned(),
    }
}

fn processes(count: u64) -> String {
    if count == 1 {
        "1 process".to_owned()
    } else {
        format!("{count} processes")
    }
}
