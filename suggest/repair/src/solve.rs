//! The whole search: what can be removed at all, the cheapest way to remove it,
//! the reason for each change, and what would be needed for the rest.

use std::time::{Duration, Instant};

use crate::change_point::Change;
use crate::cost::{Counts, Weights, costs};
use crate::error::RepairError;
use crate::explain::{first_reasons, reasons};
use crate::judge::Judge;
use crate::moves::FenceMove;
use crate::outcome::{Finding, Outcome, ReasonedChange, RefusedChange, Repair, SearchEnd, Work};
use crate::problem::{Options, Problem, Progress, Stage};
use crate::search::{CandidateTraits, EVENTS_OF_A_LONG_SEARCH, Search, SearchResult};
use crate::selection::Selection;
use crate::stop::{Halt, Stop};
use crate::variable::{Candidate, Variable, variables};

/// Finds the cheapest repair in which at most one fence has moved.
pub fn repair(
    problem: &Problem,
    options: &Options,
    mut progress: impl FnMut(Progress),
) -> Result<Outcome, RepairError> {
    let started = Instant::now();
    let mut best = repair_in_place(problem, options, &mut progress)?;
    let events: usize = problem.traces.iter().map(Vec::len).sum();
    if events > EVENTS_OF_A_LONG_SEARCH {
        return Ok(best);
    }
    for fence_move in &problem.moves {
        let left = options
            .budget
            .map(|all| all.saturating_sub(started.elapsed()));
        let cost = best.repair.as_ref().map_or(0, |repair| repair.cost);
        let is_refused = problem.points[fence_move.point].refusal(fence_move.change().kind);
        let is_open = cost > 0 && best.end == SearchEnd::Optimal && left != Some(Duration::ZERO);
        if !is_open || is_refused.is_some() {
            continue;
        }
        let Some(moved) = moved(problem, fence_move) else {
            continue;
        };
        let options = Options {
            budget: left,
            ..options.clone()
        };
        let outcome = repair_in_place(&moved, &options, &mut progress)?;
        let outcome = with_move(outcome, fence_move, problem, &options)?;
        let found = outcome.repair.as_ref().map(|repair| repair.cost);
        if outcome.end == SearchEnd::Optimal
            && found.is_some_and(|found| found < cost)
            && staying(&outcome) <= staying(&best)
        {
            best = outcome;
        }
    }
    best.work.total = started.elapsed();
    Ok(best)
}

/// The problem after a move, if it can be told from its runs.
pub(crate) fn moved(problem: &Problem, fence_move: &FenceMove) -> Option<Problem> {
    Some(Problem {
        traces: fence_move.applied(&problem.points, &problem.traces)?,
        points: problem.points.clone(),
        moves: Vec::new(),
        analysis: problem.analysis,
        allowed: problem.allowed.clone(),
    })
}

/// How many findings an outcome leaves.
fn staying(outcome: &Outcome) -> usize {
    let needed = outcome
        .unrepairable
        .iter()
        .map(|needed| needed.findings.len());
    needed.sum::<usize>() + outcome.beyond_repair.len() + outcome.unexplained.len()
}

/// What was found after a move, with the move.
fn with_move(
    mut outcome: Outcome,
    fence_move: &FenceMove,
    problem: &Problem,
    options: &Options,
) -> Result<Outcome, RepairError> {
    let change = fence_move.change();
    let traces = problem.traces.iter().map(Vec::as_slice);
    let costs = costs(options.profile, &problem.points, traces, &[change]);
    let cost = costs.iter().sum::<u64>();
    outcome.lower_bound += cost;
    if let Some(repair) = &mut outcome.repair {
        let others: Vec<Change> = repair.changes.iter().map(|c| c.change).collect();
        repair.changes.push(ReasonedChange {
            change,
            cost,
            reasons: remaining(problem, &others)?,
            layer: 0,
            is_covered: false,
        });
        repair.changes.sort_by_key(|c| c.change.point);
        repair.cost += cost;
    }
    Ok(outcome)
}

