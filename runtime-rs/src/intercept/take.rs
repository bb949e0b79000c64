//! Taking and giving back anything that can be tried: the pattern that mutexes,
//! rwlocks, spin locks and semaphores share.

use core::ffi::c_int;

use wmfix_trace::{LockMode, RecordedOperation, WaitsFor};

use super::time::Timeout;
use crate::abi::flush_volatile;
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
    if !held.controlled() {
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
    loop {
        let result = attempt();
        if taken(result) {
            acquired(&mut held, context, wanted);
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
    let result = attempt();
    if taken(result) {
        acquired(&mut held, context, wanted);
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
    let record = RecordedOperation::Release {
        lock: wanted.lock,
        mode: wanted.mode,
    };
    if !held.controlled() {
        // Before others can take it.
        held.record(context, &record);
        drop(held);
        return release();
    }
    let result = release();
    if result == 0 {
        held.record(context, &record);
        held.state().scheduler.wake_all(wanted.waits_for);
        held.has_changed();
    }
    result
}

/// Records that it was taken.
pub(super) fn acquired(held: &mut Held, context: u32, wanted: &LockRequest) {
    let record = RecordedOperation::Acquire {
        lock: wanted.lock,
        mode: wanted.mode,
    };
    held.record(context, &record);
    held.has_changed();
}

/// Records that it was taken, where the turn is not held.
pub(super) fn note(wanted: &LockRequest, pc: u64) {
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        acquired(&mut held, context, wanted);
    }
}
