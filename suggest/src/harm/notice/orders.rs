//! The orders that runs have reached, and what is left of each when it is lost by one
//! step.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;

use wmfix_analysis::{FenceOrder, LoadOrder, Operation, RmwOrder, SiteId, StoreOrder};
use wmfix_trace::Order;

use super::Position;
use crate::observe::{DecodedTrace, Places};

/// The order of an operation, and where it has one of its own, that of its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Orders {
    /// The order.
    pub(crate) order: Order,
    /// That of a compare-exchange that fails; the same elsewhere.
    pub(crate) failure: Order,
}

/// An order that is lost by one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// The operation.
    pub(crate) site: SiteId,
    /// What it has.
    pub(crate) had: Orders,
    /// What is left.
    pub(crate) left: Orders,
}

/// What an operation's order is one step below sequential consistency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It reads and writes, or is a fence.
    Both,
    /// It reads and writes, or fails and only reads.
    Exchange,
}

/// The orders that runs have reached.
#[derive(Debug, Default)]
pub(super) struct Losses {
    by_site: BTreeMap<Position, (Access, Orders)>,
    /// Sites that are not the same in all runs, or not the author's to change.
    others: BTreeSet<Position>,
}

impl Losses {
    /// Adds those of a run.
    pub(super) fn add(&mut self, decoded: &DecodedTrace, places: &Mutex<Places>) {
        let places = places.lock().expect("no panic while locked");
        let mut last: HashMap<SiteId, (Access, Orders)> = HashMap::new();
        for event in &decoded.events {
            let Some(orders) = orders_of(&event.operation) else {
                continue;
            };
            if last.insert(event.site, orders) == Some(orders) {
                continue;
            }
            let place = places.get(event.site);
            let position = Position::of(event.site, &places);
            let known = *self.by_site.entry(position.clone()).or_insert(orders);
            // An order that is decided while the program runs is not one that is lost.
            if known != orders || place.is_foreign() || place.is_full_barrier {
                self.others.insert(position);
            }
        }
    }

    /// Every order of them, one step weaker.
    pub(super) fn all(&self) -> Vec<Loss> {
        let own = self.by_site.iter();
        let own = own.filter(|(position, _)| !self.others.contains(position));
        own.flat_map(|(position, &(access, had))| {
            let site = position.site;
            let left = weaker(access, had);
            left.into_iter().map(move |left| Loss { site, had, left })
        })
        .collect()
    }
}

/// What is left if one of the orders is one step weaker.
fn weaker(access: Access, had: Orders) -> Vec<Orders> {
    let steps = step(access, had.order).iter();
    if access != Access::Exchange {
        return steps
            .map(|&order| Orders {
                order,
                failure: order,
            })
            .collect();
    }
    let on_success = steps.map(|&order| Orders { order, ..had });
    let on_failure = step(Access::Load, had.failure).iter();
    on_success
        .chain(on_failure.map(|&failure| Orders { failure, ..had }))
        .collect()
}

/// The orders one step below another.
fn step(access: Access, order: Order) -> &'static [Order] {
    match (order, access) {
        (Order::SeqCst, Access::Load) => &[Order::Acquire],
        (Order::SeqCst, Access::Store) => &[Order::Release],
        (Order::SeqCst, Access::Both | Access::Exchange) => &[Order::AcqRel],
        (Order::AcqRel, _) => &[Order::Acquire, Order::Release],
        (Order::Acquire | Order::Consume | Order::Release, _) => &[Order::Relaxed],
        (Order::Relaxed, _) => &[],
    }
}

fn orders_of(operation: &Operation) -> Option<(Access, Orders)> {
    let (access, order) = match *operation {
        Operation::Load { order, .. } => (Access::Load, of_load(order)),
        Operation::Store { order, .. } => (
            Access::Store,
            match order {
                StoreOrder::Relaxed => Order::Relaxed,
                StoreOrder::Release => Order::Release,
                StoreOrder::SeqCst => Order::SeqCst,
            },
        ),
        Operation::Rmw { order, .. } => (Access::Both, of_rmw(order)),
        Operation::CompareExchange {
            success, failure, ..
        } => {
            let orders = Orders {
                order: of_rmw(success),
                failure: of_load(failure),
            };
            return Some((Access::Exchange, orders));
        }
        Operation::Fence { order } => (
            Access::Both,
            match order {
                FenceOrder::Acquire => Order::Acquire,
                FenceOrder::Release => Order::Release,
                FenceOrder::AcqRel => Order::AcqRel,
                FenceOrder::SeqCst => Order::SeqCst,
            },
        ),
        _ => return None,
    };
    let orders = Orders {
        order,
        failure: order,
    };
    Some((access, orders))
}

fn of_load(order: LoadOrder) -> Order {
    match order {
        LoadOrder::Relaxed => Order::Relaxed,
        LoadOrder::Acquire => Order::Acquire,
        LoadOrder::SeqCst => Order::SeqCst,
    }
}

fn of_rmw(order: RmwOrder) -> Order {
    match order {
        RmwOrder::Relaxed => Order::Relaxed,
        RmwOrder::Acquire => Order::Acquire,
        RmwOrder::Release => Order::Release,
        RmwOrder::AcqRel => Order::AcqRel,
        RmwOrder::SeqCst => Order::SeqCst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_order_is_lost_at_a_time_by_one_step() {
        let both = |order| Orders {
            order,
            failure: order,
        };
        let left = |access, order| weaker(access, both(order));
        assert_eq!(left(Access::Load, Order::SeqCst), [both(Order::Acquire)]);
        assert_eq!(left(Access::Store, Order::SeqCst), [both(Order::Release)]);
        assert_eq!(left(Access::Both, Order::SeqCst), [both(Order::AcqRel)]);
        let halves = [both(Order::Acquire), both(Order::Release)];
        assert_eq!(left(Access::Both, Order::AcqRel), halves);
        assert_eq!(left(Access::Store, Order::Release), [both(Order::Relaxed)]);
        assert_eq!(left(Access::Load, Order::Relaxed), []);
        let had = Orders {
            order: Order::Release,
            failure: Order::Acquire,
        };
        let [success, failure] = weaker(Access::Exchange, had)[..] else {
            panic!("one for each");
        };
        assert_eq!(
            (success.order, success.failure),
            (Order::Relaxed, Order::Acquire)
        );
        assert_eq!(
            (failure.order, failure.failure),
            (Order::Release, Order::Relaxed)
        );
    }
}
