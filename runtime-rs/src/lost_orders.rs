//! Orders that the run loses: the operations of some sites are weaker than the program
//! says, for the memory that shows old values as for whoever reads the trace.

use alloc::vec::Vec;

use wmfix_online::{EventKind, ModuleKey, SiteTable};
use wmfix_trace::{LostOrder, Order};

use crate::context_keys::ContextKeys;

/// The orders that the run loses.
#[derive(Debug)]
pub(crate) struct LostOrders {
    lost: LostOrder,
    table: SiteTable,
    keys: ContextKeys,
    /// By context: whether its operation loses its order.
    loses: Vec<bool>,
}

impl LostOrders {
    /// Of the sites in a table.
    pub(crate) fn new(lost: LostOrder, table: SiteTable) -> Self {
        Self {
            lost,
            table,
            keys: ContextKeys::new(),
            loses: Vec::from([false]),
        }
    }

    /// A stack was given the next number.
    pub(crate) fn add_stack(&mut self, parent: u32, frame: Option<(ModuleKey, u64)>) {
        self.keys.add_stack(parent, frame);
    }

    /// A context was given the next number.
    pub(crate) fn add_context(&mut self, stack: u32, frame: Option<(ModuleKey, u64)>) {
        let key = self.keys.add_context(stack, frame);
        let is_lost = |kind: EventKind| {
            let role = self.table.get(key, kind);
            role.is_some_and(|role| self.lost.sites.contains(&role.site.0))
        };
        let atomic = EventKind::ALL.into_iter().filter(|kind| kind.is_atomic());
        self.loses.push({ atomic }.any(is_lost));
    }

    /// The order that is left of an operation's.
    #[inline]
    pub(crate) fn left(&self, context: u32, order: Order) -> Order {
        match self.loses[context as usize] {
            true => self.lost.order,
            false => order,
        }
    }

    /// The same where a compare-exchange fails.
    #[inline]
    pub(crate) fn left_on_failure(&self, context: u32, order: Order) -> Order {
        match self.loses[context as usize] {
            true => self.lost.failure,
            false => order,
        }
    }
}

#[cfg(test)]
mod tests {
    use wmfix_analysis::SiteId;
    use wmfix_online::{ContextKey, SiteRole, WaitRole};

    use super::*;

    #[test]
    fn only_the_operations_of_its_sites_lose_their_order() {
        let module = ModuleKey::of("/bin/a");
        let stack = ContextKey::default().then(Some((module, 16)));
        let mut table = SiteTable::default();
        for (offset, site) in [(32, 5), (48, 6)] {
            let role = SiteRole {
                site: SiteId(site),
                waits: WaitRole::default(),
                watch: None,
                text: None,
                is_full_barrier: false,
            };
            let context = stack.then(Some((module, offset)));
            table.insert(context, EventKind::CompareExchange, role);
        }
        let mut lost = LostOrders::new("5=acquire/relaxed".parse().unwrap(), table);
        lost.add_stack(0, Some((module, 16)));
        lost.add_context(1, Some((module, 48)));
        lost.add_context(1, Some((module, 32)));
        lost.add_context(0, Some((module, 32)));
        let orders = |context| {
            (
                lost.left(context, Order::AcqRel),
                lost.left_on_failure(context, Order::Acquire),
            )
        };
        assert_eq!(orders(1), (Order::AcqRel, Order::Acquire));
        assert_eq!(orders(2), (Order::Acquire, Order::Relaxed));
        assert_eq!(orders(3), (Order::AcqRel, Order::Acquire), "another caller");
    }
}
