//! Writes to atomic objects that no other thread sees: what is written is what was there,
//! as by a test-and-set that finds the lock taken; or the thread writes again before
//! anybody else looks, as one that announces a pointer and finds that it has changed.
//!
//! Without such a write every other thread reads the same values.

use std::collections::{HashMap, HashSet};

use wmfix_analysis::{Bytes, CasOutcome, Event, LocationId, Operation, ThreadId};

use super::access::{Access, has_overlaps};
use super::later_readers::LaterReaders;

/// The writes of a run that no other thread sees, by the numbers of their events.
#[derive(Debug, Default)]
pub(super) struct UnseenWrites(HashSet<usize>);

impl UnseenWrites {
    /// Finds them. `bytes_of` says where an object lies.
    pub(super) fn of(
        events: &[Event],
        bytes_of: impl Fn(LocationId) -> Option<Bytes> + Copy,
    ) -> Self {
        // Who looks at one object may see another that lies in the same memory.
        if has_overlaps(events, bytes_of) {
            return Self::default();
        }
        let mut readers = LaterReaders::default();
        for event in events {
            if let Operation::Read { bytes } = event.operation {
                readers.add(bytes, event.thread);
            }
        }
        let mut unseen = HashSet::new();
        let mut objects: HashMap<LocationId, Later> = HashMap::new();
        for (index, event) in events.iter().enumerate().rev() {
            let Some(access) = Access::of(&event.operation) else {
                continue;
            };
            let location = access.location();
            let later = objects.entry(location).or_default();
            if !access.writes(location) {
                later.look(event.thread);
                continue;
            }
            let bytes = bytes_of(location);
            let read_plainly = bytes.is_none_or(|bytes| readers.has_other(bytes, event.thread));
            if is_silent(&event.operation) {
                unseen.insert(index);
                later.look(event.thread);
                continue;
            }
            if !read_plainly && later.is_written_again(event.thread) {
                unseen.insert(index);
            }
            *later = Later::written(event.thread);
        }
        Self(unseen)
    }

    /// Whether the event is one.
    pub(super) fn contains(&self, index: usize) -> bool {
        self.0.contains(&index)
    }
}

/// Whether an operation writes what was there.
fn is_silent(operation: &Operation) -> bool {
    match *operation {
        Operation::Rmw { read, written, .. } => read == written,
        Operation::CompareExchange {
            read,
            outcome: CasOutcome::Exchanged(written),
            ..
        } => read == written,
        _ => false,
    }
}

/// What is done to an object after some point of the run, up to the next write.
#[derive(Clone, Copy, Debug, Default)]
struct Later {
    writer: Option<ThreadId>,
    reader: Option<ThreadId>,
    has_several_readers: bool,
}

impl Later {
    fn written(thread: ThreadId) -> Self {
        Self {
            writer: Some(thread),
            ..Self::default()
        }
    }

    fn look(&mut self, thread: ThreadId) {
        self.has_several_readers |= self.reader.is_some_and(|reader| reader != thread);
        self.reader = Some(thread);
    }

    /// Whether the thread writes again before anybody else looks.
    fn is_written_again(&self, thread: ThreadId) -> bool {
        self.writer == Some(thread)
            && !self.has_several_readers
            && self.reader.is_none_or(|reader| reader == thread)
    }
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::RmwOrder;

    use super::*;
    use crate::harm::sample_events::{self, apart, event, together};

    fn load(thread: u32, location: u32) -> Event {
        sample_events::load(thread, location, 0)
    }

    fn store(thread: u32, location: u32) -> Event {
        sample_events::store(thread, location, 1)
    }

    fn exchange(thread: u32, read: u64, written: u64) -> Event {
        let operation = Operation::Rmw {
            location: LocationId(0),
            order: RmwOrder::Relaxed,
            read,
            written,
            exit: None,
        };
        event(thread, operation)
    }

    fn unseen(events: &[Event]) -> Vec<usize> {
        let found = UnseenWrites::of(events, apart);
        (0..events.len())
            .filter(|&index| found.contains(index))
            .collect()
    }

    #[test]
    fn a_write_is_unseen_if_its_thread_writes_again_before_others_look() {
        assert_eq!(unseen(&[store(1, 0), store(1, 0), load(2, 0)]), [0]);
        assert_eq!(unseen(&[store(1, 0), load(1, 0), store(1, 0)]), [0]);
        assert_eq!(unseen(&[store(1, 0), load(2, 1), store(1, 0)]), [0]);
        assert_eq!(unseen(&[store(1, 0), load(2, 0), store(1, 0)]), [0; 0]);
        assert_eq!(unseen(&[store(1, 0), store(2, 0), store(1, 0)]), [0; 0]);
        let both = [store(1, 0), load(2, 0), load(1, 0), store(1, 0)];
        assert_eq!(unseen(&both), [0; 0]);
        // The last one stays for good.
        assert_eq!(unseen(&[store(1, 0)]), [0; 0]);
    }

    #[test]
    fn a_write_of_what_is_there_is_unseen() {
        assert_eq!(unseen(&[exchange(1, 1, 1), load(2, 0)]), [0]);
        assert_eq!(unseen(&[exchange(1, 0, 1), load(2, 0)]), [0; 0]);
        // It looks at what was there.
        let between = [store(1, 0), exchange(2, 1, 1), store(1, 0)];
        assert_eq!(unseen(&between), [1]);
    }

    #[test]
    fn plain_reads_and_objects_in_the_same_memory_count() {
        let bytes = Bytes {
            address: 4,
            size: 4,
        };
        let read = |thread| event(thread, Operation::Read { bytes });
        assert_eq!(unseen(&[store(1, 0), store(1, 0), read(1)]), [0]);
        assert_eq!(unseen(&[store(1, 0), read(2), store(1, 0)]), [0; 0]);
        let events = [store(1, 0), load(2, 1), store(1, 0)];
        let found = UnseenWrites::of(&events, together);
        assert!(!found.contains(0));
    }
}
