//! Re-analysis: what a recorded run would have looked like with other orders and
//! fences. Neither changes any SC run of the program, so a repair, and an order that
//! is weaker, can be judged on the runs that are there, without building or running
//! anything. A plain access that is made atomic does not change them either.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::event::{Bytes, Event, LocationId, Operation, SiteId};
use crate::hash::FxHashMap;
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// Changes of labels: at least these orders at these sites, and these fences
/// before and after them. A site that is weakened has only what the labels give it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    sites: FxHashMap<SiteId, SiteLabels>,
}

/// What changes at one site. An order that does not fit the site's operation is
/// not used; one that is weaker than the site's own changes nothing. A plain access
/// that gets an order is an atomic one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SiteLabels {
    /// The site's own order counts no more, and its fences are gone.
    weakened: bool,
    load: Option<LoadOrder>,
    store: Option<StoreOrder>,
    rmw: Option<RmwOrder>,
    failure: Option<LoadOrder>,
    fence: Option<FenceOrder>,
    before: Option<FenceOrder>,
    after: Option<FenceOrder>,
}

impl Labels {
    /// No changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the site's own orders away: its accesses are relaxed, and its fences are
    /// not there, unless they are raised.
    pub fn weaken(&mut self, site: SiteId) -> &mut Self {
        self.at(site).weakened = true;
        self
    }

    /// Raises the order of the loads of a site; its plain reads become loads.
    pub fn raise_load(&mut self, site: SiteId, order: LoadOrder) -> &mut Self {
        let label = &mut self.at(site).load;
        *label = Some(label.map_or(order, |old| old.join(order)));
        self
    }

    /// Raises the order of the stores of a site; its plain writes become stores.
    pub fn raise_store(&mut self, site: SiteId, order: StoreOrder) -> &mut Self {
        let label = &mut self.at(site).store;
        *label = Some(label.map_or(order, |old| old.join(order)));
        self
    }

    /// Raises the order of the RMWs of a site, of a compare-exchange on success.
    pub fn raise_rmw(&mut self, site: SiteId, order: RmwOrder) -> &mut Self {
        let label = &mut self.at(site).rmw;
        *label = Some(label.map_or(order, |old| old.join(order)));
        self
    }

    /// Raises the order of the compare-exchanges of a site on failure.
    pub fn raise_failure(&mut self, site: SiteId, order: LoadOrder) -> &mut Self {
        let label = &mut self.at(site).failure;
        *label = Some(label.map_or(order, |old| old.join(order)));
        self
    }

    /// Raises the order of the fences of a site.
    pub fn raise_fence(&mut self, site: SiteId, order: FenceOrder) -> &mut Self {
        let label = &mut self.at(site).fence;
        *label = Some(label.map_or(order, |old| old.join(order)));
        self
    }

    /// Puts a fence before every event of a site.
    pub fn fence_before(&mut self, site: SiteId, order: FenceOrder) -> &mut Self {
        let label = &mut self.at(site).before;
        *label = Some(label.map_or(order, |old| old.join(order)));
        self
    }

    /// Puts a fence after every event of a site.
    pub fn fence_after(&mut self, site: SiteId, order: FenceOrder) -> &mut Self {
        let label = &mut self.at(site).after;
        *label = Some(label.map_or(order, |old| old.join(order)));
        self
    }

    fn at(&mut self, site: SiteId) -> &mut SiteLabels {
        self.sites.entry(site).or_default()
    }

    /// The events with these labels, and the fences put in. Indices of events are
    /// those of the new stream.
    pub fn apply<'a>(&'a self, events: &'a [Event]) -> impl Iterator<Item = Event> + 'a {
        let mut run = self.run(free_location(events));
        events
            .iter()
            .flat_map(move |event| run.expand(event).into_iter().flatten())
    }

    /// The same, one event after the other, for a run that uses no location from
    /// `free` on.
    pub fn run(&self, free: LocationId) -> LabelledRun<'_> {
        LabelledRun {
            labels: self,
            lying: BTreeMap::new(),
            free,
        }
    }
}

/// The first location that a run does not use.
pub fn free_location(events: &[Event]) -> LocationId {
    let used = events.iter().filter_map(|event| match event.operation {
        Operation::Load { location, .. }
        | Operation::Store { location, .. }
        | Operation::Rmw { location, .. }
        | Operation::CompareExchange { location, .. }
        | Operation::Birth { location, .. } => Some(location.0),
        _ => None,
    });
    LocationId(used.max().map_or(0, |last| last.saturating_add(1)))
}

