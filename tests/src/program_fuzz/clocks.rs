//! Happens-before of an interleaving by vector clocks, as the standard defines it: what
//! a release hands over, what an acquire takes, release sequences and fences; and the
//! races of plain accesses that it leaves.

/// The most threads of a program, `main` among them.
pub(super) const MOST_THREADS: usize = 5;

/// How much of each thread is known.
pub(super) type Clock = [u8; MOST_THREADS];

/// Adds what another clock knows.
pub(super) fn join(clock: &mut Clock, other: &Clock) {
    for (known, more) in clock.iter_mut().zip(other) {
        *known = (*known).max(*more);
    }
}

/// What a thread knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Knowledge {
    /// What happened before its next step.
    pub(super) now: Clock,
    /// What its relaxed reads would have handed over; an acquire fence takes it.
    pub(super) acquirable: Clock,
    /// What happened before its last release fence; its relaxed writes hand it over.
    pub(super) released: Clock,
}

impl Knowledge {
    /// Reads what a write handed over.
    pub(super) fn read(&mut self, handed_over: &Clock, acquires: bool) {
        join(&mut self.acquirable, handed_over);
        if acquires {
            join(&mut self.now, handed_over);
        }
    }

    /// What a write hands over.
    pub(super) fn written(&self, releases: bool) -> Clock {
        if releases { self.now } else { self.released }
    }

    /// A fence.
    pub(super) fn fence(&mut self, acquires: bool, releases: bool) {
        if acquires {
            let acquirable = self.acquirable;
            join(&mut self.now, &acquirable);
        }
        if releases {
            self.released = self.now;
        }
    }
}

/// The last accesses to a plain object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Accesses {
    writes: Clock,
    reads: Clock,
}

impl Accesses {
    /// An access of a thread; whether it races with an earlier one.
    pub(super) fn access(
        &mut self,
        thread: usize,
        knowledge: &mut Knowledge,
        writes: bool,
    ) -> bool {
        let now = &mut knowledge.now;
        let ordered = |earlier: &Clock| earlier.iter().zip(now.iter()).all(|(e, known)| e <= known);
        let races = !ordered(&self.writes) || (writes && !ordered(&self.reads));
        let own = if writes {
            &mut self.writes
        } else {
            &mut self.reads
        };
        own[thread] = now[thread];
        races
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> [Knowledge; 2] {
        let mut threads = [Knowledge::default(); 2];
        threads[0].now[0] = 1;
        threads[1].now[1] = 1;
        threads
    }

    #[test]
    fn a_message_orders_only_with_both_of_its_halves() {
        for (releases, acquires) in [(true, true), (true, false), (false, true), (false, false)] {
            let [mut one, mut other] = two();
            let mut data = Accesses::default();
            assert!(!data.access(0, &mut one, true));
            let message = one.written(releases);
            other.read(&message, acquires);
            let races = data.access(1, &mut other, false);
            assert_eq!(races, !(releases && acquires));
        }
    }

    #[test]
    fn fences_make_relaxed_accesses_a_message() {
        let [mut one, mut other] = two();
        let mut data = Accesses::default();
        assert!(!data.access(0, &mut one, true));
        one.fence(false, true);
        other.read(&one.written(false), false);
        assert!(data.clone().access(1, &mut other.clone(), false));
        other.fence(true, false);
        assert!(!data.access(1, &mut other, false));
    }
}
