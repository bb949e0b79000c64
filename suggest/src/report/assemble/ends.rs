//! How the runs ended, in words, for those that did not exit by themselves.

use super::spots::SpotFinder;
use crate::findings::{CollectedFindings, EndCause, StuckThread, TraceProblem, WaitTarget};
use crate::report::words::signal_name;
use crate::run::RunEnd;

/// How runs ended that did not exit by themselves.
pub(super) fn ends(spots: &mut SpotFinder<'_>, collected: &CollectedFindings) -> Vec<String> {
    let mut notes = Vec::new();
    for counted in &collected.ends {
        let mut note = format!(
            "{} (first with seed {})",
            cause(counted.processes, counted.end.cause),
            counted.first_seed
        );
        for one in &counted.end.stuck {
            note += &format!("\n  {}", stuck(spots, one));
        }
        notes.push(note);
    }
    for (&ended, &count) in &collected.ended {
        let what = match ended {
            RunEnd::TimedOut => "timed out and were killed (see --timeout)".to_owned(),
            RunEnd::Signalled(number) if collected.ends.is_empty() => {
                format!("were killed by {}", signal_name(number))
            }
            RunEnd::Exited(code) if code != 0 && collected.ends.is_empty() => {
                format!("ended with exit code {code}")
            }
            _ => continue,
        };
        let total: u64 = collected.ended.values().sum();
        notes.push(format!("{count} of {total} runs {what}"));
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

fn waits_for(target: &WaitTarget) -> String {
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
