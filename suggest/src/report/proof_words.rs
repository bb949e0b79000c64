//! What is said about an exploration of all runs: `proved`, and never for less.

use std::path::Path;

use super::model::ReportedProof;
use crate::explore::{Exploration, MOST_STEPS, Obstacle};
use crate::observe::{MOST_ROUNDS, Uncontrolled, Unseen};
use crate::printable::printable_name;
use crate::symbols::UnseenCode;

/// The first line about an exploration: what it proves, or how far it came.
pub(super) fn proof_text(proof: &ReportedProof) -> String {
    let classes = classes_text(proof.classes);
    if proof.proved {
        return format!(
            "proved for this test: no stale value, no data race and no failure in any run \
             ({classes}, all explored)"
        );
    }
    if proof.complete {
        let interleavings = match proof.classes {
            1 => "the only class of interleavings".to_owned(),
            count => format!("all {count} classes of interleavings"),
        };
        return format!(
            "explored {interleavings}, but not all executions that take stale values: this test \
             may show more than these findings"
        );
    }
    let mut text = format!("not proved: {classes} explored");
    if let (Some(estimate), true) = (proof.estimate, proof.open > 0) {
        text += &format!(" of about {estimate} or more");
    }
    if proof.open > 0 {
        let schedules = if proof.open == 1 {
            "schedule"
        } else {
            "schedules"
        };
        text += &format!(", {} {schedules} left open", proof.open);
    }
    text
}

/// How many classes there are.
pub(super) fn classes_text(count: u64) -> String {
    match count {
        1 => "1 class of runs".to_owned(),
        count => format!("{count} classes of runs"),
    }
}

/// What an obstacle is at.
pub(super) enum ObstaclePlace<'a> {
    /// An operation.
    Site(wmfix_analysis::SiteId),
    /// A source file.
    File(&'a Path),
}

