//! The variables of the repair problem. A variable is one thing that can be set
//! at a change point: its order, the fence before it, or the fence after it. Its
//! levels are its values; level 0 leaves the point unchanged. A variable has
//! exactly one level, and stronger levels subsume weaker ones, so the levels are
//! a join-semilattice, small enough to be a table. The solver has a 0/1 variable
//! for each level from 1 on (a [`Candidate`]).

use wmfix_analysis::{Labels, SiteId};

use crate::change_point::{Change, ChangeKind, ChangePoint};

/// The number of a level within its variable.
pub(crate) type Level = u8;

/// One thing that can be set at a change point.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Its change point, by number.
    pub(crate) point: usize,
    /// The sites of that point.
    pub(crate) sites: Vec<SiteId>,
    /// The change of each level from 1 on.
    kinds: Vec<ChangeKind>,
    /// Why a level from 1 on is refused.
    refused: Vec<Option<String>>,
    /// The join of any two levels.
    joins: Vec<Vec<Level>>,
}

/// A level of a variable that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Candidate {
    /// Which variable.
    pub(crate) variable: usize,
    /// Which level of it, from 1.
    pub(crate) level: Level,
}

/// All variables of the points, in the order of the points.
pub(crate) fn variables(points: &[ChangePoint]) -> Vec<Variable> {
    let mut variables = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let (fences, raises): (Vec<ChangeKind>, Vec<ChangeKind>) =
            point.kinds().into_iter().partition(|a| a.is_new_fence());
        let (before, after): (Vec<ChangeKind>, Vec<ChangeKind>) = fences
            .into_iter()
            .partition(|a| matches!(a, ChangeKind::FenceBefore(_)));
        for kinds in [before, raises, after] {
            if !kinds.is_empty() {
                variables.push(Variable::new(number, point, kinds));
            }
        }
    }
    variables
}

/// The variables of the orders alone.
pub(crate) fn order_variables(points: &[ChangePoint]) -> Vec<Variable> {
    let numbered = points.iter().enumerate();
    let variables = numbered.filter_map(|(number, point)| {
        let kinds = point.orders.raises();
        (!kinds.is_empty()).then(|| Variable::new(number, point, kinds))
    });
    variables.collect()
}

impl Variable {
    fn new(number: usize, point: &ChangePoint, kinds: Vec<ChangeKind>) -> Self {
        let level = |kind: ChangeKind| -> Level {
            let at = kinds.iter().position(|&a| a == kind);
            let at = at.expect("what can be raised is closed under join");
            Level::try_from(at + 1).expect("a variable has few levels")
        };
        let join = |a: usize, b: usize| match (a.checked_sub(1), b.checked_sub(1)) {
            (None, None) => 0,
            (Some(one), None) | (None, Some(one)) => level(kinds[one]),
            (Some(a), Some(b)) => level(
                kinds[a]
                    .join(kinds[b])
                    .expect("the changes of a variable can be joined"),
            ),
        };
        let count = kinds.len() + 1;
        let joins = (0..count)
            .map(|a| (0..count).map(|b| join(a, b)).collect())
            .collect();
        Self {
            point: number,
            sites: point.sites.clone(),
            refused: kinds
                .iter()
                .map(|&kind| point.refusal(kind).map(str::to_owned))
                .collect(),
            joins,
            kinds,
        }
    }

    /// The levels from 1 on.
    pub(crate) fn levels(&self) -> impl Iterator<Item = Level> + use<> {
        1..=Level::try_from(self.kinds.len()).expect("a variable has few levels")
    }

    /// The change that a level from 1 on is.
    pub(crate) fn change(&self, level: Level) -> Change {
        Change {
            point: self.point,
            kind: self.kinds[usize::from(level) - 1],
        }
    }

    /// The level of a kind of change.
    pub(crate) fn level_of(&self, kind: ChangeKind) -> Option<Level> {
        self.levels().find(|&l| self.change(l).kind == kind)
    }

    /// The levels that can be had. They are closed under join: of two levels
    /// whose join is refused, the later one is not to be had either.
    pub(crate) fn available(&self) -> Vec<Level> {
        let allowed = |&level: &Level| self.refused[usize::from(level) - 1].is_none();
        let mut levels: Vec<Level> = self.levels().filter(allowed).collect();
        while let Some(at) = (0..levels.len()).find(|&at| {
            let joins = |&other: &Level| !levels.contains(&self.join(levels[at], other));
            levels[..at].iter().any(joins)
        }) {
            levels.remove(at);
        }
        levels
    }

