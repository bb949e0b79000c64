//! The state of one atomic location: its modification order, what its last
//! write hands on, and who accessed it.

use alloc::vec::Vec;

use super::clock::{Clock, EventNumber, ThreadSlot};
use super::history::{History, Mark, ScMark, Timestamp};
use super::values::Values;
use super::view::{ScSet, View};

/// One atomic location.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    /// The modification order.
    pub(crate) values: Values,
    /// `m`: what an acquire read of the last write gets.
    pub(crate) message: View,
    /// `QW`: what is hb_SC-before the last write, and itself.
    pub(crate) sc_before_write: Clock,
    /// `QM`: the same over all accesses since and including the last write.
    pub(crate) sc_before_accesses: Clock,
    /// `MS`: everything psc*-before the SC accesses, and themselves.
    pub(crate) sc_accesses: ScSet,
    /// `Mfk`: what the accesses had from SC fences.
    pub(crate) from_fences: ScSet,
    /// `Wf`: the same as of the last write.
    pub(crate) from_fences_at_write: ScSet,
    histories: Vec<History>,
}

impl Location {
    /// A location that holds its first value and has not been accessed.
    pub(crate) fn new(value: Option<u64>) -> Self {
        Self {
            values: Values::new(value),
            message: View::default(),
            sc_before_write: Clock::default(),
            sc_before_accesses: Clock::default(),
            sc_accesses: ScSet::default(),
            from_fences: ScSet::default(),
            from_fences_at_write: ScSet::default(),
            histories: Vec::new(),
        }
    }

    /// The histories of the threads that ever accessed the location.
    pub(crate) fn histories(&self) -> &[History] {
        &self.histories
    }

    /// The same, to prune them.
    pub(crate) fn histories_mut(&mut self) -> &mut [History] {
        &mut self.histories
    }

    /// The history of one thread.
    #[inline]
    pub(crate) fn history_mut(&mut self, slot: ThreadSlot) -> &mut History {
        let index = match self
            .histories
            .iter()
            .position(|history| history.slot == slot)
        {
            Some(index) => index,
            None => {
                self.histories.push(History::new(slot));
                self.histories.len() - 1
            }
        };
        &mut self.histories[index]
    }

    /// `known`: the newest write read or written within a prefix of every thread.
    #[inline]
    pub(crate) fn seen_within(&self, prefix: impl Fn(ThreadSlot) -> EventNumber) -> Timestamp {
        let newest = self.values.newest();
        let mut seen = 0;
        for history in &self.histories {
            if let Some((mark, _)) = history.rounded_up(prefix(history.slot)) {
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
        for history in &self.histories {
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
