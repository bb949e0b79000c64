//! Who holds which of the program's locks.

use alloc::collections::{BTreeMap, BTreeSet};

/// What a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockKind {
    Mutex,
    /// An rwlock, a spin lock, or the lock of a file.
    Other,
    /// Not held by anybody: it cannot be misused.
    Semaphore,
}

/// Who holds which lock.
#[derive(Debug, Default)]
pub(crate) struct LockHolders {
    /// How often, and what it is, by the lock and the thread.
    pub(crate) held: BTreeMap<(u64, u32), (u32, LockKind)>,
    /// Locks that belong to nobody any more: they were misused.
    pub(crate) misused: BTreeSet<u64>,
    /// Whether this process was forked, so that it may have locks that it did not take.
    pub(crate) inherits: bool,
}
