//! Events for tests, as runs have them.

use wmfix_analysis::{
    Bytes, Event, LoadOrder, LocationId, Operation, SiteId, StoreOrder, ThreadId,
};

/// An event somewhere.
pub(super) fn event(thread: u32, operation: Operation) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(0),
        operation,
    }
}

/// The same event at a site.
pub(super) fn at(site: u32, event: Event) -> Event {
    Event {
        site: SiteId(site),
        ..event
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

/// Where objects lie that do not meet in memory.
pub(super) fn apart(location: LocationId) -> Option<Bytes> {
    let address = 8 * u64::from(location.0);
    Some(Bytes { address, size: 8 })
}

/// Where objects lie that share half of their memory with the next.
pub(super) fn together(location: LocationId) -> Option<Bytes> {
    let address = 4 * u64::from(location.0);
    Some(Bytes { address, size: 8 })
}
