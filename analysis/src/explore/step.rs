//! What the exploration knows of a run: steps of threads with the objects that they
//! access.

use alloc::vec::Vec;
use core::ops::Range;

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

impl Run {
    /// The first step of each thread from a number on, with its own number; for threads
    /// that still wait, that of all steps.
    fn next_steps(&self, from: usize) -> Vec<(usize, &Step)> {
        let mut found: Vec<(usize, &Step)> = Vec::new();
        let taken = self.steps.iter().enumerate().skip(from);
        let blocked = self.blocked.iter().map(|step| (self.steps.len(), step));
        for (number, step) in taken.chain(blocked) {
            if found.iter().all(|(_, known)| known.actor != step.actor) {
                found.push((number, step));
            }
        }
        found
    }

    /// Whether a step can only come after one of these.
    fn is_ordered_after(&self, numbers: Range<usize>, step: &Step) -> bool {
        let before = self.steps[numbers].iter().flat_map(|step| &step.accesses);
        let orders = |a: &Access| a.object >= ORDERED && a.writes;
        let mut before = before.filter(|access| orders(access));
        before.any(|a| step.accesses.iter().any(|b| a.overlaps(b)))
    }

    /// The steps of other threads that could have been taken instead of one of these.
    pub(super) fn instead_of(&self, number: usize) -> Vec<Step> {
        let others = self.next_steps(number).into_iter().skip(1);
        others
            .filter_map(|(later, step)| self.earlier(number, later, step))
            .collect()
    }

    /// What the first step of a thread from a number on would have been there; nothing
    /// if it could not have been taken.
    fn earlier(&self, from: usize, number: usize, step: &Step) -> Option<Step> {
        if self.is_ordered_after(from..number, step) {
            return None;
        }
        let meets = |&other: &usize| dependent(&self.steps[other].accesses, &step.accesses);
        let first = (from..number).find(meets);
        if let Some(open) = &step.waits {
            let goes = first.map_or(number < self.steps.len(), |first| open.contains(&first));
            if !goes {
                return None;
            }
        }
        let mut step = step.clone();
        if let (Some(before), Some(first)) = (&step.writes_before, first) {
            let writes = before.contains(&first);
            step.set_writes(writes);
        }
        Some(step)
    }

    /// The first steps, after which all threads wait that have not ended.
    pub(super) fn cut_at(&self, end: usize) -> Self {
        let waits = |&(number, step): &(usize, &Step)| {
            step.waits.is_some() && !self.is_ordered_after(end..number, step)
        };
        let blocked = self.next_steps(end).into_iter().filter(waits);
        Self {
            steps: self.steps[..end].to_vec(),
            blocked: blocked.map(|(_, step)| step.before(end)).collect(),
            mixed_sizes: self.mixed_sizes,
        }
    }
}

impl Step {
    /// The same without what is said of steps from a number on.
    fn before(&self, end: usize) -> Self {
        let cut = |numbers: &Option<Vec<usize>>| {
            let numbers = numbers.as_ref()?.iter().copied();
            Some(numbers.filter(|&number| number < end).collect())
        };
        Self {
            waits: cut(&self.waits),
            writes_before: cut(&self.writes_before),
            ..self.clone()
        }
    }

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
