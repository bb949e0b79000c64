//! A schedule that was recorded: the turn changes hands after as many choices
//! as it did then. Where the program has changed and the recorded thread cannot
//! go on, the schedule is followed as well as it can be.

use alloc::vec::Vec;

use wmfix_trace::{Cause, Reader, Record};

use super::{Point, Strategy};

/// See the module.
#[derive(Debug)]
pub(crate) struct Replay {
    /// Choices to be made, and who gets the turn then; the next one last.
    turns: Vec<(u64, u32)>,
    /// Choices since the turn last changed hands.
    choices: u64,
    /// The picks that were not about threads come out as they did: the same
    /// seed makes them.
    picks: crate::rng::Rng,
}

impl Replay {
    /// The schedule of a recorded run.
    pub(crate) fn new(reader: Reader<'_>) -> Self {
        let picks = crate::rng::Rng::new(reader.header().seed ^ PICK_SEED);
        let mut turns: Vec<(u64, u32)> = reader
            .filter_map(|record| match record {
                // A turn that the watchdog took was nobody's choice; it comes
                // about again, or it does not. One of the system's is where all
                // threads meet at once.
                Record::Turn(turn) if !matches!(turn.cause, Cause::Watchdog | Cause::System) => {
                    Some((turn.choices, turn.thread.0))
                }
                _ => None,
            })
            .collect();
        turns.reverse();
        Self {
            turns,
            choices: 0,
            picks,
        }
    }
}

/// Picks are drawn apart from the choice of threads, so that a replay, which
/// draws no threads, can repeat them.
pub(crate) const PICK_SEED: u64 = 0x7069_636b;

impl Strategy for Replay {
    fn started(&mut self, _thread: u32) {}

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        self.choices += 1;
        let due = self
            .turns
            .last()
            .is_some_and(|&(choices, _)| self.choices >= choices);
        let stays = point.can_stay();
        if stays && !due {
            return point.current;
        }
        // The recorded thread, or the next recorded one that can go on.
        while let Some((_, thread)) = self.turns.pop() {
            if point.candidates.contains(&thread) {
                self.choices = 0;
                return thread;
            }
            if stays {
                break;
            }
        }
        self.choices = 0;
        if stays {
            point.current
        } else {
            point.candidates[0]
        }
    }

    fn pick(&mut self, end: u64) -> u64 {
        self.picks.below(end)
    }
}
