//! Whether a thread threw a stale value away: it came to the same place again, read
//! the object again into the same variable, or was told the new value by a
//! compare-exchange that failed, before it did anything that another thread could
//! notice.
//!
//! The same place or variable: then what held the stale value holds the new one. A
//! copy that was kept elsewhere and used later is not seen here; what comes of it
//! the test may see.

use std::collections::HashMap;
use std::sync::Mutex;

use wmfix_analysis::{Bytes, CasOutcome, Event, Operation, SiteId};

use super::unseen::UnseenWrites;
use crate::observe::Places;

/// Whether the thread of the access at `at`, which took an old write, threw it away.
/// `unseen` are the writes of the run that nobody else sees, `is_same_variable` says
/// whether two reads are assigned to one variable.
pub(super) fn is_discarded(
    events: &[Event],
    at: usize,
    unseen: &UnseenWrites,
    is_same_variable: impl Fn(SiteId, SiteId) -> bool,
) -> bool {
    let access = &events[at];
    let Some(location) = read_location(&access.operation) else {
        return false;
    };
    let mut later_uses = LaterUses::default();
    let mut new_blocks = NewBlocks::default();
    let own =
        (events.iter().enumerate().skip(at + 1)).filter(|(_, event)| event.thread == access.thread);
    for (index, event) in own {
        if event.site == access.site {
            return true;
        }
        match event.operation {
            _ if unseen.contains(index) => {}
            Operation::CompareExchange {
                location: here,
                outcome: CasOutcome::Failed,
                ..
            } if here == location => return true,
            Operation::Load { location: here, .. }
                if here == location && is_same_variable(access.site, event.site) =>
            {
                return true;
            }
            Operation::Write { bytes }
                if later_uses.is_read_by_others(events, index, bytes)
                    && !new_blocks.hold(events, at, bytes) =>
            {
                return false;
            }
            Operation::Store { .. }
            | Operation::Rmw { .. }
            | Operation::CompareExchange {
                outcome: CasOutcome::Exchanged(_),
                ..
            }
            | Operation::Create { .. }
            | Operation::Exit
            | Operation::Release { .. } => return false,
            _ => {}
        }
    }
    false
}

/// Whether the text assigns the values of two reads to one variable of one function.
pub(super) fn is_same_variable(places: &Mutex<Places>, one: SiteId, other: SiteId) -> bool {
    let mut places = places.lock().expect("no panic while locked");
    let mut variable = |site: SiteId| {
        let place = places.get(site).clone();
        let start = place.shown()?.span.start;
        let point = place.point?;
        let text = &places.sources.file(&point.file)?.text;
        let name = assigned(text.get(..start)?)?.to_vec();
        Some((point.file, place.function, name))
    };
    let first = variable(one);
    first.is_some() && first == variable(other)
}

/// The variable that an expression after this text is assigned to.
fn assigned(before: &[u8]) -> Option<&[u8]> {
    let before = before.trim_ascii_end().strip_suffix(b"=")?.trim_ascii_end();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = before.iter().rev().take_while(|byte| is_name(byte)).count();
    let (rest, name) = before.split_at(before.len() - length);
    // A member or an element is no variable of the function.
    let is_part = rest.ends_with(b".") || rest.ends_with(b"->") || rest.ends_with(b"*");
    let starts_well = name.first().is_some_and(|byte| !byte.is_ascii_digit());
    (starts_well && !is_part).then_some(name)
}

/// The location of an access that only reads.
fn read_location(operation: &Operation) -> Option<wmfix_analysis::LocationId> {
    match *operation {
        Operation::Load { location, .. }
        | Operation::CompareExchange {
            location,
            outcome: CasOutcome::Failed,
            ..
        } => Some(location),
        _ => None,
    }
}

/// What becomes of bytes that a thread writes: remembered, because a thread that
/// waits may write the same ones in every round.
#[derive(Default)]
struct LaterUses {
    /// By address and size: up to which event the answer holds, and the answer.
    known: HashMap<(u64, u64), (usize, bool)>,
}

impl LaterUses {
    /// Whether another thread reads these bytes after the event, before they are
    /// written again or given back.
    fn is_read_by_others(&mut self, events: &[Event], at: usize, bytes: Bytes) -> bool {
        let key = (bytes.address, bytes.size);
        if let Some(&(until, answer)) = self.known.get(&key)
            && at < until
        {
            return answer;
        }
        let found = next_use(events, at, bytes);
        self.known.insert(key, found);
        found.1
    }
}

