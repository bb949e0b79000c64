//! Whether a program has cheaper orders that are enough, by trying: each labelling
//! is the program with these orders, judged by brute force. The only argument used is
//! that a stronger program is robust if a weaker one is.

use rustc_hash::FxHashMap;
use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use wmfix_repair::{Change, ChangePoint};

use super::apply::apply;
use super::cheapest::{Cheaper, Effort, is_repaired};
use super::traces::points;
use crate::litmus::{Instruction, Program};

/// The program with every atomic operation and every fence sequentially consistent.
pub fn all_sc(program: &Program) -> Program {
    use Instruction as I;
    let mut strong = program.clone();
    for instruction in strong.threads.iter_mut().flatten() {
        match instruction {
            I::Store { order, .. } => *order = StoreOrder::SeqCst,
            I::Load { order, .. } | I::Wait { order, .. } => *order = LoadOrder::SeqCst,
            I::FetchAdd { order, .. } | I::Exchange { order, .. } => *order = RmwOrder::SeqCst,
            I::CompareExchange {
                success, failure, ..
            }
            | I::BlockingCompareExchange {
                success, failure, ..
            } => (*success, *failure) = (RmwOrder::SeqCst, LoadOrder::SeqCst),
            I::Fence { order } => *order = FenceOrder::SeqCst,
            _ => {}
        }
    }
    strong
}

/// Whether some orders of the program's operations, its fences there or not, cost at
/// most `budget` and leave it robust and free of races. The cost is that of a change
/// from the weakest orders.
pub fn cheaper_orders(
    program: &Program,
    cost: &dyn Fn(Change) -> u64,
    budget: u64,
    effort: Effort,
) -> Cheaper {
    let points = points(program);
    let levels = points.iter().enumerate();
    let levels = levels.map(|(number, point)| priced(number, point, cost));
    let levels = levels.collect();
    let mut trial = Trial {
        program,
        points,
        levels,
        known: FxHashMap::default(),
        effort,
    };
    let mut chosen = Vec::new();
    match trial.descend(budget, &mut chosen) {
        Some(true) => Cheaper::Exists(chosen),
        Some(false) => Cheaper::None,
        None => Cheaper::TooMany,
    }
}

/// The orders that an operation can have, each with its price, the cheapest first;
/// none is weaker than another one that costs no more.
fn priced(number: usize, point: &ChangePoint, cost: &dyn Fn(Change) -> u64) -> Vec<(Change, u64)> {
    let weakest = point.orders.weakest().as_change();
    let kinds = point.orders.assignments().into_iter();
    let all: Vec<(Change, u64)> = kinds
        .map(|kind| {
            let change = Change {
                point: number,
                kind,
            };
            let price = if Some(kind) == weakest {
                0
            } else {
                cost(change)
            };
            (change, price)
        })
        .collect();
    let orders = |change: &Change| point.orders.after(change.kind);
    let is_dominated = |&(change, price): &(Change, u64)| {
        all.iter().any(|&(other, other_price)| {
            other != change && other_price <= price && orders(&other).covers(orders(&change))
        })
    };
    let mut worth: Vec<(Change, u64)> = all.iter().copied().filter(|l| !is_dominated(l)).collect();
    worth.sort_by_key(|&(_, price)| price);
    worth
}

struct Trial<'p> {
    program: &'p Program,
    points: Vec<ChangePoint>,
    /// For each point.
    levels: Vec<Vec<(Change, u64)>>,
    known: FxHashMap<Vec<Vec<Instruction>>, bool>,
    effort: Effort,
}

impl Trial<'_> {
    /// Decides about the points that nothing is chosen for yet. `None`: too much effort.
    fn descend(&mut self, budget: u64, chosen: &mut Vec<Change>) -> Option<bool> {
        let next = chosen.len();
        // With all that can be paid for of what is open: if that is not enough, nothing
        // below is.
        let open = self.points[next..].iter().zip(&self.levels[next..]);
        let most = open.map(|(point, levels)| {
            let orders = |change: &Change| point.orders.after(change.kind);
            let payable = levels.iter().filter(|&&(_, price)| price <= budget);
            let payable: Vec<&Change> = payable.map(|(change, _)| change).collect();
            let kinds = point.orders.assignments().into_iter();
            let mut all = kinds.map(|kind| Change {
                point: levels[0].0.point,
                kind,
            });
            let covering = all.find(|c| payable.iter().all(|p| orders(c).covers(orders(p))));
            covering.expect("the strongest orders cover all")
        });
        let most: Vec<Change> = chosen.iter().copied().chain(most).collect();
        if !self.is_enough(&most)? {
            return Some(false);
        }
        let Some(levels) = self.levels.get(next).cloned() else {
            return Some(true);
        };
        for (change, price) in levels.into_iter().filter(|&(_, price)| price <= budget) {
            chosen.push(change);
            if self.descend(budget - price, chosen)? {
                return Some(true);
            }
            chosen.pop();
        }
        Some(false)
    }

    fn is_enough(&mut self, orders: &[Change]) -> Option<bool> {
        let changed = apply(self.program, orders);
        if let Some(&known) = self.known.get(&changed.threads) {
            return Some(known);
        }
        if self.known.len() >= self.effort.programs {
            return None;
        }
        let enough = is_repaired(&changed);
        self.known.insert(changed.threads, enough);
        Some(enough)
    }
}
