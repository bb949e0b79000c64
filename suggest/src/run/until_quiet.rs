//! The run loop: run after run, several at a time, until nothing new has been
//! found for a while. What comes of the runs is looked at in the order of their
//! numbers, so that how many run at a time changes nothing but the time.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::deadline::Deadline;
use super::patience::{Patience, QuietRuns};
use super::watchdog::interrupted;

/// How long an interrupt or the end of the time may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// After so many runs in a row with nothing new.
    pub patience: Patience,
    /// At this time.
    pub deadline: Deadline,
    /// At this time if anything was found: what was found takes time, too.
    pub deadline_with_findings: Deadline,
    /// How many at a time.
    pub jobs: usize,
}

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// Nothing new was found for long enough.
    Quiet,
    /// The time was up.
    TimeUp,
    /// The user interrupted.
    Interrupted,
}

/// What a run was worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunWorth {
    /// There was something new in it.
    New,
    /// There was not.
    Nothing {
        /// How many events it had.
        events: u64,
    },
    /// No further run is worth it.
    Enough,
}

/// What the loop did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    /// The runs that were looked at.
    pub runs: u64,
    /// Why it ended.
    pub stopped: StopReason,
}

/// Calls `run` with the numbers 0, 1, 2, … from several threads, and `take` with
/// what came of each, in order. `take` says what that was worth.
/// The first error of either ends the loop, and so does a panic, which goes on here: a
/// run that nobody answers for would be waited for without end. At its end `end_all` is called to end
/// the runs that are still under way; what comes of them is not looked at.
pub(crate) fn until_quiet<T: Send>(
    budget: Budget,
    run: impl Fn(u64) -> anyhow::Result<T> + Sync,
    end_all: impl FnOnce(),
    mut take: impl FnMut(u64, T) -> anyhow::Result<RunWorth>,
) -> anyhow::Result<Summary> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..budget.jobs {
            let sender = sender.clone();
            let (next, stop, run) = (&next, &stop, &run);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    // Nothing that `run` has borrowed is looked at after a panic.
                    let outcome = panic::catch_unwind(AssertUnwindSafe(|| run(number)));
                    let has_panicked = outcome.is_err();
                    if sender.send((number, outcome)).is_err() || has_panicked {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut taken = 0;
        let mut quiet = QuietRuns::default();
        let mut deadline = budget.deadline;
        let mut enough = false;
        let result = loop {
            if interrupted() {
                break Ok(StopReason::Interrupted);
            }
            if enough || budget.patience.is_over(quiet) {
                break Ok(StopReason::Quiet);
            }
            if deadline.is_over() {
                break Ok(StopReason::TimeUp);
            }
            let Some(result) = early.remove(&taken) else {
                // The threads go on until they are told to stop.
                match receiver.recv_timeout(LOOK_EVERY) {
                    Ok((number, Ok(result))) => {
                        early.insert(number, result);
                    }
                    Ok((_, Err(panic))) => {
                        stop.store(true, Ordering::Relaxed);
                        end_all();
                        panic::resume_unwind(panic);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => unreachable!("a thread still runs"),
                }
                continue;
            };
            // What an interrupted run left is half a run: better not looked at.
            if interrupted() {
                break Ok(StopReason::Interrupted);
            }
            match result.and_then(|outcome| take(taken, outcome)) {
                Ok(RunWorth::New) => {
                    quiet = QuietRuns::default();
                    deadline = budget.deadline_with_findings;
                }
                Ok(RunWorth::Nothing { events }) => quiet.add(events),
                Ok(RunWorth::Enough) => enough = true,
                Err(error) => break Err(error),
            }
            taken += 1;
        };
        stop.store(true, Ordering::Relaxed);
        end_all();
        drop(receiver);
        Ok(Summary {
            runs: taken,
            stopped: result?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(quiet_runs: u64, jobs: usize) -> Budget {
        Budget {
            patience: Patience::Runs(quiet_runs),
            deadline: Deadline::NEVER,
            deadline_with_findings: Deadline::NEVER,
            jobs,
        }
    }

    #[test]
    fn what_is_taken_does_not_depend_on_the_jobs() {
        let new_in = [3, 7, 12, 13];
        for jobs in [1, 2, 7] {
            let mut seen = Vec::new();
            let summary = until_quiet(
                budget(5, jobs),
                Ok,
                || (),
                |number, outcome| {
                    assert_eq!(number, outcome);
                    seen.push(outcome);
                    let new = new_in.contains(&number);
                    Ok(if new {
                        RunWorth::New
                    } else {
                        RunWorth::Nothing { events: 1 }
                    })
                },
            );
            let summary = summary.unwrap();
            // The gap of 5 comes first between 13 and what would follow.
            assert_eq!(summary.runs, 19);
            assert_eq!(summary.stopped, StopReason::Quiet);
            assert_eq!(seen, (0..19).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_the_loop() {
        let run = |number| {
            if number == 4 {
                anyhow::bail!("no")
            } else {
                Ok(())
            }
        };
        let mut taken = 0;
        let result = until_quiet(
            budget(100, 3),
            run,
            || (),
            |_, ()| {
                taken += 1;
                Ok(RunWorth::New)
            },
        );
        assert_eq!(result.unwrap_err().to_string(), "no");
        assert_eq!(taken, 4);
    }

    #[test]
    #[should_panic = "the fifth"]
    fn a_panic_ends_the_loop() {
        let run = |number| {
            assert_ne!(number, 4, "the fifth");
            Ok(())
        };
        let _never = until_quiet(budget(100, 3), run, || (), |_, ()| Ok(RunWorth::New));
    }

    #[test]
    fn the_time_ends_the_loop() {
        let over = Deadline::after(Duration::ZERO);
        let at_once = Budget {
            deadline: over,
            ..budget(1, 1)
        };
        let summary = until_quiet(at_once, Ok, || (), |_, _| Ok(RunWorth::New)).unwrap();
        assert_eq!((summary.runs, summary.stopped), (0, StopReason::TimeUp));
        let once_found = Budget {
            deadline_with_findings: over,
            ..budget(9, 1)
        };
        let summary = until_quiet(
            once_found,
            Ok,
            || (),
            |number, _| {
                Ok(match number {
                    4 => RunWorth::New,
                    _ => RunWorth::Nothing { events: 1 },
                })
            },
        );
        let summary = summary.unwrap();
        assert_eq!((summary.runs, summary.stopped), (5, StopReason::TimeUp));
    }
}
