//! Runs that failed → the report's failures: the most frequent first, each with its
//! threads, the last lines of its output and the command that shows it again.

use wmfix_trace::MisuseKind;

use super::ends::waits_for;
use super::spots::SpotFinder;
use crate::findings::{
    CollectedFindings, Doing, FailedThread, FailureFinding, FailureKind, WaitTarget,
};
use crate::report::model::{self, Failure, FailureWord};
use crate::report::rerun::with_seed;
use crate::subject::RerunCommand;

/// This many of the last lines of the output are kept.
const OUTPUT_LINES: usize = 10;

/// What lines of the runtime begin with.
const RUNTIME_SAYS: &str = "wmfix: ";

/// The failures of all runs. `programs` are the names of the programs.
pub(super) fn failures(
    spots: &mut SpotFinder<'_>,
    collected: &CollectedFindings,
    programs: &[String],
    rerun: &[RerunCommand],
) -> Vec<Failure> {
    let mut found: Vec<&FailureFinding> = collected.failures.iter().collect();
    found.sort_by_key(|one| (one.program, one.first.kind, one.seed));
    let reported = (1..).zip(found).map(|(number, finding)| {
        let kind = finding.first.kind;
        // A thread that only waits for the end of another one tells least.
        let mut threads: Vec<&FailedThread> = finding.first.threads.iter().collect();
        threads.sort_by_key(|thread| matches!(thread.doing, Doing::Waits(WaitTarget::Thread(_))));
        let rerun = rerun.get(finding.program);
        Failure {
            id: format!("F{number}"),
            kind: word(kind),
            runs: finding.runs,
            seed: finding.seed,
            program: programs.get(finding.program).cloned().unwrap_or_default(),
            signal: match kind {
                FailureKind::Signal(number) => Some(number),
                _ => None,
            },
            exit_code: match kind {
                FailureKind::Exit(code) => Some(code),
                _ => None,
            },
            threads: threads
                .into_iter()
                .map(|thread| reported_thread(spots, thread))
                .collect(),
            output: last_lines(&finding.output),
            command: rerun.map_or(String::new(), |rerun| with_seed(rerun, finding.seed)),
        }
    });
    reported.collect()
}

fn word(kind: FailureKind) -> FailureWord {
    match kind {
        FailureKind::Misuse => FailureWord::Misuse,
        FailureKind::Deadlock => FailureWord::Deadlock,
        FailureKind::Livelock => FailureWord::Livelock,
        FailureKind::Signal(_) => FailureWord::Signal,
        FailureKind::Exit(_) => FailureWord::Exit,
        FailureKind::Timeout => FailureWord::Timeout,
    }
}

fn reported_thread(spots: &mut SpotFinder<'_>, thread: &FailedThread) -> model::FailedThread {
    let mut spot = spots.spot(thread.site);
    let mut frames = thread.callers.as_deref();
    if let (Doing::Signalled, Some([here, callers @ ..])) = (&thread.doing, frames) {
        spot.place = spots.frame_place(here);
        frames = Some(callers);
    }
    let what = match &thread.doing {
        Doing::Waits(target) => waits_for(target),
        Doing::Misuses(kind, name) => misuses(*kind, name.as_deref()),
        Doing::Signalled => "was here when the signal came".to_owned(),
        Doing::SignalledLater => "was past this when the signal came".to_owned(),
    };
    model::FailedThread {
        thread: thread.thread,
        what,
        place: spot.place,
        callers: match frames {
            Some(frames) => frames
                .iter()
                .filter_map(|frame| spots.caller(frame))
                .collect(),
            None => spot.callers,
        },
    }
}

fn misuses(kind: MisuseKind, name: Option<&str>) -> String {
    let lock = name.map_or_else(|| "a lock".to_owned(), |name| format!("the lock {name}"));
    match kind {
        MisuseKind::UnlockedFree => format!("unlocks {lock}, which nobody holds"),
        MisuseKind::UnlockedByOther => format!("unlocks {lock}, which another thread holds"),
        MisuseKind::UsedAfterEnd => format!("uses {lock} after it was destroyed"),
        MisuseKind::EndedInUse => format!("destroys {lock} while it is in use"),
    }
}

fn last_lines(output: &str) -> Vec<String> {
    // What the runtime says is in the report, without addresses.
    let lines = output
        .lines()
        .filter(|line| !line.starts_with(RUNTIME_SAYS));
    let lines: Vec<&str> = lines.collect();
    let from = lines.len().saturating_sub(OUTPUT_LINES);
    lines[from..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}
