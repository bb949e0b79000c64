//! Messages with an address of their own, and in several parts at an offset.

use core::ffi::{c_int, c_void};

use super::descriptor::{Direction, Transfer};
use crate::abi;
use crate::descriptors::Channel;
use crate::real;
use crate::trampoline;
use crate::turn;

/// Reads or writes several parts at an offset. What carries messages has none: -1 says so,
/// and any other is an error at once.
fn at_offset(
    transfer: Transfer,
    [offset, flags]: [usize; 2],
    block: impl FnOnce() -> isize,
) -> isize {
    if offset != usize::MAX {
        return block();
    }
    let [descriptor, parts, count, ..] = transfer.arguments;
    let transfer = Transfer {
        arguments: [descriptor, parts, count, offset, 0, flags],
        nonblocking: flags & libc::RWF_NOWAIT as usize != 0,
        ..transfer
    };
    transfer.make(block)
}

pub(super) unsafe extern "C" fn preadv2(
    descriptor: c_int,
    parts: *const c_void,
    count: c_int,
    offset: i64,
    flags: c_int,
    pc: u64,
) -> isize {
    let transfer = Transfer {
        descriptor,
        direction: Direction::Receive,
        number: libc::SYS_preadv2,
        arguments: [descriptor as usize, parts as usize, count as usize, 0, 0, 0],
        nonblocking: false,
        to: None,
        pc,
    };
    at_offset(transfer, [offset as usize, flags as usize], || {
        real::preadv2(descriptor, parts, count, offset, flags)
    })
}

pub(super) unsafe extern "C" fn pwritev2(
    descriptor: c_int,
    parts: *const c_void,
    count: c_int,
    offset: i64,
    flags: c_int,
    pc: u64,
) -> isize {
    let transfer = Transfer {
        descriptor,
        direction: Direction::Send,
        number: libc::SYS_pwritev2,
        arguments: [descriptor as usize, parts as usize, count as usize, 0, 0, 0],
        nonblocking: false,
        to: None,
        pc,
    };
    at_offset(transfer, [offset as usize, flags as usize], || {
        real::pwritev2(descriptor, parts, count, offset, flags)
    })
}

trampoline!(weak, "preadv2", 5, preadv2);
trampoline!(weak, "preadv64v2", 5, preadv2);
trampoline!(weak, "pwritev2", 5, pwritev2);
trampoline!(weak, "pwritev64v2", 5, pwritev2);
/// `sendto` and `recvfrom` fill the registers: the word of the caller's stack that
/// the trampoline hands over is nothing of theirs.
#[allow(clippy::too_many_arguments)]
pub(super) unsafe extern "C" fn sendto(
    descriptor: c_int,
    buffer: *mut c_void,
    size: usize,
    flags: c_int,
    address: usize,
    len: usize,
    _stack: usize,
    pc: u64,
) -> isize {
    if turn::is_in_program() {
        abi::read(buffer as u64, size as u64, pc);
    }
    let transfer = Transfer {
        descriptor,
        direction: Direction::Send,
        number: libc::SYS_sendto,
        arguments: [
            descriptor as usize,
            buffer as usize,
            size,
            flags as usize,
            address,
            len,
        ],
        nonblocking: flags & libc::MSG_DONTWAIT != 0,
        // SAFETY: the program's own address, as long as it says.
        to: unsafe { Channel::of_address(address as *const u8, len) },
        pc,
    };
    transfer.make(|| real::sendto(descriptor, buffer, size, flags, address, len))
}

#[allow(clippy::too_many_arguments)]
pub(super) unsafe extern "C" fn recvfrom(
    descriptor: c_int,
    buffer: *mut c_void,
    size: usize,
    flags: c_int,
    address: usize,
    len: usize,
    _stack: usize,
    pc: u64,
) -> isize {
    let transfer = Transfer {
        descriptor,
        direction: Direction::Receive,
        number: libc::SYS_recvfrom,
        arguments: [
            descriptor as usize,
            buffer as usize,
            size,
            flags as usize,
            address,
            len,
        ],
        nonblocking: flags & libc::MSG_DONTWAIT != 0,
        to: None,
        pc,
    };
    let result = transfer.make(|| real::recvfrom(descriptor, buffer, size, flags, address, len));
    if result > 0 && turn::is_in_program() {
        abi::write(buffer as u64, (result as u64).min(size as u64), pc);
    }
    result
}

/// Where the first of these messages goes, if it says so.
///
/// # Safety
/// A message of the program's is there.
pub(super) unsafe fn addressee(message: *const c_void) -> Option<Channel> {
    // SAFETY: as promised by the caller, with its own address.
    unsafe {
        let message = message.cast::<libc::msghdr>().as_ref()?;
        Channel::of_address(message.msg_name.cast(), message.msg_namelen as usize)
    }
}

pub(super) unsafe extern "C" fn sendmsg(
    descriptor: c_int,
    message: *const c_void,
    flags: c_int,
    pc: u64,
) -> isize {
    let transfer = Transfer {
        descriptor,
        direction: Direction::Send,
        number: libc::SYS_sendmsg,
        arguments: [
            descriptor as usize,
            message as usize,
            flags as usize,
            0,
            0,
            0,
        ],
        nonblocking: flags & libc::MSG_DONTWAIT != 0,
        // SAFETY: the program's own message.
        to: unsafe { addressee(message) },
        pc,
    };
    transfer.make(|| real::sendmsg(descriptor, message, flags))
}

trampoline!(weak, "sendmsg", 3, sendmsg);
crate::stack_trampoline!(weak, "sendto", sendto);
crate::stack_trampoline!(weak, "recvfrom", recvfrom);
