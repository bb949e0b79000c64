//! Locks that are used as they must not be used: given back by a thread that does not
//! have them, used after their end, ended in use. Who holds what is kept here, so that
//! a trace says of a lock only what can be: one that was misused orders its users and
//! belongs to nobody from then on.

use alloc::vec::Vec;

use wmfix_trace::{
    ContextId, LockMode, MAX_RECORD, Misuse, MisuseKind, RecordedOperation, ThreadId, encode_misuse,
};

pub(crate) use crate::holders::LockKind;
use crate::turn::Held;

/// A lock that is given back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    /// How the trace has it; `None` if the trace does not have it as taken.
    pub(crate) mode: Option<LockMode>,
    /// What is wrong about it.
    pub(crate) wrong: Option<MisuseKind>,
}

impl Given {
    /// Says so if it was wrong.
    pub(crate) fn report(self, held: &mut Held, context: u32, lock: u64) {
        if let Some(kind) = self.wrong {
            report(held, context, lock, kind);
        }
    }
}

/// The thread has taken a lock: how the trace has it.
pub(crate) fn takes(held: &mut Held, lock: u64, mode: LockMode, kind: LockKind) -> LockMode {
    if mode == LockMode::Signal || kind == LockKind::Semaphore {
        return mode;
    }
    let me = held.thread().id;
    let holders = &mut held.state().holders;
    if holders.misused.contains(&lock) {
        return LockMode::Signal;
    }
    holders.held.entry((lock, me)).or_insert((0, kind)).0 += 1;
    mode
}

/// The thread is about to give a lock back.
pub(crate) fn gives(held: &mut Held, lock: u64, mode: LockMode, kind: LockKind) -> Given {
    let belongs_to_nobody = mode == LockMode::Signal || kind == LockKind::Semaphore;
    let (mode, wrong) = (Some(mode), None);
    if belongs_to_nobody {
        return Given { mode, wrong };
    }
    let me = held.thread().id;
    let holders = &mut held.state().holders;
    if holders.misused.contains(&lock) {
        let mode = Some(LockMode::Signal);
        return Given { mode, wrong };
    }
    if let Some((times, _)) = holders.held.get_mut(&(lock, me)) {
        *times -= 1;
        if *times == 0 {
            holders.held.remove(&(lock, me));
        }
        return Given { mode, wrong };
    }
    let others = holders.held.range((lock, 0)..=(lock, u32::MAX));
    let by_other = others.count() > 0;
    let inherits = holders.inherits;
    let wrong = match kind {
        _ if by_other => Some(MisuseKind::UnlockedByOther),
        LockKind::Mutex if !is_free(lock) => None,
        _ if inherits => None,
        _ => Some(MisuseKind::UnlockedFree),
    };
    Given { mode: None, wrong }
}

/// A lock refuses to be taken.
pub(crate) fn refused(held: &mut Held, context: u32, lock: u64, kind: LockKind) {
    if kind == LockKind::Mutex && has_ended(lock) {
        report(held, context, lock, MisuseKind::UsedAfterEnd);
    }
}

/// A lock or a barrier ends, while it is in use if told.
pub(crate) fn ends(held: &mut Held, context: u32, lock: u64, in_use: bool) {
    if in_use {
        return report(held, context, lock, MisuseKind::EndedInUse);
    }
    let holders = &mut held.state().holders;
    // The next one at this address is another.
    holders.misused.remove(&lock);
}

fn report(held: &mut Held, context: u32, lock: u64, kind: MisuseKind) {
    let misuse = Misuse {
        thread: ThreadId(held.thread().id),
        context: ContextId(context),
        lock,
        kind,
    };
    let state = held.state();
    state.holders.misused.insert(lock);
    state.holders.held.retain(|&(held, _), _| held != lock);
    state
        .recorder
        .write(MAX_RECORD, |out| encode_misuse(out, &misuse));
}

/// A thread ends: what it held and others may take over is given back.
pub(crate) fn thread_ends(held: &mut Held, context: u32) {
    let me = held.thread().id;
    let holders = &mut held.state().holders;
    let own = holders.held.iter().filter(|((_, thread), _)| *thread == me);
    let robust: Vec<u64> = own
        .filter(|(_, (_, kind))| *kind == LockKind::Mutex)
        .map(|(&(lock, _), _)| lock)
        .filter(|&lock| is_robust(lock))
        .collect();
    for lock in robust {
        held.state().holders.held.remove(&(lock, me));
        let mode = LockMode::Exclusive;
        held.record(context, &RecordedOperation::Release { lock, mode });
    }
}

/// The words of a mutex as glibc lays it out: the lock itself, how often it is held,
/// the owner, the users, the kind.
#[cfg(target_env = "gnu")]
fn word(mutex: u64, index: usize) -> i32 {
    // SAFETY: the program uses a mutex there.
    unsafe { (mutex as *const i32).add(index).read_volatile() }
}

#[cfg(target_env = "gnu")]
fn is_free(mutex: u64) -> bool {
    word(mutex, 0) == 0
}

#[cfg(target_env = "gnu")]
fn is_robust(mutex: u64) -> bool {
    const ROBUST: i32 = 16;
    let kind = word(mutex, 4);
    kind >= 0 && kind & ROBUST != 0
}

#[cfg(target_env = "gnu")]
fn has_ended(mutex: u64) -> bool {
    word(mutex, 4) == -1
}

#[cfg(not(target_env = "gnu"))]
fn is_free(_mutex: u64) -> bool {
    false
}

#[cfg(not(target_env = "gnu"))]
fn is_robust(_mutex: u64) -> bool {
    false
}

#[cfg(not(target_env = "gnu"))]
fn has_ended(_mutex: u64) -> bool {
    false
}
