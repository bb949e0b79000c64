//! What may be changed, as the search sees it: points in the source, each with
//! the sites of the runs that come from it, the orders it has, and the changes
//! that are refused there. Does not know how a point is spelled.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};

/// A point in the source where something can be changed. All sites that come
/// from it change together: a wrapper is one point with the sites of all its
/// callers. A site may belong to several points: a call of a wrapper is a
/// point of its own ([`Orders::None`]), where only fences can be put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangePoint {
    /// The sites of the runs that a change here touches.
    pub sites: Vec<SiteId>,
    /// The orders that the operation has now.
    pub orders: Orders,
    /// It is what calls or uses lead to that are points themselves: of two repairs
    /// alike, the one at the call is what its author asked for.
    pub is_shared: bool,
    /// Changes that cannot be made here, and why.
    pub refused: Vec<(ChangeKind, String)>,
}

/// The operation of a point with the orders that it has now. A point that is
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
    /// A fence that is not there, though it could be.
    NoFence,
    /// A plain read, which could become an atomic load.
    PlainRead,
    /// A plain write, which could become an atomic store.
    PlainWrite,
    /// No order that could be raised here: a call of a wrapper, an operation
    /// with a computed order.
    None,
}

/// What can be changed at a point. An order is the one that the operation is to
/// have afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// Puts a fence of this order right before the operation.
    FenceBefore(FenceOrder),
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
    /// Takes the fence away.
    RemoveFence,
    /// Puts a fence of this order right after the operation.
    FenceAfter(FenceOrder),
    /// Lets the fence change places with the statement next to it.
    Move(MoveDirection),
}

/// Where something moves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoveDirection {
    /// Before the statement before it.
    Up,
    /// After the statement after it.
    Down,
}

/// A change of one kind at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// Which of [`Problem::points`](crate::Problem::points).
    pub point: usize,
    /// What is changed there.
    pub kind: ChangeKind,
}

impl ChangePoint {
    /// A point where nothing is refused.
    pub fn new(sites: Vec<SiteId>, orders: Orders) -> Self {
        Self {
            sites,
            orders,
            is_shared: false,
            refused: Vec::new(),
        }
    }

    /// Takes a kind of change out of the search, with the reason.
    pub fn refuse(&mut self, kind: ChangeKind, reason: impl Into<String>) {
        self.refused.push((kind, reason.into()));
    }

    /// Every kind of change that fits the orders, refused or not: what to ask a
    /// rewriter about.
    pub fn kinds(&self) -> Vec<ChangeKind> {
        let raises = self.orders.raises();
        if matches!(self.orders, Orders::Fence(_) | Orders::NoFence) || self.orders.is_plain() {
            return raises;
        }
        let before = FENCE_ORDERS.into_iter().map(ChangeKind::FenceBefore);
        let after = FENCE_ORDERS.into_iter().map(ChangeKind::FenceAfter);
        before.chain(raises).chain(after).collect()
    }

    /// Why a kind of change cannot be made here.
    pub(crate) fn refusal(&self, kind: ChangeKind) -> Option<&str> {
        let (_, reason) = self.refused.iter().find(|(a, _)| *a == kind)?;
        Some(reason)
    }
}

impl Orders {
    /// The weakest orders that such an operation can have.
    pub fn weakest(self) -> Self {
        match self {
            Self::Load(_) => Self::Load(LoadOrder::Relaxed),
            Self::Store(_) => Self::Store(StoreOrder::Relaxed),
            Self::Rmw(_) => Self::Rmw(RmwOrder::Relaxed),
            Self::CompareExchange {
                success,
                failure,
                free_failure,
            } => Self::CompareExchange {
                success: RmwOrder::Relaxed,
                failure: LoadOrder::Relaxed,
                // What is there compiles.
                free_failure: free_failure
                    || success.read_half().join(failure) != success.read_half(),
            },
            Self::Fence(_) | Self::NoFence => Self::NoFence,
            Self::PlainRead | Self::PlainWrite | Self::None => self,
        }
    }

