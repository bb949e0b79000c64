//! Streams on what the runtime stands before: what carries messages between threads, and
//! random devices. The C library reads and writes the file of a stream by itself. Such a
//! stream is replaced by one that does it through us, and has the first for its cookie:
//! whatever of stdio comes down to a transfer then is one that we see.

use core::ffi::{c_char, c_int, c_void};

use super::descriptor::{Direction, Transfer};
use super::ends;
use super::random;
use super::time::fail_with;
use crate::abi;
use crate::real;
use crate::sys;
use crate::trampoline;
use crate::turn;
use crate::unseen;

/// Whether threads send each other messages through a descriptor. What the process was
/// started with leads to others.
fn carries_messages(descriptor: c_int) -> bool {
    turn::enter().is_some_and(|mut held| {
        let channel = held.state().descriptors.channel(descriptor);
        channel.is_some_and(|channel| descriptor > libc::STDERR_FILENO || channel.is_own())
    })
}

// The functions of a stream are called by the C library, which is not instrumented: their
// trampolines say so. Nobody else knows the names.
unsafe extern "C" {
    fn wmfix_stream_read(stream: *mut c_void, buffer: *mut c_void, size: usize) -> isize;
    fn wmfix_stream_write(stream: *mut c_void, buffer: *mut c_void, size: usize) -> isize;
    fn wmfix_stream_close(stream: *mut c_void) -> c_int;
}

/// A stream that was just made, or the one in its place.
fn replaced(stream: *mut c_void, mode: *const c_char) -> *mut c_void {
    if stream.is_null() {
        return stream;
    }
    let descriptor = real::fileno(stream);
    if !random::is_replaced(descriptor) && !carries_messages(descriptor) {
        return stream;
    }
    let functions = real::CookieFunctions {
        read: wmfix_stream_read as *mut c_void,
        write: wmfix_stream_write as *mut c_void,
        seek: seek as *mut c_void,
        close: wmfix_stream_close as *mut c_void,
    };
    let replaced = real::fopencookie(stream, mode, functions);
    if replaced.is_null() {
        return stream;
    }
    /// Where a stream has its descriptor, by the ABI of the C library for 64 bits. Else
    /// one that was made in this way has none.
    const DESCRIPTOR_AT: usize = 112;
    // SAFETY: a stream that was just made.
    unsafe {
        replaced
            .byte_add(DESCRIPTOR_AT)
            .cast::<c_int>()
            .write(descriptor)
    };
    replaced
}

/// Part of what a stream reads or writes. The buffer is the library's.
fn transfer(
    descriptor: c_int,
    direction: Direction,
    buffer: *mut c_void,
    size: usize,
    pc: u64,
) -> isize {
    let (number, block): (_, fn(c_int, *mut c_void, usize) -> isize) = match direction {
        Direction::Receive => (libc::SYS_read, real::read),
        Direction::Send => (libc::SYS_write, real::write),
    };
    let transfer = Transfer {
        descriptor,
        direction,
        number,
        arguments: [descriptor as usize, buffer as usize, size, 0, 0, 0],
        nonblocking: false,
        to: None,
        pc,
    };
    transfer.make(|| block(descriptor, buffer, size))
}

/// Writes all of it; how much was written before an error.
fn write_all(descriptor: c_int, text: *mut c_void, size: usize, pc: u64) -> usize {
    let mut done = 0;
    while done < size {
        // SAFETY: within the text.
        let rest = unsafe { text.byte_add(done) };
        match transfer(descriptor, Direction::Send, rest, size - done, pc) {
            written if written > 0 => done += written as usize,
            _ => break,
        }
    }
    done
}

unsafe extern "C" fn read(stream: *mut c_void, buffer: *mut c_void, size: usize, pc: u64) -> isize {
    transfer(real::fileno(stream), Direction::Receive, buffer, size, pc)
}

/// Here, less than all is what failed.
unsafe extern "C" fn write(
    stream: *mut c_void,
    buffer: *mut c_void,
    size: usize,
    pc: u64,
) -> isize {
    write_all(real::fileno(stream), buffer, size, pc) as isize
}

unsafe extern "C" fn seek(stream: *mut c_void, offset: *mut i64, whence: c_int) -> c_int {
    // SAFETY: the library's own number.
    let offset = unsafe { &mut *offset };
    let descriptor = real::fileno(stream) as usize;
    let arguments = [descriptor, *offset as usize, whence as usize, 0, 0, 0];
    // SAFETY: the program's own call.
    let place = unsafe { sys::raw_syscall(libc::SYS_lseek, arguments) };
    if place < 0 {
        return fail_with(-place as c_int);
    }
    *offset = place as i64;
    0
}

unsafe extern "C" fn close(stream: *mut c_void, pc: u64) -> c_int {
    ends::closes(real::fileno(stream), pc);
    real::fclose(stream)
}

trampoline!(
    globl,
    "wmfix_stream_read",
    3,
    read,
    "wmfix_stream_read_by_library"
);
trampoline!(
    globl,
    "wmfix_stream_write",
    3,
    write,
    "wmfix_stream_write_by_library"
);
trampoline!(
    globl,
    "wmfix_stream_close",
    1,
    close,
    "wmfix_stream_close_by_library"
);

/// The library reads the name of a file: that is a read like any other.
fn reads_path(path: *const c_char, pc: u64) {
    abi::read(path as u64, real::strlen(path) as u64 + 1, pc);
}

unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char, pc: u64) -> *mut c_void {
    reads_path(path, pc);
    replaced(real::fopen(path, mode), mode)
}

unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char, pc: u64) -> *mut c_void {
    reads_path(path, pc);
    replaced(real::fopen64(path, mode), mode)
}

unsafe extern "C" fn fdopen(descriptor: c_int, mode: *const c_char, _pc: u64) -> *mut c_void {
    replaced(real::fdopen(descriptor, mode), mode)
}

trampoline!(weak, "fopen", 2, fopen);
trampoline!(weak, "fopen64", 2, fopen64);
trampoline!(weak, "fdopen", 2, fdopen);

/// Prints to a descriptor. `checks` is what the checked forms are given.
unsafe extern "C" fn print(
    descriptor: c_int,
    checks: c_int,
    format: *const c_char,
    arguments: *mut c_void,
    pc: u64,
) -> c_int {
    unseen::printed(c"dprintf", format, pc);
    if !turn::is_in_program() || !carries_messages(descriptor) {
        return real::__vdprintf_chk(descriptor, checks, format, arguments);
    }
    let mut text = core::ptr::null_mut();
    let len = real::__vasprintf_chk(&raw mut text, checks, format, arguments);
    let Ok(size) = usize::try_from(len) else {
        return len;
    };
    let written = write_all(descriptor, text.cast(), size, pc);
    // SAFETY: the library has made it. Its `free` is the one that goes with it.
    unsafe { libc::free(text.cast()) };
    if written == size { len } else { -1 }
}

unsafe extern "C" fn vdprintf(
    descriptor: c_int,
    format: *const c_char,
    arguments: *mut c_void,
    pc: u64,
) -> c_int {
    // SAFETY: the program's own call.
    unsafe { print(descriptor, 0, format, arguments, pc) }
}

trampoline!(weak, "vdprintf", 3, vdprintf);
trampoline!(weak, "__vdprintf_chk", 4, print);

// Variadic in C: what was passed in registers is put where a list of arguments has it.
#[cfg(target_arch = "x86_64")]
macro_rules! prints {
    ($name:literal, $function:path, $named_bytes:literal, $list:literal, $pc:literal) => {
        core::arch::global_asm!(
            ".text",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "sub rsp, 216",
            ".cfi_adjust_cfa_offset 216",
            "mov [rsp + 48], rdx",
            "mov [rsp + 56], rcx",
            "mov [rsp + 64], r8",
            "mov [rsp + 72], r9",
            "test al, al",
            "je 2f",
            "movaps [rsp + 80], xmm0",
            "movaps [rsp + 96], xmm1",
            "movaps [rsp + 112], xmm2",
            "movaps [rsp + 128], xmm3",
            "movaps [rsp + 144], xmm4",
            "movaps [rsp + 160], xmm5",
            "movaps [rsp + 176], xmm6",
            "movaps [rsp + 192], xmm7",
            "2:",
            concat!("mov dword ptr [rsp], ", $named_bytes),
            "mov dword ptr [rsp + 4], 48",
            "lea rax, [rsp + 224]",
            "mov [rsp + 8], rax",
            "lea rax, [rsp + 32]",
            "mov [rsp + 16], rax",
            concat!("mov ", $list, ", rsp"),
            concat!("mov ", $pc, ", [rsp + 216]"),
            "call {function}",
            "add rsp, 216",
            ".cfi_adjust_cfa_offset -216",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    };
}
#[cfg(target_arch = "x86_64")]
prints!("dprintf", vdprintf, "16", "rdx", "rcx");
#[cfg(target_arch = "x86_64")]
prints!("__dprintf_chk", print, "24", "rcx", "r8");

#[cfg(target_arch = "aarch64")]
macro_rules! prints {
    ($name:literal, $function:path, $left_bytes:literal, $list:literal, $pc:literal) => {
        core::arch::global_asm!(
            ".text",
            ".balign 4",
            concat!(".weak ", $name),
            concat!(".type ", $name, ", %function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "stp x29, x30, [sp, #-256]!",
            ".cfi_def_cfa_offset 256",
            ".cfi_offset 30, -248",
            ".cfi_offset 29, -256",
            "mov x29, sp",
            "stp x2, x3, [sp, #80]",
            "stp x4, x5, [sp, #96]",
            "stp x6, x7, [sp, #112]",
            "stp q0, q1, [sp, #128]",
            "stp q2, q3, [sp, #160]",
            "stp q4, q5, [sp, #192]",
            "stp q6, q7, [sp, #224]",
            "add x9, sp, #256",
            "add x10, sp, #128",
            "str x9, [sp, #16]",
            "str x10, [sp, #24]",
            "str x9, [sp, #32]",
            concat!("mov w11, #-", $left_bytes),
            "mov w12, #-128",
            "stp w11, w12, [sp, #40]",
            concat!("add ", $list, ", sp, #16"),
            concat!("mov ", $pc, ", x30"),
            "bl {function}",
            "ldp x29, x30, [sp], #256",
            ".cfi_def_cfa_offset 0",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    };
}
#[cfg(target_arch = "aarch64")]
prints!("dprintf", vdprintf, "48", "x2", "x3");
#[cfg(target_arch = "aarch64")]
prints!("__dprintf_chk", print, "40", "x3", "x4");
