//! The ends of what carries messages: pipes, pairs of sockets, counters and connections
//! are made, and closed. That nothing more comes is a message too.

use core::ffi::{c_int, c_uint, c_void};

use wmfix_trace::{LockMode, RecordedOperation};

use super::descriptor::{read, send, wake, write};
use crate::abi::flush_volatile;
use crate::descriptors::{ANY, Channel};
use crate::real;
use crate::strategy::Kind;
use crate::trampoline;
use crate::turn::{self, Held};

/// What this thread did so far comes before what those do next who find that nothing
/// more comes. A message that was sent earlier does not carry it.
fn send_end(held: &mut Held, context: u32, channel: Channel) {
    for lock in [channel.end(), ANY] {
        let mode = LockMode::Signal;
        held.record(context, &RecordedOperation::Release { lock, mode });
    }
}
/// The end of a channel is a message too: whoever then finds nothing learns of it.
pub(super) unsafe extern "C" fn close(descriptor: c_int, pc: u64) -> c_int {
    closes(descriptor, pc);
    real::close(descriptor)
}

/// A descriptor is about to be closed: that ends a channel, or a lock on a file.
pub(super) fn closes(descriptor: c_int, pc: u64) {
    let Some(mut held) = turn::enter() else {
        return;
    };
    let descriptors = &mut held.state().descriptors;
    let channel = descriptors.channel(descriptor);
    let lock = descriptors.lock_of(descriptor);
    if channel.is_none() && lock.is_none() {
        return;
    }
    flush_volatile(&mut held);
    let context = held.context(pc);
    if let Some(channel) = channel {
        send_end(&mut held, context, channel);
        held.state().descriptors.closes(descriptor);
        wake(&mut held, channel);
    }
    if let Some(lock) = lock {
        send(&mut held, context, lock);
        wake(&mut held, lock);
    }
}

pub(super) unsafe extern "C" fn shutdown(socket: c_int, how: c_int, pc: u64) -> c_int {
    if let Some(mut held) = turn::enter()
        && let Some(channel) = held.state().descriptors.channel(socket)
    {
        flush_volatile(&mut held);
        let context = held.context(pc);
        send_end(&mut held, context, channel);
        wake(&mut held, channel);
    }
    real::shutdown(socket, how)
}

/// Whoever accepts a connection does so after it was asked for.
pub(super) unsafe extern "C" fn connect(
    socket: c_int,
    address: *const c_void,
    len: libc::socklen_t,
    pc: u64,
) -> c_int {
    // SAFETY: the program's own address, as long as it says.
    let channel = unsafe { Channel::of_address(address.cast(), len as usize) };
    if let Some(channel) = channel
        && let Some(mut held) = turn::enter()
    {
        flush_volatile(&mut held);
        held.point(Kind::Operation);
        let context = held.context(pc);
        send(&mut held, context, channel);
    }
    let result = real::connect(socket, address, len);
    if result == 0
        && let Some(channel) = channel
        && let Some(mut held) = turn::enter()
    {
        wake(&mut held, channel);
    }
    result
}

/// Descriptors that were made as the two ends of one thing.
fn made_pair(result: c_int, ends: *const c_int) -> c_int {
    if result == 0
        && let Some(mut held) = turn::enter()
    {
        // SAFETY: the library has filled both.
        let (first, second) = unsafe { (*ends, *ends.add(1)) };
        held.state().descriptors.pair(first, second);
    }
    result
}

unsafe extern "C" fn pipe(ends: *mut c_int, _pc: u64) -> c_int {
    made_pair(real::pipe(ends), ends)
}

pub(super) unsafe extern "C" fn pipe2(ends: *mut c_int, flags: c_int, _pc: u64) -> c_int {
    made_pair(real::pipe2(ends, flags), ends)
}

pub(super) unsafe extern "C" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    ends: *mut c_int,
    _pc: u64,
) -> c_int {
    made_pair(real::socketpair(domain, kind, protocol, ends), ends)
}

/// A counter is both ends of itself.
pub(super) unsafe extern "C" fn eventfd(start: c_uint, flags: c_int, _pc: u64) -> c_int {
    let descriptor = real::eventfd(start, flags);
    if descriptor >= 0
        && let Some(mut held) = turn::enter()
    {
        held.state().descriptors.pair(descriptor, descriptor);
    }
    descriptor
}

/// What the library has as functions of their own.
unsafe extern "C" fn eventfd_read(descriptor: c_int, value: *mut u64, pc: u64) -> c_int {
    // SAFETY: the program's own call.
    let len = unsafe { read(descriptor, value.cast(), size_of::<u64>(), pc) };
    if len == size_of::<u64>() as isize {
        0
    } else {
        -1
    }
}

unsafe extern "C" fn eventfd_write(descriptor: c_int, value: u64, pc: u64) -> c_int {
    let value = &raw const value;
    // SAFETY: the value lives for as long as the call.
    let len = unsafe { write(descriptor, value.cast_mut().cast(), size_of::<u64>(), pc) };
    if len == size_of::<u64>() as isize {
        0
    } else {
        -1
    }
}

trampoline!(weak, "close", 1, close);
trampoline!(weak, "shutdown", 2, shutdown);
trampoline!(weak, "connect", 3, connect);
trampoline!(weak, "pipe", 1, pipe);
trampoline!(weak, "pipe2", 2, pipe2);
trampoline!(weak, "socketpair", 4, socketpair);
trampoline!(weak, "eventfd", 2, eventfd);
trampoline!(weak, "eventfd_read", 2, eventfd_read);
trampoline!(weak, "eventfd_write", 2, eventfd_write);