    /// Whether the access is a plain one.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::PlainRead | Self::PlainWrite)
    }

    /// The change that gives an operation these orders.
    pub fn as_change(self) -> Option<ChangeKind> {
        Some(match self {
            Self::Load(order) => ChangeKind::Load(order),
            Self::Store(order) => ChangeKind::Store(order),
            Self::Rmw(order) => ChangeKind::Rmw(order),
            Self::CompareExchange {
                success, failure, ..
            } => ChangeKind::CompareExchange { success, failure },
            Self::Fence(order) => ChangeKind::Fence(order),
            Self::NoFence => ChangeKind::RemoveFence,
            Self::PlainRead | Self::PlainWrite | Self::None => return None,
        })
    }

    /// These orders after a change.
    pub fn after(self, kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Load(order) => Self::Load(order),
            ChangeKind::Store(order) => Self::Store(order),
            ChangeKind::Rmw(order) => Self::Rmw(order),
            ChangeKind::Fence(order) => Self::Fence(order),
            ChangeKind::RemoveFence => Self::NoFence,
            ChangeKind::CompareExchange { success, failure } => {
                let free_failure = matches!(
                    self,
                    Self::CompareExchange {
                        free_failure: true,
                        ..
                    }
                );
                Self::CompareExchange {
                    success,
                    failure,
                    free_failure,
                }
            }
            ChangeKind::FenceBefore(_) | ChangeKind::FenceAfter(_) | ChangeKind::Move(_) => self,
        }
    }

    /// Whether these orders are at least as strong as others of the same operation.
    pub fn covers(self, other: Self) -> bool {
        match (self, other) {
            (Self::Load(a), Self::Load(b)) => a.join(b) == a,
            (Self::Store(a), Self::Store(b)) => a.join(b) == a,
            (Self::Rmw(a), Self::Rmw(b)) => a.join(b) == a,
            (Self::Fence(a), Self::Fence(b)) => a.join(b) == a,
            (Self::Fence(_) | Self::NoFence, Self::NoFence) => true,
            (Self::PlainRead | Self::Load(_), Self::PlainRead) => true,
            (Self::PlainWrite | Self::Store(_), Self::PlainWrite) => true,
            (
                Self::CompareExchange {
                    success, failure, ..
                },
                Self::CompareExchange {
                    success: s,
                    failure: f,
                    ..
                },
            ) => success.join(s) == success && failure.join(f) == failure,
            _ => false,
        }
    }

    /// Every change of the orders of such an operation, to the ones it has, too, weaker
    /// before stronger: what to ask a rewriter about where orders may become weaker.
    pub fn assignments(self) -> Vec<ChangeKind> {
        let weakest = self.weakest();
        weakest
            .as_change()
            .into_iter()
            .chain(weakest.raises())
            .collect()
    }

    /// The kinds of change that raise these orders, weaker before stronger.
    pub(crate) fn raises(self) -> Vec<ChangeKind> {
        match self {
            Self::Load(order) => LOAD_ORDERS
                .into_iter()
                .filter(|&to| to != order && to.join(order) == to)
                .map(ChangeKind::Load)
                .collect(),
            Self::Store(order) => STORE_ORDERS
                .into_iter()
                .filter(|&to| to != order && to.join(order) == to)
                .map(ChangeKind::Store)
                .collect(),
            Self::Rmw(order) => RMW_ORDERS
                .into_iter()
                .filter(|&to| to != order && to.join(order) == to)
                .map(ChangeKind::Rmw)
                .collect(),
            Self::CompareExchange {
                success,
                failure,
                free_failure,
            } => RMW_ORDERS
                .into_iter()
                .flat_map(|s| LOAD_ORDERS.into_iter().map(move |f| (s, f)))
                .filter(|&(s, f)| s.join(success) == s && f.join(failure) == f)
                .filter(|&to| to != (success, failure))
                .filter(|&(s, f)| free_failure || s.read_half().join(f) == s.read_half())
                .map(|(success, failure)| ChangeKind::CompareExchange { success, failure })
                .collect(),
            Self::Fence(order) => FENCE_ORDERS
                .into_iter()
                .filter(|&to| to != order && to.join(order) == to)
                .map(ChangeKind::Fence)
                .collect(),
            Self::NoFence => FENCE_ORDERS.map(ChangeKind::Fence).to_vec(),
            Self::PlainRead => LOAD_ORDERS.map(ChangeKind::Load).to_vec(),
            Self::PlainWrite => STORE_ORDERS.map(ChangeKind::Store).to_vec(),
            Self::None => Vec::new(),
        }
    }
}

