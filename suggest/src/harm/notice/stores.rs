//! Stores that another thread reads beside the one that made them, by the names under
//! which a run undoes one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use wmfix_analysis::{Bytes, Event, Operation, SiteId, ThreadId};
use wmfix_online::WaitRole;
use wmfix_trace::{AccessName, UndoneStore};

use super::Position;
use crate::harm::access::Access;
use crate::harm::choices::access_names;
use crate::observe::{DecodedTrace, Places};

/// A store that a run can undo: more of it the runtime does not put back.
const MOST_BYTES: u64 = 16;

/// A store that another thread reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store {
    /// The seed of the run that it was made in.
    pub(super) seed: u64,
    /// Its name.
    pub(super) name: UndoneStore,
    /// Where it is.
    pub(super) site: SiteId,
    /// Who reads it first.
    pub(super) reader: SiteId,
}

/// Such stores, by their sites and those of their readers.
#[derive(Debug, Default)]
pub(super) struct Stores {
    by_sites: BTreeMap<(Position, Position), Vec<Store>>,
}

impl Stores {
    /// Adds those of a run.
    pub(super) fn add(&mut self, seed: u64, decoded: &DecodedTrace, places: &Mutex<Places>) {
        let places = places.lock().expect("no panic while locked");
        let position = |site: SiteId| Position::of(site, &places);
        let is_foreign = |site: SiteId| places.get(site).is_foreign();
        for (name, at, reader) in read_elsewhere(decoded) {
            let [site, reader] = [at, reader].map(|event| decoded.events[event].site);
            // Who waits for a value waits for ever without it: that says nothing.
            let waits = places.get(reader).waits != WaitRole::default();
            if is_foreign(site) || is_foreign(reader) || waits {
                continue;
            }
            let same = self.by_sites.entry((position(site), position(reader)));
            same.or_default().push(Store {
                seed,
                name,
                site,
                reader,
            });
        }
    }

    /// A few of them, of as many sites as can be, spread over the runs.
    pub(super) fn few(&self, most: usize) -> Vec<Store> {
        let mut few = Vec::new();
        // In halves: the first, the one in the middle, those between, …
        for round in 0.. {
            let before = few.len();
            for stores in self.by_sites.values() {
                few.extend(spread(stores.len(), round).map(|number| stores[number]));
            }
            if few.len() >= most || few.len() == before {
                break;
            }
        }
        few.truncate(most);
        few
    }
}

/// The number of the one of so many that comes in this round; none twice.
fn spread(count: usize, round: usize) -> Option<usize> {
    let places = count.next_power_of_two();
    let bits = places.trailing_zeros();
    let turned = |round: usize| match bits {
        0 => 0,
        bits => round.reverse_bits() >> (usize::BITS - bits),
    };
    let mut all = (0..places).map(turned).filter(|&number| number < count);
    all.nth(round)
}

/// The stores of a run that another thread reads, which was there when they were made and
/// has not waited for the end of theirs: their names, and the events of both.
fn read_elsewhere(decoded: &DecodedTrace) -> Vec<(UndoneStore, usize, usize)> {
    let events = &decoded.events;
    let names = names(decoded);
    let mut began: HashMap<ThreadId, usize> = HashMap::new();
    // The newest stores to memory, by its first byte.
    let mut newest: BTreeMap<u64, Newest> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if let Operation::Create { child } = event.operation {
            began.insert(child, at);
        }
        if let Operation::Join { child } = event.operation {
            newest.retain(|_, store| events[store.at].thread != child);
        }
        let Some(touched) = Touched::of(event, decoded) else {
            continue;
        };
        let first = touched.bytes.address.saturating_sub(MOST_BYTES);
        let end = touched.bytes.address + touched.bytes.size;
        let overlaps = |store: &Newest| {
            touched.bytes.address < store.bytes.address + store.bytes.size
                && store.bytes.address < end
        };
        if touched.reads {
            for store in newest.range_mut(first..end).map(|(_, store)| store) {
                let writer = events[store.at].thread;
                let is_other = writer != event.thread && overlaps(store);
                let was_there = began
                    .get(&event.thread)
                    .is_none_or(|&began| began < store.at);
                if is_other && was_there && !store.is_read {
                    store.is_read = true;
                    found.extend(names[store.at].map(|name| (name, store.at, at)));
                }
            }
        }
        if touched.writes && touched.bytes.size <= MOST_BYTES {
            let over: Vec<u64> = (newest.range(first..end))
                .filter(|(_, store)| overlaps(store))
                .map(|(&address, _)| address)
                .collect();
            for address in over {
                newest.remove(&address);
            }
            let store = Newest {
                at,
                bytes: touched.bytes,
                is_read: false,
            };
            newest.insert(touched.bytes.address, store);
        }
    }
    found
}

/// The last store to some bytes.
struct Newest {
    at: usize,
    bytes: Bytes,
    is_read: bool,
}

/// What an event does to memory.
struct Touched {
    bytes: Bytes,
    reads: bool,
    writes: bool,
}

impl Touched {
    fn of(event: &Event, decoded: &DecodedTrace) -> Option<Self> {
        let (bytes, reads, writes) = match event.operation {
            Operation::Read { bytes } => (bytes, true, false),
            Operation::Write { bytes } => (bytes, false, true),
            operation => {
                let access = Access::of(&operation)?;
                let reads = !matches!(access, Access::Write(_));
                let writes = !matches!(access, Access::Read(_));
                (decoded.bytes_of(access.location())?, reads, writes)
            }
        };
        Some(Self {
            bytes,
            reads,
            writes,
        })
    }
}

/// The names of all writes, by the numbers of their events.
fn names(decoded: &DecodedTrace) -> Vec<Option<UndoneStore>> {
    let accesses = access_names(&decoded.events);
    let mut plain: HashMap<ThreadId, u32> = HashMap::new();
    let numbered = decoded.events.iter().enumerate().zip(accesses);
    let names = numbered.map(|((at, event), access)| match event.operation {
        Operation::Write { .. } if decoded.implied.binary_search(&at).is_err() => {
            let number = plain.entry(event.thread).or_insert(0);
            *number += 1;
            Some(UndoneStore {
                access: AccessName {
                    thread: wmfix_trace::ThreadId(event.thread.0),
                    number: *number,
                },
                is_plain: true,
            })
        }
        _ => access.map(|access| UndoneStore {
            access,
            is_plain: false,
        }),
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_spread_over_all() {
        let order =
            |count: usize| -> Vec<usize> { (0..).map_while(|n| spread(count, n)).collect() };
        assert_eq!(order(1), [0]);
        assert_eq!(order(5), [0, 4, 2, 1, 3]);
        assert_eq!(order(0), [0; 0]);
    }
}
