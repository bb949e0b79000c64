//! Memory orders of a trace, as the analysis has them. A trace says what the
//! program said, sense or not; an order that its operation cannot have counts
//! as the strongest that the operation can: nothing false is reported for it.

use wmfix_analysis::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
use wmfix_trace::Order;

/// The order of a load.
pub(crate) fn of_load(order: Order) -> LoadOrder {
    match order {
        Order::Relaxed => LoadOrder::Relaxed,
        Order::Consume | Order::Acquire => LoadOrder::Acquire,
        Order::Release | Order::AcqRel | Order::SeqCst => LoadOrder::SeqCst,
    }
}

/// The order of a store.
pub(crate) fn of_store(order: Order) -> StoreOrder {
    match order {
        Order::Relaxed => StoreOrder::Relaxed,
        Order::Release => StoreOrder::Release,
        Order::Consume | Order::Acquire | Order::AcqRel | Order::SeqCst => StoreOrder::SeqCst,
    }
}

/// The order of a read-modify-write.
pub(crate) fn of_rmw(order: Order) -> RmwOrder {
    match order {
        Order::Relaxed => RmwOrder::Relaxed,
        Order::Consume | Order::Acquire => RmwOrder::Acquire,
        Order::Release => RmwOrder::Release,
        Order::AcqRel => RmwOrder::AcqRel,
        Order::SeqCst => RmwOrder::SeqCst,
    }
}

/// The order of a fence; a relaxed one is none.
pub fn of_fence(order: Order) -> Option<FenceOrder> {
    match order {
        Order::Relaxed => None,
        Order::Consume | Order::Acquire => Some(FenceOrder::Acquire),
        Order::Release => Some(FenceOrder::Release),
        Order::AcqRel => Some(FenceOrder::AcqRel),
        Order::SeqCst => Some(FenceOrder::SeqCst),
    }
}