/// A run that gets labels, event by event.
#[derive(Clone, Debug)]
pub struct LabelledRun<'l> {
    labels: &'l Labels,
    /// The atomic objects there are, by address: their size and location.
    lying: BTreeMap<u64, (u64, LocationId)>,
    /// The next location for a plain object that becomes atomic.
    free: LocationId,
}

/// No atomic object is longer.
const LONGEST_OBJECT: u64 = 16;

impl LabelledRun<'_> {
    /// One event with its labels: what has to come before it, itself, the fence after.
    pub fn expand(&mut self, event: &Event) -> [Option<Event>; 4] {
        match event.operation {
            Operation::Birth {
                location, bytes, ..
            } => self.place(location, bytes),
            Operation::Death { bytes } => self.clear(bytes),
            _ => {}
        }
        let Some(labels) = self.labels.sites.get(&event.site) else {
            return [None, None, Some(*event), None];
        };
        let fence = |order| Event {
            operation: Operation::Fence { order },
            ..*event
        };
        let (before, after) = (labels.before.map(fence), labels.after.map(fence));
        if labels.drops(event.operation) {
            return [before, None, None, after];
        }
        let (birth, operation) = match labels.made_atomic(event.operation) {
            Some(bytes) => self.atomic(event.operation, bytes),
            None => (None, event.operation),
        };
        let operation = labels.raise(operation);
        // A round that stays in its loop does not get to what follows the loop.
        let after = after.filter(|_| !operation.stays_in_loop());
        let with = |operation| Event {
            operation,
            ..*event
        };
        [before, birth.map(with), Some(with(operation)), after]
    }

    /// A plain access as a relaxed one to the object in its bytes, which is new if there
    /// is none. An access to a part of an object, or to several, stays as it is.
    fn atomic(&mut self, plain: Operation, bytes: Bytes) -> (Option<Operation>, Operation) {
        let known = self.overlapping(bytes);
        let (birth, location) = match known[..] {
            [] => {
                let location = self.free;
                self.free = LocationId(location.0.saturating_add(1));
                self.place(location, bytes);
                let value = 0;
                let birth = Operation::Birth {
                    location,
                    bytes,
                    value,
                };
                (Some(birth), location)
            }
            [(address, size, location)] if (address, size) == (bytes.address, bytes.size) => {
                (None, location)
            }
            _ => return (None, plain),
        };
        // What was read and written is not known; only loops that wait for a value and
        // compare-exchanges on the same object would ask for it.
        let value = 0;
        let access = match plain {
            Operation::Read { .. } => Operation::Load {
                location,
                order: LoadOrder::Relaxed,
                value,
                exit: None,
            },
            _ => Operation::Store {
                location,
                order: StoreOrder::Relaxed,
                value,
            },
        };
        (birth, access)
    }

    fn place(&mut self, location: LocationId, bytes: Bytes) {
        self.clear(bytes);
        self.lying.insert(bytes.address, (bytes.size, location));
    }

    fn clear(&mut self, bytes: Bytes) {
        for (address, ..) in self.overlapping(bytes) {
            self.lying.remove(&address);
        }
    }

    fn overlapping(&self, bytes: Bytes) -> Vec<(u64, u64, LocationId)> {
        let from = bytes.address.saturating_sub(LONGEST_OBJECT);
        let end = bytes.address.saturating_add(bytes.size);
        let near = self.lying.range(from..end);
        near.filter(|&(&address, &(size, _))| address.saturating_add(size) > bytes.address)
            .map(|(&address, &(size, location))| (address, size, location))
            .collect()
    }
}

impl SiteLabels {
    /// Whether an operation is a fence that is taken away.
    fn drops(&self, operation: Operation) -> bool {
        let is_fence = matches!(operation, Operation::Fence { .. });
        self.weakened && self.fence.is_none() && is_fence
    }

    /// The bytes of a plain access that becomes an atomic one.
    fn made_atomic(&self, operation: Operation) -> Option<Bytes> {
        let bytes = match operation {
            Operation::Read { bytes } if self.load.is_some() => bytes,
            Operation::Write { bytes } if self.store.is_some() => bytes,
            _ => return None,
        };
        matches!(bytes.size, 1 | 2 | 4 | 8).then_some(bytes)
    }