/// What is left with these changes made.
fn remaining(problem: &Problem, changes: &[Change]) -> Result<Vec<Finding>, RepairError> {
    let variables = variables(&problem.points);
    let find = || -> Result<Vec<Finding>, Halt> {
        let judge = Judge::new(problem, &variables, Stop::new(None, None))?;
        let chosen = changes
            .iter()
            .filter_map(|change| candidate(&variables, change));
        judge.findings(&Selection::of(&variables, chosen))
    };
    find().map_err(|halt| match halt {
        Halt::Failed(error) => error,
        Halt::Stopped => unreachable!("nothing stops it"),
    })
}

/// Finds the cheapest repair with every fence where it is.
fn repair_in_place(
    problem: &Problem,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, RepairError> {
    let started = Instant::now();
    let stop = Stop::new(options.budget, options.cancel.as_deref());
    let mut outcome = Outcome {
        repair: None,
        lower_bound: 0,
        runs: problem.traces.len() as u64,
        end: SearchEnd::Optimal,
        unrepairable: Vec::new(),
        beyond_repair: Vec::new(),
        unexplained: Vec::new(),
        work: Work::default(),
    };
    let variables = variables(&problem.points);
    let run = Run {
        problem,
        options,
        variables: &variables,
        counts: Counts::of(problem.traces.iter().map(Vec::as_slice)),
        stop,
    };
    match run.all(&mut outcome, progress) {
        Ok(()) => {}
        Err(Halt::Stopped) => outcome.end = stop.reason(),
        Err(Halt::Failed(error)) => return Err(error),
    }
    outcome.work.total = started.elapsed();
    Ok(outcome)
}

/// The changes, by number, that can be left out one after the other, the last
/// first, with no trace failing that does not fail with all of them. If the time is
/// up, those that were found until then.
pub fn unneeded(
    problem: &Problem,
    changes: &[Change],
    budget: Option<Duration>,
) -> Result<Vec<usize>, RepairError> {
    let variables = variables(&problem.points);
    let stop = Stop::new(budget, None);
    let mut dropped = Vec::new();
    let mut find = || -> Result<(), Halt> {
        let candidate = |change: &Change| candidate(&variables, change);
        let judge = Judge::new(problem, &variables, stop)?;
        let all = Selection::of(&variables, changes.iter().filter_map(candidate));
        let (mut judge, _) = judge.split(&all)?;
        let mut kept: Vec<usize> = (0..changes.len()).collect();
        for number in (0..changes.len()).rev() {
            let rest = kept.iter().copied().filter(|&n| n != number);
            let rest: Vec<usize> = rest.collect();
            let candidates = rest.iter().filter_map(|&n| candidate(&changes[n]));
            let without = Selection::of(&variables, candidates);
            if judge.first_failing(&without)?.is_none() {
                kept = rest;
                dropped.push(number);
            }
        }
        Ok(())
    };
    match find() {
        Err(Halt::Failed(error)) => Err(error),
        Ok(()) | Err(Halt::Stopped) => Ok(dropped),
    }
}

/// Whether no trace holds a finding with these changes made.
pub fn holds(problem: &Problem, changes: &[Change]) -> Result<bool, RepairError> {
    let variables = variables(&problem.points);
    let held = || -> Result<bool, Halt> {
        let mut judge = Judge::new(problem, &variables, Stop::new(None, None))?;
        let chosen = changes
            .iter()
            .filter_map(|change| candidate(&variables, change));
        let selection = Selection::of(&variables, chosen);
        Ok(judge.first_failing(&selection)?.is_none())
    };
    held().map_err(|halt| match halt {
        Halt::Failed(error) => error,
        Halt::Stopped => unreachable!("nothing stops it"),
    })
}

/// The level of a variable that a change is.
pub(crate) fn candidate(variables: &[Variable], change: &Change) -> Option<Candidate> {
    variables.iter().enumerate().find_map(|(number, variable)| {
        let mine = variable.point == change.point;
        let level = variable.level_of(change.kind).filter(|_| mine)?;
        Some(Candidate {
            variable: number,
            level,
        })
    })
}

/// One call of [`repair`].
struct Run<'a> {
    problem: &'a Problem,
    options: &'a Options,
    variables: &'a [Variable],
    counts: Counts,
    stop: Stop<'a>,
}