/// Why an exploration is no proof, and what to do. `at` says where something is.
pub(super) fn obstacle_text(
    obstacle: &Obstacle,
    exploration: &Exploration,
    at: &mut dyn FnMut(ObstaclePlace<'_>) -> String,
) -> String {
    match obstacle.clone() {
        Obstacle::TimeUp if exploration.estimate.is_some_and(|all| all > HOPELESS) => {
            "the time was up, and there are too many classes of runs for any: have the test use \
             fewer threads or fewer operations"
                .to_owned()
        }
        Obstacle::TimeUp => {
            "the time was up: --time SECONDS gives the exploration more, --resume goes on with it, \
             fewer threads or operations in the test make it smaller"
                .to_owned()
        }
        Obstacle::Interrupted => {
            "interrupted: the exploration is not complete; --resume goes on with it".to_owned()
        }
        Obstacle::Diverged {
            expected,
            thread,
            instead,
        } => {
            let instead = match instead {
                Some((thread, site)) => {
                    format!("thread {thread} at {}", at(ObstaclePlace::Site(site)))
                }
                None => "the end of the run".to_owned(),
            };
            format!(
                "the same schedule led elsewhere: thread {thread} was to go on at {}, and it was \
                 {instead}. What the test does must not depend on the clock, on random numbers, on \
                 addresses or on files that it changes: fix the seed, or take it out of the test",
                at(ObstaclePlace::Site(expected))
            )
        }
        Obstacle::Loop(site) => format!(
            "explored up to {MOST_ROUNDS} rounds of the loop at {}, which is not known to wait: a \
             loop that only loads and compares is",
            at(ObstaclePlace::Site(site))
        ),
        Obstacle::Uncontrolled(Uncontrolled::Call) => {
            "a thread slept in a system call that wmfix does not control: take it out of the test"
                .to_owned()
        }
        Obstacle::MixedSizes(site) => format!(
            "atomic accesses of different sizes meet in the same memory at {}: what these may \
             see of each other is not known; have all accesses to the object use one size",
            at(ObstaclePlace::Site(site))
        ),
        Obstacle::Uncontrolled(Uncontrolled::Wait) => {
            "a thread waited for a message or for a time of more than a second: not all orders of \
             these are explored; take it out of the test, or have it wait for ever"
                .to_owned()
        }
        Obstacle::Uncontrolled(Uncontrolled::At(site)) => format!(
            "not all orders of what is done at {} are explored: a message, a signal of the system, \
             a cancellation, a wait for at most some seconds, a wake-up that may go to several \
             threads, or threads that are left when the process ends; atomics, locks, \
             semaphores, barriers, conditions and joins are explored",
            at(ObstaclePlace::Site(site))
        ),
        Obstacle::Unseen(Unseen::Call(function, site)) => format!(
            "what {function} reads and writes is not seen, and another thread could notice it: \
             called at {}; call it before the first thread starts or after all threads are \
             joined, or leave it out of the test",
            at(ObstaclePlace::Site(site))
        ),
        Obstacle::Unseen(Unseen::AtEnd) => {
            "functions that the loader calls at the end of the process (destructor attributes) \
             are not seen: call them at the end of main, or by atexit"
                .to_owned()
        }
        Obstacle::NotInstrumented(UnseenCode::Function(function, module)) => format!(
            "{function} in {} is not instrumented: what it reads and writes is not seen; build \
             all of the program's files with wmfix cc or wmfix c++",
            name_of(&module)
        ),
        Obstacle::NotInstrumented(UnseenCode::NoSymbols(module)) => format!(
            "{} has no symbols or no debug information: which of its code is instrumented is not \
             known; link it without -s, and do not strip it",
            name_of(&module)
        ),
        Obstacle::NotInstrumented(UnseenCode::Assembly(file, line)) => format!(
            "what the assembly or intrinsic function at {}:{line} reads and writes is not seen: use atomics and fences \
             of the language in its place",
            at(ObstaclePlace::File(&file))
        ),
        Obstacle::NotInstrumented(UnseenCode::Excused(file, line)) => format!(
            "the function at {}:{line} is said not to be instrumented: what it reads and writes \
             is not seen; take the attribute out for the test",
            at(ObstaclePlace::File(&file))
        ),
        Obstacle::EndedEarly => {
            "a run was killed before its threads had ended: what else they could do there is not \
             explored; mend the failure first"
                .to_owned()
        }
        Obstacle::Processes => {
            "the test has several processes: explore each by itself, with -- COMMAND".to_owned()
        }
        Obstacle::NoTrace => {
            "a run left no trace: the test must be built with wmfix cc or wmfix c++, and start \
             its threads itself"
                .to_owned()
        }
        Obstacle::TooLong => format!(
            "a run takes more than {MOST_STEPS} steps, which are not put into other orders: have \
             the test do less; a loop that writes while it waits makes as many steps as it likes"
        ),
        Obstacle::Incomplete => "a run was not recorded as a whole: see the other notes".to_owned(),
        Obstacle::Gaps => {
            "a schedule could not be followed because a thread had to wait for a semaphore or a \
             signal, and others were taken to be like it"
                .to_owned()
        }
        Obstacle::PartDiverged => {
            "in one of the parts the same schedule led elsewhere: what the test does must not \
             depend on the clock, on random numbers, on addresses or on files that it changes"
                .to_owned()
        }
        Obstacle::OnePart => {
            "this is one part of the exploration: `wmfix merge` puts the parts together".to_owned()
        }
        Obstacle::PartsDiffer => {
            "the parts do not fit together: the same schedule led elsewhere on another machine, \
             or here; what the test does must be the same on all of them"
                .to_owned()
        }
        Obstacle::RacesOff => "races are not looked for: leave out --races off".to_owned(),
    }
}

/// The name of a program's or a library's file.
fn name_of(module: &Path) -> String {
    let name = module.file_name().unwrap_or(module.as_os_str());
    printable_name(&name.to_string_lossy())
}

/// More classes than this take days.
const HOPELESS: u64 = 100_000_000;
