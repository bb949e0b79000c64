//! What happened while a repair was searched for and verified, in words.

use super::dossier::Dossier;
use super::harm_words::counted;
use super::model::{NoPatch, RepairCandidate, Verification};
use super::overview;
use super::short_name::short_name;
use super::words::signal_name;
use crate::repair_loop::{RepairNote, StillFound, VerificationFailure};
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
            "no order of an atomic operation that could be changed keeps threads from racing on some plain objects: the patch makes their accesses atomic. What has to happen in one step with another access needs a lock instead".to_owned()
        }
        RepairNote::NoOwnChange(count) => {
            let (findings, they) = match count {
                1 => ("1 violation needs no change of its own".to_owned(), "it is gone or does"),
                _ => (
                    format!("{count} violations need no change of their own"),
                    "they are gone or do",
                ),
            };
            format!(
                "{findings}: in the runs of the patched program, {they} too little harm to count"
            )
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

/// Why there is no patch, and what a candidate is, which its changes follow.
pub(super) fn candidate_words(dossier: &Dossier, candidate: &RepairCandidate) -> String {
    let count = candidate.changes.len();
    let changes = if count == 1 { "change" } else { "changes" };
    let which = match candidate.optimal {
        true => "the cheapest candidate",
        false => "a candidate, which may not be the cheapest,",
    };
    match candidate.why {
        NoPatch::OutOfTime => format!(
            "no patch in the time: {which} is {count} {changes}, not built and run (--time gives it more):"
        ),
        NoPatch::Interrupted => {
            format!("no patch: interrupted before {which} of {count} {changes} was built and run:")
        }
        NoPatch::TooLarge => {
            let rows = overview::rows(dossier);
            let worst = rows.first().map(|row| {
                let id = row.ids.first().map_or("", String::as_str);
                format!(
                    "the worst finding is {id} ({} at {}); ",
                    row.what, row.place
                )
            });
            format!(
                "no sensible repair was found in the time: {}give it more (--time), or a smaller test",
                worst.unwrap_or_default()
            )
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
        VerificationFailure::Findings(still) => still_found_text(still),
        VerificationFailure::StaleTogether => {
            "several stale values together, which do nothing one at a time, make a run fail"
                .to_owned()
        }
    }
}

/// What the runs of a patched program showed that holds.
pub(super) fn shown_text(verification: &Verification) -> String {
    let mut named = verification.remaining.clone();
    match (verification.others, named.is_empty()) {
        (0, _) => {}
        (count, true) => named.push(match count {
            1 => "1 finding".to_owned(),
            _ => format!("{count} findings"),
        }),
        (count, false) => named.push(format!("{count} more")),
    }
    match named.split_last() {
        None => "showed no further findings".to_owned(),
        Some((last, [])) => format!("still showed {last}, which the patch does not repair,"),
        Some((last, first)) => format!(
            "still showed {} and {last}, which the patch does not repair,",
            first.join(", ")
        ),
    }
}

/// What is known of stale values together that a patched program still may take; nothing
/// if none are left.
pub(super) fn patched_free_text(verification: &Verification) -> Option<String> {
    let free = verification.free_runs?;
    let runs = counted(free.total, "free run");
    Some(match free.enough {
        true => format!(
            "stale values are left in it that do not count one at a time; {runs}, which take any \
             number of them, showed nothing either"
        ),
        false => format!(
            "not verified: stale values are left in it that do not count one at a time, and there \
             was time for {runs} only, which take any number of them (--time gives it more)"
        ),
    })
}

/// So many functions are named, at most.
const MOST_FUNCTIONS: usize = 5;

/// What the runs of a patched program still show, and how much they do not.
fn still_found_text(still: &StillFound) -> String {
    let name = |(function, file): &(String, String)| format!("{} ({file})", short_name(function));
    let named = still.functions.iter().take(MOST_FUNCTIONS).map(name);
    let mut named: Vec<String> = named.collect();
    match still.functions.len().saturating_sub(MOST_FUNCTIONS) {
        0 => {}
        more => named.push(format!("{more} more")),
    }
    let places = match named.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => named.concat(),
    };
    let what = match still.functions.len() {
        1 => "there is still a finding",
        _ => "there are still findings",
    };
    let gone = match still.gone {
        Some((gone, all)) if gone > 0 => {
            format!(
                "; {gone} of {all} findings were not seen again in {} runs",
                still.runs
            )
        }
        _ => String::new(),
    };
    format!("{what} in {places}{gone}")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::VerificationOutcome;

    fn still(functions: usize, gone: Option<(usize, usize)>) -> String {
        let functions = (0..functions).map(|n| (format!("f{n}"), "a.h".to_owned()));
        still_found_text(&StillFound {
            functions: functions.collect(),
            runs: 80,
            gone,
        })
    }

    #[test]
    fn what_a_patched_program_still_shows_is_named_and_so_is_what_is_gone() {
        assert_eq!(still(1, None), "there is still a finding in f0 (a.h)");
        assert_eq!(
            still(2, Some((9, 13))),
            "there are still findings in f0 (a.h) and f1 (a.h); 9 of 13 findings were not seen again in 80 runs"
        );
        assert_eq!(
            still(7, Some((0, 7))),
            "there are still findings in f0 (a.h), f1 (a.h), f2 (a.h), f3 (a.h), f4 (a.h) and 2 more"
        );
    }

    #[test]
    fn no_further_findings_is_said_where_there_are_none() {
        let said = |remaining: &[&str], others| {
            shown_text(&Verification {
                outcome: VerificationOutcome::Held,
                rounds: 1,
                why: None,
                schedules: 1,
                missed: Vec::new(),
                remaining: remaining.iter().map(ToString::to_string).collect(),
                others,
                free_runs: None,
                proof: None,
            })
        };
        assert_eq!(said(&[], 0), "showed no further findings");
        let one = "still showed R1, which the patch does not repair,";
        assert_eq!(said(&["R1"], 0), one);
        let more = "still showed V1, R1 and 2 more, which the patch does not repair,";
        assert_eq!(said(&["V1", "R1"], 2), more);
    }
}