/// A candidate that is refused, and why.
type RefusedCandidate = (Candidate, String);

/// Candidates that a search chose, with their costs.
type ChosenCandidates = Vec<(Candidate, u64)>;

impl<'a> Run<'a> {
    fn all(&self, outcome: &mut Outcome, progress: &mut dyn FnMut(Progress)) -> Result<(), Halt> {
        let (available, refused) = self.candidates();
        let reachable = Selection::of(self.variables, available.iter().copied());
        let judge = Judge::new(self.problem, self.variables, self.stop)?;
        let (mut judge, mut rest) = judge.split(&reachable)?;
        let none = Selection::none(self.variables);
        // What refused changes would do is less important than a repair.
        let stop = match rest.is_empty() {
            true => self.stop,
            false => self.stop.with_part_of_the_time(),
        };
        judge.set_stop(stop);
        let (found, chosen) =
            self.search(outcome, progress, &available, &none, &mut judge, stop)?;
        outcome.lower_bound = found.lower_bound;
        outcome.end = found.end;
        if let Some(chosen) = chosen {
            let cost = chosen.iter().map(|&(_, cost)| cost).sum();
            progress(Progress {
                stage: Stage::Reasons,
                lower_bound: found.lower_bound,
                best_cost: Some(cost),
                clauses: outcome.work.clauses,
            });
            let changes = self.reasoned(&chosen, &mut judge)?;
            outcome.repair = Some(Repair { changes, cost });
        }
        outcome.work.add(judge.work());
        rest.set_stop(self.stop.without_deadline());
        let left = rest.findings(&reachable)?;
        rest.set_stop(self.stop);
        match self.rest(outcome, &reachable, &refused, rest) {
            // The repair is there; only what the rest would need is not known.
            Err(Halt::Stopped) if outcome.repair.is_some() => {
                let needed = outcome.unrepairable.iter().flat_map(|n| &n.findings);
                let known: Vec<_> = needed
                    .chain(&outcome.beyond_repair)
                    .map(Finding::key)
                    .collect();
                let open = left.into_iter().filter(|f| !known.contains(&f.key()));
                outcome.unexplained = open.collect();
                Ok(())
            }
            done => done,
        }
    }

    /// What is left when all that can be had is done: what else it would take,
    /// and what nothing removes.
    fn rest(
        &self,
        outcome: &mut Outcome,
        reachable: &Selection,
        refused: &[RefusedCandidate],
        judge: Judge<'a>,
    ) -> Result<(), Halt> {
        let mut everything = reachable.clone();
        for &(candidate, _) in refused {
            everything.add(self.variables, candidate);
        }
        let (mut judge, beyond) = judge.split(&everything)?;
        outcome.beyond_repair = beyond.findings(&everything)?;
        let candidates: Vec<Candidate> = refused.iter().map(|&(c, _)| c).collect();
        let (found, chosen) = self.search(
            outcome,
            &mut |_| {},
            &candidates,
            reachable,
            &mut judge,
            self.stop,
        )?;
        if found.end != SearchEnd::Optimal {
            return Err(Halt::Stopped);
        }
        let chosen = chosen.unwrap_or_default();
        let mut full = reachable.clone();
        for &(candidate, _) in &chosen {
            full.add(self.variables, candidate);
        }
        for (candidate, _) in chosen {
            let why = refused.iter().find(|(c, _)| *c == candidate);
            outcome.unrepairable.push(RefusedChange {
                change: self.variables[candidate.variable].change(candidate.level),
                refusal: why.map(|(_, why)| why.clone()).unwrap_or_default(),
                findings: reasons(&judge, &full, reachable, candidate)?,
            });
        }
        outcome.work.add(judge.work());
        outcome.work.add(beyond.work());
        Ok(())
    }

