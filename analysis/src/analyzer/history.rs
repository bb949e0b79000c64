//! Who accessed a location, and what of it each knew then. A clock says how far
//! into every thread somebody can see; looked up here, that becomes the newest
//! write to the location that somebody knows.

use super::clock::{EventNumber, Slot};
use super::view::ScSet;
use crate::event::{SiteId, ThreadId};

/// The position of a write in the modification order of its location; 0 is the
/// first value.
pub(crate) type Timestamp = u32;

/// One access of one thread to one location. All but `number` and `epoch` say
/// "so far, by this thread, at this location", so an entry makes the ones before
/// it superfluous for everybody who knows it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// `n`: the number of the access in its thread.
    pub(crate) number: EventNumber,
    /// `ts`: the newest write the access knew, its own or the one it read.
    pub(crate) seen: Timestamp,
    /// `wts`: the thread's newest write, 0 if it made none.
    pub(crate) written: Timestamp,
    /// `sts`: the thread's newest SC write, 0 if it made none.
    pub(crate) sc_written: Timestamp,
    /// `ep`: how often the thread's knowledge had been published.
    pub(crate) epoch: u32,
    /// `asc`: the thread's newest SC access, if it made one.
    pub(crate) sc_access: Option<ScAccess>,
    /// `fk`: what the thread had from SC fences.
    pub(crate) from_fences: ScSet,
}

/// An SC access in a history.
#[derive(Clone, Debug)]
pub(crate) struct ScAccess {
    /// The newest write it knew.
    pub(crate) seen: Timestamp,
    /// Its number in its thread.
    pub(crate) number: EventNumber,
    /// `S`: everything psc*-before it, and itself.
    pub(crate) set: ScSet,
}

/// The accesses of one thread to one location, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// The thread.
    pub(crate) slot: Slot,
    /// The thread's last access of any kind, which coalescing may hide.
    pub(crate) last_access: EventNumber,
    /// Where that was made.
    pub(crate) last_access_site: SiteId,
    /// The thread's last write.
    pub(crate) last_write: EventNumber,
    /// Where that was made.
    pub(crate) last_write_site: SiteId,
    /// Who made them: slots change hands.
    pub(crate) thread: ThreadId,
    entries: Vec<Entry>,
    /// Entries that somebody could still need were dropped.
    cut: bool,
    /// The length at which pruning is worth another try.
    prune_at: u32,
}

/// No list is looked at for pruning below this length.
const PRUNE_FROM: u32 = 8;

impl History {
    /// The history of a thread that is about to access the location.
    pub(crate) fn new(slot: Slot, thread: ThreadId) -> Self {
        Self {
            slot,
            last_access: 0,
            last_access_site: SiteId(0),
            last_write: 0,
            last_write_site: SiteId(0),
            thread,
            entries: Vec::new(),
            cut: false,
            prune_at: PRUNE_FROM,
        }
    }

    /// The thread's newest access.
    pub(crate) fn newest(&self) -> Option<&Entry> {
        self.entries.last()
    }

    /// How many accesses are remembered.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The thread's last access within the prefix that ends at `number`. Where
    /// that was dropped, the oldest one left, which knows at least as much.
    #[inline]
    pub(crate) fn rounded_up(&self, number: EventNumber) -> Option<&Entry> {
        match self.exact(number) {
            None if self.cut => self.entries.first(),
            found => found,
        }
    }

    /// The thread's last access within the prefix that ends at `number`, or
    /// nothing where that was dropped.
    #[inline]
    pub(crate) fn exact(&self, number: EventNumber) -> Option<&Entry> {
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.number <= number)
    }

    /// Adds an access. One that nobody can tell from the access before it takes
    /// that one's place:
    /// - With the same newest write, the older number stays, which serves every
    ///   look-up equally well.
    /// - As the thread's very next event, the newer number stays: who knows only
    ///   the older one by hb_SC knows it through another access to the location.
    ///
    /// Both need that the thread's knowledge was not published in between.
    pub(crate) fn push(&mut self, mut entry: Entry) {
        if let Some(last) = self.entries.last_mut()
            && last.epoch == entry.epoch
        {
            if last.seen == entry.seen {
                entry.number = last.number;
                *last = entry;
                return;
            }
            if last.number + 1 == entry.number {
                *last = entry;
                return;
            }
        }
        self.entries.push(entry);
    }

    /// Whether the list is long enough for pruning to pay.
    pub(crate) fn wants_pruning(&self) -> bool {
        self.entries.len() >= self.prune_at as usize
    }

    /// Drops the entries nobody can need: every other live thread knows the
    /// owner's events up to `known_by_all`, and hence a later entry. Exact.
    pub(crate) fn prune(&mut self, known_by_all: EventNumber) {
        let dead = self
            .entries
            .iter()
            .skip(1)
            .take_while(|e| e.number <= known_by_all)
            .count();
        self.entries.drain(..dead);
        self.prune_at = PRUNE_FROM.max(2 * self.entries.len() as u32);
    }

    /// Past `cap` entries, drops the older half, needed or not: what cannot be
    /// answered exactly from then on is answered so that nothing is reported.
    pub(crate) fn cap(&mut self, cap: usize) {
        if self.entries.len() > cap {
            let kept = (cap / 2).max(1);
            self.entries.drain(..self.entries.len() - kept);
            self.cut = true;
            self.prune_at = PRUNE_FROM.max(2 * kept as u32);
        }
    }

    /// Gives back memory that dropped entries took.
    pub(crate) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
    }
}
