//! How the runs ended, in words, for those that did not exit by themselves.

use super::spots::SpotFinder;
use wmfix_trace::{GiveUp, Limit};

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
            TraceProblem::VolatileSpin => format!(
                "{processes}: a thread waits for a volatile object to change, which is taken for a plain one: --volatile acqrel or relaxed takes it for an atomic"
            ),
            TraceProblem::Limit(limit) => format!("{processes}: {}", limit_words(*limit)),
            TraceProblem::TooManyThreads => {
                format!(
                    "{processes}: too many threads, critical sections or accesses to predict races to the end"
                )
            }
            TraceProblem::NotChecked(why) => format!(
                "{} not checked while under way, because {}: what came later was recorded, and \
                 checked then",
                runs_were(*count),
                why_not_checked(*why)
            ),
            TraceProblem::NotRepeated => format!(
                "{} found wrong while it went on, but not when it was made again to be recorded: \
                 what the program does depends on more than its schedule, or --trace-limit is too \
                 small; such findings are not reported",
                runs_were(*count)
            ),
            TraceProblem::NotRecorded => format!(
                "{} found wrong while under way, but after the recording had ended, or without one: \
                 such findings are not reported; try a larger --trace-limit or --event-limit, and \
                 more room for temporary files",
                runs_were(*count)
            ),
            TraceProblem::NotConfirmed => format!(
                "{} found wrong while under way, but not when the recording was analysed: such \
                 findings are not reported; please report this as a bug of wmfix",
                runs_were(*count)
            ),
        });
    }
    notes.sort();
    notes
}

/// What the program does that is not modelled to the end, and what that means for the
/// report.
fn limit_words(limit: Limit) -> &'static str {
    match limit {
        Limit::SharedMemory => {
            "shares memory with another process: what one process does there is not checked against \
             the other"
        }
        Limit::SharedAddressSpace => {
            "clone with CLONE_VM makes a thread that is not told from its maker: what is said about \
             both is unreliable"
        }
        Limit::ManyMappings => {
            "memory is mapped at too many addresses: some of them are taken for different objects, \
             so that races may be missed or reported wrongly"
        }
        Limit::OddAtomics => {
            "atomics that the compiler leaves to libatomic (of 3, 5, 6 or 7 bytes, or of 16 without \
             -mcx16): what they order among themselves is believed, and violations at them are not \
             looked for"
        }
        Limit::UnknownThread => {
            "a library has started a thread by itself: races with what came just before it may be \
             missed"
        }
        Limit::NestedTeams => {
            "OpenMP teams within teams: their barriers and critical sections count as one, so that \
             races between teams may be missed"
        }
        Limit::MixedSizes => {
            "an atomic object is accessed in different sizes: what such accesses order is taken \
             from the hardware, for the C and C++ standards do not define it, and violations \
             between them are not looked for"
        }
    }
}

/// A thread that could not go on.
pub(super) fn stuck(spots: &mut SpotFinder<'_>, stuck: &StuckThread) -> String {
    let place = spots.spot(stuck.site).place;
    format!(
        "thread {} {}, in {} at {}",
        stuck.thread,
        waits_for(&stuck.waits_for),
        place.function,
        place.point()
    )
}

fn runs_were(count: u64) -> String {
    match count {
        1 => "1 run was".to_owned(),
        _ => format!("{count} runs were"),
    }
}

/// Why a run could not be checked while it went on.
fn why_not_checked(why: GiveUp) -> &'static str {
    match why {
        GiveUp::LongWait => "a thread waited too long for a value that the text does not name",
        GiveUp::Contradiction => "a waiting loop was entered on a way that the text does not show",
        GiveUp::Refused => "its events contradict one another",
        GiveUp::NoMemory => "there was not enough memory in the process",
        GiveUp::Prediction => {
            "it has too many threads, critical sections or accesses to predict races"
        }
    }
}

const LATER_STEPS: &str = "what comes later is not checked; a shorter test shows more, \
                           and --steps 0 follows runs to their end";

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
             raise it with --trace-limit or --event-limit"
        ),
        EndCause::StepLimit if count == 1 => {
            format!("{processes} went on for long and was ended there: {LATER_STEPS}")
        }
        EndCause::StepLimit => {
            format!("{processes} went on for long and were ended there: {LATER_STEPS}")
        }
        EndCause::AllTracesLimit => format!(
            "{}: the traces of all its processes reached their limit, and what came later was \
             not checked: raise it with --trace-limit",
            runs(count)
        ),
        EndCause::MemoryLimit => format!(
            "{}: to read the traces would take more memory than there may be, and they were not \
             checked: raise it with --memory-limit, or lower --trace-limit",
            runs(count)
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

fn runs(count: u64) -> String {
    match count {
        1 => "1 run".to_owned(),
        _ => format!("{count} runs"),
    }
}

fn processes(count: u64) -> String {
    if count == 1 {
        "1 process".to_owned()
    } else {
        format!("{count} processes")
    }
}
