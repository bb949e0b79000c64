//! The threads of a run by their numbers, which are never used again. Of threads that
//! have ended and were joined nobody asks any more: where a stretch of numbers has only
//! such ones, their entries go, so that a program may have any number of threads one
//! after the other.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use core::ptr;

use wmfix_trace::WaitsFor;

use crate::thread::Thread;

/// So many numbers share the memory of their entries.
const STRETCH: usize = 64;

/// A thread, as the scheduler sees it.
#[derive(Debug)]
pub(crate) struct ThreadEntry {
    pub(crate) thread: *mut Thread,
    pub(crate) handle: libc::pthread_t,
    pub(crate) status: Status,
    /// Where its detector is.
    pub(crate) detector: usize,
    /// Where it is, if it waits.
    pub(crate) context: u32,
    /// When it stops waiting, on the counted clock.
    pub(crate) deadline: Option<u64>,
    /// Whether it woke because the time had come.
    pub(crate) timed_out: bool,
    /// Whether somebody has joined or detached it.
    pub(crate) joined: bool,
    /// How often it has waited to be let go on by another thread.
    pub(crate) waits: u64,
}

/// What keeps a thread from going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Nothing.
    Runnable,
    /// It waits.
    Waiting(WaitsFor),
    /// It runs without the turn.
    Away,
    /// It has ended.
    Ended,
}

impl ThreadEntry {
    /// What there is to say of a thread that has ended and was joined.
    fn gone() -> Self {
        Self {
            thread: ptr::null_mut(),
            handle: 0,
            status: Status::Ended,
            detector: 0,
            context: 0,
            deadline: None,
            timed_out: false,
            joined: true,
            waits: 0,
        }
    }
}

/// What the scheduler knows of each thread.
#[derive(Debug)]
pub(crate) struct ThreadTable {
    /// Entries by number; a stretch without any is of threads that are gone.
    stretches: Vec<Vec<ThreadEntry>>,
    len: usize,
    /// What there is to say of a thread that is gone.
    gone: ThreadEntry,
    /// What is changed of one that is gone, and never looked at.
    changed: ThreadEntry,
}

impl ThreadTable {
    pub(crate) fn new() -> Self {
        Self {
            stretches: Vec::new(),
            len: 0,
            gone: ThreadEntry::gone(),
            changed: ThreadEntry::gone(),
        }
    }

    /// How many threads there were.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, entry: ThreadEntry) {
        if self.len.is_multiple_of(STRETCH) {
            self.stretches.push(Vec::with_capacity(STRETCH));
        }
        if let Some(last) = self.stretches.last_mut() {
            last.push(entry);
            self.len += 1;
        }
    }

    pub(crate) fn get(&self, number: usize) -> Option<&ThreadEntry> {
        (number < self.len).then(|| &self[number])
    }

    /// The entries that are left, with their numbers, in their order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &ThreadEntry)> {
        let stretches = self.stretches.iter().enumerate();
        stretches.flat_map(|(at, entries)| {
            let entries = entries.iter().enumerate();
            entries.map(move |(offset, entry)| ((at * STRETCH + offset) as u32, entry))
        })
    }

    /// A thread has ended and was joined.
    pub(crate) fn let_go(&mut self, number: usize) {
        let is_over = |entry: &ThreadEntry| {
            entry.status == Status::Ended && entry.joined && entry.thread.is_null()
        };
        let stretch = &mut self.stretches[number / STRETCH];
        if stretch.len() == STRETCH && stretch.iter().all(is_over) {
            *stretch = Vec::new();
        }
    }
}

impl Index<usize> for ThreadTable {
    type Output = ThreadEntry;

    #[inline]
    fn index(&self, number: usize) -> &ThreadEntry {
        debug_assert!(number < self.len);
        let stretch = &self.stretches[number / STRETCH];
        stretch.get(number % STRETCH).unwrap_or(&self.gone)
    }
}

impl IndexMut<usize> for ThreadTable {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut ThreadEntry {
        debug_assert!(number < self.len);
        let stretch = &mut self.stretches[number / STRETCH];
        match stretch.get_mut(number % STRETCH) {
            Some(entry) => entry,
            None => {
                self.changed = ThreadEntry::gone();
                &mut self.changed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(number: usize) -> ThreadEntry {
        ThreadEntry {
            status: Status::Runnable,
            handle: number as libc::pthread_t,
            thread: ptr::dangling_mut(),
            joined: false,
            ..ThreadEntry::gone()
        }
    }

    #[test]
    fn entries_of_threads_that_were_joined_go_together() {
        let mut table = ThreadTable::new();
        (0..3 * STRETCH).for_each(|number| table.push(live(number)));
        // All but the first and one in the last stretch.
        for number in (1..3 * STRETCH).filter(|&number| number != 2 * STRETCH + 5) {
            table[number].status = Status::Ended;
            table[number].joined = true;
            assert_eq!(table[number].handle, number as libc::pthread_t);
            table[number].thread = ptr::null_mut();
            table.let_go(number);
        }
        assert_eq!(table.len(), 3 * STRETCH);
        assert!(table.stretches[1].is_empty());
        let left: Vec<u32> = table.iter().map(|(number, _)| number).collect();
        assert_eq!(left.len(), 2 * STRETCH);
        assert_eq!(left[STRETCH], 2 * STRETCH as u32);
        let running = |(_, entry): &(u32, &ThreadEntry)| entry.status == Status::Runnable;
        let running: Vec<u32> = table.iter().filter(running).map(|one| one.0).collect();
        assert_eq!(running, [0, 2 * STRETCH as u32 + 5]);
        // Of those that are gone, what is true is said, and nothing can be changed.
        assert_eq!(table[STRETCH + 1].status, Status::Ended);
        table[STRETCH + 1].status = Status::Runnable;
        table[STRETCH + 2].handle = 7;
        assert_eq!(table[STRETCH + 3].handle, 0);
        assert!(table.get(3 * STRETCH).is_none());
        table.push(live(9));
        assert_eq!(table[3 * STRETCH].handle, 9);
    }
}
