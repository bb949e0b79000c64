//! What the analysis reports about data races: two accesses to the same bytes,
//! at least one a write and at least one plain, that nothing orders.

use crate::event::{Bytes, SiteId, ThreadId};
use crate::violation::EventIndex;

/// A data race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The access that came first in this run.
    pub first: RacingAccess,
    /// The access that came second.
    pub second: RacingAccess,
    /// The event of the second access.
    pub event: EventIndex,
    /// Bytes that both touch.
    pub bytes: Bytes,
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RacingAccess {
    /// The thread.
    pub thread: ThreadId,
    /// Its place in the program.
    pub site: SiteId,
    /// It writes.
    pub writes: bool,
    /// It is atomic.
    pub atomic: bool,
}

/// A race with the number of times it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRace {
    /// The first one between these two places.
    pub race: Race,
    /// How many there were.
    pub count: u64,
}
