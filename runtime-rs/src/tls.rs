//! Which thread this is: one word of thread-local storage. Stable Rust without
//! std has no thread locals, so the word is declared and read in assembly; the
//! initial-exec model needs no call and is right for what is linked into an
//! executable.

use crate::thread::Thread;

core::arch::global_asm!(
    ".section .tbss.wmfix_current,\"awT\",@nobits",
    ".hidden wmfix_current",
    ".globl wmfix_current",
    ".type wmfix_current, @object",
    ".size wmfix_current, 8",
    ".balign 8",
    "wmfix_current:",
    ".zero 8",
    ".text",
);

/// The calling thread; null if the runtime does not know it, or it has ended.
#[inline(always)]
pub(crate) fn current() -> *mut Thread {
    let thread;
    // SAFETY: reads the word that belongs to the calling thread.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!(
            "mov {0}, qword ptr [rip + wmfix_current@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) thread,
            options(nostack, preserves_flags, readonly)
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:wmfix_current",
            "ldr {1}, [{1}, :gottprel_lo12:wmfix_current]",
            "ldr {0}, [{0}, {1}]",
            out(reg) thread,
            out(reg) _,
            options(nostack, preserves_flags, readonly)
        );
    }
    thread
}

/// Says which thread this is.
pub(crate) fn set_current(thread: *mut Thread) {
    // SAFETY: writes the word that belongs to the calling thread.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!(
            "mov {0}, qword ptr [rip + wmfix_current@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) thread,
            options(nostack, preserves_flags)
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:wmfix_current",
            "ldr {1}, [{1}, :gottprel_lo12:wmfix_current]",
            "str {2}, [{0}, {1}]",
            out(reg) _,
            out(reg) _,
            in(reg) thread,
            options(nostack, preserves_flags)
        );
    }
}
