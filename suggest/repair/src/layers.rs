//! Repairs in layers: first the cheapest one of the findings that matter most, then,
//! with that made, what the next ones need on top of it. What removes a race is then
//! not stronger because something else can be removed along with it.

use std::time::Instant;

use wmfix_analysis::Labels;

use crate::allowed::AllowedFindings;
use crate::change_point::{Change, ChangeKind};
use crate::error::RepairError;
use crate::moves::FenceMove;
use crate::outcome::{Outcome, ReasonedChange, Repair, SearchEnd};
use crate::problem::{Options, Problem, Progress};
use crate::search::EVENTS_OF_A_LONG_SEARCH;
use crate::selection::Selection;
use crate::solve::{candidate, moved, repair, unneeded};
use crate::variable::variables;

/// Finds a repair layer by layer: each of `first` says what is allowed while the
/// layer is looked for, and the last layer is the problem itself. All of `first` has to
/// be repaired: where a change of one of them makes one of an earlier one idle, the
/// cause of that is repaired anew, together with the later one. The last layer matters
/// least. What it makes idle of a cause is repaired with it only if it is a part: if it
/// is all of it, these changes stay, because they are enough without the last layer, and
/// are said to be covered. Where there is too much to look at or too little time, it is
/// the cheapest repair of everything at once.
pub fn repair_in_layers(
    problem: &Problem,
    first: &[AllowedFindings],
    options: &Options,
    mut progress: impl FnMut(Progress),
) -> Result<Outcome, RepairError> {
    let events: usize = problem.traces.iter().map(Vec::len).sum();
    if first.is_empty() || events > EVENTS_OF_A_LONG_SEARCH {
        return repair(problem, options, progress);
    }
    let layers = Layers {
        problem,
        options,
        started: Instant::now(),
    };
    let mut made: Vec<ReasonedChange> = Vec::new();
    for (number, allowed) in first.iter().enumerate() {
        let layer = Layer {
            number,
            allowed,
            matters_least: false,
        };
        let outcome = layers.search(&layer, made, &mut progress)?;
        made = match outcome.repair.filter(|_| outcome.end == SearchEnd::Optimal) {
            Some(found) => found.changes,
            None => return repair(problem, &layers.left(), progress),
        };
    }
    let last = Layer {
        number: first.len(),
        allowed: &problem.allowed,
        matters_least: true,
    };
    let mut outcome = layers.search(&last, made, &mut progress)?;
    outcome.work.total = layers.started.elapsed();
    Ok(outcome)
}

/// A search in layers.
struct Layers<'a> {
    problem: &'a Problem,
    options: &'a Options,
    started: Instant,
}

/// One of them.
struct Layer<'a> {
    number: usize,
    allowed: &'a AllowedFindings,
    /// Whoever has the layers before it may do without it.
    matters_least: bool,
}

impl Layers<'_> {
    /// The options with the time that is left.
    fn left(&self) -> Options {
        let budget = self.options.budget;
        Options {
            budget: budget.map(|all| all.saturating_sub(self.started.elapsed())),
            ..self.options.clone()
        }
    }

    /// What repairs a layer and those before it, whose changes are `made`.
    fn search(
        &self,
        layer: &Layer<'_>,
        mut made: Vec<ReasonedChange>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome, RepairError> {
        loop {
            let mut current = after(self.problem, &changes_of(&made));
            current.allowed = layer.allowed.clone();
            let mut outcome = repair(&current, &self.left(), &mut *progress)?;
            let Some(found) = &mut outcome.repair else {
                return Ok(outcome);
            };
            let mut all = made.clone();
            add(&mut all, std::mem::take(&mut found.changes), layer.number);
            all.sort_by_key(|change| change.change.point);
            let idle = self.idle(layer, &all, &outcome)?;
            let again = repaired_again(layer, &made, &idle);
            if again.is_empty() {
                for change in &mut all {
                    change.is_covered |= idle.contains(&change.change);
                }
                outcome.lower_bound += made.iter().map(|change| change.cost).sum::<u64>();
                outcome.repair = Some(Repair {
                    cost: all.iter().map(|change| change.cost).sum(),
                    changes: all,
                });
                return Ok(outcome);
            }
            made.retain(|change| !again.contains(&change.change));
        }
    }

    /// The changes that are idle beside the others; none are known where a fence moves
    /// or the time was up.
    fn idle(
        &self,
        layer: &Layer<'_>,
        all: &[ReasonedChange],
        outcome: &Outcome,
    ) -> Result<Vec<Change>, RepairError> {
        let changes = changes_of(all);
        let is_move = |change: &Change| matches!(change.kind, ChangeKind::Move(_));
        if outcome.end != SearchEnd::Optimal || changes.iter().any(is_move) {
            return Ok(Vec::new());
        }
        let mut problem = self.problem.clone();
        problem.allowed = layer.allowed.clone();
        let idle = unneeded(&problem, &changes, self.left().budget)?;
        Ok(idle.into_iter().map(|number| changes[number]).collect())
    }
}

/// Of the changes that were made before a layer, those of the causes that it has to be
/// repaired with, because it makes some of them idle.
fn repaired_again(layer: &Layer<'_>, made: &[ReasonedChange], idle: &[Change]) -> Vec<Change> {
    let is_idle = |change: &&ReasonedChange| idle.contains(&change.change);
    let meets = |cause: &Vec<&ReasonedChange>| match cause.iter().copied().filter(is_idle).count() {
        0 => false,
        count => !layer.matters_least || count < cause.len(),
    };
    let again = causes(made).into_iter().filter(meets).flatten();
    again.map(|change| change.change).collect()
}

/// Changes that remove the same finding, directly or through others, together.
fn causes(changes: &[ReasonedChange]) -> Vec<Vec<&ReasonedChange>> {
    let mut causes: Vec<Vec<&ReasonedChange>> = Vec::new();
    for change in changes {
        let removes = |key| change.reasons.iter().any(|finding| finding.key() == key);
        let meets = |cause: &Vec<&ReasonedChange>| {
            let mut findings = cause.iter().flat_map(|other| &other.reasons);
            findings.any(|finding| removes(finding.key()))
        };
        let (mine, rest): (Vec<_>, Vec<_>) = causes.into_iter().partition(meets);
        causes = rest;
        causes.push(mine.into_iter().flatten().chain([change]).collect());
    }
    causes
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
