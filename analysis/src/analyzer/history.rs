//! Who accessed a location, and what of it each knew then. A clock says how far
//! into every thread a thread can see; looked up here, that becomes the newest
//! write to the location that it knows.

use alloc::vec::Vec;

use smallvec::SmallVec;

use super::clock::{EventNumber, ThreadSlot};
use super::view::ScSet;
use crate::event::{SiteId, ThreadId};

/// The position of a write in the modification order of its location; 0 is the
/// first value.
pub(crate) type Timestamp = u32;

/// One access of one thread to one location. All but `number` say "so far, by
/// this thread, at this location", so a mark makes the ones before it
/// superfluous for every thread that knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// `n`: the number of the access in its thread.
    pub(crate) number: EventNumber,
    /// `ts`: the newest write the access knew, its own or the one it read.
    pub(crate) seen: Timestamp,
    /// `wts`: the thread's newest write, 0 if it made none.
    pub(crate) written: Timestamp,
}

/// The part of a mark that only SC events need.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScMark {
    /// `sts`: the thread's newest SC write, 0 if it made none.
    pub(crate) written: Timestamp,
    /// `asc`: the thread's newest SC access, if it made one.
    pub(crate) access: Option<ScAccess>,
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

/// The last access of some kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastAccess {
    /// Its number in its thread, 0 if there was none.
    pub(crate) number: EventNumber,
    /// The thread that made it: slots are reused.
    pub(crate) thread: ThreadId,
    /// Where it was made.
    pub(crate) site: SiteId,
}

/// The accesses of one thread to one location, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// The thread's slot.
    pub(crate) slot: ThreadSlot,
    /// The last access of any kind, which coalescing may hide.
    pub(crate) last_access: LastAccess,
    /// The last write.
    pub(crate) last_write: LastAccess,
    marks: SmallVec<[Mark; INLINE_MARKS]>,
    /// The SC parts of the marks, each with the number of the mark from which on it
    /// holds: most marks have that of the one before. None before the first SC event
    /// that matters.
    sc_marks: Vec<(EventNumber, ScMark)>,
    /// `ep`: how often the thread's knowledge had been published at the last mark.
    epoch: u32,
    /// Marks that a thread could still need were dropped.
    cut: bool,
    /// The length at which pruning is worth another try.
    prune_at: u32,
}

/// How many marks a history holds before it needs the heap.
const INLINE_MARKS: usize = 4;

/// No history is looked at for pruning below this length.
const PRUNE_FROM: u32 = 8;

/// Beyond this length a history is searched by halving.
const LINEAR_SEARCH_MARKS: usize = 8;

impl History {
    /// The history of a thread that is about to access the location.
    pub(crate) fn new(slot: ThreadSlot) -> Self {
        let none = LastAccess {
            number: 0,
            thread: ThreadId(0),
            site: SiteId(0),
        };
        Self {
            slot,
            last_access: none,
            last_write: none,
            marks: SmallVec::new(),
            sc_marks: Vec::new(),
            epoch: 0,
            cut: false,
            prune_at: PRUNE_FROM,
        }
    }

    /// How many accesses are remembered.
    pub(crate) fn len(&self) -> usize {
        self.marks.len()
    }

    /// The newest mark.
    pub(crate) fn newest(&self) -> Option<(&Mark, Option<&ScMark>)> {
        let sc_mark = self.sc_marks.last().map(|(_, sc_mark)| sc_mark);
        Some((self.marks.last()?, sc_mark))
    }

    /// The thread's last access within the prefix that ends at `number`. Where
    /// that was dropped, the oldest one left, which knows at least as much.
    #[inline]
    pub(crate) fn rounded_up(&self, number: EventNumber) -> Option<(&Mark, Option<&ScMark>)> {
        let mark = self.rounded_up_mark(number)?;
        Some((mark, self.sc_mark_at(mark.number)))
    }

    /// The same without its SC part.
    #[inline]
    pub(crate) fn rounded_up_mark(&self, number: EventNumber) -> Option<&Mark> {
        let index = match self.find(number) {
            None if self.cut => 0,
            found => found?,
        };
        Some(&self.marks[index])
    }

