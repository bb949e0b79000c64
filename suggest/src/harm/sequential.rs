//! Whether a run with a stale value is one that an interleaving could have had, but for
//! attempts that were given up.
//!
//! A read took an old write although a newer one was there. Under sequential consistency
//! it can only have come before the newer one, and that is possible unless something leads
//! from the newer write to the read: program order, the order of writes, reads of them,
//! locks. All of that goes forward in the run, so it is followed from the newer write on.
//!
//! An attempt that failed leads nowhere: a thread that read, did nothing that another
//! thread could notice, and came to the same place with the same object again might as well
//! have come to it later. A run without such an attempt is a run of the program, too, and
//! if the stale value is at home in that one, nothing came of it that sequential
//! consistency does not have. (What an attempt kept for later is not seen here, as for
//! values that are thrown away; what comes of it the test may see.)

use std::collections::{HashMap, HashSet};

use wmfix_analysis::{Bytes, Event, LocationId, LockId, Operation, SiteId, ThreadId};

use super::access::{Access, has_overlaps};
use super::later_readers::{LaterReaders, MOST_BYTES, granules};
use super::unseen::UnseenWrites;

/// This many events before the newer write, and after the read, are searched for attempts
/// that were given up.
const LOOK_AROUND: usize = 100_000;

/// Whether the read at `at`, which took the write of the event `writer` (the first value if
/// there is none), could have come before the next write. `unseen` are the writes of the
/// run that nobody else sees, `bytes_of` says where an object lies.
pub(super) fn is_sequential(
    events: &[Event],
    at: usize,
    writer: Option<usize>,
    unseen: &UnseenWrites,
    bytes_of: impl Fn(LocationId) -> Option<Bytes>,
) -> bool {
    let Some(Access::Read(location)) = Access::of(&events[at].operation) else {
        return false;
    };
    let Some(newer) = next_write(&events[..at], location, writer) else {
        return false;
    };
    if has_overlaps(&events[newer..=at], bytes_of) {
        return false;
    }
    let given_up = given_up(events, newer, at, unseen);
    let mut reached = Reached::default();
    reached.threads.insert(events[newer].thread);
    reached.pass(&events[newer]);
    for (index, event) in events.iter().enumerate().take(at).skip(newer + 1) {
        if !given_up.contains(&index) {
            reached.pass(event);
        }
    }
    !reached.threads.contains(&events[at].thread)
}

/// The first write of the object after this one, or after its first value.
pub(super) fn next_write(
    events: &[Event],
    location: LocationId,
    writer: Option<usize>,
) -> Option<usize> {
    let born = |event: &Event| matches!(event.operation, Operation::Birth { location: here, .. } if here == location);
    let after = writer.or_else(|| events.iter().rposition(born));
    let start = after.map_or(0, |index| index + 1);
    let writes =
        |event: &Event| Access::of(&event.operation).is_some_and(|one| one.writes(location));
    let found = events.get(start..)?.iter().position(writes)?;
    Some(start + found)
}

/// What the newer write leads to.
#[derive(Debug, Default)]
struct Reached {
    threads: HashSet<ThreadId>,
    objects: HashMap<LocationId, Marks>,
    granules: HashMap<u64, Marks>,
    locks: HashSet<LockId>,
    /// More memory than is looked at one by one was accessed: all of it counts.
    all_memory: bool,
}

/// Which accesses of some memory are reached.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    read: bool,
    written: bool,
}

impl Marks {
    /// An access by a thread: whether it is reached, which is what its thread is then.
    fn access(&mut self, reached: bool, reads: bool, writes: bool) -> bool {
        let reached = reached || self.written || writes && self.read;
        self.read |= reached && reads;
        self.written |= reached && writes;
        reached
    }
}

impl Reached {
    /// Follows what is reached through an event.
    fn pass(&mut self, event: &Event) {
        // A round of a loop that waits: nothing has happened.
        if event.operation.stays_in_loop() {
            return;
        }
        let thread = event.thread;
        let mut reached = self.threads.contains(&thread);
        match event.operation {
            Operation::Create { child } if reached => {
                self.threads.insert(child);
            }
            Operation::Join { child } => reached |= self.threads.contains(&child),
            Operation::Acquire { lock, .. } | Operation::Release { lock, .. } => {
                reached |= self.locks.contains(&lock);
                if reached {
                    self.locks.insert(lock);
                }
            }
            Operation::Read { bytes } => reached = self.plain(bytes, reached, false),
            Operation::Write { bytes } | Operation::Death { bytes } => {
                reached = self.plain(bytes, reached, true);
            }
            Operation::Birth {
                bytes, location, ..
            } => {
                reached = self.plain(bytes, reached, true);
                let marks = self.objects.entry(location).or_default();
                reached = marks.access(reached, false, true);
            }
            operation => {
                let (location, reads, writes) = match Access::of(&operation) {
                    Some(Access::Read(location)) => (location, true, false),
                    Some(Access::Write(location)) => (location, false, true),
                    Some(Access::ReadAndWrite(location)) => (location, true, true),
                    None => return,
                };
                let marks = self.objects.entry(location).or_default();
                reached = marks.access(reached, reads, writes);
            }
        }
        if reached {
            self.threads.insert(thread);
        }
    }

