//! Repairs in layers: first the cheapest one of the findings that matter most, then,
//! with that made, what the next ones need on top of it. What removes a race is then
//! not stronger because something else can be removed along with it.

use std::time::Instant;

use wmfix_analysis::Labels;

use crate::allowed::AllowedFindings;
use crate::change_point::{Change, ChangeKind};
use crate::error::RepairError;
use crate::moves::FenceMove;
use crate::outcome::{Outcome, ReasonedChange, SearchEnd};
use crate::problem::{Options, Problem, Progress};
use crate::search::EVENTS_OF_A_LONG_SEARCH;
use crate::selection::Selection;
use crate::solve::{candidate, moved, repair, unneeded};
use crate::variable::variables;

/// Finds a repair layer by layer: each of `first` says what is allowed while the
/// layer is looked for, and the last layer is the problem itself. Where a change of
/// one layer makes one of an earlier layer idle, where there is too much to look at or
/// too little time, it is the cheapest repair of everything at once.
pub fn repair_in_layers(
    problem: &Problem,
    first: &[AllowedFindings],
    options: &Options,
    mut progress: impl FnMut(Progress),
) -> Result<Outcome, RepairError> {
    let started = Instant::now();
    let events: usize = problem.traces.iter().map(Vec::len).sum();
    if first.is_empty() || events > EVENTS_OF_A_LONG_SEARCH {
        return repair(problem, options, progress);
    }
    let left = || Options {
        budget: options
            .budget
            .map(|all| all.saturating_sub(started.elapsed())),
        ..options.clone()
    };
    let mut current = problem.clone();
    let mut made: Vec<ReasonedChange> = Vec::new();
    for (layer, allowed) in first.iter().enumerate() {
        current.allowed = allowed.clone();
        let outcome = repair(&current, &left(), &mut progress)?;
        let Some(found) = outcome.repair.filter(|_| outcome.end == SearchEnd::Optimal) else {
            return repair(problem, &left(), progress);
        };
        current = after(&current, &changes_of(&found.changes));
        add(&mut made, found.changes, layer);
    }
    current.allowed = problem.allowed.clone();
    let mut outcome = repair(&current, &left(), &mut progress)?;
    if made.is_empty() {
        return Ok(outcome);
    }
    outcome.lower_bound += made.iter().map(|change| change.cost).sum::<u64>();
    if let Some(found) = &mut outcome.repair {
        add(&mut made, std::mem::take(&mut found.changes), first.len());
        made.sort_by_key(|change| change.change.point);
        found.cost = made.iter().map(|change| change.cost).sum();
        found.changes = made;
        let changes = changes_of(&found.changes);
        let has_moves = changes
            .iter()
            .any(|c| matches!(c.kind, ChangeKind::Move(_)));
        if !has_moves && !unneeded(problem, &changes, left().budget)?.is_empty() {
            return repair(problem, &left(), progress);
        }
    }
    outcome.work.total = started.elapsed();
    Ok(outcome)
}

fn changes_of(reasoned: &[ReasonedChange]) -> Vec<Change> {
    reasoned.iter().map(|reasoned| reasoned.change).collect()
}

/// Adds the changes of a layer; a change of what an earlier one has changed takes its
/// place.
fn add(made: &mut Vec<ReasonedChange>, found: Vec<ReasonedChange>, layer: usize) {
    for mut change in found {
        change.layer = layer;
        let same = |known: &&mut ReasonedChange| {
            let (one, other) = (known.change, change.change);
            one.point == other.point && one.kind.join(other.kind).is_some()
        };
        match made.iter_mut().find(same) {
            Some(known) => {
                let joined = known.change.kind.join(change.change.kind);
                known.change.kind = joined.unwrap_or(change.change.kind);
                known.cost += change.cost;
                known.reasons.append(&mut change.reasons);
            }
            None => made.push(change),
        }
    }
}

/// The problem with changes made.
fn after(problem: &Problem, changes: &[Change]) -> Problem {
    let is_made = |fence_move: &&FenceMove| changes.contains(&fence_move.change());
    let fence_move = problem.moves.iter().find(is_made);
    let mut changed = fence_move
        .and_then(|fence_move| moved(problem, fence_move))
        .unwrap_or_else(|| problem.clone());
    let variables = variables(&problem.points);
    let chosen = changes.iter().filter_map(|c| candidate(&variables, c));
    let labels = Selection::of(&variables, chosen).labels(&variables, &Labels::new());
    for trace in &mut changed.traces {
        *trace = labels.apply(trace).collect();
    }
    for change in changes {
        let point = &mut changed.points[change.point];
        let was_plain = point.orders.is_plain();
        point.orders = point.orders.after(change.kind);
        if was_plain {
            // Beside a plain access there was no place for a fence.
            let fences = point.kinds().into_iter().filter(|kind| kind.is_new_fence());
            for kind in fences.collect::<Vec<_>>() {
                point.refuse(kind, "the access was a plain one");
            }
        }
    }
    changed
}
