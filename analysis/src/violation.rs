//! What the analysis reports about robustness. A violation is a fact about one
//! access of one run; the writes it names are found in the stream of events by
//! their index, which is all a witness needs.

use alloc::vec::Vec;

use crate::event::{LocationId, SiteId, ThreadId};

/// The position of an event in the stream that was fed, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventIndex(pub u64);

/// An access that the memory model lets take a stale place: it could read an
/// older value, or slip a write in before a newer one, although sequential
/// consistency would have shown it the newer write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What could go stale.
    pub kind: ViolationKind,
    /// The access.
    pub access: EventIndex,
    /// The thread that makes the access.
    pub thread: ThreadId,
    /// Where in the program the access is made.
    pub site: SiteId,
    /// The location it accesses.
    pub location: LocationId,
    /// The newest write that SC would have the access see, and that nothing in
    /// the memory model makes it see.
    pub newer: WriteRef,
    /// The writes it could take instead (read from, or be ordered right after),
    /// oldest first. Never empty.
    pub stale: Vec<WriteRef>,
    /// What the access read in this run, if it reads.
    pub read_value: Option<u64>,
    /// Every stale value is the one that was read: the difference cannot be
    /// seen in the value.
    pub same_value: bool,
}

/// What could go stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ViolationKind {
    /// A load, or a compare-exchange that fails, may read an old value.
    StaleRead,
    /// A store may land before a write it should follow.
    StaleWrite,
    /// A read-modify-write may act on an old value.
    StaleRmw,
}

/// A write to a location, as the analysis remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRef {
    /// The event that wrote; `None` for the location's first value.
    pub event: Option<EventIndex>,
    /// Who wrote and where; `None` for the location's first value.
    pub origin: Option<(ThreadId, SiteId)>,
    /// The value written, if the run recorded it (a plain write does not).
    pub value: Option<u64>,
}

/// A violation with the number of times it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundViolation {
    /// One of them: the first, unless a later one shows the difference in its value.
    pub violation: Violation,
    /// How many there were between these two places.
    pub count: u64,
}