    fn plain(&mut self, bytes: Bytes, reached: bool, writes: bool) -> bool {
        if self.all_memory || bytes.size > MOST_BYTES {
            let reached = reached || self.all_memory || !self.granules.is_empty();
            self.all_memory |= reached;
            return reached;
        }
        let granules = || granules(bytes);
        let meets = |granule: u64| {
            let marks = self.granules.get(&granule).copied().unwrap_or_default();
            marks.written || writes && marks.read
        };
        let reached = reached || granules().any(meets);
        if reached {
            for granule in granules() {
                let marks = self.granules.entry(granule).or_default();
                marks.access(true, !writes, writes);
            }
        }
        reached
    }
}

/// The events between the newer write and the read that belong to attempts that were given
/// up.
fn given_up(events: &[Event], newer: usize, at: usize, unseen: &UnseenWrites) -> HashSet<usize> {
    let start = newer.saturating_sub(LOOK_AROUND);
    let end = events.len().min(at.saturating_add(LOOK_AROUND));
    let is_unseen = |index: usize| unseen.contains(start + index);
    let ends = ends_of_attempts(&events[start..end], is_unseen);
    let mut until: HashMap<ThreadId, usize> = HashMap::new();
    let mut found = HashSet::new();
    for (index, event) in events.iter().enumerate().take(at).skip(start) {
        let until = until.entry(event.thread).or_default();
        let end = ends.get(&(index - start)).map_or(0, |end| start + end);
        *until = end.max(*until);
        if index < *until && index > newer {
            found.insert(index);
        }
    }
    found
}

