//! Stubs in front of imported functions: each gives its number to `wmfix_unseen`, which
//! asks where to go on and goes there with everything as it was.

use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::Import;
use super::imports::Slot;

/// The arguments of a call that are in registers.
#[repr(C)]
pub(super) struct Registers {
    /// Integers and pointers.
    pub(super) integers: [usize; 6],
}

const STUB_BYTES: usize = 32;
const PAGE_BYTES: usize = 4096;

/// Where the stubs are.
static FIRST: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// Whether an address is one of a stub.
pub(super) fn holds(address: usize) -> bool {
    (FIRST.load(Ordering::Relaxed)..END.load(Ordering::Relaxed)).contains(&address)
}

unsafe extern "C" {
    fn wmfix_unseen();
}

/// Makes a stub for each import and has the slots lead to it.
pub(super) fn put(imports: &[Import], slots: &[Slot]) {
    let bytes = (imports.len() * STUB_BYTES).next_multiple_of(PAGE_BYTES);
    if imports.is_empty() {
        return;
    }
    let (readable, writable) = (libc::PROT_READ, libc::PROT_READ | libc::PROT_WRITE);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let arguments = [0, bytes, writable as usize, flags as usize, usize::MAX, 0];
    // SAFETY: new memory.
    let stubs = unsafe { crate::sys::raw_syscall(libc::SYS_mmap, arguments) };
    if (-4095..0).contains(&stubs) {
        crate::config::cannot_start(format_args!("no memory for stubs"));
    }
    let stubs = stubs as usize;
    for number in 0..imports.len() {
        // SAFETY: within the new memory.
        unsafe { write_stub((stubs + number * STUB_BYTES) as *mut u8, number) };
    }
    protect(stubs, bytes, readable | libc::PROT_EXEC);
    #[cfg(target_arch = "aarch64")]
    see_new_code(stubs, bytes);
    FIRST.store(stubs, Ordering::Relaxed);
    END.store(stubs + bytes, Ordering::Relaxed);
    for slot in slots {
        // The loader may have made the page read-only.
        let page = slot.at as usize & !(PAGE_BYTES - 1);
        protect(page, PAGE_BYTES, writable);
        // SAFETY: a slot of the loader's, which nobody else has changed or uses now.
        unsafe { slot.at.write(stubs + slot.import * STUB_BYTES) };
    }
}

fn protect(address: usize, bytes: usize, how: libc::c_int) {
    let arguments = [address, bytes, how as usize, 0, 0, 0];
    // SAFETY: memory of stubs, or data of a module, which stays readable.
    unsafe { crate::sys::raw_syscall(libc::SYS_mprotect, arguments) };
}

/// `push number; jmp [address behind]`.
#[cfg(target_arch = "x86_64")]
unsafe fn write_stub(at: *mut u8, number: usize) {
    let mut code = [
        0x68, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    code[1..5].copy_from_slice(&(number as u32).to_le_bytes());
    code[11..].copy_from_slice(&(wmfix_unseen as *const () as u64).to_le_bytes());
    // SAFETY: as promised by the caller.
    unsafe { ptr::copy_nonoverlapping(code.as_ptr(), at, code.len()) };
}

/// `ldr x16, address; ldr x17, number; br x16`, and both behind that.
#[cfg(target_arch = "aarch64")]
unsafe fn write_stub(at: *mut u8, number: usize) {
    let code: [u32; 4] = [0x5800_0090, 0x5800_00b1, 0xd61f_0200, 0xd503_201f];
    // SAFETY: as promised by the caller; the memory is aligned.
    unsafe {
        at.cast::<[u32; 4]>().write(code);
        at.cast::<usize>()
            .add(2)
            .write(wmfix_unseen as *const () as usize);
        at.cast::<usize>().add(3).write(number);
    }
}

#[cfg(target_arch = "aarch64")]
fn see_new_code(first: usize, bytes: usize) {
    // The smallest line that a cache of this machine may have.
    for line in (first..first + bytes).step_by(16) {
        // SAFETY: maintains caches of our own memory.
        unsafe {
            core::arch::asm!("dc cvau, {0}", "dsb ish", "ic ivau, {0}", in(reg) line);
        }
    }
    // SAFETY: as above.
    unsafe { core::arch::asm!("dsb ish", "isb") };
}

// What a stub jumps to: the number is on the stack, above it the return address. All
// registers that can hold arguments are kept.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".text",
    ".hidden wmfix_unseen",
    ".globl wmfix_unseen",
    ".type wmfix_unseen, @function",
    "wmfix_unseen:",
    ".cfi_startproc",
    ".cfi_def_cfa_offset 16",
    "push rbp",
    ".cfi_def_cfa_offset 24",
    ".cfi_offset rbp, -24",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "push rax",
    "push r10",
    "push r11",
    "push r9",
    "push r8",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "sub rsp, 128",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "movups [rsp + 32], xmm2",
    "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4",
    "movups [rsp + 80], xmm5",
    "movups [rsp + 96], xmm6",
    "movups [rsp + 112], xmm7",
    "mov rdi, [rbp + 8]",
    "lea rsi, [rsp + 128]",
    "mov rdx, [rbp + 16]",
    "call {passes}",
    "mov [rbp + 8], rax",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "movups xmm2, [rsp + 32]",
    "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]",
    "movups xmm5, [rsp + 80]",
    "movups xmm6, [rsp + 96]",
    "movups xmm7, [rsp + 112]",
    "add rsp, 128",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop r8",
    "pop r9",
    "pop r11",
    "pop r10",
    "pop rax",
    "pop rbp",
    ".cfi_def_cfa rsp, 16",
    "pop r11",
    ".cfi_def_cfa_offset 8",
    "jmp r11",
    ".cfi_endproc",
    ".size wmfix_unseen, . - wmfix_unseen",
    passes = sym super::passes,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".balign 4",
    ".hidden wmfix_unseen",
    ".globl wmfix_unseen",
    ".type wmfix_unseen, %function",
    "wmfix_unseen:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-224]!",
    ".cfi_def_cfa_offset 224",
    ".cfi_offset 29, -224",
    ".cfi_offset 30, -216",
    "mov x29, sp",
    "stp x0, x1, [sp, #16]",
    "stp x2, x3, [sp, #32]",
    "stp x4, x5, [sp, #48]",
    "stp x6, x7, [sp, #64]",
    "str x8, [sp, #80]",
    "stp q0, q1, [sp, #96]",
    "stp q2, q3, [sp, #128]",
    "stp q4, q5, [sp, #160]",
    "stp q6, q7, [sp, #192]",
    "mov x0, x17",
    "add x1, sp, #16",
    "mov x2, x30",
    "bl {passes}",
    "mov x16, x0",
    "ldp q6, q7, [sp, #192]",
    "ldp q4, q5, [sp, #160]",
    "ldp q2, q3, [sp, #128]",
    "ldp q0, q1, [sp, #96]",
    "ldr x8, [sp, #80]",
    "ldp x6, x7, [sp, #64]",
    "ldp x4, x5, [sp, #48]",
    "ldp x2, x3, [sp, #32]",
    "ldp x0, x1, [sp, #16]",
    "ldp x29, x30, [sp], #224",
    ".cfi_def_cfa_offset 0",
    "br x16",
    ".cfi_endproc",
    ".size wmfix_unseen, . - wmfix_unseen",
    passes = sym super::passes,
);