    /// Why a level that is not available cannot be had.
    pub(crate) fn refusal(&self, level: Level) -> String {
        let above = self.levels().filter(|&l| self.covers(l, level));
        let mut reasons = above.filter_map(|l| self.refused[usize::from(l) - 1].clone());
        reasons.next().unwrap_or_default()
    }

    /// The weakest level at least as strong as both.
    pub(crate) fn join(&self, a: Level, b: Level) -> Level {
        self.joins[usize::from(a)][usize::from(b)]
    }

    /// Whether `a` is at least as strong as `b`.
    pub(crate) fn covers(&self, a: Level, b: Level) -> bool {
        self.join(a, b) == a
    }

    /// How many levels lie below this one, itself counted.
    pub(crate) fn height(&self, level: Level) -> u64 {
        let below = self.levels().filter(|&l| self.covers(level, l));
        below.count() as u64
    }

    /// Sets this level in the labels of all sites of the point.
    pub(crate) fn label(&self, level: Level, labels: &mut Labels) {
        if level == 0 {
            return;
        }
        let kind = self.change(level).kind;
        for &site in &self.sites {
            match kind {
                ChangeKind::FenceBefore(order) => labels.fence_before(site, order),
                ChangeKind::FenceAfter(order) => labels.fence_after(site, order),
                ChangeKind::Load(order) => labels.raise_load(site, order),
                ChangeKind::Store(order) => labels.raise_store(site, order),
                ChangeKind::Rmw(order) => labels.raise_rmw(site, order),
                ChangeKind::CompareExchange { success, failure } => {
                    labels.raise_rmw(site, success).raise_failure(site, failure)
                }
                ChangeKind::Fence(order) => labels.raise_fence(site, order),
                // Not a level of any variable.
                ChangeKind::RemoveFence | ChangeKind::Move(_) => labels,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change_point::Orders;
    use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder};

    #[test]
    fn levels_are_a_join_semilattice() {
        for orders in [
            Orders::Rmw(RmwOrder::Relaxed),
            Orders::Load(LoadOrder::Relaxed),
            Orders::Fence(FenceOrder::Release),
            Orders::CompareExchange {
                success: RmwOrder::Relaxed,
                failure: LoadOrder::Relaxed,
                free_failure: false,
            },
            Orders::CompareExchange {
                success: RmwOrder::Acquire,
                failure: LoadOrder::SeqCst,
                free_failure: true,
            },
        ] {
            for variable in variables(&[ChangePoint::new(vec![SiteId(0)], orders)]) {
                let levels: Vec<Level> = [0].into_iter().chain(variable.levels()).collect();
                for &a in &levels {
                    assert_eq!(variable.join(a, 0), a);
                    for &b in &levels {
                        let joined = variable.join(a, b);
                        assert!(variable.covers(joined, a) && variable.covers(joined, b));
                        for &upper in &levels {
                            if variable.covers(upper, a) && variable.covers(upper, b) {
                                assert!(variable.covers(upper, joined));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn of_two_levels_whose_join_is_refused_one_can_be_had() {
        let mut point = ChangePoint::new(vec![SiteId(0)], Orders::Rmw(RmwOrder::Relaxed));
        for order in [RmwOrder::AcqRel, RmwOrder::SeqCst] {
            point.refuse(ChangeKind::Rmw(order), "no");
        }
        let variables = variables(&[point]);
        let raises = &variables[1];
        let level = |order| raises.level_of(ChangeKind::Rmw(order)).unwrap();
        assert_eq!(raises.available(), [level(RmwOrder::Acquire)]);
        assert_eq!(raises.refusal(level(RmwOrder::Release)), "no");
    }

    #[test]
    fn a_failure_that_is_stronger_than_the_language_allows_can_still_be_raised() {
        let orders = Orders::CompareExchange {
            success: RmwOrder::Relaxed,
            failure: LoadOrder::Acquire,
            free_failure: false,
        };
        let variables = variables(&[ChangePoint::new(vec![SiteId(0)], orders)]);
        let raises = &variables[1];
        assert!(raises.levels().count() > 0);
        for level in raises.levels() {
            assert!(raises.height(level) >= 1);
        }
    }
}
