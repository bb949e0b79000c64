//! The run that is nearest to one with a stale value and has none: the thread came to the
//! read before the newer write was made.
//!
//! What the thread did between the newer write and the read comes before that write,
//! with what it needed: writes that it read or wrote over, locks, threads that were
//! started or had ended. Who had read an object before the thread wrote it reads the new
//! value now, as on the other side of a store buffer. Where that other value is as good to
//! him, the run does what the one with the stale value did, and sequential consistency has
//! it.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use wmfix_analysis::{Bytes, Event, LocationId, LockId, Operation, ThreadId};

use crate::harm::access::Access;

/// The order of the events in which the read at `at` comes before the write at `newer`;
/// `None` if it cannot: it needs that write for something else.
pub(super) fn earlier_order(events: &[Event], newer: usize, at: usize) -> Option<Vec<usize>> {
    let needed = needed(&events[newer..=at])?;
    let is_needed = |index: &usize| *index < newer || needed.contains(&(index - newer));
    let (first, then): (Vec<usize>, Vec<usize>) = (0..=at).partition(is_needed);
    let order = first.into_iter().chain(then).chain(at + 1..events.len());
    Some(order.collect())
}

/// Which of these events the last one needs, itself included, without what it reads. `None`
/// if it needs the first.
fn needed(events: &[Event]) -> Option<HashSet<usize>> {
    let last = events.len() - 1;
    let mut needs = Needs::default();
    needs.threads.insert(events[last].thread);
    let mut found = HashSet::from([last]);
    for (index, event) in events.iter().enumerate().take(last).rev() {
        if needs.include(event) {
            if index == 0 {
                return None;
            }
            needs.add(event);
            found.insert(index);
        }
    }
    Some(found)
}

/// What events need of those before them.
#[derive(Default)]
struct Needs {
    /// Threads that must have come this far.
    threads: HashSet<ThreadId>,
    /// Objects that are read or written.
    objects: HashSet<LocationId>,
    /// Plain memory that is read or written, and that is written.
    accessed: Memory,
    written: Memory,
    locks: HashSet<LockId>,
}

impl Needs {
    /// Whether an event is among what is needed.
    fn include(&self, event: &Event) -> bool {
        if self.threads.contains(&event.thread) {
            return true;
        }
        match event.operation {
            Operation::Write { bytes } | Operation::Death { bytes } => self.accessed.has(bytes),
            // Noted at the first access, whoever makes it.
            Operation::Birth { .. } => false,
            Operation::Read { bytes } => self.written.has(bytes),
            Operation::Acquire { lock, .. } | Operation::Release { lock, .. } => {
                self.locks.contains(&lock)
            }
            Operation::Create { child } => self.threads.contains(&child),
            operation => Access::of(&operation).is_some_and(|access| {
                let location = access.location();
                access.writes(location) && self.objects.contains(&location)
            }),
        }
    }

    /// Adds what an event needs itself.
    fn add(&mut self, event: &Event) {
        let thread = event.thread;
        self.threads.insert(thread);
        match event.operation {
            Operation::Read { bytes } | Operation::Birth { bytes, .. } => self.accessed.add(bytes),
            Operation::Write { bytes } | Operation::Death { bytes } => {
                self.accessed.add(bytes);
                self.written.add(bytes);
            }
            Operation::Acquire { lock, .. } | Operation::Release { lock, .. } => {
                self.locks.insert(lock);
            }
            Operation::Join { child } => {
                self.threads.insert(child);
            }
            operation => {
                let access = Access::of(&operation);
                self.objects.extend(access.map(Access::location));
            }
        }
    }
}

/// Plain memory, to the byte: neighbours in a buffer belong to different threads.
#[derive(Default)]
struct Memory {
    /// The addresses of small accesses.
    bytes: BTreeSet<u64>,
    /// Others, such as a stack that is left.
    ranges: Vec<Range<u64>>,
}

impl Memory {
    fn add(&mut self, bytes: Bytes) {
        const MOST_SINGLE_BYTES: u64 = 256;
        let range = range(bytes);
        if bytes.size <= MOST_SINGLE_BYTES {
            self.bytes.extend(range);
        } else if !self.ranges.contains(&range) {
            self.ranges.push(range);
        }
    }

    fn has(&self, bytes: Bytes) -> bool {
        let range = range(bytes);
        let meets = |other: &Range<u64>| other.start < range.end && range.start < other.end;
        self.bytes.range(range.clone()).next().is_some() || self.ranges.iter().any(meets)
    }
}

fn range(bytes: Bytes) -> Range<u64> {
    bytes.address..bytes.address.saturating_add(bytes.size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harm::sample_events::{self, event};

    const X: u32 = 0;
    const Y: u32 = 1;

    fn write(thread: u32, address: u64) -> Event {
        let bytes = Bytes { address, size: 4 };
        event(thread, Operation::Write { bytes })
    }

    fn load(thread: u32, location: u32) -> Event {
        sample_events::load(thread, location, 0)
    }

    fn store(thread: u32, location: u32) -> Event {
        sample_events::store(thread, location, 1)
    }

    fn earlier(events: &[Event]) -> Option<Vec<usize>> {
        earlier_order(events, 0, events.len() - 1)
    }

    #[test]
    fn the_other_side_of_a_store_buffer_reads_the_new_value() {
        // Thread 0 writes X and reads Y; thread 1 writes Y and reads the old X.
        let events = [store(0, X), load(0, Y), store(1, Y), load(1, X)];
        assert_eq!(earlier(&events), Some(vec![2, 3, 0, 1]));
    }

    #[test]
    fn what_was_read_must_have_been_written() {
        // Thread 1 has read what thread 0 wrote after X: no run without X has that.
        let events = [store(0, X), store(0, Y), load(1, Y), load(1, X)];
        assert_eq!(earlier(&events), None);
        // What thread 2 wrote comes along.
        let events = [store(0, X), store(2, Y), load(1, Y), load(1, X), load(2, X)];
        let order = earlier_order(&events, 0, 3).unwrap();
        assert_eq!(order, [1, 2, 3, 0, 4]);
    }

    #[test]
    fn the_order_of_writes_and_of_plain_memory_stays() {
        let events = [store(0, X), store(0, Y), store(1, Y), load(1, X)];
        assert_eq!(earlier(&events), None);
        let events = [store(0, X), write(0, 640), write(1, 640), load(1, X)];
        assert_eq!(earlier(&events), None);
        let neighbours = [store(0, X), write(0, 640), write(1, 644), load(1, X)];
        assert_eq!(earlier(&neighbours), Some(vec![2, 3, 0, 1]));
    }

    #[test]
    fn locks_and_the_ends_of_threads_are_waited_for() {
        let lock = LockId(0);
        let acquire = |thread| {
            let mode = wmfix_analysis::LockMode::Exclusive;
            event(thread, Operation::Acquire { lock, mode })
        };
        let release = |thread| {
            let mode = wmfix_analysis::LockMode::Exclusive;
            event(thread, Operation::Release { lock, mode })
        };
        let events = [store(0, X), release(0), acquire(1), load(1, X)];
        assert_eq!(earlier(&events), None);
        let exit = event(0, Operation::Exit);
        let join = event(1, Operation::Join { child: ThreadId(0) });
        assert_eq!(earlier(&[store(0, X), exit, join, load(1, X)]), None);
    }
}
