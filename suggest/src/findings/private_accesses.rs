//! Leaves plain accesses out of a run that is kept: those of places that touch, in this
//! run, only memory which no other thread touches. Nothing can race with them, and made
//! atomic they would order nothing. Where a place touches memory of several threads as
//! well, all that it does stays, so that its executions are counted as they were.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use wmfix_analysis::{Bytes, Event, Operation, SiteId, ThreadId};

/// Memory is told apart by pieces of this many bytes.
const PIECE: u64 = 8;

/// What takes more pieces than this is told apart by pages instead.
const MAX_PIECES: u64 = 64;

const PAGE: u64 = 4096;

/// Leaves out what no other thread can have to do with.
pub(super) fn without_private_accesses(mut events: Vec<Event>) -> Vec<Event> {
    let mut users = MemoryUsers::default();
    for event in &events {
        users.add(event);
    }
    let of_shared = |event: &&Event| plain(event).is_some_and(|bytes| users.is_shared(bytes));
    let shared: HashSet<SiteId> = (events.iter())
        .filter(of_shared)
        .map(|event| event.site)
        .collect();
    events.retain(|event| plain(event).is_none() || shared.contains(&event.site));
    events.shrink_to_fit();
    events
}

/// What a plain access touches.
fn plain(event: &Event) -> Option<Bytes> {
    match event.operation {
        Operation::Read { bytes } | Operation::Write { bytes } => Some(bytes),
        _ => None,
    }
}

/// Who touches memory.
#[derive(Default)]
struct MemoryUsers {
    pieces: HashMap<u64, User>,
    /// Who touches much of it at a time.
    pages: HashMap<u64, User>,
    /// Who touches any of it.
    any_of_page: HashMap<u64, User>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    One(ThreadId),
    Several,
}

impl MemoryUsers {
    fn add(&mut self, event: &Event) {
        let (user, bytes) = match event.operation {
            // Any thread may access an atomic object, at any time.
            Operation::Birth { bytes, .. } => (User::Several, bytes),
            Operation::Death { bytes } => (User::One(event.thread), bytes),
            _ => match plain(event) {
                Some(bytes) => (User::One(event.thread), bytes),
                None => return,
            },
        };
        match is_small(bytes) {
            true => numbers(bytes, PIECE).for_each(|at| note(&mut self.pieces, at, user)),
            false => numbers(bytes, PAGE).for_each(|at| note(&mut self.pages, at, user)),
        }
        numbers(bytes, PAGE).for_each(|at| note(&mut self.any_of_page, at, user));
    }

    /// Whether more than one thread may touch some of these bytes.
    fn is_shared(&self, bytes: Bytes) -> bool {
        let several = |users: &HashMap<u64, User>, at| users.get(&at) == Some(&User::Several);
        if !is_small(bytes) {
            return numbers(bytes, PAGE).any(|at| several(&self.any_of_page, at));
        }
        let in_page = |at| self.pages.contains_key(&at) && several(&self.any_of_page, at);
        numbers(bytes, PIECE).any(|at| several(&self.pieces, at))
            || numbers(bytes, PAGE).any(in_page)
    }
}

fn note(users: &mut HashMap<u64, User>, at: u64, user: User) {
    match users.entry(at) {
        Entry::Vacant(entry) => {
            entry.insert(user);
        }
        Entry::Occupied(mut entry) if *entry.get() != user => {
            entry.insert(User::Several);
        }
        Entry::Occupied(_) => {}
    }
}

fn is_small(bytes: Bytes) -> bool {
    bytes.size <= PIECE * MAX_PIECES
}

/// The numbers of the parts of memory, each of this size, that bytes lie in.
fn numbers(bytes: Bytes, size: u64) -> impl Iterator<Item = u64> {
    let last = bytes.address.saturating_add(bytes.size.saturating_sub(1));
    let first = bytes.address / size;
    first..=last / size
}

#[cfg(test)]
mod tests {
    use super::*;
    use wmfix_analysis::{Analyzer, AnalyzerConfig, LoadOrder, LocationId, StoreOrder};
    use wmfix_tests::rng::Rng;

    fn event(thread: u32, site: u32, operation: Operation) -> Event {
        Event {
            thread: ThreadId(thread),
            site: SiteId(site),
            operation,
        }
    }

    fn write(thread: u32, site: u32, address: u64, size: u64) -> Event {
        let bytes = Bytes { address, size };
        event(thread, site, Operation::Write { bytes })
    }