const LOAD_ORDERS: [LoadOrder; 3] = [LoadOrder::Relaxed, LoadOrder::Acquire, LoadOrder::SeqCst];
/// Weaker before stronger.
const FENCE_ORDERS: [FenceOrder; 4] = [
    FenceOrder::Acquire,
    FenceOrder::Release,
    FenceOrder::AcqRel,
    FenceOrder::SeqCst,
];
const STORE_ORDERS: [StoreOrder; 3] =
    [StoreOrder::Relaxed, StoreOrder::Release, StoreOrder::SeqCst];
const RMW_ORDERS: [RmwOrder; 5] = [
    RmwOrder::Relaxed,
    RmwOrder::Acquire,
    RmwOrder::Release,
    RmwOrder::AcqRel,
    RmwOrder::SeqCst,
];

impl ChangeKind {
    /// Whether it puts in something that was not there.
    pub fn is_new_fence(self) -> bool {
        matches!(self, Self::FenceBefore(_) | Self::FenceAfter(_))
    }

    /// The weakest change that does both; `None` if no single one can.
    pub(crate) fn join(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Load(a), Self::Load(b)) => Self::Load(a.join(b)),
            (Self::Store(a), Self::Store(b)) => Self::Store(a.join(b)),
            (Self::Rmw(a), Self::Rmw(b)) => Self::Rmw(a.join(b)),
            (Self::Fence(a), Self::Fence(b)) => Self::Fence(a.join(b)),
            (Self::FenceBefore(a), Self::FenceBefore(b)) => Self::FenceBefore(a.join(b)),
            (Self::FenceAfter(a), Self::FenceAfter(b)) => Self::FenceAfter(a.join(b)),
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
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relaxed_rmw_can_be_raised_to_everything_above() {
        let point = ChangePoint::new(vec![SiteId(1)], Orders::Rmw(RmwOrder::Acquire));
        let raises = [
            ChangeKind::Rmw(RmwOrder::AcqRel),
            ChangeKind::Rmw(RmwOrder::SeqCst),
        ];
        let kinds = point.kinds();
        assert_eq!(kinds[..4], FENCE_ORDERS.map(ChangeKind::FenceBefore));
        assert_eq!(kinds[4..6], raises);
        assert_eq!(kinds[6..], FENCE_ORDERS.map(ChangeKind::FenceAfter));
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
        let alone = ChangeKind::CompareExchange {
            success: RmwOrder::Release,
            failure: LoadOrder::Acquire,
        };
        assert!(raises(true).contains(&alone));
        assert!(!raises(false).contains(&alone));
        assert!(raises(false).contains(&ChangeKind::CompareExchange {
            success: RmwOrder::AcqRel,
            failure: LoadOrder::Acquire,
        }));
    }

    #[test]
    fn an_existing_fence_is_raised_and_gets_no_neighbour() {
        let point = ChangePoint::new(vec![SiteId(1)], Orders::Fence(FenceOrder::Acquire));
        let expected = [
            ChangeKind::Fence(FenceOrder::AcqRel),
            ChangeKind::Fence(FenceOrder::SeqCst),
        ];
        assert_eq!(point.kinds(), expected);
    }
}
