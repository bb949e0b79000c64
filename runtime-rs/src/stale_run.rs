//! A run in which accesses take old writes: directed to one choice, or free. Also
//! keeps freed memory from being handed out again, so that a stale pointer leads to
//! nobody else's.

use core::sync::atomic::{AtomicBool, Ordering};

use wmfix_trace::{AccessName, RecordedOperation, UndoneStore};

use crate::directed::{Directed, Part};
use crate::free_run::{AskedAccess, FreeRun};
use crate::lost_orders::LostOrders;

/// No more than this much freed memory is kept from being handed out again.
const QUARANTINE_LIMIT_BYTES: u64 = 256 << 20;

/// What freed memory is filled with: no pointer, and no small number.
pub(crate) const FREED_BYTE: u8 = 0xf5;

/// Whether this run takes old writes: asked by `free`, without the turn.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// See [`IS_ON`].
#[inline(always)]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// A run in which accesses take old writes.
#[derive(Debug)]
pub(crate) struct StaleRun {
    kind: StaleRunKind,
    quarantined_bytes: u64,
    /// The orders that it loses besides.
    pub(crate) lost: Option<LostOrders>,
    undone: Option<Undone>,
}

/// The store that is to be undone, and how many plain writes its thread has made.
#[derive(Clone, Copy, Debug)]
struct Undone {
    store: UndoneStore,
    plain_writes: u32,
}

/// Which of them take what.
#[derive(Debug)]
pub(crate) enum StaleRunKind {
    /// One access takes what the host has found.
    Directed(Directed),
    /// Any access takes what it may.
    Free(FreeRun),
}

impl StaleRun {
    pub(crate) fn new(kind: StaleRunKind) -> Self {
        IS_ON.store(true, Ordering::Relaxed);
        Self {
            kind,
            quarantined_bytes: 0,
            lost: None,
            undone: None,
        }
    }

    /// The same, but one store is undone.
    pub(crate) fn undoing(mut self, store: Option<UndoneStore>) -> Self {
        self.undone = store.map(|store| Undone {
            store,
            plain_writes: 0,
        });
        self
    }

    /// Whether what the thread's last atomic access stores is to be undone.
    pub(crate) fn undoes_access(&self, thread: u32) -> bool {
        let StaleRunKind::Free(run) = &self.kind else {
            return false;
        };
        let last = run.last_access(thread);
        (self.undone).is_some_and(|undone| !undone.store.is_plain && undone.store.access == last)
    }

    /// A thread makes a plain write that is recorded: whether that is to be undone.
    pub(crate) fn undoes_plain(&mut self, thread: u32) -> bool {
        let of_thread =
            |undone: &&mut Undone| undone.store.is_plain && undone.store.access.thread.0 == thread;
        let Some(undone) = self.undone.as_mut().filter(of_thread) else {
            return false;
        };
        undone.plain_writes += 1;
        undone.plain_writes == undone.store.access.number
    }

    /// A location has come into being, with this number in the trace.
    pub(crate) fn born(&mut self, location: u32, address: u64, size: u8, value: u128) {
        match &mut self.kind {
            StaleRunKind::Directed(run) => run.born(value),
            StaleRunKind::Free(run) => run.born(location, address, size, value),
        }
    }

    /// What an access that will be recorded next has to do with stale choices.
    pub(crate) fn access(&mut self, asked: &AskedAccess) -> Part {
        match &mut self.kind {
            StaleRunKind::Directed(run) => run.access(asked.thread, asked.location),
            StaleRunKind::Free(run) => run.access(asked).map_or(Part::None, Part::Stale),
        }
    }

    /// The write of the access that is the one to be taken has this value.
    pub(crate) fn remember(&mut self, value: u128) {
        if let StaleRunKind::Directed(run) = &mut self.kind {
            run.remember(value);
        }
    }

    /// What the stale access takes, for the trace.
    pub(crate) fn source(&self) -> Option<AccessName> {
        match &self.kind {
            StaleRunKind::Directed(run) => run.source(),
            StaleRunKind::Free(run) => run.source(),
        }
    }

    /// The seed of the schedule after the choice, if it is drawn anew.
    pub(crate) fn seed(&self) -> Option<u64> {
        match &self.kind {
            StaleRunKind::Directed(run) => run.seed(),
            StaleRunKind::Free(_) => None,
        }
    }

    /// A thread did something that was recorded. Locations are those of the trace.
    pub(crate) fn event(&mut self, thread: u32, operation: &RecordedOperation) {
        if let StaleRunKind::Free(run) = &mut self.kind {
            run.event(thread, operation);
        }
    }

    /// The thread pauses.
    pub(crate) fn pauses(&mut self, thread: u32) {
        if let StaleRunKind::Free(run) = &mut self.kind {
            run.catch_up(thread);
        }
    }

    /// Whether this much memory may be kept back.
    pub(crate) fn may_quarantine(&mut self, size: u64) -> bool {
        let total = self.quarantined_bytes.saturating_add(size);
        let may = total <= QUARANTINE_LIMIT_BYTES;
        if may {
            self.quarantined_bytes = total;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use wmfix_analysis::ReleaseSequences;

    use crate::free_run::{AccessEffect, WeakStrategy};

    #[test]
    fn the_store_that_is_undone_is_told_by_its_number_and_kind() {
        let kind = StaleRunKind::Directed(Directed::new("9.1=first".parse().unwrap()));
        let mut run = StaleRun::new(kind).undoing("2.p2".parse().ok());
        assert!(!run.undoes_plain(2) && !run.undoes_plain(1) && !run.undoes_access(2));
        assert!(run.undoes_plain(2));
        assert!(!run.undoes_plain(2));
        let free = FreeRun::new(WeakStrategy::Given, ReleaseSequences::Cxx20, 1, Vec::new());
        let mut run = StaleRun::new(StaleRunKind::Free(free)).undoing("2.1".parse().ok());
        let asked = AskedAccess {
            thread: 2,
            location: None,
            context: 0,
            is_sc: false,
            effect: AccessEffect::Writes,
            newest: 0,
            can_take: true,
        };
        run.access(&asked);
        assert!(run.undoes_access(2) && !run.undoes_access(1) && !run.undoes_plain(2));
        run.access(&asked);
        assert!(!run.undoes_access(2));
    }

    #[test]
    fn only_so_much_is_kept_back() {
        let target = "1.1=first".parse().unwrap();
        let mut run = StaleRun::new(StaleRunKind::Directed(Directed::new(target)));
        assert!(run.may_quarantine(QUARANTINE_LIMIT_BYTES));
        assert!(!run.may_quarantine(1));
    }
}