/// For each read that begins an attempt that was given up, the event that begins the next
/// one: the same thread reads the same object at the same place and has done nothing in
/// between that others could notice.
fn ends_of_attempts(events: &[Event], is_unseen: impl Fn(usize) -> bool) -> HashMap<usize, usize> {
    let mut ends = HashMap::new();
    let mut next: HashMap<ThreadId, HashMap<(SiteId, LocationId), usize>> = HashMap::new();
    let mut readers = LaterReaders::default();
    for (index, event) in events.iter().enumerate().rev() {
        let next = next.entry(event.thread).or_default();
        match event.operation {
            Operation::Read { bytes } => readers.add(bytes, event.thread),
            Operation::Fence { .. } => {}
            operation if operation.stays_in_loop() => {}
            Operation::Write { bytes } if !readers.has_other(bytes, event.thread) => {}
            Operation::Death { bytes } => {
                readers.forget(bytes);
                next.clear();
            }
            operation => match Access::of(&operation) {
                Some(Access::Read(location)) => {
                    let again = next.insert((event.site, location), index);
                    ends.extend(again.map(|again| (index, again)));
                }
                _ if is_unseen(index) => {}
                _ => next.clear(),
            },
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::{LockMode, RmwOrder};

    use super::*;
    use crate::harm::sample_events::{self, apart, at, together};

    const X: LocationId = LocationId(0);
    const Y: LocationId = LocationId(1);

    fn event(thread: u32, site: u32, operation: Operation) -> Event {
        at(site, sample_events::event(thread, operation))
    }

    fn load(thread: u32, site: u32, location: LocationId) -> Event {
        at(site, sample_events::load(thread, location.0, 0))
    }

    fn store(thread: u32, site: u32, location: LocationId) -> Event {
        at(site, sample_events::store(thread, location.0, 1))
    }

    fn is_at_home(events: &[Event], at: usize) -> bool {
        is_sequential_after(events, at, None, apart)
    }

    fn is_sequential_after(
        events: &[Event],
        at: usize,
        writer: Option<usize>,
        bytes_of: impl Fn(LocationId) -> Option<Bytes> + Copy,
    ) -> bool {
        let unseen = UnseenWrites::of(events, bytes_of);
        is_sequential(events, at, writer, &unseen, bytes_of)
    }

    #[test]
    fn a_read_before_the_newer_write_is_at_home_unless_that_leads_to_it() {
        // Nothing leads from the write to the read.
        assert!(is_at_home(&[store(1, 1, X), load(2, 2, X)], 1));
        // Message passing.
        let message = [store(1, 1, X), store(1, 2, Y), load(2, 3, Y), load(2, 4, X)];
        assert!(!is_at_home(&message, 3));
        // Store buffering: both reads count.
        let buffering = [
            load(2, 4, Y),
            store(1, 1, X),
            load(1, 2, Y),
            store(2, 3, Y),
            load(2, 5, X),
        ];
        assert!(!is_at_home(&buffering, 4));
    }

    #[test]
    fn an_attempt_that_was_given_up_leads_nowhere() {
        let look = load(1, 2, Y);
        let buffering = [store(1, 1, X), look, store(2, 3, Y), load(2, 5, X)];
        assert!(!is_at_home(&buffering, 3));
        // The thread looks again, as a consumer does that found nothing.
        let again = [&buffering[..], &[look]].concat();
        assert!(is_at_home(&again, 3));
        // It looks elsewhere, or tells somebody before it looks again.
        let elsewhere = [&buffering[..], &[load(1, 9, Y)]].concat();
        assert!(!is_at_home(&elsewhere, 3));
        let told = [&buffering[..], &[store(1, 7, LocationId(2)), look]].concat();
        assert!(!is_at_home(&told, 3));
    }

    #[test]
    fn what_others_read_of_an_attempt_counts() {
        let bytes = Bytes {
            address: 64,
            size: 4,
        };
        let write = event(1, 7, Operation::Write { bytes });
        let look = load(1, 2, Y);
        let run = [
            store(1, 1, X),
            look,
            store(2, 3, Y),
            load(2, 5, X),
            write,
            look,
        ];
        assert!(is_at_home(&run, 3));
        let read = event(2, 8, Operation::Read { bytes });
        assert!(!is_at_home(&[&run[..], &[read]].concat(), 3));
        let death = event(1, 9, Operation::Death { bytes });
        assert!(is_at_home(&[&run[..], &[death, read]].concat(), 3));
    }

    #[test]
    fn locks_threads_plain_memory_and_exchanges_lead_on() {
        let bytes = Bytes {
            address: 64,
            size: 4,
        };
        let lock = (LockId(1), LockMode::Exclusive);
        let (lock, mode) = lock;
        let child = ThreadId(2);
        let exchange = |thread| {
            let (order, read, written) = (RmwOrder::Relaxed, 0, 1);
            let operation = Operation::Rmw {
                location: Y,
                order,
                read,
                written,
                exit: None,
            };
            event(thread, 3, operation)
        };
        for pair in [
            [
                Operation::Release { lock, mode },
                Operation::Acquire { lock, mode },
            ],
            [
                Operation::Create { child },
                Operation::Fence {
                    order: wmfix_analysis::FenceOrder::Acquire,
                },
            ],
            [Operation::Write { bytes }, Operation::Read { bytes }],
            [Operation::Read { bytes }, Operation::Write { bytes }],
        ] {
            let [one, other] = pair;
            let run = [
                store(1, 1, X),
                event(1, 2, one),
                event(2, 3, other),
                load(2, 5, X),
            ];
            assert!(!is_at_home(&run, 3), "{pair:?}");
            assert!(
                is_at_home(&[run[0], run[2], run[1], run[3]], 3)
                    || matches!(one, Operation::Create { .. })
            );
        }
        assert!(!is_at_home(
            &[store(1, 1, X), exchange(1), exchange(2), load(2, 5, X)],
            3
        ));
        let joined = event(2, 3, Operation::Join { child: ThreadId(1) });
        assert!(!is_at_home(&[store(1, 1, X), joined, load(2, 5, X)], 2));
    }

    #[test]
    fn objects_that_meet_in_memory_are_not_told_apart() {
        let run = [store(1, 1, X), load(2, 3, Y), load(2, 2, X)];
        assert!(is_at_home(&run, 2));
        assert!(!is_sequential_after(&run, 2, None, together));
        assert!(!is_sequential_after(&run, 2, None, |_| None));
    }

    #[test]
    fn only_reads_are_at_home_elsewhere() {
        assert!(!is_at_home(&[store(1, 1, X), store(2, 2, X)], 1));
        // There is no newer write.
        assert!(!is_at_home(&[store(1, 1, Y), load(2, 2, X)], 1));
        let twice = [store(1, 1, X), store(1, 1, X), load(2, 2, X)];
        assert!(is_sequential_after(&twice, 2, Some(0), apart));
        assert!(!is_sequential_after(&twice, 2, Some(1), apart));
    }
}
