//! What a trace needs of atomics while there is one thread, which is how every
//! program starts and how test frameworks spend most of their time. Nothing can
//! be stale then, and all of it is ordered before whatever other threads do. So
//! the trace gets the first event of every context, which says that it was
//! reached, and, when a second thread comes, the last write to each location.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wmfix_trace::{LocationId, RecordedOperation};

/// What was left out.
#[derive(Debug, Default)]
pub(crate) struct AloneWrites {
    /// The last write to each location, if it was left out: its context and what
    /// it was.
    last: BTreeMap<u32, (u32, RecordedOperation)>,
    /// Whether a context has an event in the trace.
    reached: Vec<bool>,
}

impl AloneWrites {
    /// Whether to leave out an event of the only thread. Locks are never left
    /// out: one may be held when the second thread comes.
    pub(crate) fn leaves_out(&mut self, context: u32, operation: &RecordedOperation) -> bool {
        let atomic = location_of(operation).is_some()
            || matches!(operation, RecordedOperation::Fence { .. });
        if !atomic || context == 0 {
            return false;
        }
        let index = context as usize;
        if index >= self.reached.len() {
            self.reached.resize(index + 1, false);
        }
        core::mem::replace(&mut self.reached[index], true)
    }

    /// Remembers a write that is left out.
    pub(crate) fn keep(&mut self, location: u32, context: u32, operation: &RecordedOperation) {
        self.last.insert(location, (context, *operation));
    }

    /// The write to a location that was left out.
    pub(crate) fn take(&mut self, location: u32) -> Option<(u32, RecordedOperation)> {
        self.last.remove(&location)
    }

    /// The first of the locations whose last write was left out.
    pub(crate) fn next_location(&self) -> Option<u32> {
        self.last.first_key_value().map(|(&location, _)| location)
    }
}

/// The location of an atomic access, as the runtime numbers them.
#[inline(always)]
pub(crate) fn location_of(operation: &RecordedOperation) -> Option<u32> {
    match operation {
        RecordedOperation::Load { location, .. }
        | RecordedOperation::Store { location, .. }
        | RecordedOperation::Rmw { location, .. }
        | RecordedOperation::CompareExchange { location, .. } => Some(location.0),
        _ => None,
    }
}

/// The same access to a location that has another number in the trace.
#[inline(always)]
pub(crate) fn at_location(operation: &RecordedOperation, number: u32) -> RecordedOperation {
    let mut operation = *operation;
    if let RecordedOperation::Load { location, .. }
    | RecordedOperation::Store { location, .. }
    | RecordedOperation::Rmw { location, .. }
    | RecordedOperation::CompareExchange { location, .. } = &mut operation
    {
        *location = LocationId(number);
    }
    operation
}

/// What the location held when the access was made. A store does not tell; the
/// value that it leaves serves as well, as nothing can be older for anybody.
pub(crate) fn value_before(operation: &RecordedOperation) -> u128 {
    match *operation {
        RecordedOperation::Load { value, .. } | RecordedOperation::Store { value, .. } => value,
        RecordedOperation::Rmw { read, .. } | RecordedOperation::CompareExchange { read, .. } => {
            read
        }
        _ => 0,
    }
}

/// Whether an access writes.
pub(crate) fn writes(operation: &RecordedOperation) -> bool {
    match operation {
        RecordedOperation::Store { .. } | RecordedOperation::Rmw { .. } => true,
        RecordedOperation::CompareExchange { written, .. } => written.is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use wmfix_trace::Order;

    use super::*;

    fn store(location: u32, value: u128) -> RecordedOperation {
        RecordedOperation::Store {
            location: LocationId(location),
            order: Order::Relaxed,
            value,
        }
    }

    #[test]
    fn the_first_event_of_a_context_stays() {
        let mut alone = AloneWrites::default();
        let made: [bool; 4] = [7, 7, 8, 7].map(|context| alone.leaves_out(context, &store(0, 1)));
        assert_eq!(made, [false, true, false, true]);
        let fence = RecordedOperation::Fence {
            order: Order::SeqCst,
        };
        assert!(alone.leaves_out(7, &fence));
        assert!(!alone.leaves_out(7, &RecordedOperation::Exit));
        assert!(
            !alone.leaves_out(0, &fence),
            "an unknown context is no context"
        );
    }

    #[test]
    fn the_last_write_to_a_location_is_kept() {
        let mut alone = AloneWrites::default();
        alone.keep(3, 7, &store(3, 1));
        alone.keep(3, 8, &store(3, 2));
        assert_eq!(alone.next_location(), Some(3));
        assert_eq!(alone.take(3), Some((8, store(3, 2))));
        assert_eq!(alone.next_location(), None);
    }
}
