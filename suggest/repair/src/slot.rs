//! A slot is one thing that can be set at a place: its order, the fence before
//! it, the fence after it. Its levels are what it can be set to; level 0 is as
//! it was. Exactly one level of a slot holds, and stronger ones subsume weaker
//! ones, so the levels are a join-semilattice, small enough to be a table.

use wmfix_analysis::{FenceOrder, Labels, SiteId};

use crate::place::{Action, Change, Place};

/// The number of a level within its slot.
pub(crate) type Level = u8;

/// One thing that can be set.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Its place.
    pub(crate) place: usize,
    /// The sites of that place.
    pub(crate) sites: Vec<SiteId>,
    /// The action of each level from 1 on.
    actions: Vec<Action>,
    /// Why a level from 1 on cannot be had.
    refused: Vec<Option<String>>,
    /// The join of any two levels.
    joins: Vec<Vec<Level>>,
}

/// A level of a slot that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Candidate {
    /// Which slot.
    pub(crate) slot: usize,
    /// Which level of it, from 1.
    pub(crate) level: Level,
}

/// All slots of the places, in the order of the places.
pub(crate) fn slots(places: &[Place]) -> Vec<Slot> {
    let mut slots = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let (fences, raises): (Vec<Action>, Vec<Action>) =
            place.actions().into_iter().partition(|a| a.is_new_fence());
        let (before, after): (Vec<Action>, Vec<Action>) =
            fences.into_iter().partition(|&a| a == Action::FenceBefore);
        for actions in [before, raises, after] {
            if !actions.is_empty() {
                slots.push(Slot::new(number, place, actions));
            }
        }
    }
    slots
}

impl Slot {
    fn new(number: usize, place: &Place, actions: Vec<Action>) -> Self {
        let level = |action: Action| -> Level {
            let at = actions.iter().position(|&a| a == action);
            let at = at.expect("what can be raised is closed under join");
            Level::try_from(at + 1).expect("a slot has few levels")
        };
        let join = |a: usize, b: usize| match (a.checked_sub(1), b.checked_sub(1)) {
            (None, None) => 0,
            (Some(one), None) | (None, Some(one)) => level(actions[one]),
            (Some(a), Some(b)) => level(
                actions[a]
                    .join(actions[b])
                    .expect("the actions of a slot are of one kind"),
            ),
        };
        let count = actions.len() + 1;
        let joins = (0..count)
            .map(|a| (0..count).map(|b| join(a, b)).collect())
            .collect();
        Self {
            place: number,
            sites: place.sites.clone(),
            refused: actions
                .iter()
                .map(|&action| place.refusal(action).map(str::to_owned))
                .collect(),
            joins,
            actions,
        }
    }

    /// The levels from 1 on.
    pub(crate) fn levels(&self) -> impl Iterator<Item = Level> + use<> {
        1..=Level::try_from(self.actions.len()).expect("a slot has few levels")
    }

    /// The change that a level from 1 on is.
    pub(crate) fn change(&self, level: Level) -> Change {
        Change {
            place: self.place,
            action: self.actions[usize::from(level) - 1],
        }
    }

    /// The level of an action.
    pub(crate) fn level_of(&self, action: Action) -> Option<Level> {
        self.levels().find(|&l| self.change(l).action == action)
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

    /// Sets this level in the labels of all sites of the place.
    pub(crate) fn label(&self, level: Level, labels: &mut Labels) {
        if level == 0 {
            return;
        }
        let action = self.change(level).action;
        for &site in &self.sites {
            match action {
                Action::FenceBefore => labels.fence_before(site, FenceOrder::SeqCst),
                Action::FenceAfter => labels.fence_after(site, FenceOrder::SeqCst),
                Action::Load(order) => labels.raise_load(site, order),
                Action::Store(order) => labels.raise_store(site, order),
                Action::Rmw(order) => labels.raise_rmw(site, order),
                Action::CompareExchange { success, failure } => {
                    labels.raise_rmw(site, success).raise_failure(site, failure)
                }
                Action::Fence(order) => labels.raise_fence(site, order),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Orders;
    use wmfix_analysis::{LoadOrder, RmwOrder};

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
            for slot in slots(&[Place::new(vec![SiteId(0)], orders)]) {
                let levels: Vec<Level> = [0].into_iter().chain(slot.levels()).collect();
                for &a in &levels {
                    assert_eq!(slot.join(a, 0), a);
                    for &b in &levels {
                        let joined = slot.join(a, b);
                        assert!(slot.covers(joined, a) && slot.covers(joined, b));
                        for &upper in &levels {
                            if slot.covers(upper, a) && slot.covers(upper, b) {
                                assert!(slot.covers(upper, joined));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn of_two_levels_whose_join_is_refused_one_can_be_had() {
        let mut place = Place::new(vec![SiteId(0)], Orders::Rmw(RmwOrder::Relaxed));
        for order in [RmwOrder::AcqRel, RmwOrder::SeqCst] {
            place.refuse(Action::Rmw(order), "no");
        }
        let slots = slots(&[place]);
        let raises = &slots[1];
        let level = |order| raises.level_of(Action::Rmw(order)).unwrap();
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
        let slots = slots(&[Place::new(vec![SiteId(0)], orders)]);
        let raises = &slots[1];
        assert!(raises.levels().count() > 0);
        for level in raises.levels() {
            assert!(raises.height(level) >= 1);
        }
    }
}