    /// Searches among candidates that come on top of `base`.
    fn search(
        &self,
        outcome: &mut Outcome,
        progress: &mut dyn FnMut(Progress),
        candidates: &[Candidate],
        base: &Selection,
        judge: &mut Judge<'a>,
        stop: Stop<'a>,
    ) -> Result<(SearchResult, Option<ChosenCandidates>), Halt> {
        let points = &self.problem.points;
        let weights = Weights::new(self.options.profile, &self.counts, points);
        let cost = |c: &Candidate| weights.cost(points, self.variables[c.variable].change(c.level));
        let costs: Vec<u64> = candidates.iter().map(cost).collect();
        let traits = |c: &Candidate| {
            let change = self.variables[c.variable].change(c.level);
            let point = &points[change.point];
            CandidateTraits {
                is_promotion: point.orders.is_plain(),
                is_raise: false,
                is_shared: point.is_shared,
                is_fragile: self.counts.is_fragile(point, change.kind),
            }
        };
        let traits: Vec<CandidateTraits> = candidates.iter().map(traits).collect();
        let base = base.clone();
        let weights = (&costs[..], &traits[..]);
        let search = Search::new(self.variables, candidates, weights, base, judge, stop);
        let (found, clauses) = search.run(progress)?;
        let (learnt, solved, solving) = clauses.work();
        outcome.work.clauses += learnt;
        outcome.work.programs += solved;
        outcome.work.solving += solving;
        let chosen = found.best.as_ref().map(|best| {
            let chosen = best.iter().map(|&c| (candidates[c], costs[c]));
            chosen.collect()
        });
        Ok((found, chosen))
    }

    /// Changes with their reasons. A repair that took the whole budget gets a little
    /// more time to be explained.
    fn reasoned(
        &self,
        chosen: &ChosenCandidates,
        judge: &mut Judge<'a>,
    ) -> Result<Vec<ReasonedChange>, Halt> {
        judge.set_stop(self.stop.with_grace(self.options.budget));
        let none = Selection::none(self.variables);
        let selection = Selection::of(self.variables, chosen.iter().map(|c| c.0));
        // One reason for each, before all of any.
        let mut first = Vec::new();
        for &(candidate, _) in chosen {
            first.push(match first_reasons(judge, &selection, &none, candidate) {
                Err(Halt::Stopped) => Vec::new(),
                found => found?,
            });
        }
        let mut changes = Vec::new();
        for (&(candidate, cost), first) in chosen.iter().zip(first) {
            let reasons = match reasons(judge, &selection, &none, candidate) {
                Err(Halt::Stopped) => first,
                found => found?,
            };
            changes.push(ReasonedChange {
                change: self.variables[candidate.variable].change(candidate.level),
                cost,
                reasons,
                layer: 0,
                is_covered: false,
            });
        }
        Ok(changes)
    }

    /// What can be had and what is refused, of the variables that ran.
    fn candidates(&self) -> (Vec<Candidate>, Vec<RefusedCandidate>) {
        let mut available = Vec::new();
        let mut refused = Vec::new();
        for (number, variable) in self.variables.iter().enumerate() {
            let point = &self.problem.points[variable.point];
            let had = variable.available();
            for level in variable.levels() {
                let candidate = Candidate {
                    variable: number,
                    level,
                };
                if self.counts.runs(point, variable.change(level).kind) == 0 {
                    continue;
                }
                match had.contains(&level) {
                    true => available.push(candidate),
                    false => refused.push((candidate, variable.refusal(level))),
                }
            }
        }
        (available, refused)
    }
}
