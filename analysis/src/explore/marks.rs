//! What steps do with synchronisation objects where the events of a run do not say it:
//! what a thread tried in vain, how a semaphore stood, who let whom go on.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use super::step::{Access, ORDERED, Step, lock_object};
use crate::event::{LockId, SiteId, ThreadId};
use crate::hash::FxHashMap;

/// A step's access to a synchronisation object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub site: SiteId,
    /// What it did.
    pub kind: MarkKind,
    /// The object: an address, or the number of a thread that waits.
    pub object: u64,
    /// What it found there; for what only orders, which of the object's rounds it is.
    pub state: u64,
}

/// What a step does with a synchronisation object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// It tried to take a lock for itself; the event follows if it could.
    TryExclusive,
    /// It tried to share a lock; the event follows if it could.
    TryShared,
    /// It took something, for which it would have waited while the state was 0.
    Take,
    /// It took something if the state was not 0.
    Try,
    /// It passed, for which it would have waited while the state was 0. Where the state
    /// is 1, it would have changed the object.
    Pass,
    /// It changed the object.
    Change,
    /// It looked at the object.
    Look,
    /// It read the four bytes at the address.
    ReadWord,
    /// It let others go on.
    Publish,
    /// It went on because another one let it.
    Learn,
}

impl MarkKind {
    /// Whether marks tell all of what is done with the object.
    pub fn tells_all(self) -> bool {
        !matches!(self, Self::TryExclusive | Self::TryShared)
    }
}

impl Mark {
    /// Whether it is about a lock, of which the events tell the rest.
    pub(super) fn is_of_lock(&self) -> bool {
        !self.kind.tells_all()
    }
}

/// How synchronisation objects came to be what they are: the accesses to each, by the
/// numbers of their steps, with the state right before.
#[derive(Default)]
pub(super) struct MarkHistory {
    before: FxHashMap<u64, Vec<(usize, u64)>>,
}

impl MarkHistory {
    /// Adds what a mark accesses to its step.
    pub(super) fn describe(&self, mark: &Mark, step: &mut Step) {
        let object = lock_object(LockId(mark.object));
        let access = match mark.kind {
            MarkKind::TryExclusive | MarkKind::TryShared => return,
            MarkKind::Take => {
                step.waits = Some(self.found(mark.object, |state| state != 0));
                Access::to(object, true)
            }
            MarkKind::Try => {
                step.writes_before = Some(self.found(mark.object, |state| state != 0));
                Access::to(object, mark.state != 0)
            }
            MarkKind::Pass => {
                step.waits = Some(self.found(mark.object, |state| state != 0));
                step.writes_before = Some(self.found(mark.object, |state| state == 1));
                Access::to(object, mark.state == 1)
            }
            MarkKind::Change => Access::to(object, true),
            MarkKind::Look => Access::to(object, false),
            MarkKind::ReadWord => Access {
                object: mark.object,
                size: 4,
                writes: false,
            },
            MarkKind::Publish => Access::to(round_of(mark), true),
            MarkKind::Learn => Access::to(round_of(mark), false),
        };
        step.accesses.push(access);
    }

    /// What a mark changes.
    pub(super) fn take(&mut self, step: usize, mark: &Mark) {
        let before = self.before.entry(mark.object).or_default();
        before.push((step, mark.state));
    }

    fn found(&self, object: u64, open: impl Fn(u64) -> bool) -> Vec<usize> {
        let all = self.before.get(&object).into_iter().flatten();
        all.filter(|(_, state)| open(*state))
            .map(|(step, _)| *step)
            .collect()
    }
}

/// A round of something that lets others go on, as an object that only orders: apart
/// from the lives of threads, which have small numbers.
fn round_of(mark: &Mark) -> u64 {
    const ROUNDS: u64 = 1 << 62;
    let mut hasher = rustc_hash::FxHasher::default();
    (mark.object, mark.state).hash(&mut hasher);
    ORDERED | ROUNDS | hasher.finish() >> 2
}
