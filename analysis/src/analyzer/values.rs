//! The modification order of one location: every write by its timestamp, as
//! far back as a thread could still read it.

use smallvec::{SmallVec, smallvec};

use super::history::Timestamp;
use crate::event::{SiteId, ThreadId};
use crate::violation::{EventIndex, WriteRef};

/// One write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteRecord {
    value: u64,
    /// The number of its event, and the flags.
    event: u64,
    thread: ThreadId,
    site: SiteId,
}

/// The value is known.
const KNOWN: u64 = 1 << 63;
/// An event made the write; otherwise it is a location's first value.
const HAS_ORIGIN: u64 = 1 << 62;
/// It is the write of an RMW: nothing can come between it and the one before.
const BY_RMW: u64 = 1 << 61;
const FLAGS: u64 = KNOWN | HAS_ORIGIN | BY_RMW;

/// The last number that the event of a write can have.
pub(crate) const LAST_EVENT: EventIndex = EventIndex(!FLAGS);

impl WriteRecord {
    /// A write that an event made.
    pub(crate) fn by(event: EventIndex, thread: ThreadId, site: SiteId, value: u64) -> Self {
        Self {
            value,
            event: event.0 | KNOWN | HAS_ORIGIN,
            thread,
            site,
        }
    }

    /// A write that no event made: a first value, or one that was not recorded.
    pub(crate) fn of_nobody(value: Option<u64>) -> Self {
        Self {
            value: value.unwrap_or(0),
            event: if value.is_some() { KNOWN } else { 0 },
            thread: ThreadId(0),
            site: SiteId(0),
        }
    }

    /// The same write by an RMW.
    pub(crate) fn of_rmw(self) -> Self {
        Self {
            event: self.event | BY_RMW,
            ..self
        }
    }

    /// Whether it is the write of an RMW.
    #[inline]
    pub(crate) fn is_by_rmw(&self) -> bool {
        self.event & BY_RMW != 0
    }

    /// The value, if the run recorded it.
    #[inline]
    pub(crate) fn value(&self) -> Option<u64> {
        (self.event & KNOWN != 0).then_some(self.value)
    }

    /// A read has shown the value.
    pub(crate) fn tell(&mut self, value: u64) {
        self.value = value;
        self.event |= KNOWN;
    }

    /// Where in the program the write was made.
    pub(crate) fn site(&self) -> Option<SiteId> {
        self.has_origin().then_some(self.site)
    }

    /// How reports name this write.
    pub(crate) fn reference(&self) -> WriteRef {
        WriteRef {
            event: (self.has_origin()).then_some(EventIndex(self.event & !FLAGS)),
            origin: self.has_origin().then_some((self.thread, self.site)),
            value: self.value(),
        }
    }

    fn has_origin(&self) -> bool {
        self.event & HAS_ORIGIN != 0
    }
}

/// The writes to one location, by timestamp.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// The timestamp of the first write kept.
    first: Timestamp,
    kept: SmallVec<[WriteRecord; INLINE_VALUES]>,
    /// The length at which pruning is worth another try.
    prune_at: u32,
}

/// How many writes are kept before they need the heap.
const INLINE_VALUES: usize = 2;

/// No list is looked at for pruning below this length.
const PRUNE_FROM: u32 = 16;

impl Values {
    /// A location that holds its first value.
    pub(crate) fn new(value: Option<u64>) -> Self {
        let first = WriteRecord::of_nobody(value);
        Self {
            first: 0,
            kept: smallvec![first],
            prune_at: PRUNE_FROM,
        }
    }

    /// The timestamp of the newest write.
    #[inline]
    pub(crate) fn newest(&self) -> Timestamp {
        self.first + self.kept.len() as Timestamp - 1
    }

    /// The timestamp of the oldest write that is still known.
    #[inline]
    pub(crate) fn oldest(&self) -> Timestamp {
        self.first
    }

    /// The write at a timestamp from `oldest` to `newest`.
    #[inline]
    pub(crate) fn at(&self, timestamp: Timestamp) -> &WriteRecord {
        &self.kept[(timestamp - self.first) as usize]
    }

    /// What the location holds now.
    #[inline]
    pub(crate) fn current(&self) -> &WriteRecord {
        &self.kept[self.kept.len() - 1]
    }

    /// What the location holds now, to fill in a value that a read has shown.
    pub(crate) fn current_mut(&mut self) -> &mut WriteRecord {
        let last = self.kept.len() - 1;
        &mut self.kept[last]
    }

    /// How many writes are remembered.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Adds the next write.
    #[inline]
    pub(crate) fn push(&mut self, written: WriteRecord) {
        self.kept.push(written);
    }

    /// Whether the list is long enough for pruning to pay.
    pub(crate) fn wants_pruning(&self) -> bool {
        self.kept.len() >= self.prune_at as usize
    }

    /// Drops the writes before `known_by_all`, which every live thread knows of.
    pub(crate) fn prune(&mut self, known_by_all: Timestamp) {
        let dead = known_by_all
            .saturating_sub(self.first)
            .min(self.kept.len() as u32 - 1);
        self.kept.drain(..dead as usize);
        self.first += dead;
        self.prune_at = PRUNE_FROM.max(2 * self.kept.len() as u32);
    }

    /// Past `cap` writes, drops the older half: they are not reported any more.
    pub(crate) fn cap(&mut self, cap: usize) {
        if self.kept.len() > cap {
            let kept = (cap / 2).max(1);
            let dropped = self.kept.len() - kept;
            self.kept.drain(..dropped);
            self.first += dropped as u32;
            self.prune_at = PRUNE_FROM.max(2 * kept as u32);
        }
    }

    /// Gives back memory that dropped writes took.
    pub(crate) fn shrink(&mut self) {
        self.kept.shrink_to_fit();
    }
}
