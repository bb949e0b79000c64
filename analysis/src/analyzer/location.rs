//! The state of one atomic location: its modification order, what its last
//! write hands on, and who accessed it.

use alloc::vec::Vec;

use super::clock::{Clock, EventNumber, ThreadSlot};
use super::history::{History, Mark, ScMark, Timestamp};
use super::message::Message;
use super::values::Values;
use super::view::{ScAccesses, ScSet};

/// One atomic location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// The modification order.
    pub(crate) values: Values,
    /// `m`: what an acquire read of the last write gets.
    pub(crate) message: Message,
    /// `QW`: what is hb_SC-before the last write, and itself.
    pub(crate) sc_before_write: Clock,
    /// `QM`: the same over all accesses since and including the last write, if any of
    /// them is a read.
    sc_before_reads: Clock,
    /// There was a read since the last write.
    was_read: bool,
    /// `MS`: everything psc*-before the SC accesses, and themselves.
    pub(crate) sc_accesses: ScAccesses,
    /// `Mfk`: what the accesses had from SC fences.
    pub(crate) from_fences: ScSet,
    /// `Wf`: the same as of the last write.
    pub(crate) from_fences_at_write: ScSet,
    histories: Vec<History>,
    /// The history of the thread that was here last: most likely it is the one that
    /// comes next, and it knows the newest write.
    last: u32,
}

impl Location {
    /// A location that holds its first value and has not been accessed.
    pub(crate) fn new(value: Option<u64>) -> Self {
        Self {
            values: Values::new(value),
            message: Message::default(),
            sc_before_write: Clock::default(),
            sc_before_reads: Clock::default(),
            was_read: false,
            sc_accesses: ScAccesses::default(),
            from_fences: ScSet::default(),
            from_fences_at_write: ScSet::default(),
            histories: Vec::new(),
            last: 0,
        }
    }

    /// hb_SC: a write comes after every earlier access, a read after the last write.
    #[inline]
    pub(crate) fn follow_sc(&mut self, sc_before: &mut Clock, writes: bool) {
        if writes {
            sc_before.join(match self.was_read {
                true => &self.sc_before_reads,
                false => &self.sc_before_write,
            });
            self.sc_before_write.copy_from(sc_before);
            self.was_read = false;
            return;
        }
        sc_before.join(&self.sc_before_write);
        match self.was_read {
            true => self.sc_before_reads.join(sc_before),
            false => self.sc_before_reads.copy_from(sc_before),
        }
        self.was_read = true;
    }

    /// The histories of the threads that ever accessed the location.
    pub(crate) fn histories(&self) -> &[History] {
        &self.histories
    }

    /// The same, to prune them.
    pub(crate) fn histories_mut(&mut self) -> &mut [History] {
        &mut self.histories
    }

    /// Whether the thread in a slot was here before.
    #[inline]
    pub(crate) fn has_history(&self, slot: ThreadSlot) -> bool {
        self.index_of(slot).is_some()
    }

    /// The history of one thread, which is here now.
    #[inline]
    pub(crate) fn history_mut(&mut self, slot: ThreadSlot) -> &mut History {
        let index = match self.index_of(slot) {
            Some(index) => index,
            None => self.add_history(slot),
        };
        self.last = index as u32;
        &mut self.histories[index]
    }

    #[cold]
    fn add_history(&mut self, slot: ThreadSlot) -> usize {
        let len = self.histories.len();
        // Most locations are few threads' own.
        if len == self.histories.capacity() {
            self.histories.reserve_exact(len.max(1));
        }
        self.histories.push(History::new(slot));
        len
    }

    #[inline]
    fn index_of(&self, slot: ThreadSlot) -> Option<usize> {
        let last = self.last as usize;
        match self.histories.get(last) {
            Some(history) if history.slot == slot => Some(last),
            _ => self.histories.iter().position(|one| one.slot == slot),
        }
    }

    /// All histories, that of the thread that was here last first.
    #[inline]
    fn latest_first(&self) -> impl Iterator<Item = &History> {
        let (before, rest) = self.histories.split_at(self.last as usize);
        rest.iter().chain(before)
    }

    /// `known`: the newest write read or written within a prefix of every thread.
    #[inline]
    pub(crate) fn seen_within(&self, prefix: impl Fn(ThreadSlot) -> EventNumber) -> Timestamp {
        let newest = self.values.newest();
        let mut seen = 0;
        for history in self.latest_first() {
            if let Some(mark) = history.rounded_up_mark(prefix(history.slot)) {
                seen = seen.max(mark.seen);
                if seen == newest {
                    break;
                }
            }
        }
        seen
    }

    /// `knownw`: the newest write made within a prefix of every thread.
    pub(crate) fn written_within(&self, prefix: impl Fn(ThreadSlot) -> EventNumber) -> Timestamp {
        self.newest(prefix, |mark, _| mark.written)
    }

    /// `scw`: the newest SC write made within a prefix of every thread.
    pub(crate) fn sc_written_within(
        &self,
        prefix: impl Fn(ThreadSlot) -> EventNumber,
    ) -> Timestamp {
        self.newest(prefix, |_, sc_mark| {
            sc_mark.map_or(0, |sc_mark| sc_mark.written)
        })
    }

    /// `hi`: the newest write that SC makes visible to a thread that knows `prefix` by
    /// hb_SC. Rounds down where history was dropped, the others round up: the
    /// gap between them, which is what gets reported, never grows.
    #[inline]
    pub(crate) fn sc_visible(&self, prefix: &Clock) -> Timestamp {
        let newest = self.values.newest();
        let mut seen = 0;
        for history in self.latest_first() {
            if let Some(mark) = history.exact(prefix.get(history.slot)) {
                seen = seen.max(mark.seen);
                if seen == newest {
                    break;
                }
            }
        }
        seen
    }

    fn newest(
        &self,
        prefix: impl Fn(ThreadSlot) -> EventNumber,
        field: impl Fn(&Mark, Option<&ScMark>) -> Timestamp,
    ) -> Timestamp {
        self.histories
            .iter()
            .filter_map(|history| history.rounded_up(prefix(history.slot)))
            .map(|(mark, sc_mark)| field(mark, sc_mark))
            .max()
            .unwrap_or(0)
    }
}