/// Blocks of memory that were handed out after the access. They are like variables of
/// the thread: others come to them only by what the thread does later, and before it
/// has looked again it does nothing that others could notice.
#[derive(Default)]
struct NewBlocks {
    known: Vec<(Bytes, bool)>,
}

impl NewBlocks {
    /// Whether bytes that the thread writes after the event `at` belong to one: they
    /// are given back later, with a block that nobody had touched before.
    fn hold(&mut self, events: &[Event], at: usize, bytes: Bytes) -> bool {
        let known = self.known.iter();
        let mut holding = known.filter(|(block, _)| overlap(*block, bytes));
        if let Some(&(_, is_new)) = holding.next() {
            return is_new;
        }
        let (before, after) = events.split_at(at);
        let ends = after.iter().find_map(|event| match event.operation {
            Operation::Death { bytes: block } if overlap(block, bytes) => Some(block),
            _ => None,
        });
        let touches = |block: Bytes| {
            before.iter().any(|event| match event.operation {
                Operation::Read { bytes }
                | Operation::Write { bytes }
                | Operation::Birth { bytes, .. } => overlap(block, bytes),
                _ => false,
            })
        };
        let is_new = ends.is_some_and(|block| !touches(block));
        self.known.push((ends.unwrap_or(bytes), is_new));
        is_new
    }
}

fn overlap(one: Bytes, other: Bytes) -> bool {
    other.address < one.address + one.size && one.address < other.address + other.size
}

fn covers(one: Bytes, other: Bytes) -> bool {
    one.address <= other.address && other.address + other.size <= one.address + one.size
}

