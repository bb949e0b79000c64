//! `main` is reached through us: constructors have run by then and nothing of the
//! program itself has, which is the moment for a fork server.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::environment;
use crate::random;
use crate::real;
use crate::server;

/// The program's own `main`.
static MAIN: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// In front of the function of the C library that runs constructors and `main`.
unsafe extern "C" fn start_main(
    main: *mut c_void,
    argc: c_int,
    argv: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    loader_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.store(main, Ordering::Relaxed);
    let ours = wmfix_main as *mut c_void;
    real::__libc_start_main(ours, argc, argv, init, fini, loader_fini, stack_end)
}

unsafe extern "C" {
    fn wmfix_main();
}

/// What is called next.
#[repr(C)]
struct MainCall {
    main: *mut c_void,
    environment: *mut *mut c_char,
}

unsafe extern "C" fn main_begins() -> MainCall {
    server::serve();
    random::main_begins();
    MainCall {
        main: MAIN.load(Ordering::Relaxed),
        environment: environment::for_main(),
    }
}

// In assembly, so that `main` is called as if by the C library itself.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".text",
    ".weak __libc_start_main",
    ".type __libc_start_main, @function",
    "__libc_start_main:",
    "jmp {start_main}",
    ".size __libc_start_main, . - __libc_start_main",
    ".hidden wmfix_main",
    ".globl wmfix_main",
    ".type wmfix_main, @function",
    "wmfix_main:",
    ".cfi_startproc",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {begins}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "jmp rax",
    ".cfi_endproc",
    ".size wmfix_main, . - wmfix_main",
    start_main = sym start_main,
    begins = sym main_begins,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".balign 4",
    ".weak __libc_start_main",
    ".type __libc_start_main, %function",
    "__libc_start_main:",
    "b {start_main}",
    ".size __libc_start_main, . - __libc_start_main",
    ".hidden wmfix_main",
    ".globl wmfix_main",
    ".type wmfix_main, %function",
    "wmfix_main:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-32]!",
    ".cfi_def_cfa_offset 32",
    ".cfi_offset 30, -24",
    ".cfi_offset 29, -32",
    "stp x0, x1, [sp, #16]",
    "bl {begins}",
    "mov x8, x0",
    "mov x2, x1",
    "ldp x0, x1, [sp, #16]",
    "ldp x29, x30, [sp], #32",
    ".cfi_def_cfa_offset 0",
    "br x8",
    ".cfi_endproc",
    ".size wmfix_main, . - wmfix_main",
    start_main = sym start_main,
    begins = sym main_begins,
);
