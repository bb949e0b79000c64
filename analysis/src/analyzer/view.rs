//! What travels along happens-before: a prefix of every thread, and what that
//! prefix means for the order of SC events.

use alloc::sync::Arc;

use super::clock::{Clock, EventNumber, ThreadSlot};

/// A set of SC events that is closed under psc: with an event, everything
/// psc*-before it is in the set. Hence one number decides membership. Shared
/// until it changes; the empty set is free.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScSet(Option<Arc<ScEvents>>);

/// The contents of an [`ScSet`] (the pair `(V, K)`).
#[derive(Clone, Debug, Default)]
struct ScEvents {
    /// `V`: a prefix of every thread's SC events, accesses and fences alike.
    /// A prefix is enough because po between SC events is in psc.
    events: Clock,
    /// `K`: what happened before the SC fences in the set.
    before_fences: Clock,
}

impl ScSet {
    /// Whether the set has nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the two are known to be one set, without looking into them.
    #[inline]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => Arc::ptr_eq(mine, theirs),
            _ => false,
        }
    }

    /// Whether SC event `number` of the thread in `slot` is in the set. If so,
    /// everything psc*-before that event is, too.
    pub(crate) fn has(&self, slot: ThreadSlot, number: EventNumber) -> bool {
        number <= self.newest(slot)
    }

    /// The number of the newest SC event of `slot` in the set.
    #[inline]
    pub(crate) fn newest(&self, slot: ThreadSlot) -> EventNumber {
        self.0.as_ref().map_or(0, |set| set.events.get(slot))
    }

    /// How much of `slot` happened before a fence in the set.
    #[inline]
    pub(crate) fn before_fences(&self, slot: ThreadSlot) -> EventNumber {
        self.0.as_ref().map_or(0, |set| set.before_fences.get(slot))
    }

    /// Whether the SC events of this set are all in `other`.
    pub(crate) fn events_within(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(theirs)) => {
                Arc::ptr_eq(mine, theirs) || mine.events.within(&theirs.events)
            }
        }
    }

    /// Takes in another closed set.
    #[inline(always)]
    pub(crate) fn join(&mut self, other: &Self) {
        if let Some(theirs) = &other.0 {
            self.join_events(theirs);
        }
    }

    fn join_events(&mut self, theirs: &Arc<ScEvents>) {
        let Some(mine) = &mut self.0 else {
            self.0 = Some(Arc::clone(theirs));
            return;
        };
        if Arc::ptr_eq(mine, theirs) || theirs.within(mine) {
            return;
        }
        if mine.within(theirs) {
            *mine = Arc::clone(theirs);
            return;
        }
        let mine = Arc::make_mut(mine);
        mine.events.join(&theirs.events);
        mine.before_fences.join(&theirs.before_fences);
    }

    /// Adds an SC access, everything psc-before which must be in the set already.
    pub(crate) fn add_access(&mut self, slot: ThreadSlot, number: EventNumber) {
        let set = Arc::make_mut(self.0.get_or_insert_default());
        set.events.set(slot, number);
    }

    /// Adds an SC fence, which knows `before` by happens-before.
    pub(crate) fn add_fence(&mut self, slot: ThreadSlot, number: EventNumber, before: &Clock) {
        let set = Arc::make_mut(self.0.get_or_insert_default());
        set.events.set(slot, number);
        set.before_fences.join(before);
    }
}

impl ScEvents {
    fn within(&self, other: &Self) -> bool {
        self.events.within(&other.events) && self.before_fences.within(&other.before_fences)
    }
}

/// The SC events before the SC accesses to a location, and themselves. A few of the
/// accesses have all of the others before them: whether a set has anything to learn
/// from this one is decided by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScAccesses {
    set: ScSet,
    /// The slots and numbers of these accesses.
    newest: [(u32, EventNumber); MAX_NEWEST],
    /// How many there are; more than [`MAX_NEWEST`] if they are not known.
    count: u32,
}

/// So many accesses are told apart before sets are looked into.
const MAX_NEWEST: usize = 4;

impl ScAccesses {
    /// Everything is before one access: `set`.
    pub(crate) fn set_to(&mut self, set: &ScSet, slot: ThreadSlot, number: EventNumber) {
        self.set.clone_from(set);
        self.newest[0] = (slot as u32, number);
        self.count = 1;
    }

    /// Takes in the set of an access, which may not have the others before it.
    pub(crate) fn add(&mut self, set: &ScSet, slot: ThreadSlot, number: EventNumber) {
        let Some(newest) = self.newest.get(..self.count as usize) else {
            return self.set.join(set);
        };
        // Those that are not before the new one stay.
        let mut kept = [(0, 0); MAX_NEWEST];
        let mut count = 0;
        for &(slot, number) in newest {
            if !set.has(slot as ThreadSlot, number) {
                kept[count] = (slot, number);
                count += 1;
            }
        }
        if count == 0 {
            return self.set_to(set, slot, number);
        }
        self.set.join(set);
        if let Some(next) = kept.get_mut(count) {
            *next = (slot as u32, number);
        }
        self.newest = kept;
        self.count = count as u32 + 1;
    }

    /// Adds all of it to another closed set.
    #[inline]
    pub(crate) fn join_into(&self, set: &mut ScSet) {
        let is_known = match self.newest.get(..self.count as usize) {
            Some(newest) => {
                (newest.iter()).all(|&(slot, number)| set.has(slot as ThreadSlot, number))
            }
            None => false,
        };
        if !is_known {
            set.join(&self.set);
        }
    }
}

/// What is known along happens-before at one point of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    /// `C`: the prefix that happened before.
    pub(crate) happened_before: Clock,
    /// `FK`: everything psc*-before the SC fences that happened before.
    pub(crate) from_fences: ScSet,
    /// `FS`: what an SC fence at this point would inherit over mo, fr and rf.
    pub(crate) for_next_fence: ScSet,
    /// `HS`: everything psc*-before the SC accesses from which a step to another
    /// location and then happens-before lead here.
    pub(crate) from_accesses: ScSet,
}

impl View {
    /// Takes in everything `other` knows. What both are made of is what threads knew
    /// at events of theirs, so where all of the events are known, so is the rest. (An
    /// SC fence empties `for_next_fence`, but has it in `from_fences` then.)
    /// Whether there was anything new.
    #[inline]
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        if other.happened_before.within(&self.happened_before) {
            return false;
        }
        self.happened_before.join(&other.happened_before);
        self.from_fences.join(&other.from_fences);
        self.for_next_fence.join(&other.for_next_fence);
        self.from_accesses.join(&other.from_accesses);
        true
    }

    /// Becomes `other`, keeping its own memory.
    #[inline]
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.happened_before.copy_from(&other.happened_before);
        self.from_fences.clone_from(&other.from_fences);
        self.for_next_fence.clone_from(&other.for_next_fence);
        self.from_accesses.clone_from(&other.from_accesses);
    }

    /// Forgets everything, keeping its own memory.
    pub(crate) fn clear(&mut self) {
        self.happened_before.clear();
        self.from_fences = ScSet::default();
        self.for_next_fence = ScSet::default();
        self.from_accesses = ScSet::default();
    }
}
