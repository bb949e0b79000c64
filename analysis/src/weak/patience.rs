//! Progress: how often in a row a thread may read old values at one place. A
//! load in a loop that were stale for ever would never let the loop end.

use crate::event::{SiteId, ThreadId};
use crate::hash::FxHashMap;

/// A budget of stale reads for each thread and place.
#[derive(Clone, Debug)]
pub struct Patience {
    budget: u32,
    spent: FxHashMap<(ThreadId, SiteId), u32>,
}

impl Patience {
    /// Each place of each thread may be stale this often in a row.
    pub fn new(budget: u32) -> Self {
        Self {
            budget,
            spent: FxHashMap::default(),
        }
    }

    /// Whether a read may be stale once more.
    pub fn is_left(&self, thread: ThreadId, site: SiteId) -> bool {
        let spent = self.spent.get(&(thread, site)).copied().unwrap_or(0);
        spent < self.budget
    }

    /// A read was stale or was not.
    pub fn read(&mut self, thread: ThreadId, site: SiteId, stale: bool) {
        if stale {
            *self.spent.entry((thread, site)).or_default() += 1;
        } else {
            self.spent.remove(&(thread, site));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_for_reads_in_a_row_at_one_place() {
        let (thread, here, there) = (ThreadId(1), SiteId(1), SiteId(2));
        let mut patience = Patience::new(2);
        for _ in 0..2 {
            assert!(patience.is_left(thread, here));
            patience.read(thread, here, true);
        }
        assert!(!patience.is_left(thread, here));
        assert!(patience.is_left(thread, there));
        assert!(patience.is_left(ThreadId(2), here));
        patience.read(thread, here, false);
        assert!(patience.is_left(thread, here));
    }
}
