//! Whether a run with a stale value is one that an interleaving could have had if the
//! thread had been slower.
//!
//! A read took an old value. If the object has that value again before the thread does
//! anything that others could notice, the read could have come then, and with it what the
//! thread did since: as where a lock looked free, was taken meanwhile, and is free again
//! when the thread goes on. What the thread read since, it must have read then, too.

use std::collections::HashMap;

use wmfix_analysis::{Bytes, CasOutcome, Event, LocationId, Operation, ThreadId};

use super::access::{has_overlaps, written};
use super::later_readers::LaterReaders;
use super::unseen::UnseenWrites;

/// This many events after the read are searched.
const LOOK_AHEAD: usize = 100_000;

/// Whether the read at `at` could have come later in the run, with the value that it got.
/// `unseen` are the writes of the run that nobody else sees, `bytes_of` says where an
/// object lies.
pub(super) fn is_delayed(
    events: &[Event],
    at: usize,
    unseen: &UnseenWrites,
    bytes_of: impl Fn(LocationId) -> Option<Bytes>,
) -> bool {
    let end = events.len().min(at.saturating_add(LOOK_AHEAD));
    let Some((location, value)) = read(&events[at].operation) else {
        return false;
    };
    if has_overlaps(&events[at..end], bytes_of) {
        return false;
    }
    let before = events[..at].iter().rev();
    let mut writes = before.filter_map(|event| written(&event.operation));
    let newest = writes.find(|(written, _)| *written == location);
    if newest.is_some_and(|(_, newest)| newest == value) {
        return true;
    }
    let mut delay = Delay::of(events[at].thread, location, value);
    for (index, event) in events.iter().enumerate().take(end).skip(at + 1) {
        let goes_on = match event.thread == delay.thread {
            true => unseen.contains(index) || delay.own(&event.operation),
            false => delay.others(event),
        };
        if !goes_on {
            return false;
        }
        if delay.is_over() {
            return true;
        }
    }
    false
}

/// A thread that is held up from the read on.
struct Delay {
    thread: ThreadId,
    /// What it has read since, the first read included.
    reads: HashMap<LocationId, u64>,
    /// The plain memory that it has read or written since.
    accessed: LaterReaders,
    written: LaterReaders,
    /// The values of objects now, as far as they are known.
    values: HashMap<LocationId, u64>,
}

impl Delay {
    fn of(thread: ThreadId, location: LocationId, value: u64) -> Self {
        Self {
            thread,
            reads: HashMap::from([(location, value)]),
            accessed: LaterReaders::default(),
            written: LaterReaders::default(),
            values: HashMap::new(),
        }
    }

    /// Whether what the thread does here could have been done later.
    fn own(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::Read { bytes } => self.accessed.add(bytes, self.thread),
            Operation::Write { bytes } => {
                self.accessed.add(bytes, self.thread);
                self.written.add(bytes, self.thread);
            }
            Operation::Fence { .. } => {}
            operation => {
                let Some((location, value)) = read(&operation) else {
                    return false;
                };
                self.values.insert(location, value);
                let before = self.reads.insert(location, value);
                // Two values of one object are not read at the same time.
                return before.is_none_or(|before| before == value);
            }
        }
        true
    }

    /// Whether the thread may still be held up when another one does this.
    fn others(&mut self, event: &Event) -> bool {
        self.values.extend(written(&event.operation));
        match event.operation {
            Operation::Read { bytes } => !self.written.has_other(bytes, event.thread),
            Operation::Write { bytes } | Operation::Death { bytes } => {
                !self.accessed.has_other(bytes, event.thread)
            }
            _ => true,
        }
    }

    /// Whether everything that it has read is there.
    fn is_over(&self) -> bool {
        let is_there = |(location, value)| self.values.get(location) == Some(value);
        self.reads.iter().all(is_there)
    }
}

/// What an operation that only reads has read.
fn read(operation: &Operation) -> Option<(LocationId, u64)> {
    match *operation {
        Operation::Load {
            location, value, ..
        } => Some((location, value)),
        Operation::CompareExchange {
            location,
            read,
            outcome: CasOutcome::Failed,
            ..
        } => Some((location, read)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harm::sample_events::{apart, event, load, store, together};

    const LOCK: u32 = 0;
    const OTHER: u32 = 1;

    /// Thread 1 reads 0 at event 1, which thread 2 has written over with 1.
    fn is_late(then: &[Event]) -> bool {
        let events = [&[store(2, LOCK, 1), load(1, LOCK, 0)], then].concat();
        let apart = |location: LocationId| {
            let address = 1000 + 8 * u64::from(location.0);
            Some(Bytes { address, size: 8 })
        };
        is_delayed(&events, 1, &UnseenWrites::default(), apart)
    }

    #[test]
    fn a_value_that_comes_back_before_the_thread_acts_is_read_then() {
        assert!(is_late(&[store(2, LOCK, 0), store(1, LOCK, 1)]));
        assert!(!is_late(&[store(1, OTHER, 1), store(2, LOCK, 0)]));
        assert!(!is_late(&[store(2, LOCK, 2), store(1, LOCK, 1)]));
        assert!(!is_late(&[]));
    }

    #[test]
    fn what_was_read_since_must_be_there_too() {
        let look = load(1, OTHER, 5);
        assert!(is_late(&[look, store(2, LOCK, 0)]));
        assert!(!is_late(&[look, store(2, OTHER, 6), store(2, LOCK, 0)]));
        let back = [
            look,
            store(2, OTHER, 6),
            store(2, LOCK, 0),
            store(2, OTHER, 5),
        ];
        assert!(is_late(&back));
        assert!(!is_late(&[load(1, LOCK, 1), store(2, LOCK, 0)]));
    }

    #[test]
    fn plain_memory_must_not_change_hands_meanwhile() {
        let bytes = Bytes {
            address: 64,
            size: 8,
        };
        let read = |thread| event(thread, Operation::Read { bytes });
        let write = |thread| event(thread, Operation::Write { bytes });
        let free = store(2, LOCK, 0);
        assert!(is_late(&[read(1), read(2), free]));
        assert!(!is_late(&[read(1), write(2), free]));
        assert!(!is_late(&[write(1), read(2), free]));
        assert!(is_late(&[write(1), free, read(2)]));
    }

    #[test]
    fn a_newer_write_of_the_same_value_makes_no_difference() {
        let events = [
            store(2, LOCK, 1),
            store(2, LOCK, 0),
            load(1, LOCK, 0),
            store(1, OTHER, 1),
        ];
        assert!(is_delayed(&events, 2, &UnseenWrites::default(), apart));
        assert!(!is_delayed(&events, 2, &UnseenWrites::default(), together));
    }
}
