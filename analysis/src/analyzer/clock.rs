//! A vector clock: one event number per thread slot, meaning a prefix of every
//! thread's events. Slots past the end count 0, so an empty clock costs nothing.

use alloc::vec::Vec;

/// The number of an event within its thread, from 1; 0 is "before all of them".
pub(crate) type EventNumber = u32;

/// A position in a clock. Threads that ended give theirs back.
pub(crate) type ThreadSlot = usize;

/// How many slots a clock holds in place. These are always worked on together,
/// whatever number is in use: that takes one or two vector instructions.
const INLINE_SLOTS: usize = 8;

/// A prefix of every thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Clock {
    first: [EventNumber; INLINE_SLOTS],
    /// The slots from [`INLINE_SLOTS`] on.
    rest: Vec<EventNumber>,
}

impl Clock {
    /// How far into `slot` the prefix reaches.
    #[inline]
    pub(crate) fn get(&self, slot: ThreadSlot) -> EventNumber {
        match self.first.get(slot) {
            Some(number) => *number,
            None => self.rest.get(slot - INLINE_SLOTS).copied().unwrap_or(0),
        }
    }

    /// Sets one thread's prefix.
    #[inline]
    pub(crate) fn set(&mut self, slot: ThreadSlot, number: EventNumber) {
        match self.first.get_mut(slot) {
            Some(place) => *place = number,
            None => {
                let index = slot - INLINE_SLOTS;
                if index >= self.rest.len() {
                    self.rest.resize(index + 1, 0);
                }
                self.rest[index] = number;
            }
        }
    }

    /// Takes in everything `other` knows.
    #[inline]
    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.first.iter_mut().zip(&other.first) {
            *mine = (*mine).max(*theirs);
        }
        if !other.rest.is_empty() {
            if other.rest.len() > self.rest.len() {
                self.rest.resize(other.rest.len(), 0);
            }
            for (mine, theirs) in self.rest.iter_mut().zip(&other.rest) {
                *mine = (*mine).max(*theirs);
            }
        }
    }

    /// Becomes `other`, keeping its own memory.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.first = other.first;
        if !self.rest.is_empty() || !other.rest.is_empty() {
            self.rest.clear();
            self.rest.extend_from_slice(&other.rest);
        }
    }

    /// Whether everything in here is in `other` too.
    #[inline]
    pub(crate) fn within(&self, other: &Self) -> bool {
        let shared = self.rest.len().min(other.rest.len());
        let below = |mine: &[EventNumber], theirs: &[EventNumber]| {
            mine.iter().zip(theirs).all(|(mine, theirs)| mine <= theirs)
        };
        below(&self.first, &other.first)
            && below(&self.rest[..shared], &other.rest[..shared])
            && self.rest[shared..].iter().all(|&mine| mine == 0)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.first = [0; INLINE_SLOTS];
        self.rest.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Clock;

    fn clock() -> impl Strategy<Value = Clock> {
        proptest::collection::vec(0u32..5, 0..20).prop_map(|numbers| {
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
            for slot in 0..24 {
                prop_assert_eq!(copy.get(slot), a.get(slot));
            }
        }
    }
}
