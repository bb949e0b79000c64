//! Whether a program has a repair below some cost, by trying: every answer
//! about a set of changes is brute force on the changed program. The only
//! argument used is that a stronger program is robust if a weaker one is.

use rustc_hash::FxHashMap;
use wmfix_repair::{Change, ChangeKind, ChangePoint};

use super::apply::apply;
use super::traces::points;
use crate::brute::{Axioms, has_race, is_robust};
use crate::litmus::{Instruction, Program};

/// What the trial of sets of changes showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cheaper {
    /// This set repairs the program.
    Exists(Vec<Change>),
    /// No set below the cost does.
    None,
    /// More sets would have to be tried than allowed.
    TooMany,
}

/// How many programs may be judged.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The limit.
    pub programs: usize,
}

/// Whether a program is robust and free of races.
pub fn is_repaired(program: &Program) -> bool {
    let plain = program.instructions().any(|i| i.plain_location().is_some());
    is_robust(program, Axioms::RC11) && !(plain && has_race(program, Axioms::RC11))
}

/// Whether some set of changes that costs at most `budget` repairs a program.
pub fn cheaper_repair(
    program: &Program,
    cost: &dyn Fn(Change) -> u64,
    budget: u64,
    effort: Effort,
) -> Cheaper {
    let mut trial = Trial {
        program,
        variables: variables(program, cost),
        known: FxHashMap::default(),
        effort,
    };
    let mut chosen = Vec::new();
    match trial.descend(0, budget, &mut chosen) {
        Some(true) => Cheaper::Exists(chosen),
        Some(false) => Cheaper::None,
        None => Cheaper::TooMany,
    }
}

/// The kinds of one kind at one point with their costs, none of which is
/// weaker than another one that costs no more.
type PricedLevels = Vec<(Change, u64)>;

struct Trial<'p> {
    program: &'p Program,
    variables: Vec<PricedLevels>,
    known: FxHashMap<Vec<Vec<Instruction>>, bool>,
    effort: Effort,
}

impl Trial<'_> {
    /// Decides about the variables from `next` on. `None`: too much effort.
    fn descend(&mut self, next: usize, budget: u64, chosen: &mut Vec<Change>) -> Option<bool> {
        // With the strongest of all that is open: if that is no repair, nothing
        // below is.
        let open = self.variables[next..]
            .iter()
            .filter_map(|variable| variable.last());
        let most: Vec<Change> = chosen.iter().copied().chain(open.map(|o| o.0)).collect();
        if !self.is_repair(&most)? {
            return Some(false);
        }
        let Some(variable) = self.variables.get(next).cloned() else {
            return Some(true);
        };
        // What is free is never worse than nothing.
        let free = variable.iter().any(|&(_, cost)| cost == 0);
        if !free && self.descend(next + 1, budget, chosen)? {
            return Some(true);
        }
        for (change, cost) in variable {
            if cost <= budget {
                chosen.push(change);
                if self.descend(next + 1, budget - cost, chosen)? {
                    return Some(true);
                }
                chosen.pop();
            }
        }
        Some(false)
    }

    fn is_repair(&mut self, changes: &[Change]) -> Option<bool> {
        let changed = apply(self.program, changes);
        if let Some(&known) = self.known.get(&changed.threads) {
            return Some(known);
        }
        if self.known.len() >= self.effort.programs {
            return None;
        }
        let repaired = is_repaired(&changed);
        self.known.insert(changed.threads, repaired);
        Some(repaired)
    }
}

fn variables(program: &Program, cost: &dyn Fn(Change) -> u64) -> Vec<PricedLevels> {
    let mut variables = Vec::new();
    let points = points(program);
    for (number, point) in points.iter().enumerate() {
        let class = |kind: &ChangeKind| match kind {
            ChangeKind::FenceBefore(_) => 0,
            ChangeKind::FenceAfter(_) => 2,
            _ => 1,
        };
        let kinds = point.kinds();
        for group in kinds.chunk_by(|a, b| class(a) == class(b)) {
            let changes = group.iter().map(|&kind| Change {
                point: number,
                kind,
            });
            let priced: PricedLevels = changes.map(|change| (change, cost(change))).collect();
            if !stands_before_the_next(program, &points, number, group, cost) {
                variables.push(without_dominated(priced));
            }
        }
    }
    variables
}

/// A fence after an instruction is the one before the next instruction, where
/// the next one can have a fence and no skip leads to it.
fn stands_before_the_next(
    program: &Program,
    points: &[ChangePoint],
    number: usize,
    group: &[ChangeKind],
    cost: &dyn Fn(Change) -> u64,
) -> bool {
    let change = |point, kind| Change { point, kind };
    let Some(next) = points.get(number + 1) else {
        return false;
    };
    let (this, that) = (points[number].sites[0].0, next.sites[0].0);
    let no_dearer = |kind: &ChangeKind| {
        let ChangeKind::FenceAfter(order) = *kind else {
            return false;
        };
        let before = ChangeKind::FenceBefore(order);
        next.kinds().contains(&before)
            && cost(change(number + 1, before)) <= cost(change(number, *kind))
    };
    group.iter().all(no_dearer) && that == this + 1 && !skip_targets(program).contains(&that)
}

/// The sites that a skip leads to.
fn skip_targets(program: &Program) -> Vec<u32> {
    let mut targets = Vec::new();
    for (thread, instructions) in program.threads.iter().enumerate() {
        for (at, instruction) in instructions.iter().enumerate() {
            if let Instruction::SkipIf { count, .. } | Instruction::SkipUnless { count, .. } =
                instruction
            {
                targets.push(program.site(thread, at + 1 + usize::from(*count)).0);
            }
        }
    }
    targets
}

/// Keeps the levels that are worth their price: none is weaker than another one
/// that costs no more. The strongest comes last.
fn without_dominated(variable: PricedLevels) -> PricedLevels {
    let dominates = |&(other, price): &(Change, u64), &(change, cost): &(Change, u64)| {
        other != change && price <= cost && is_stronger(other.kind, change.kind)
    };
    let worth = |level: &&(Change, u64)| !variable.iter().any(|other| dominates(other, level));
    variable.iter().filter(worth).copied().collect()
}

/// Whether one level of a variable is at least as strong as another.
pub fn is_stronger(one: ChangeKind, other: ChangeKind) -> bool {
    use ChangeKind as K;
    match (one, other) {
        (K::Load(a), K::Load(b)) => a.join(b) == a,
        (K::Store(a), K::Store(b)) => a.join(b) == a,
        (K::Rmw(a), K::Rmw(b)) => a.join(b) == a,
        (K::Fence(a), K::Fence(b))
        | (K::FenceBefore(a), K::FenceBefore(b))
        | (K::FenceAfter(a), K::FenceAfter(b)) => a.join(b) == a,
        (
            K::CompareExchange { success, failure },
            K::CompareExchange {
                success: s,
                failure: f,
            },
        ) => success.join(s) == success && failure.join(f) == failure,
        _ => false,
    }
}
