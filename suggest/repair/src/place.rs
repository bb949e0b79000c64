//! What may be changed, as the search sees it: places in the source, each with
//! the sites of the runs that come from it, the orders it has, and the actions
//! that are refused there. How a place is spelled is somebody else's business.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};

/// A place in the source where something can be changed. All sites that come
/// from it change together: a wrapper is one place with the sites of all its
/// callers. A site may belong to several places: a call of a wrapper is a
/// place of its own ([`Orders::None`]), where only fences can be put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The sites of the runs that a change here touches.
    pub sites: Vec<SiteId>,
    /// What stands there now.
    pub orders: Orders,
    /// Actions that cannot be done here, and why.
    pub refused: Vec<(Action, String)>,
}

/// The operation of a place with the orders that it has now. A place that is
/// seen with different orders has the weakest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// A load.
    Load(LoadOrder),
    /// A store.
    Store(StoreOrder),
    /// A read-modify-write that always writes.
    Rmw(RmwOrder),
    /// A compare-exchange.
    CompareExchange {
        /// Its order on success.
        success: RmwOrder,
        /// Its order on failure.
        failure: LoadOrder,
        /// The language lets the failure be stronger than the success (C++17
        /// does, C11 does not).
        free_failure: bool,
    },
    /// A fence.
    Fence(FenceOrder),
    /// No order that could be raised here: a call of a wrapper, an operation
    /// with a computed order.
    None,
}

/// What can be done at a place. An order is the one that the operation is to
/// have afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Puts a sequentially consistent fence right before the operation.
    FenceBefore,
    /// Gives the load this order.
    Load(LoadOrder),
    /// Gives the store this order.
    Store(StoreOrder),
    /// Gives the read-modify-write this order.
    Rmw(RmwOrder),
    /// Gives the compare-exchange these orders.
    CompareExchange {
        /// On success.
        success: RmwOrder,
        /// On failure.
        failure: LoadOrder,
    },
    /// Gives the fence this order.
    Fence(FenceOrder),
    /// Puts a sequentially consistent fence right after the operation.
    FenceAfter,
}

/// One action at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// Which of [`Problem::places`](crate::Problem::places).
    pub place: usize,
    /// What is done there.
    pub action: Action,
}

impl Place {
    /// A place where nothing is refused.
    pub fn new(sites: Vec<SiteId>, orders: Orders) -> Self {
        Self {
            sites,
            orders,
            refused: Vec::new(),
        }
    }

    /// Takes an action out of the search, with the reason.
    pub fn refuse(&mut self, action: Action, reason: impl Into<String>) {
        self.refused.push((action, reason.into()));
    }

    /// Everything that could be done here, refused or not: what to ask a
    /// rewriter about.
    pub fn actions(&self) -> Vec<Action> {
        let mut actions = self.orders.raises();
        if !matches!(self.orders, Orders::Fence(_)) {
            actions.insert(0, Action::FenceBefore);
            actions.push(Action::FenceAfter);
        }
        actions
    }

    /// Why an action cannot be done here.
    pub(crate) fn refusal(&self, action: Action) -> Option<&str> {
        let (_, reason) = self.refused.iter().find(|(a, _)| *a == action)?;
        Some(reason)
    }
}

impl Orders {
    /// The actions that raise these orders, weaker before stronger.
    pub(crate) fn raises(self) -> Vec<Action> {
        match self {
            Self::Load(order) => LOADS
                .into_iter()
                .filter(|&to| to != order && to.join(order) == to)
                .map(Action::Load)
                .collect(),
            Self::Store(order) => STORES
                .into_iter()
                .filter(|&to| to != order && to.join(order) == to)
                .map(Action::Store)
                .collect(),
            Self::Rmw(order) => RMWS
                .into_iter()
                .filter(|&to| to != order && to.join(order) == to)
                .map(Action::Rmw)
                .collect(),
            Self::CompareExchange {
                success,
                failure,
                free_failure,
            } => RMWS
                .into_iter()
                .flat_map(|s| LOADS.into_iter().map(move |f| (s, f)))
                .filter(|&(s, f)| s.join(success) == s && f.join(failure) == f)
                .filter(|&to| to != (success, failure))
                .filter(|&(s, f)| free_failure || s.read_half().join(f) == s.read_half())
                .map(|(success, failure)| Action::CompareExchange { success, failure })
                .collect(),
            Self::Fence(order) => [FenceOrder::AcqRel, FenceOrder::SeqCst]
                .into_iter()
                .filter(|&to| to != order && to.join(order) == to)
                .map(Action::Fence)
                .collect(),
            Self::None => Vec::new(),
        }
    }
}

const LOADS: [LoadOrder; 3] = [LoadOrder::Relaxed, LoadOrder::Acquire, LoadOrder::SeqCst];
const STORES: [StoreOrder; 3] = [StoreOrder::Relaxed, StoreOrder::Release, StoreOrder::SeqCst];
const RMWS: [RmwOrder; 5] = [
    RmwOrder::Relaxed,
    RmwOrder::Acquire,
    RmwOrder::Release,
    RmwOrder::AcqRel,
    RmwOrder::SeqCst,
];

impl Action {
    /// Whether it puts in something that was not there.
    pub fn is_new_fence(self) -> bool {
        matches!(self, Self::FenceBefore | Self::FenceAfter)
    }

    /// The weakest action that does both; `None` if no one action can.
    pub(crate) fn join(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Load(a), Self::Load(b)) => Self::Load(a.join(b)),
            (Self::Store(a), Self::Store(b)) => Self::Store(a.join(b)),
            (Self::Rmw(a), Self::Rmw(b)) => Self::Rmw(a.join(b)),
            (Self::Fence(a), Self::Fence(b)) => Self::Fence(a.join(b)),
            (
                Self::CompareExchange { success, failure },
                Self::CompareExchange {
                    success: s,
                    failure: f,
                },
            ) => Self::CompareExchange {
                success: success.join(s),
                failure: failure.join(f),
            },
            (a, b) if a == b => a,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relaxed_rmw_can_be_raised_to_everything_above() {
        let place = Place::new(vec![SiteId(1)], Orders::Rmw(RmwOrder::Acquire));
        let expected = [
            Action::FenceBefore,
            Action::Rmw(RmwOrder::AcqRel),
            Action::Rmw(RmwOrder::SeqCst),
            Action::FenceAfter,
        ];
        assert_eq!(place.actions(), expected);
    }

    #[test]
    fn the_failure_order_stays_below_the_success_unless_it_is_free() {
        let raises = |free_failure| {
            let orders = Orders::CompareExchange {
                success: RmwOrder::Release,
                failure: LoadOrder::Relaxed,
                free_failure,
            };
            orders.raises()
        };
        let alone = Action::CompareExchange {
            success: RmwOrder::Release,
            failure: LoadOrder::Acquire,
        };
        assert!(raises(true).contains(&alone));
        assert!(!raises(false).contains(&alone));
        assert!(raises(false).contains(&Action::CompareExchange {
            success: RmwOrder::AcqRel,
            failure: LoadOrder::Acquire,
        }));
    }

    #[test]
    fn an_existing_fence_is_raised_and_gets_no_neighbour() {
        let place = Place::new(vec![SiteId(1)], Orders::Fence(FenceOrder::Acquire));
        let expected = [
            Action::Fence(FenceOrder::AcqRel),
            Action::Fence(FenceOrder::SeqCst),
        ];
        assert_eq!(place.actions(), expected);
    }
}
