//! The public annotations of the thread sanitizer's interface: mutexes of the
//! program's own making, happens-before edges, and what means nothing to us.
//!
//! What a program announces is what it should do, not what it does: a lock whose
//! order is too weak would be hidden by its own annotation. So annotations are
//! counted and ignored, unless they are to be trusted.

use core::ffi::{c_int, c_uint, c_void};

use wmfix_trace::{LockMode, MAX_RECORD, RecordedOperation, encode_ignored};

use super::atomic::visible;
use crate::trampoline;
use crate::turn::{self, Held};

/// Takes the turn for an annotation, if it is trusted.
fn trusted(pc: u64) -> Option<(Held, u32)> {
    let mut held = turn::enter()?;
    let state = held.state();
    if state.config.trusts_annotations {
        drop(held);
        return visible(pc);
    }
    state.ignored_annotations += 1;
    let count = state.ignored_annotations;
    if count.is_power_of_two() {
        let write = |out: &mut [u8]| encode_ignored(out, count);
        state.recorder.write(MAX_RECORD, write);
    }
    None
}

fn acquired(object: u64, mode: LockMode, pc: u64) {
    if let Some((mut held, context)) = trusted(pc) {
        held.record(context, &RecordedOperation::Acquire { lock: object, mode });
        held.has_changed();
    }
}

fn releases(object: u64, mode: LockMode, pc: u64) {
    if let Some((mut held, context)) = trusted(pc) {
        held.record(context, &RecordedOperation::Release { lock: object, mode });
        held.has_changed();
    }
}

const READ_LOCK: c_uint = 1 << 3;
const TRY_LOCK_FAILED: c_uint = 1 << 5;

fn mode_of(flags: c_uint) -> LockMode {
    if flags & READ_LOCK != 0 {
        LockMode::Shared
    } else {
        LockMode::Exclusive
    }
}

unsafe extern "C" fn happens_before(object: u64, pc: u64) {
    releases(object, LockMode::Signal, pc);
}

unsafe extern "C" fn happens_after(object: u64, pc: u64) {
    acquired(object, LockMode::Signal, pc);
}

unsafe extern "C" fn annotated_before(_file: u64, _line: u64, object: u64, pc: u64) {
    releases(object, LockMode::Signal, pc);
}

unsafe extern "C" fn annotated_after(_file: u64, _line: u64, object: u64, pc: u64) {
    acquired(object, LockMode::Signal, pc);
}

unsafe extern "C" fn post_lock(object: u64, flags: c_uint, _recursion: c_int, pc: u64) {
    if flags & TRY_LOCK_FAILED == 0 {
        acquired(object, mode_of(flags), pc);
    }
}

unsafe extern "C" fn pre_unlock(object: u64, flags: c_uint, pc: u64) -> c_int {
    releases(object, mode_of(flags), pc);
    1
}

unsafe extern "C" fn annotated_acquired(
    _file: u64,
    _line: u64,
    object: u64,
    exclusive: u64,
    pc: u64,
) {
    acquired(object, annotated_mode(exclusive), pc);
}

unsafe extern "C" fn annotated_released(
    _file: u64,
    _line: u64,
    object: u64,
    exclusive: u64,
    pc: u64,
) {
    releases(object, annotated_mode(exclusive), pc);
}

fn annotated_mode(exclusive: u64) -> LockMode {
    if exclusive == 0 {
        LockMode::Shared
    } else {
        LockMode::Exclusive
    }
}

trampoline!(globl, "__tsan_release", 1, happens_before);
trampoline!(globl, "__tsan_acquire", 1, happens_after);
trampoline!(globl, "__tsan_mutex_post_lock", 3, post_lock);
trampoline!(globl, "__tsan_mutex_pre_unlock", 2, pre_unlock);
trampoline!(globl, "AnnotateHappensBefore", 3, annotated_before);
trampoline!(globl, "AnnotateHappensAfter", 3, annotated_after);
trampoline!(globl, "AnnotateRWLockAcquired", 4, annotated_acquired);
trampoline!(globl, "AnnotateRWLockReleased", 4, annotated_released);

/// Annotations that change nothing here. C lets a function be called with more
/// arguments than it looks at.
macro_rules! ignored {
    ($($name:ident),* $(,)?) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name() {}
    )* };
}

ignored! {
    __tsan_mutex_create, __tsan_mutex_destroy, __tsan_mutex_pre_lock,
    __tsan_mutex_post_unlock, __tsan_mutex_pre_signal, __tsan_mutex_post_signal,
    __tsan_mutex_pre_divert, __tsan_mutex_post_divert, __tsan_flush_memory,
    __tsan_ignore_thread_begin, __tsan_ignore_thread_end,
    __tsan_switch_to_fiber, __tsan_destroy_fiber, __tsan_set_fiber_name,
    __tsan_external_assign_tag, __tsan_external_read, __tsan_external_write,
    __tsan_external_register_header,
    AnnotateBenignRace, AnnotateBenignRaceSized, AnnotateCondVarSignal,
    AnnotateCondVarSignalAll, AnnotateCondVarWait, AnnotateEnableRaceDetection,
    AnnotateExpectRace, AnnotateFlushExpectedRaces, AnnotateFlushState,
    AnnotateIgnoreReadsBegin, AnnotateIgnoreReadsEnd, AnnotateIgnoreSyncBegin,
    AnnotateIgnoreSyncEnd, AnnotateIgnoreWritesBegin, AnnotateIgnoreWritesEnd,
    AnnotateMemoryIsInitialized, AnnotateMemoryIsUninitialized,
    AnnotateMutexIsNotPHB, AnnotateMutexIsUsedAsCondVar, AnnotateNewMemory,
    AnnotateNoOp, AnnotatePCQCreate, AnnotatePCQDestroy, AnnotatePCQGet,
    AnnotatePCQPut, AnnotatePublishMemoryRange, AnnotateRWLockCreate,
    AnnotateRWLockCreateStatic, AnnotateRWLockDestroy, AnnotateThreadName,
    AnnotateTraceMemory, AnnotateUnpublishMemoryRange, WTFAnnotateHappensBefore,
    WTFAnnotateHappensAfter,
    // What programs tell a sanitizer around their own system calls: libuv does.
    __sanitizer_syscall_pre_impl_close, __sanitizer_syscall_post_impl_close,
}

/// Fibres are scheduled by the program; to us they are one thread.
macro_rules! nothing {
    ($($name:ident),* $(,)?) => { $(
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> *mut c_void {
            core::ptr::null_mut()
        }
    )* };
}

nothing! {
    __tsan_get_current_fiber, __tsan_create_fiber, __tsan_external_register_tag,
}
