//! A vector clock: one event number per thread slot, meaning a prefix of every
//! thread's events. Slots past the end count 0, so an empty clock costs nothing.

use smallvec::SmallVec;

/// The number of an event within its thread, from 1; 0 is "before all of them".
pub(crate) type EventNumber = u32;

/// A position in a clock. Threads that ended give theirs back.
pub(crate) type Slot = usize;

/// How many slots a clock holds before it needs the heap.
const INLINE_SLOTS: usize = 8;

/// A prefix of every thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock(SmallVec<[EventNumber; INLINE_SLOTS]>);

impl Clock {
    /// How far into `slot` the prefix reaches.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> EventNumber {
        self.0.get(slot).copied().unwrap_or(0)
    }

    /// Sets one thread's prefix.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, number: EventNumber) {
        if slot >= self.0.len() {
            self.0.resize(slot + 1, 0);
        }
        self.0[slot] = number;
    }

    /// Takes in everything `other` knows.
    #[inline]
    pub(crate) fn join(&mut self, other: &Self) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Becomes `other`, keeping its own memory.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.0.clear();
        self.0.extend_from_slice(&other.0);
    }

    /// Whether everything in here is in `other` too.
    #[inline]
    pub(crate) fn within(&self, other: &Self) -> bool {
        let shared = self.0.len().min(other.0.len());
        self.0[..shared]
            .iter()
            .zip(&other.0[..shared])
            .all(|(mine, theirs)| mine <= theirs)
            && self.0[shared..].iter().all(|&mine| mine == 0)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Clock;

    fn clock() -> impl Strategy<Value = Clock> {
        proptest::collection::vec(0u32..5, 0..12).prop_map(|numbers| {
            let mut clock = Clock::default();
            for (slot, number) in numbers.into_iter().enumerate() {
                clock.set(slot, number);
            }
            clock
        })
    }

    fn joined(a: &Clock, b: &Clock) -> Clock {
        let mut result = a.clone();
        result.join(b);
        result
    }

    /// Equal as prefixes: trailing zeros mean nothing.
    fn same(a: &Clock, b: &Clock) -> bool {
        a.within(b) && b.within(a)
    }

    proptest! {
        #[test]
        fn join_is_a_least_upper_bound(a in clock(), b in clock(), c in clock()) {
            let ab = joined(&a, &b);
            prop_assert!(a.within(&ab) && b.within(&ab));
            prop_assert!(same(&ab, &joined(&b, &a)));
            prop_assert!(same(&joined(&ab, &c), &joined(&a, &joined(&b, &c))));
            prop_assert!(same(&joined(&a, &a), &a));
            if a.within(&c) && b.within(&c) {
                prop_assert!(ab.within(&c));
            }
        }

        #[test]
        fn copying_gives_the_same_prefix(a in clock(), b in clock()) {
            let mut copy = b;
            copy.copy_from(&a);
            prop_assert!(same(&copy, &a));
            for slot in 0..16 {
                prop_assert_eq!(copy.get(slot), a.get(slot));
            }
        }
    }
}