/// The event after this one that decides about its bytes, and whether another thread
/// reads them there.
fn next_use(events: &[Event], at: usize, bytes: Bytes) -> (usize, bool) {
    let writer = events[at].thread;
    let overlaps = |other: Bytes| overlap(other, bytes);
    for (index, event) in events.iter().enumerate().skip(at + 1) {
        match event.operation {
            Operation::Death { bytes } if overlaps(bytes) => return (index, false),
            // As the next element of a list is, when the exchange has failed.
            Operation::Write { bytes: again } if event.thread == writer && covers(again, bytes) => {
                return (index, false);
            }
            Operation::Read { bytes } if event.thread != writer && overlaps(bytes) => {
                return (index, true);
            }
            _ => {}
        }
    }
    (usize::MAX, false)
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::{LoadOrder, LocationId, LockId, LockMode, ThreadId};

    use super::*;
    use crate::harm::sample_events::{self, at};

    fn discards(events: &[Event]) -> bool {
        let unseen = UnseenWrites::of(events, apart);
        is_discarded(events, 0, &unseen, |one, other| one.0 + other.0 == 100)
    }

    fn apart(location: LocationId) -> Option<Bytes> {
        let address = 1000 + 8 * u64::from(location.0);
        Some(Bytes { address, size: 8 })
    }

    fn event(thread: u32, site: u32, operation: Operation) -> Event {
        at(site, sample_events::event(thread, operation))
    }

    fn load(thread: u32, site: u32, location: u32) -> Event {
        at(site, sample_events::load(thread, location, 0))
    }

    fn store(thread: u32, site: u32) -> Event {
        at(site, sample_events::store(thread, 9, 1))
    }

    fn cas(site: u32, location: u32, outcome: CasOutcome) -> Event {
        let operation = Operation::CompareExchange {
            location: LocationId(location),
            success: wmfix_analysis::RmwOrder::Relaxed,
            failure: LoadOrder::Relaxed,
            strength: wmfix_analysis::CasStrength::Strong,
            expected: 0,
            read: 1,
            outcome,
            blocking: false,
        };
        event(1, site, operation)
    }

    const DATA: Bytes = Bytes {
        address: 64,
        size: 8,
    };

    #[test]
    fn a_second_look_discards_unless_something_could_be_noticed_before() {
        let look = load(1, 5, 0);
        assert!(discards(&[look, load(1, 6, 1), look]));
        assert!(discards(&[look, store(2, 7), look]));
        assert!(!discards(&[look]));
        assert!(!discards(&[look, store(1, 7), look]));
        // What it has stored is gone before anybody looks.
        let again = [look, store(1, 7), look, store(1, 7), load(2, 8, 9)];
        assert!(discards(&again));
        let seen = [look, store(1, 7), look, load(2, 8, 9), store(1, 7)];
        assert!(!discards(&seen));
        let unlock = Operation::Release {
            lock: LockId(1),
            mode: LockMode::Exclusive,
        };
        for effect in [
            unlock,
            Operation::Exit,
            Operation::Create { child: ThreadId(3) },
        ] {
            assert!(!discards(&[look, event(1, 7, effect), look]));
        }
    }

    #[test]
    fn a_failed_exchange_on_the_same_location_tells_the_new_value() {
        let look = load(1, 5, 0);
        assert!(discards(&[look, cas(6, 0, CasOutcome::Failed)]));
        assert!(!discards(&[look, cas(6, 3, CasOutcome::Failed)]));
        let exchanged = cas(6, 0, CasOutcome::Exchanged(2));
        assert!(!discards(&[look, exchanged, look]));
        let failed = cas(6, 0, CasOutcome::Failed);
        assert!(discards(&[failed, look, exchanged]));
    }

    #[test]
    fn a_second_read_into_the_same_variable_discards() {
        let look = load(1, 5, 0);
        assert!(discards(&[look, load(1, 95, 0)]));
        assert!(!discards(&[look, load(1, 95, 1)]));
        assert!(!discards(&[look, load(1, 96, 0)]));
    }

    #[test]
    fn the_variable_of_an_assignment_is_read_from_the_text() {
        for (text, name) in [
            ("size_t at = ", Some("at")),
            ("  at=", Some("at")),
            ("if ((at =\n", Some("at")),
            ("a->at = ", None),
            ("this.at = ", None),
            ("*at = ", None),
            ("at == ", None),
            ("at <= ", None),
            ("f(", None),
        ] {
            let expected = name.map(str::as_bytes);
            assert_eq!(assigned(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_plain_write_counts_if_another_thread_reads_it() {
        let (look, write) = (load(1, 5, 0), event(1, 8, Operation::Write { bytes: DATA }));
        let read = |thread| event(thread, 9, Operation::Read { bytes: DATA });
        assert!(discards(&[look, write, look]));
        assert!(discards(&[look, write, look, read(1)]));
        assert!(!discards(&[look, write, look, read(2)]));
        let death = event(1, 9, Operation::Death { bytes: DATA });
        assert!(discards(&[look, write, look, death, read(2)]));
        // What was written is gone before anybody looks.
        assert!(discards(&[look, write, look, write, read(2)]));
        assert!(!discards(&[look, write, look, read(2), write]));
        let half = Bytes { size: 4, ..DATA };
        let half = event(1, 8, Operation::Write { bytes: half });
        assert!(!discards(&[look, write, look, half, read(2)]));
        let by_other = event(2, 8, Operation::Write { bytes: DATA });
        assert!(!discards(&[look, write, look, by_other, read(2)]));
    }

    #[test]
    fn a_block_that_was_handed_out_since_is_the_threads_own() {
        let (look, write) = (load(1, 5, 0), event(1, 8, Operation::Write { bytes: DATA }));
        let read = event(2, 9, Operation::Read { bytes: DATA });
        let block = Bytes {
            address: 60,
            size: 40,
        };
        let end = event(2, 9, Operation::Death { bytes: block });
        assert!(discards(&[look, write, look, read, end]));
        let earlier = Bytes {
            address: 96,
            size: 4,
        };
        let touch = event(3, 9, Operation::Write { bytes: earlier });
        let events = [touch, look, write, look, read, end];
        assert!(!is_discarded(
            &events,
            1,
            &UnseenWrites::default(),
            |_, _| false
        ));
        let elsewhere = event(
            3,
            9,
            Operation::Write {
                bytes: Bytes {
                    address: 100,
                    size: 4,
                },
            },
        );
        let events = [elsewhere, look, write, look, read, end];
        assert!(is_discarded(
            &events,
            1,
            &UnseenWrites::default(),
            |_, _| false
        ));
    }

    #[test]
    fn an_access_that_writes_is_never_discarded() {
        let exchanged = cas(5, 0, CasOutcome::Exchanged(2));
        assert!(!discards(&[exchanged, exchanged]));
        assert!(!discards(&[store(1, 5), store(1, 5)]));
    }
}