    /// The SC part of the mark with this number.
    #[inline]
    fn sc_mark_at(&self, number: EventNumber) -> Option<&ScMark> {
        let (from, newest) = self.sc_marks.last()?;
        if *from <= number {
            return Some(newest);
        }
        let after = self.sc_marks.partition_point(|(from, _)| *from <= number);
        Some(&self.sc_marks[after.checked_sub(1)?].1)
    }

    /// The thread's last access within the prefix that ends at `number`, or
    /// nothing where that was dropped.
    #[inline]
    pub(crate) fn exact(&self, number: EventNumber) -> Option<&Mark> {
        self.find(number).map(|index| &self.marks[index])
    }

    #[inline]
    fn find(&self, number: EventNumber) -> Option<usize> {
        let marks = self.marks.as_slice();
        if marks.last()?.number <= number {
            return Some(marks.len() - 1);
        }
        if marks.len() <= LINEAR_SEARCH_MARKS {
            return marks.iter().rposition(|mark| mark.number <= number);
        }
        marks
            .partition_point(|mark| mark.number <= number)
            .checked_sub(1)
    }

    /// Adds an access. One that no thread can tell from the access before it takes
    /// that one's place:
    /// - With the same newest write, the older number stays, which serves every
    ///   look-up equally well.
    /// - As the thread's very next event, the newer number stays: a thread that
    ///   knows only the older one by hb_SC knows it through another access to the
    ///   location.
    ///
    /// Both need that the thread's knowledge was not published in between, which
    /// `epoch` counts. `sc_mark` is the SC part of the mark if that changes with it.
    #[inline]
    pub(crate) fn push(&mut self, mut mark: Mark, sc_mark: Option<ScMark>, epoch: u32) {
        if let Some(last) = self.marks.last()
            && self.epoch == epoch
            && (last.seen == mark.seen || last.number + 1 == mark.number)
        {
            let replaced = last.number;
            if last.seen == mark.seen {
                mark.number = replaced;
            }
            self.marks.pop();
            if let Some((from, _)) = self.sc_marks.last_mut()
                && *from == replaced
            {
                *from = mark.number;
            }
        }
        if let Some(sc_mark) = sc_mark {
            match self.sc_marks.last_mut() {
                Some((from, last)) if *from == mark.number => *last = sc_mark,
                _ => self.sc_marks.push((mark.number, sc_mark)),
            }
        }
        self.marks.push(mark);
        self.epoch = epoch;
    }

    /// Whether the history is long enough for pruning to pay.
    pub(crate) fn wants_pruning(&self) -> bool {
        self.marks.len() >= self.prune_at as usize
    }

    /// Drops the marks that no thread can need: every other live thread knows the
    /// owner's events up to `known_by_all`, and hence a later mark. Exact.
    pub(crate) fn prune(&mut self, known_by_all: EventNumber) {
        let dead = self
            .marks
            .iter()
            .skip(1)
            .take_while(|m| m.number <= known_by_all)
            .count();
        self.drop_oldest(dead);
        self.prune_at = PRUNE_FROM.max(2 * self.marks.len() as u32);
    }

    /// Past `cap` marks, drops the older half, needed or not: what cannot be
    /// answered exactly from then on is answered so that nothing is reported.
    pub(crate) fn cap(&mut self, cap: usize) {
        if self.marks.len() > cap {
            let kept = (cap / 2).max(1);
            self.drop_oldest(self.marks.len() - kept);
            self.cut = true;
            self.prune_at = PRUNE_FROM.max(2 * kept as u32);
        }
    }

    fn drop_oldest(&mut self, count: usize) {
        self.marks.drain(..count);
        if let Some(first) = self.marks.first() {
            let from_first = |(from, _): &(EventNumber, ScMark)| *from <= first.number;
            let until = self.sc_marks.partition_point(from_first);
            self.sc_marks.drain(..until.saturating_sub(1));
        }
    }

    /// Gives back memory that dropped marks took.
    pub(crate) fn shrink(&mut self) {
        self.marks.shrink_to_fit();
        self.sc_marks.shrink_to_fit();
    }
}
