//! Re-analysis: what a recorded run would have looked like with other orders and
//! fences. Neither changes any SC run of the program, so a repair, and an order that
//! is weaker, can be judged on the runs that are there, without building or running
//! anything.

use crate::event::{Event, Operation, SiteId};
use crate::hash::FxHashMap;
use crate::order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// Changes of labels: at least these orders at these sites, and these fences
/// before and after them. A site that is weakened has only what the labels give it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    sites: FxHashMap<SiteId, SiteLabels>,
}

/// What changes at one site. An order that does not fit the site's operation is
/// not used; one that is weaker than the site's own changes nothing.
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

    /// Raises the order of the loads of a site.
    pub fn raise_load(&mut self, site: SiteId, order: LoadOrder) -> &mut Self {
        let label = &mut self.at(site).load;
        *label = Some(label.map_or(order, |old| old.join(order)));
        self
    }

    /// Raises the order of the stores of a site.
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
        events
            .iter()
            .flat_map(|event| self.expand(event).into_iter().flatten())
    }

    /// One event with these labels: the fence before it, itself, the fence after.
    fn expand(&self, event: &Event) -> [Option<Event>; 3] {
        let Some(labels) = self.sites.get(&event.site) else {
            return [None, Some(*event), None];
        };
        let fence = |order| Event {
            operation: Operation::Fence { order },
            ..*event
        };
        if labels.drops(event.operation) {
            return [labels.before.map(fence), None, labels.after.map(fence)];
        }
        let operation = labels.raise(event.operation);
        // A round that stays in its loop does not get to what follows the loop.
        let after = labels.after.filter(|_| !operation.stays_in_loop());
        [
            labels.before.map(fence),
            Some(Event {
                operation,
                ..*event
            }),
            after.map(fence),
        ]
    }
}

impl SiteLabels {
    /// Whether an operation is a fence that is taken away.
    fn drops(&self, operation: Operation) -> bool {
        let is_fence = matches!(operation, Operation::Fence { .. });
        self.weakened && self.fence.is_none() && is_fence
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
