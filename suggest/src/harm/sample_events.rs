//! Events for tests, as runs have them.

use wmfix_analysis::{Event, LoadOrder, LocationId, Operation, SiteId, StoreOrder, ThreadId};

/// An event somewhere.
pub(super) fn event(thread: u32, operation: Operation) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(0),
        operation,
    }
}

/// A relaxed load.
pub(super) fn load(thread: u32, location: u32, value: u64) -> Event {
    let operation = Operation::Load {
        location: LocationId(location),
        order: LoadOrder::Relaxed,
        value,
        exit: None,
    };
    event(thread, operation)
}

/// A relaxed store.
pub(super) fn store(thread: u32, location: u32, value: u64) -> Event {
    let operation = Operation::Store {
        location: LocationId(location),
        order: StoreOrder::Relaxed,
        value,
    };
    event(thread, operation)
}
