//! Entering and leaving functions: `__tsan_init`, `__tsan_func_entry/exit`. A
//! function that is left takes the atomics on its stack with it.

use core::sync::atomic::Ordering;

use super::atomic::flush_volatile;
use crate::start;
use crate::tls;
use crate::turn;

#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {
    start::ensure();
}

/// `caller` is the return address of the function that was entered, `sp` its
/// stack pointer.
unsafe extern "C" fn enter(caller: u64, sp: u64) {
    let thread = tls::current();
    if !thread.is_null() {
        // SAFETY: the thread's own record. A signal handler that comes in
        // between leaves the stack as it found it.
        unsafe { (*thread).push(caller, sp) };
    }
}

unsafe extern "C" fn leave(pc: u64) {
    let thread = tls::current();
    if thread.is_null() {
        return;
    }
    // SAFETY: the thread's own record.
    if unsafe { (*thread).pending.is_some() } {
        // Nothing else that the thread does may come.
        write_volatile();
    }
    // SAFETY: the thread's own record.
    let thread = unsafe { &mut *thread };
    thread.pop();
    let lowest = thread.locals.0.load(Ordering::Relaxed);
    if lowest != u64::MAX {
        let depth = thread.depth();
        let frame_end = match depth {
            0 => return,
            _ => thread.frame(depth - 1).sp,
        };
        if lowest < frame_end {
            end_locals(lowest, frame_end, pc);
        }
    }
}

/// Records the volatile write that the function ended with.
#[cold]
fn write_volatile() {
    if let Some(mut held) = turn::enter() {
        flush_volatile(&mut held);
    }
}

/// Ends the atomics that lay in the frames below.
#[cold]
fn end_locals(lowest: u64, frame_end: u64, pc: u64) {
    let Some(mut held) = turn::enter() else {
        return;
    };
    let locals = &held.thread().locals;
    let all = locals.1.load(Ordering::Relaxed) < frame_end;
    locals
        .0
        .store(if all { u64::MAX } else { frame_end }, Ordering::Relaxed);
    if all {
        locals.1.store(0, Ordering::Relaxed);
    }
    let context = held.context(pc);
    held.state().reclaim(context, lowest, frame_end - lowest);
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".text",
    ".globl __tsan_func_entry",
    ".type __tsan_func_entry, @function",
    "__tsan_func_entry:",
    "lea rsi, [rsp + 8]",
    "jmp {enter}",
    ".size __tsan_func_entry, . - __tsan_func_entry",
    enter = sym enter,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".balign 4",
    ".globl __tsan_func_entry",
    ".type __tsan_func_entry, %function",
    "__tsan_func_entry:",
    "mov x1, sp",
    "b {enter}",
    ".size __tsan_func_entry, . - __tsan_func_entry",
    enter = sym enter,
);

crate::trampoline!(globl, "__tsan_func_exit", 0, leave);
