//! A set of numbers that mostly come one after the other, kept as ranges: what
//! is known of every thread there ever was must not grow with their number.

use alloc::collections::BTreeMap;

/// A set of ids, by the first and last of every stretch.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdSet(BTreeMap<u32, u32>);

impl IdSet {
    /// Whether the id is in the set.
    pub(crate) fn has(&self, id: u32) -> bool {
        self.0
            .range(..=id)
            .next_back()
            .is_some_and(|(_, &last)| id <= last)
    }

    /// Adds an id that is not in the set.
    pub(crate) fn insert(&mut self, id: u32) {
        let (mut first, mut last) = (id, id);
        if let Some((&before, &end)) = self.0.range(..id).next_back()
            && end.checked_add(1) == Some(id)
        {
            first = before;
        }
        if let Some(after) = id.checked_add(1)
            && let Some(end) = self.0.remove(&after)
        {
            last = end;
        }
        self.0.insert(first, last);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::IdSet;

    #[test]
    fn neighbours_grow_together_in_any_order() {
        let ids = [5, 3, 4, 9, 0, u32::MAX, 1, 8, 2, u32::MAX - 1];
        let mut set = IdSet::default();
        let mut truth = BTreeSet::new();
        for id in ids {
            assert!(!set.has(id));
            set.insert(id);
            truth.insert(id);
            for probe in (0..12).chain([u32::MAX - 2, u32::MAX - 1, u32::MAX]) {
                assert_eq!(set.has(probe), truth.contains(&probe), "{probe} after {id}");
            }
        }
        assert_eq!(set.0.len(), 3, "0 to 5, 8 to 9, and the last two");
    }
}
