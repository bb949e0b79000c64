//! A set of events that holds, with an event, all earlier ones of its thread: a
//! number for each thread.

use smallvec::SmallVec;

/// How many of a thread's events are in a set, and whether the thread holds a
/// lock after the last of them. More events are more, whatever is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reach(u32);

impl Reach {
    pub(super) fn new(events: u32, holds: bool) -> Self {
        Self(events << 1 | u32::from(holds))
    }

    pub(super) fn events(self) -> u32 {
        self.0 >> 1
    }

    pub(super) fn holds(self) -> bool {
        self.0 & 1 == 1
    }
}

/// A set of events, by the number of the thread. Threads that it does not
/// mention have no event in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut(SmallVec<[Reach; 8]>);

impl Cut {
    pub(super) fn get(&self, thread: usize) -> Reach {
        self.0.get(thread).copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds the first events of a thread.
    pub(super) fn raise(&mut self, thread: usize, reach: Reach) {
        if self.0.len() <= thread {
            self.0.resize(thread + 1, Reach::default());
        }
        self.0[thread] = self.0[thread].max(reach);
    }

    /// Says anew what a thread holds after its last event.
    pub(super) fn replace(&mut self, thread: usize, reach: Reach) {
        self.raise(thread, reach);
        self.0[thread] = reach;
    }

    /// Adds the events of another set; whether there were new ones.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), Reach::default());
        }
        let mut new = false;
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            new |= theirs > *mine;
            *mine = theirs.max(*mine);
        }
        new
    }
}
