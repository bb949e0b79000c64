//! Taking and giving back anything that can be tried: the pattern that mutexes,
//! rwlocks, spin locks and semaphores share.

use core::ffi::c_int;

use wmfix_trace::{LockMode, RecordedOperation, SyncKind, WaitsFor};

use super::time::Timeout;
use crate::abi::flush_volatile;
use crate::misuse::{self, LockKind};
use crate::real;
use crate::scheduler::Scheduler;
use crate::spin::Read;
use crate::strategy::Kind;
use crate::turn::{self, Held};

/// Something to take.
pub(super) struct LockRequest {
    /// Its address.
    pub(super) lock: u64,
    /// How it is taken.
    pub(super) mode: LockMode,
    /// What a thread that does not get it waits for.
    pub(super) waits_for: WaitsFor,
    /// What it is.
    pub(super) kind: LockKind,
}

impl LockRequest {
    /// What an exploration must know of it before it is tried: how often a semaphore
    /// can be passed.
    fn state(&self, held: &mut Held) -> u64 {
        if self.kind != LockKind::Semaphore || !held.explores() {
            return 0;
        }
        let mut level = 0;
        real::sem_getvalue(self.lock as *mut _, &mut level);
        u64::try_from(level).unwrap_or(0)
    }

    /// Tells an exploration what was done with a semaphore that had this state, and
    /// whether this is something that it knows nothing of.
    fn tell(&self, held: &mut Held, context: u32, kind: SyncKind, state: u64) {
        match (self.kind, self.mode) {
            (LockKind::Semaphore, _) => held.sync(context, kind, self.lock, state),
            (_, LockMode::Signal) => held.unexplored(context),
            _ => {}
        }
    }

    /// Tells an exploration that it was tried, and not waited for.
    fn tell_tried(&self, held: &mut Held, context: u32, state: u64) {
        match (self.kind, self.mode) {
            (LockKind::Semaphore, _) | (_, LockMode::Signal) => {
                self.tell(held, context, SyncKind::Try, state);
            }
            (_, LockMode::Exclusive) => held.sync(context, SyncKind::TryExclusive, self.lock, 0),
            (_, LockMode::Shared) => held.sync(context, SyncKind::TryShared, self.lock, 0),
        }
    }
}

/// Whether a result of the library means that it was taken.
fn taken(result: c_int) -> bool {
    // A robust mutex whose owner died is ours, and the program is told so.
    result == 0 || result == libc::EOWNERDEAD
}

/// Takes it, however long that takes. `attempt` says EBUSY if it cannot be had
/// now; `block` is the library's way to wait for it.
pub(super) fn take(
    wanted: &LockRequest,
    timeout: Timeout,
    pc: u64,
    mut attempt: impl FnMut() -> c_int,
    block: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut held) = turn::enter() else {
        return block();
    };
    flush_volatile(&mut held);
    let is_refused = matches!(timeout, Timeout::Invalid);
    if is_refused {
        held.point(Kind::Operation);
    }
    if !held.controlled() || is_refused {
        drop(held);
        let result = block();
        if taken(result) {
            note(wanted, pc);
        }
        return result;
    }
    held.point(Kind::Operation);
    let context = held.context(pc);
    let wait = timeout.begins(&mut held);
    held.was_interrupted();
    if let Timeout::After(time) = timeout
        && held.explores()
    {
        // The time may be over at any step: then it is a wait that ends now, or has
        // not begun.
        if Scheduler::is_impatient(time) {
            let result = attempt_once(&mut held, context, wanted, attempt);
            if result != libc::EBUSY {
                return result;
            }
            wait.gave_up();
            return libc::ETIMEDOUT;
        }
        held.unexplored(context);
    }
    loop {
        if wanted.kind == LockKind::Semaphore {
            held.cancellation_point();
            if held.was_interrupted() {
                return libc::EINTR;
            }
        }
        let state = wanted.state(&mut held);
        let result = attempt();
        if taken(result) {
            wanted.tell(&mut held, context, SyncKind::Take, state);
            acquired(&mut held, context, wanted);
        } else if result == libc::EINVAL {
            misuse::refused(&mut held, context, wanted.lock, wanted.kind);
        }
        if result != libc::EBUSY {
            return result;
        }
        if held.wait(context, wanted.waits_for, wait.deadline) {
            wait.gave_up();
            return libc::ETIMEDOUT;
        }
    }
}

/// Takes it if it is free.
pub(super) fn try_to_take(wanted: &LockRequest, pc: u64, attempt: impl FnOnce() -> c_int) -> c_int {
    let Some(mut held) = turn::enter() else {
        return attempt();
    };
    flush_volatile(&mut held);
    held.point(Kind::Operation);
    let context = held.context(pc);
    attempt_once(&mut held, context, wanted, attempt)
}

fn attempt_once(
    held: &mut Held,
    context: u32,
    wanted: &LockRequest,
    attempt: impl FnOnce() -> c_int,
) -> c_int {
    let state = wanted.state(held);
    let result = attempt();
    wanted.tell_tried(held, context, state);
    if taken(result) {
        acquired(held, context, wanted);
    } else {
        // Whoever tries again and again is spinning.
        held.has_read(Read {
            context,
            location: u32::MAX,
            value: wanted.lock,
            order: 0,
        });
    }
    result
}

/// Gives it back.
pub(super) fn give(wanted: &LockRequest, pc: u64, release: impl FnOnce() -> c_int) -> c_int {
    let Some(mut held) = turn::enter() else {
        return release();
    };
    flush_volatile(&mut held);
    held.point(Kind::Operation);
    let context = held.context(pc);
    let given = misuse::gives(&mut held, wanted.lock, wanted.mode, wanted.kind);
    if !held.controlled() {
        // Before others can take it.
        if let Some(mode) = given.mode {
            let lock = wanted.lock;
            held.record(context, &RecordedOperation::Release { lock, mode });
        }
        drop(held);
        let result = release();
        if result == 0
            && given.wrong.is_some()
            && let Some(mut held) = turn::enter()
        {
            given.report(&mut held, context, wanted.lock);
        }
        return result;
    }
    let state = wanted.state(&mut held);
    let result = release();
    if result == 0 {
        wanted.tell(&mut held, context, SyncKind::Change, state);
        given.report(&mut held, context, wanted.lock);
        if let Some(mode) = given.mode {
            let lock = wanted.lock;
            held.record(context, &RecordedOperation::Release { lock, mode });
        }
        held.state().scheduler.wake_all(wanted.waits_for);
        held.has_changed();
    }
    result
}

/// Records that it was taken.
pub(super) fn acquired(held: &mut Held, context: u32, wanted: &LockRequest) {
    let mode = misuse::takes(held, wanted.lock, wanted.mode, wanted.kind);
    let lock = wanted.lock;
    held.record(context, &RecordedOperation::Acquire { lock, mode });
    held.has_changed();
}

/// Records that it was taken, where the turn is not held.
pub(super) fn note(wanted: &LockRequest, pc: u64) {
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        acquired(&mut held, context, wanted);
    }
}
