//! What the exploration knows of a run: steps of threads with the objects that they
//! access.

use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::event::{LockId, SiteId};

/// Who takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Actor {
    /// The thread.
    pub thread: u32,
}

/// An access to something that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What is accessed. The number is the same in all runs that begin alike. Objects
    /// from [`ORDERED`] on only order steps: nobody can come before who comes after.
    pub object: u64,
    /// For memory how many bytes from there on; else 1.
    pub size: u8,
    /// It changed the object.
    pub writes: bool,
}

/// Accesses to memory that has this number in common may overlap.
const BLOCK_BYTES: u64 = 16;

impl Access {
    /// An access to something that has no bytes.
    pub(super) fn to(object: u64, writes: bool) -> Self {
        Self {
            object,
            size: 1,
            writes,
        }
    }

    /// Whether two accesses have something in common.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.object < other.object.saturating_add(u64::from(other.size))
            && other.object < self.object.saturating_add(u64::from(self.size))
    }

    /// Numbers of which accesses that overlap have one in common.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u64> + use<> {
        let last = self.object.saturating_add(u64::from(self.size.max(1)) - 1);
        self.object / BLOCK_BYTES..=last / BLOCK_BYTES
    }
}

/// The first object that only orders steps, like the life of a thread.
pub const ORDERED: u64 = 1 << 63;

/// Tells locks, and what else has an address and no value, from memory.
const LOCKS: u64 = 1 << 62;

/// A lock as something that is accessed.
pub(super) fn lock_object(lock: LockId) -> u64 {
    (lock.0 ^ LOCKS) & !ORDERED
}

/// What a thread did between two moments at which another one could have gone on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who.
    pub actor: Actor,
    /// Where in the program it began: the same in all runs that begin alike.
    pub site: SiteId,
    /// What it accessed.
    pub accesses: SmallVec<[Access; 2]>,
    /// For a step that waits: the earlier steps of the run, by their numbers, right
    /// before which it could have gone on.
    pub waits: Option<Vec<usize>>,
    /// For a step whose write depends on what it finds (a compare-exchange): the
    /// earlier steps of the run, by their numbers, right before which it would have
    /// written.
    pub writes_before: Option<Vec<usize>>,
    /// It is a round of a loop that waits in which the thread found what it had found
    /// before: whatever could come before it could as well come before the next one.
    pub repeats: bool,
}

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The steps in their order.
    pub steps: Vec<Step>,
    /// The steps of threads that still wait when the run has ended.
    pub blocked: Vec<Step>,
    /// Where atomic accesses of one size met memory that others of another size had
    /// used, if they did. What they could see of each other is not known.
    pub mixed_sizes: Option<SiteId>,
}

impl Step {
    /// The step as it would be if what it finds made it write, or not.
    pub(super) fn set_writes(&mut self, writes: bool) {
        let objects = self.accesses.iter_mut();
        for access in objects.filter(|access| access.object < ORDERED) {
            access.writes = writes;
        }
    }
}

/// Whether the order of two steps of different threads matters.
pub(super) fn dependent(one: &[Access], other: &[Access]) -> bool {
    one.iter().any(|a| {
        let conflicts = |b: &Access| a.overlaps(b) && (a.writes || b.writes);
        other.iter().any(conflicts)
    })
}
