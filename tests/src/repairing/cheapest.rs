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
    is_robust(program, Axioms::RC11) && !(plain && has_race(program))
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
        if self.descend(next + 1, budget, chosen)? {
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
            ChangeKind::FenceBefore => 0,
            ChangeKind::FenceAfter => 2,
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
    group == [ChangeKind::FenceAfter]
        && that == this + 1
        && next.kinds().contains(&ChangeKind::FenceBefore)
        && !skip_targets(program).contains(&that)
        && cost(change(number + 1, ChangeKind::FenceBefore)) <= cost(change(number, group[0]))
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

/// Keeps the levels that are worth their price. Actions come weaker before
/// stronger, the last is stronger than all.
fn without_dominated(variable: PricedLevels) -> PricedLevels {
    let strongest = variable.last().map_or(0, |&(_, cost)| cost);
    let last = variable.len().saturating_sub(1);
    let worth = |&(at, &(_, cost)): &(usize, &(Change, u64))| at == last || cost < strongest;
    let kept = variable.iter().enumerate().filter(worth);
    kept.map(|(_, &change)| change).collect()
}
