//! What a trace records, as the weak memory takes it.

use wmfix_analysis::{
    Bytes, CasOutcome, CasStrength, Event, FenceOrder, LoadOrder, LocationId, LockId, LockMode,
    Operation, RmwOrder, SiteId, StoreOrder, ThreadId,
};
use wmfix_trace::{self as trace, Order, RecordedOperation};

/// The event; `None` for what changes nothing that threads know.
pub(super) fn event(thread: u32, operation: &RecordedOperation) -> Option<Event> {
    let operation = match *operation {
        RecordedOperation::Load {
            location,
            order,
            value,
        } => Operation::Load {
            location: LocationId(location.0),
            order: of_load(order),
            value: value as u64,
            exit: None,
        },
        RecordedOperation::Store {
            location,
            order,
            value,
        } => Operation::Store {
            location: LocationId(location.0),
            order: of_store(order),
            value: value as u64,
        },
        RecordedOperation::Rmw {
            location,
            order,
            read,
            written,
            ..
        } => Operation::Rmw {
            location: LocationId(location.0),
            order: of_rmw(order),
            read: read as u64,
            written: written as u64,
            exit: None,
        },
        RecordedOperation::CompareExchange {
            location,
            success,
            failure,
            weak,
            expected,
            read,
            written,
        } => Operation::CompareExchange {
            location: LocationId(location.0),
            success: of_rmw(success),
            failure: of_load(failure),
            strength: match weak {
                true => CasStrength::Weak,
                false => CasStrength::Strong,
            },
            expected: expected as u64,
            read: read as u64,
            outcome: match written {
                Some(value) => CasOutcome::Exchanged(value as u64),
                None => CasOutcome::Failed,
            },
            blocking: false,
        },
        RecordedOperation::Fence { order } => Operation::Fence {
            order: of_fence(order)?,
        },
        RecordedOperation::Create { child, .. } => Operation::Create {
            child: ThreadId(child.0),
        },
        RecordedOperation::Join { child } => Operation::Join {
            child: ThreadId(child.0),
        },
        RecordedOperation::Exit => Operation::Exit,
        RecordedOperation::Acquire { lock, mode } => Operation::Acquire {
            lock: LockId(lock),
            mode: of_mode(mode),
        },
        RecordedOperation::Release { lock, mode } => Operation::Release {
            lock: LockId(lock),
            mode: of_mode(mode),
        },
        RecordedOperation::Free { address, size }
        | RecordedOperation::Reclaim { address, size } => Operation::Death {
            bytes: Bytes { address, size },
        },
        RecordedOperation::Birth { .. }
        | RecordedOperation::Read { .. }
        | RecordedOperation::Write { .. } => return None,
    };
    Some(of_thread(thread, operation))
}

/// An event of a thread. Where it is makes no difference here.
pub(super) fn of_thread(thread: u32, operation: Operation) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(0),
        operation,
    }
}

// An order that its operation cannot have counts as the strongest that it can.

fn of_load(order: Order) -> LoadOrder {
    match order {
        Order::Relaxed => LoadOrder::Relaxed,
        Order::Consume | Order::Acquire => LoadOrder::Acquire,
        Order::Release | Order::AcqRel | Order::SeqCst => LoadOrder::SeqCst,
    }
}

fn of_store(order: Order) -> StoreOrder {
    match order {
        Order::Relaxed => StoreOrder::Relaxed,
        Order::Release => StoreOrder::Release,
        Order::Consume | Order::Acquire | Order::AcqRel | Order::SeqCst => StoreOrder::SeqCst,
    }
}

fn of_rmw(order: Order) -> RmwOrder {
    match order {
        Order::Relaxed => RmwOrder::Relaxed,
        Order::Consume | Order::Acquire => RmwOrder::Acquire,
        Order::Release => RmwOrder::Release,
        Order::AcqRel => RmwOrder::AcqRel,
        Order::SeqCst => RmwOrder::SeqCst,
    }
}

fn of_fence(order: Order) -> Option<FenceOrder> {
    match order {
        Order::Relaxed => None,
        Order::Consume | Order::Acquire => Some(FenceOrder::Acquire),
        Order::Release => Some(FenceOrder::Release),
        Order::AcqRel => Some(FenceOrder::AcqRel),
        Order::SeqCst => Some(FenceOrder::SeqCst),
    }
}

fn of_mode(mode: trace::LockMode) -> LockMode {
    match mode {
        trace::LockMode::Exclusive => LockMode::Exclusive,
        trace::LockMode::Shared => LockMode::Shared,
        trace::LockMode::Signal => LockMode::Signal,
    }
}
