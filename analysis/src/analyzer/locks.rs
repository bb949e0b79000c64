//! Mutexes, rwlocks and signals: who holds them, and what they hand on.

use alloc::vec::Vec;

use super::thread::Token;
use crate::error::StreamError;
use crate::event::{LockId, LockMode, ThreadId};
use crate::hash::FxHashMap;

/// All locks of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locks(FxHashMap<LockId, Lock>);

#[derive(Clone, Debug, Default)]
struct Lock {
    /// The thread that holds it alone, and how many times.
    owner: Option<(ThreadId, u32)>,
    /// The threads that share it, once for each time.
    readers: Vec<ThreadId>,
    /// What its exclusive owners left.
    from_owners: Token,
    /// What its shared owners left, for the next exclusive owner only.
    from_readers: Token,
    /// What signals left.
    from_signals: Token,
}

impl Locks {
    /// A thread takes a lock. Gives what it learns from those before it.
    pub(crate) fn acquire(
        &mut self,
        id: LockId,
        mode: LockMode,
        thread: ThreadId,
    ) -> Result<Token, StreamError> {
        let lock = self.0.entry(id).or_default();
        match mode {
            LockMode::Exclusive => {
                match &mut lock.owner {
                    Some((owner, times)) if *owner == thread => *times += 1,
                    Some(_) => return Err(StreamError::HeldByOther(id, thread)),
                    None if !lock.readers.is_empty() => {
                        return Err(StreamError::HeldByOther(id, thread));
                    }
                    None => lock.owner = Some((thread, 1)),
                }
                let mut token = lock.from_owners.clone();
                token.join(&lock.from_readers);
                Ok(token)
            }
            LockMode::Shared => {
                if lock.owner.is_some() {
                    return Err(StreamError::HeldByOther(id, thread));
                }
                lock.readers.push(thread);
                Ok(lock.from_owners.clone())
            }
            LockMode::Signal => Ok(lock.from_signals.clone()),
        }
    }

    /// A thread gives a lock back, or signals: whether it may.
    pub(crate) fn release(
        &mut self,
        id: LockId,
        mode: LockMode,
        thread: ThreadId,
    ) -> Result<(), StreamError> {
        let lock = self.0.entry(id).or_default();
        match mode {
            LockMode::Exclusive => match &mut lock.owner {
                Some((owner, times)) if *owner == thread => {
                    *times -= 1;
                    if *times == 0 {
                        lock.owner = None;
                    }
                    Ok(())
                }
                _ => Err(StreamError::NotHeld(id, thread)),
            },
            LockMode::Shared => match lock.readers.iter().position(|&reader| reader == thread) {
                Some(index) => {
                    lock.readers.swap_remove(index);
                    Ok(())
                }
                None => Err(StreamError::NotHeld(id, thread)),
            },
            LockMode::Signal => Ok(()),
        }
    }

    /// Leaves what the releasing thread hands on.
    pub(crate) fn leave(&mut self, id: LockId, mode: LockMode, token: &Token) {
        let lock = self.0.entry(id).or_default();
        match mode {
            LockMode::Exclusive => lock.from_owners.join(token),
            LockMode::Shared => lock.from_readers.join(token),
            LockMode::Signal => lock.from_signals.join(token),
        }
    }
}