    fn kept(events: &[Event]) -> Vec<u32> {
        let kept = without_private_accesses(events.to_vec());
        kept.iter().map(|event| event.site.0).collect()
    }

    #[test]
    fn what_one_thread_has_to_itself_is_left_out() {
        let shared = [write(1, 0, 64, 4), write(2, 1, 64, 4)];
        assert_eq!(kept(&shared), [0, 1]);
        assert_eq!(kept(&[write(1, 0, 64, 4), write(2, 1, 80, 4)]), [0; 0]);
        // The same place touches both.
        let both = [write(1, 0, 64, 4), write(1, 0, 640, 4), write(2, 1, 64, 4)];
        assert_eq!(kept(&both), [0, 0, 1]);
    }

    #[test]
    fn large_accesses_meet_small_ones_and_each_other() {
        let large = write(1, 0, 0x1000, 0x3000);
        assert_eq!(kept(&[large, write(2, 1, 0x2008, 8)]), [0, 1]);
        assert_eq!(kept(&[large, write(2, 1, 0x3000, 0x2000)]), [0, 1]);
        assert_eq!(kept(&[large, write(2, 1, 0x4000, 8)]), [0; 0]);
        let bytes = Bytes {
            address: 0x2000,
            size: 0x1000,
        };
        let freed = event(2, 7, Operation::Death { bytes });
        assert_eq!(kept(&[write(1, 0, 0x2010, 8), freed]), [0, 7]);
    }

    /// What the analysis says of a run is the same without what is left out.
    #[test]
    fn findings_stay_what_they_were() {
        let (mut races, mut violations, mut left_out) = (0, 0, 0);
        for seed in 0..400 {
            let events = random_run(&mut Rng::new(seed));
            let less = without_private_accesses(events.clone());
            left_out += events.len() - less.len();
            let (before, after) = (findings(&events), findings(&less));
            assert_eq!(before, after, "seed {seed}");
            races += before.0.len();
            violations += before.1.len();
        }
        assert!(
            races > 100 && violations > 100 && left_out > 1_000,
            "{races} races, {violations} violations, {left_out} left out"
        );
    }

    type Sites = Vec<(SiteId, SiteId)>;

    fn findings(events: &[Event]) -> (Sites, Sites) {
        let mut analyzer = Analyzer::new(AnalyzerConfig {
            races: true,
            ..AnalyzerConfig::default()
        });
        for event in events {
            analyzer.feed(event).expect("a good stream");
        }
        let races = analyzer.races().iter().map(|found| found.race);
        let races = races.map(|race| (race.first.site, race.second.site));
        let violations = analyzer.violations().iter().map(|found| &found.violation);
        let newer = |site: Option<(ThreadId, SiteId)>| site.map_or(SiteId(0), |(_, site)| site);
        let violations = violations.map(|found| (found.site, newer(found.newer.origin)));
        (races.collect(), violations.collect())
    }

    /// Four threads with memory of their own, some in common, and atomics.
    fn random_run(rng: &mut Rng) -> Vec<Event> {
        let mut events = Vec::new();
        let mut values = [0; 2];
        for child in (1..=4).map(ThreadId) {
            events.push(event(0, 0, Operation::Create { child }));
        }
        for n in 0..60 {
            let thread = 1 + rng.below(4) as u32;
            let location = LocationId(rng.below(2) as u32);
            let own = 0x1000 * u64::from(thread) + 8 * rng.below(16) as u64;
            let address = if rng.percent(5) { 0x9000 } else { own };
            let size = rng.pick(&[1, 4, 8, 1024]);
            let bytes = Bytes { address, size };
            let value = &mut values[location.0 as usize];
            let operation = match rng.below(6) {
                0 => {
                    *value = n;
                    Operation::Store {
                        location,
                        order: rng.pick(&[StoreOrder::Relaxed, StoreOrder::Release]),
                        value: n,
                    }
                }
                1 => Operation::Load {
                    location,
                    order: rng.pick(&[LoadOrder::Relaxed, LoadOrder::Acquire]),
                    value: *value,
                    exit: None,
                },
                2 | 3 => Operation::Read { bytes },
                _ => Operation::Write { bytes },
            };
            // Places that the common memory is accessed at do little else.
            let place = if address == 0x9000 {
                0
            } else {
                1 + rng.below(20)
            };
            events.push(event(thread, 100 * thread + place as u32, operation));
        }
        events
    }
}
