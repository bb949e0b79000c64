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
    /// Takes in everything `other` knows.
    #[inline]
    pub(crate) fn join(&mut self, other: &Self) {
        self.happened_before.join(&other.happened_before);
        self.from_fences.join(&other.from_fences);
        self.for_next_fence.join(&other.for_next_fence);
        self.from_accesses.join(&other.from_accesses);
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