    fn raise(&self, operation: Operation) -> Operation {
        let mut operation = operation;
        if self.weakened {
            weaken(&mut operation);
        }
        match &mut operation {
            Operation::Load { order, .. } => {
                *order = self.load.map_or(*order, |label| order.join(label));
            }
            Operation::Store { order, .. } => {
                *order = self.store.map_or(*order, |label| order.join(label));
            }
            Operation::Rmw { order, .. } => {
                *order = self.rmw.map_or(*order, |label| order.join(label));
            }
            Operation::CompareExchange {
                success, failure, ..
            } => {
                *success = self.rmw.map_or(*success, |label| success.join(label));
                *failure = self.failure.map_or(*failure, |label| failure.join(label));
            }
            Operation::Fence { order } if self.weakened => {
                *order = self.fence.unwrap_or(*order);
            }
            Operation::Fence { order } => {
                *order = self.fence.map_or(*order, |label| order.join(label));
            }
            _ => {}
        }
        operation
    }
}

/// Makes an access relaxed.
fn weaken(operation: &mut Operation) {
    match operation {
        Operation::Load { order, .. } => *order = LoadOrder::Relaxed,
        Operation::Store { order, .. } => *order = StoreOrder::Relaxed,
        Operation::Rmw { order, .. } => *order = RmwOrder::Relaxed,
        Operation::CompareExchange {
            success, failure, ..
        } => (*success, *failure) = (RmwOrder::Relaxed, LoadOrder::Relaxed),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{LocationId, ThreadId};

    fn event(site: u32, operation: Operation) -> Event {
        Event {
            thread: ThreadId(0),
            site: SiteId(site),
            operation,
        }
    }

    /// The first access brings the object into being, the next one finds it, and
    /// memory that was given back holds another one.
    #[test]
    fn plain_accesses_with_an_order_are_atomic() {
        let bytes = Bytes {
            address: 64,
            size: 4,
        };
        let run = [
            event(1, Operation::Write { bytes }),
            event(2, Operation::Read { bytes }),
            event(3, Operation::Death { bytes }),
            event(1, Operation::Write { bytes }),
        ];
        let mut labels = Labels::new();
        labels.raise_store(SiteId(1), StoreOrder::Release);
        let born = |location| {
            let (location, value) = (LocationId(location), 0);
            Operation::Birth {
                location,
                bytes,
                value,
            }
        };
        let store = |location| Operation::Store {
            location: LocationId(location),
            order: StoreOrder::Release,
            value: 0,
        };
        let seen = |labels: &Labels| -> Vec<Operation> {
            labels.apply(&run).map(|event| event.operation).collect()
        };
        let death = Operation::Death { bytes };
        let read = Operation::Read { bytes };
        let expected = [born(0), store(0), read, death, born(1), store(1)];
        assert_eq!(seen(&labels), expected);
        labels.raise_load(SiteId(2), LoadOrder::Acquire);
        let load = Operation::Load {
            location: LocationId(0),
            order: LoadOrder::Acquire,
            value: 0,
            exit: None,
        };
        let expected = [born(0), store(0), load, death, born(1), store(1)];
        assert_eq!(seen(&labels), expected);
    }

    #[test]
    fn a_weakened_site_has_only_what_the_labels_give_it() {
        let store = |order| {
            let location = LocationId(0);
            let value = 1;
            event(
                1,
                Operation::Store {
                    location,
                    order,
                    value,
                },
            )
        };
        let fence = |site, order| event(site, Operation::Fence { order });
        let run = [
            store(StoreOrder::SeqCst),
            fence(2, FenceOrder::SeqCst),
            fence(3, FenceOrder::SeqCst),
        ];
        let mut labels = Labels::new();
        labels.weaken(SiteId(1)).weaken(SiteId(2)).weaken(SiteId(3));
        labels.raise_fence(SiteId(3), FenceOrder::Acquire);
        let seen: Vec<Event> = labels.apply(&run).collect();
        assert_eq!(
            seen,
            [store(StoreOrder::Relaxed), fence(3, FenceOrder::Acquire)]
        );
        labels.raise_store(SiteId(1), StoreOrder::Release);
        let seen: Vec<Event> = labels.apply(&run).collect();
        assert_eq!(seen[0], store(StoreOrder::Release));
    }
}
