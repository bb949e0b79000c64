//! The interleavings nearest to a run that failed with stale choices. Interleavings are
//! sampled, and a failure that only was not sampled is no stale value's doing: so before
//! a bad end is called weak, each stale access is put before the write that it missed,
//! singly and together, and as many runs with the newest values are made around the
//! failing schedule as there were weak runs before it.

mod order;

use wmfix_analysis::EventIndex;
use wmfix_trace::{StaleTarget, StaleTargets, TakenWrite};

use super::access::Access;
use super::directed_run::{RunRecord, StaleAccess, stale_accesses};
use super::interleavings::Interleavings;
use super::parallel::each;
use super::runner::Runner;
use crate::observe::{Adherence, DecodedTrace, planned_schedule};
use crate::run::Launch;
use order::earlier_order;

/// No more runs with the newest values than this are made around one failure.
const MOST_NEWEST: u64 = 100;

/// Of the stale accesses of a run, this many are put before what they missed one by one.
const MOST_SINGLE: usize = 8;

/// A run that failed with stale choices.
pub(super) struct FailingRun<'a> {
    pub(super) launch: &'a Launch,
    pub(super) seed: u64,
    pub(super) choices: &'a StaleTargets,
    /// How it is made again.
    pub(super) again: &'a Launch,
    pub(super) record: &'a RunRecord,
    /// The weak runs that were made up to it.
    pub(super) weak_runs: u64,
}

impl Runner<'_> {
    /// Makes the interleavings nearest to a run, as long as it shows something that they
    /// do not.
    pub(super) fn run_nearest(
        &self,
        failing: &FailingRun<'_>,
        seen: &mut Interleavings,
    ) -> anyhow::Result<()> {
        let (_, processes) = self.run_with_traces(failing.again, failing.seed)?;
        // A schedule is one process's.
        if let [(trace, decoded)] = &processes[..] {
            let plain = failing.launch.with_choices(&StaleTargets(Vec::new()));
            for order in orders(decoded) {
                for adherence in [Adherence::Strict, Adherence::Loose] {
                    if seen.difference(failing.record).is_none() || self.deadline.is_over() {
                        return Ok(());
                    }
                    let Some(plan) = planned_schedule(trace, decoded, &order, adherence) else {
                        continue;
                    };
                    let folder = self.folders.take()?;
                    let file = folder.path().join("plan.wmtrace");
                    std::fs::write(&file, plan)?;
                    // An event is a step at most, but rounds of a loop that waits are left
                    // out, and where the schedule cannot be followed they go on for long.
                    let steps = 4 * decoded.events.len() as u64 + 10_000;
                    let launch = plain.replaying(&file).with_steps(steps);
                    seen.add(&self.run(&launch, failing.seed)?);
                }
            }
        }
        let Some(&first) = failing.choices.0.first() else {
            return Ok(());
        };
        let around = |number: u64| StaleTarget {
            source: TakenWrite::Newest,
            // As it was, then others.
            seed: number.checked_sub(1),
            ..first
        };
        let jobs = self.options.jobs() as u64;
        let mut number = 0;
        let most = failing.weak_runs.clamp(1, MOST_NEWEST);
        while number < most && seen.difference(failing.record).is_some() {
            let count = jobs.min(most - number);
            let runs = each(self.options.jobs(), count as usize, self.deadline, |run| {
                let target = around(number + run as u64);
                self.run(&failing.launch.with_stale(&target), failing.seed)
            })?;
            if runs.is_empty() {
                break;
            }
            for (_, record) in &runs {
                seen.add(record);
            }
            number += count;
        }
        Ok(())
    }
}

/// The orders of a run's events in which stale accesses come before what they missed: one
/// of them, and all.
fn orders(decoded: &DecodedTrace) -> Vec<Vec<EventIndex>> {
    let stale = stale_accesses(decoded);
    let mut orders: Vec<Vec<usize>> = Vec::new();
    for one in stale.iter().take(MOST_SINGLE) {
        orders.extend(put_before(decoded, as_it_was(decoded), one));
    }
    if stale.len() > 1 {
        let mut together = as_it_was(decoded);
        for one in &stale {
            if let Some(order) = put_before(decoded, together.clone(), one) {
                together = order;
            }
        }
        orders.push(together);
    }
    let indices = |order: Vec<usize>| order.into_iter().map(|at| EventIndex(at as u64)).collect();
    orders.into_iter().map(indices).collect()
}

fn as_it_was(decoded: &DecodedTrace) -> Vec<usize> {
    (0..decoded.events.len()).collect()
}

/// The same order with a stale access before the write that it missed; `None` if it
/// cannot be there.
fn put_before(
    decoded: &DecodedTrace,
    order: Vec<usize>,
    stale: &StaleAccess,
) -> Option<Vec<usize>> {
    // The write has a name unless it is the first value, and is then known.
    if stale.source.is_some() != stale.writer.is_some() {
        return None;
    }
    let events: Vec<_> = order.iter().map(|&at| decoded.events[at]).collect();
    let position = |event: usize| order.iter().position(|&at| at == event);
    let at = position(stale.at)?;
    let location = Access::of(&events[at].operation)?.location();
    let after = match stale.writer {
        Some(writer) => position(writer)? + 1,
        None => 0,
    };
    let missed = |event: &wmfix_analysis::Event| {
        Access::of(&event.operation).is_some_and(|access| access.writes(location))
    };
    let newer = after + events.get(after..at)?.iter().position(missed)?;
    let permuted = earlier_order(&events, newer, at)?;
    Some(permuted.into_iter().map(|at| order[at]).collect())
}
