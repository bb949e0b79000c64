//! Schedules of runs without a stale value that may do what the run with it did: as it
//! was, with the newest value in its place, and with the read before the newer write.
//! Threads follow them by what they change, as another value may make one look more often
//! or less.

use wmfix_analysis::EventIndex;

use super::Effect;
use super::earlier::earlier_read;
use crate::observe::{Adherence, DecodedTrace, planned_schedule};

/// A schedule for a run without a stale value.
#[derive(Clone, Debug)]
pub(super) struct OtherSchedule {
    /// The schedule, as a trace to replay.
    pub(super) plan: Vec<u8>,
    /// No run that follows it takes more steps than this.
    pub(super) most_steps: u64,
    /// What the stale value comes to if that run does the same.
    pub(super) shows: Effect,
}

impl OtherSchedule {
    /// The schedules to be tried for the read at `at`, from the trace of a run and what
    /// it says. `newer` is the write that the read missed.
    pub(super) fn all(
        trace: &[u8],
        decoded: &DecodedTrace,
        newer: Option<usize>,
        at: usize,
    ) -> Vec<Self> {
        let events = decoded.events.len() as u64;
        let as_it_was = (0..events).map(EventIndex).collect();
        let earlier = newer.and_then(|newer| earlier_read(&decoded.events, newer, at));
        let orders = [
            (Some(as_it_was), Adherence::Loose, Effect::NoDifference),
            (earlier.clone(), Adherence::Strict, Effect::Sequential),
            (earlier, Adherence::Loose, Effect::Sequential),
        ];
        let schedules = orders.into_iter().filter_map(|(order, adherence, shows)| {
            Some(Self {
                plan: planned_schedule(trace, decoded, &order?, adherence)?,
                // An event is a step at most, but rounds of a loop that waits are left out.
                most_steps: 4 * events + 10_000,
                shows,
            })
        });
        schedules.collect()
    }
}
