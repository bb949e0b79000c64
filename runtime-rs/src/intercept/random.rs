//! Random numbers of the system: where the runtime schedules, what the system gave is
//! overwritten with what the run's seed gives. The system is asked all the same, so that
//! its errors and its short answers are kept.
//!
//! The instructions of the processor that draw random numbers cannot be seen; the C++
//! library is asked instead, which uses them.

use core::ffi::{c_int, c_long, c_uint, c_void};
use core::mem::MaybeUninit;

use crate::abi;
use crate::random;
use crate::real;
use crate::sys;
use crate::trampoline;
use crate::turn;

/// The kernel has the random devices under these numbers.
const DEVICES: [libc::dev_t; 2] = [libc::makedev(1, 8), libc::makedev(1, 9)];

/// Whether a descriptor is one of a random device.
fn is_device(descriptor: c_int) -> bool {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    let arguments = [
        descriptor as usize,
        status.as_mut_ptr() as usize,
        0,
        0,
        0,
        0,
    ];
    // SAFETY: the kernel fills the record, or says that it did not.
    let status = unsafe {
        if sys::raw_syscall(libc::SYS_fstat, arguments) != 0 {
            return false;
        }
        status.assume_init()
    };
    status.st_mode & libc::S_IFMT == libc::S_IFCHR && DEVICES.contains(&status.st_rdev)
}

/// Whether what is read from a descriptor is to be replaced.
pub(super) fn is_replaced(descriptor: c_int) -> bool {
    random::is_ours() && is_device(descriptor)
}

/// Overwrites what the system has just filled.
fn replace(buffer: *mut c_void, size: usize) {
    if random::is_ours() {
        // SAFETY: the system has just written these bytes.
        unsafe { random::fill(buffer.cast(), size, &mut random::draw()) };
    }
}

/// The same for what was read from a descriptor, by one of the calls of the system that
/// do, if that is a random device.
pub(super) fn replace_read(number: c_long, arguments: [usize; 6], result: isize) {
    let reads = [libc::SYS_read, libc::SYS_readv].contains(&number);
    let [descriptor, buffer, ..] = arguments;
    if !reads || result <= 0 || !is_replaced(descriptor as c_int) {
        return;
    }
    if number == libc::SYS_read {
        replace(buffer as *mut c_void, result as usize);
    } else {
        // SAFETY: the system has just read this many bytes into these.
        unsafe { replace_parts(buffer as *const libc::iovec, result as usize) };
    }
}

/// The same where it went into several buffers.
///
/// # Safety
/// The system has just read this many bytes into these.
unsafe fn replace_parts(mut part: *const libc::iovec, mut left: usize) {
    let mut numbers = random::draw();
    while left > 0 {
        // SAFETY: as promised by the caller, there is another part for the rest.
        unsafe {
            let size = (*part).iov_len.min(left);
            random::fill((*part).iov_base.cast(), size, &mut numbers);
            left -= size;
            part = part.add(1);
        }
    }
}

/// The same for a system call that the program has made by its number.
pub(super) fn replace_call(number: c_long, arguments: [usize; 6], result: isize, pc: u64) {
    if number == libc::SYS_getrandom && result > 0 {
        is_filled(arguments[0] as *mut c_void, result as usize, pc);
    }
    replace_read(number, arguments, result);
}

/// The system has filled memory of the program with random numbers.
fn is_filled(buffer: *mut c_void, size: usize, pc: u64) {
    replace(buffer, size);
    if turn::is_in_program() {
        abi::write(buffer as u64, size as u64, pc);
    }
}

unsafe extern "C" fn getrandom(buffer: *mut c_void, size: usize, flags: c_uint, pc: u64) -> isize {
    let result = real::getrandom(buffer, size, flags);
    if result > 0 {
        is_filled(buffer, result as usize, pc);
    }
    result
}

unsafe extern "C" fn getentropy(buffer: *mut c_void, size: usize, pc: u64) -> c_int {
    let result = real::getentropy(buffer, size);
    if result == 0 {
        is_filled(buffer, size, pc);
    }
    result
}

trampoline!(weak, "getrandom", 3, getrandom);
trampoline!(weak, "getentropy", 2, getentropy);

/// A number of the system's. Older C libraries have no `arc4random` to ask.
fn of_system() -> u64 {
    let mut number = 0u64;
    let arguments = [&raw mut number as usize, size_of::<u64>(), 0, 0, 0, 0];
    // SAFETY: the number lives for as long as the call, which never fails for so few bytes.
    unsafe { sys::raw_syscall(libc::SYS_getrandom, arguments) };
    number
}

fn number() -> u64 {
    match random::is_ours() {
        true => random::draw().next(),
        false => of_system(),
    }
}

unsafe extern "C" fn arc4random(_pc: u64) -> u32 {
    number() as u32
}

unsafe extern "C" fn arc4random_uniform(end: u32, _pc: u64) -> u32 {
    let number = u128::from(number());
    ((number * u128::from(end)) >> 64) as u32
}

unsafe extern "C" fn arc4random_buf(buffer: *mut c_void, size: usize, pc: u64) {
    let mut done = 0;
    while done < size && !random::is_ours() {
        let arguments = [buffer as usize + done, size - done, 0, 0, 0, 0];
        // SAFETY: the program's own buffer.
        let result = unsafe { sys::raw_syscall(libc::SYS_getrandom, arguments) };
        match usize::try_from(result) {
            Ok(more) => done += more,
            Err(_) if result == -(libc::EINTR as isize) => {}
            Err(_) => sys::abort_now(),
        }
    }
    is_filled(buffer, size, pc);
}

trampoline!(weak, "arc4random", 0, arc4random);
trampoline!(weak, "arc4random_uniform", 1, arc4random_uniform);
trampoline!(weak, "arc4random_buf", 2, arc4random_buf);

/// `std::random_device::_M_getval`: whatever libstdc++ draws from, which may be an
/// instruction.
mod random_device {
    #![allow(non_snake_case)]

    use core::ffi::{c_uint, c_void};

    use crate::random;

    crate::wrapped! {
        1 _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> c_uint, real, _pc => {
            match random::is_ours() {
                true => random::draw().next() as c_uint,
                false => real(device),
            }
        }
    }
}
