//! What happened while a repair was searched for and verified, in words.

use super::words::signal_name;
use crate::repair_loop::{RepairNote, VerificationFailure};
use crate::run::RunEnd;
use crate::trace_remapper::UnmappedTrace;

/// A note for the report.
pub(super) fn repair_note_text(note: &RepairNote) -> String {
    match note {
        RepairNote::RoundsExhausted { rounds, failure } => format!(
            "after {rounds} rounds of repair and verification, the patched program still shows something new ({}): more runs (--runs) may find a repair that works",
            failure_text(failure)
        ),
        RepairNote::RunsUnusable(reason) => format!(
            "some runs of a patched program could not be used for the repair: {}",
            unmapped_text(reason)
        ),
        RepairNote::PatchDidNotBuild => {
            "a patch did not compile: changes of it were left out of the search".to_owned()
        }
        RepairNote::PlainMadeAtomic => {
            "no order of the atomic operations that there are keeps threads from racing on some plain objects: the patch makes their accesses atomic. What has to happen in one step with another access needs a lock instead".to_owned()
        }
        RepairNote::VolatileTakenForAtomic => {
            "threads race on volatile objects, which no order prevents: their accesses were taken for relaxed atomic ones (--volatile relaxed), and the patch makes atomic those that have to order something; `wmfix check` names the races".to_owned()
        }
        RepairNote::NoRepairInTime => {
            "there was no time left for a repair: give it more (--time), or repair fewer findings at a time (--fix harmful)".to_owned()
        }
        RepairNote::OriginalRunAgain => {
            "a patched program showed a finding that its own runs do not explain: the original program was run again".to_owned()
        }
    }
}

/// What is wrong with a patched program.
pub(super) fn failure_text(failure: &VerificationFailure) -> String {
    match failure {
        VerificationFailure::CannotRun => "it cannot be run".to_owned(),
        VerificationFailure::NewEnd(end) => match end {
            RunEnd::Exited(code) => format!("a run ends with exit code {code}"),
            RunEnd::Signalled(number) => format!("a run is killed by {}", signal_name(*number)),
            RunEnd::TimedOut => "a run hangs".to_owned(),
            RunEnd::TooLarge => "a run writes traces past --trace-limit".to_owned(),
            RunEnd::OutOfTime | RunEnd::Interrupted => "a run was interrupted".to_owned(),
        },
        VerificationFailure::Finding { function, file } => {
            format!("there is still a finding in {function} ({file})")
        }
    }
}

fn unmapped_text(reason: &UnmappedTrace) -> String {
    match reason {
        UnmappedTrace::UnknownOperation { operation, at } => {
            let at = at.as_ref().map_or(String::new(), |(file, line)| {
                format!(" at {}:{line}", file.display())
            });
            format!("`{operation}`{at} does not exist before the patch")
        }
        UnmappedTrace::SplitOperation => {
            "a changed operation consists of several others".to_owned()
        }
    }
}
