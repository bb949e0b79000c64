//! Reading from and writing to what threads send messages through: a message is
//! sent before it is received. Where the runtime schedules, a thread that would
//! block waits in the scheduler until another thread, or somebody outside, has
//! done something about it.

use core::ffi::{c_int, c_long, c_void};

use wmfix_trace::{LockMode, RecordedOperation, WaitsFor};

use super::random;
use super::time::fail_with;
use crate::abi::{self, flush_volatile};
use crate::descriptors::{ANY, Channel};
use crate::real;
use crate::spin::Read;
use crate::strategy::Kind;
use crate::sys;
use crate::trampoline;
use crate::turn::{self, Held};
use crate::unseen;

/// What a call does with a descriptor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// It waits for what others send.
    Receive,
    /// It sends, once there is room.
    Send,
}

/// A system call on a descriptor.
pub(super) struct Transfer {
    pub descriptor: c_int,
    pub direction: Direction,
    /// The call itself, which does not block and is no cancellation point.
    pub number: c_long,
    pub arguments: [usize; 6],
    /// Whether the call is to fail rather than wait.
    pub nonblocking: bool,
    /// The address that a message is sent to, where it has one.
    pub to: Option<Channel>,
    pub pc: u64,
}

impl Transfer {
    /// Makes the call; `block` is the library's own function.
    pub(super) fn make(&self, block: impl FnOnce() -> isize) -> isize {
        let entered = turn::enter().and_then(|mut held| {
            let descriptors = &held.state().descriptors;
            let channel = descriptors.channel(self.descriptor)?;
            let to = match self.direction {
                Direction::Send => descriptors.destination(self.descriptor, self.to),
                Direction::Receive => None,
            };
            Some((held, channel, to.unwrap_or(channel)))
        });
        let Some((mut held, channel, to)) = entered else {
            let name = match self.direction {
                Direction::Receive => c"read",
                Direction::Send => c"write",
            };
            unseen::called(name, self.pc);
            let result = block();
            random::replace_read(self.number, self.arguments, result);
            return result;
        };
        flush_volatile(&mut held);
        held.point(Kind::Operation);
        let context = held.context(self.pc);
        held.unexplored(context);
        if !held.controlled() {
            if self.direction == Direction::Send {
                send(&mut held, context, to);
            }
            drop(held);
            let result = block();
            if result >= 0 && self.direction == Direction::Receive {
                note_receipt(channel, self.pc);
            }
            if self.tells_of_end(result) {
                note_end(channel, self.pc);
            }
            return result;
        }
        if !self.nonblocking && !refuses_to_block(self.descriptor) {
            held.was_interrupted();
            held.cancellation_point();
            while !is_ready(self.descriptor, self.direction) {
                wait(&mut held, context, channel.key(), None);
                held.cancellation_point();
                if held.was_interrupted() {
                    drop(held);
                    return fail_with(libc::EINTR) as isize;
                }
            }
        }
        let blocking = !self.nonblocking && !refuses_to_block(self.descriptor);
        if blocking && self.direction == Direction::Send {
            // Others may have a part of the message before all of it is sent.
            send(&mut held, context, to);
        }
        let mut result = 0;
        let mut call = || {
            // SAFETY: the program's own call.
            result = unsafe { sys::raw_syscall(self.number, self.arguments) };
        };
        if blocking {
            // It may wait after all: for room for the rest, or as somebody outside was
            // faster. Then the others go on.
            held.step_out(call);
        } else {
            call();
        }
        if self.tells_of_end(result) {
            receive(&mut held, context, channel.end());
        }
        if result < 0 {
            tries_again(&mut held, context, channel.key());
            drop(held);
            return fail_with(-result as c_int) as isize;
        }
        match self.direction {
            Direction::Send if blocking => {}
            Direction::Send => send(&mut held, context, to),
            Direction::Receive => {
                receive(&mut held, context, channel.key());
                if held.state().descriptors.tells_signals(self.descriptor) {
                    receive(&mut held, context, ANY);
                }
            }
        }
        wake(&mut held, channel);
        if to != channel {
            wake(&mut held, to);
        }
        result
    }

    /// Whether a result says that the other end was closed: nothing was received, or
    /// nobody is left to send to. `result` is the call's own, or that of the library.
    fn tells_of_end(&self, result: isize) -> bool {
        match self.direction {
            Direction::Receive => result == 0,
            Direction::Send => result < 0,
        }
    }
}

/// A call failed that did not want to wait: whoever tries again and again spins.
pub(super) fn tries_again(held: &mut Held, context: u32, key: u64) {
    held.has_read(Read {
        context,
        location: u32::MAX,
        value: key,
        order: 0,
    });
}

/// Waits until somebody has done something about a descriptor; true if the time
/// came first.
pub(super) fn wait(held: &mut Held, context: u32, key: u64, deadline: Option<u64>) -> bool {
    if Channel::is_outside(key) {
        held.state().scheduler.outside_help = true;
    }
    held.wait(context, WaitsFor::Descriptor(key), deadline)
}

/// What this thread did so far comes before what the receiver does next.
pub(super) fn send(held: &mut Held, context: u32, channel: Channel) {
    for lock in [channel.key(), ANY] {
        let mode = LockMode::Signal;
        held.record(context, &RecordedOperation::Release { lock, mode });
    }
}

/// What the senders did so far comes before what this thread does next.
pub(super) fn receive(held: &mut Held, context: u32, lock: u64) {
    let mode = LockMode::Signal;
    held.record(context, &RecordedOperation::Acquire { lock, mode });
}

/// Has those look who wait for a descriptor.
pub(super) fn wake(held: &mut Held, channel: Channel) {
    let scheduler = &mut held.state().scheduler;
    scheduler.wake_all(WaitsFor::Descriptor(channel.key()));
    scheduler.wake_all(WaitsFor::Descriptor(ANY));
    held.has_changed();
}

/// Records a receipt where the turn is not held.
pub(super) fn note_receipt(channel: Channel, pc: u64) {
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        receive(&mut held, context, channel.key());
    }
}

/// The same for the end of a channel.
pub(super) fn note_end(channel: Channel, pc: u64) {
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        receive(&mut held, context, channel.end());
    }
}

/// Whether the program has said that calls on this descriptor never wait.
pub(super) fn refuses_to_block(descriptor: c_int) -> bool {
    let arguments = [descriptor as usize, libc::F_GETFL as usize, 0, 0, 0, 0];
    // SAFETY: asks for flags.
    let flags = unsafe { sys::raw_syscall(libc::SYS_fcntl, arguments) };
    flags < 0 || flags as c_int & libc::O_NONBLOCK != 0
}

/// Whether a call on the descriptor would not block.
pub(super) fn is_ready(descriptor: c_int, direction: Direction) -> bool {
    let events = match direction {
        Direction::Receive => libc::POLLIN,
        Direction::Send => libc::POLLOUT,
    };
    let mut asked = libc::pollfd {
        fd: descriptor,
        events,
        revents: 0,
    };
    let now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let arguments = [
        &raw mut asked as usize,
        1,
        &raw const now as usize,
        0,
        size_of::<u64>(),
        0,
    ];
    // SAFETY: the records live for as long as the call.
    unsafe { sys::raw_syscall(libc::SYS_ppoll, arguments) != 0 }
}

/// `name(arguments), number, direction, size of the buffer or 0, buffer`: a call
/// whose first argument is the descriptor.
macro_rules! transfers {
    ($($count:tt $name:ident $real:ident ( $($argument:ident : $type:ty),* ),
        $number:expr, $direction:ident, $nonblocking:expr;)*) => { $(
        pub(super) unsafe extern "C" fn $name(
            descriptor: c_int,
            $($argument: $type,)*
            pc: u64,
        ) -> isize {
            let mut arguments = [descriptor as usize $(, $argument as usize)*].into_iter();
            let transfer = Transfer {
                descriptor,
                direction: Direction::$direction,
                number: $number,
                arguments: core::array::from_fn(|_| arguments.next().unwrap_or(0)),
                nonblocking: $nonblocking,
                to: None,
                pc,
            };
            transfer.make(|| real::$real(descriptor, $($argument),*))
        }
        trampoline!(weak, stringify!($real), $count, $name);
    )* };
}

transfers! {
    3 readv readv(parts: *const c_void, count: c_int), libc::SYS_readv, Receive, false;
    3 writev writev(parts: *const c_void, count: c_int), libc::SYS_writev, Send, false;
    3 recvmsg recvmsg(message: *mut c_void, flags: c_int),
        libc::SYS_recvmsg, Receive, flags & libc::MSG_DONTWAIT != 0;
    3 accept accept(address: *mut c_void, len: *mut c_void), libc::SYS_accept, Receive, false;
    4 accept4 accept4(address: *mut c_void, len: *mut c_void, flags: c_int),
        libc::SYS_accept4, Receive, false;
}

/// The same for calls with a buffer, which is the program's memory.
macro_rules! buffer_transfers {
    ($($count:tt $name:ident $real:ident ( $($argument:ident : $type:ty),* ),
        $number:expr, $direction:ident, $nonblocking:expr, $more:expr;)*) => { $(
        pub(super) unsafe extern "C" fn $name(
            descriptor: c_int,
            buffer: *mut c_void,
            size: usize,
            $($argument: $type,)*
            pc: u64,
        ) -> isize {
            if Direction::$direction == Direction::Send && turn::is_in_program() {
                abi::read(buffer as u64, size as u64, pc);
            }
            let more: &[usize] = &$more;
            let arguments = [descriptor as usize, buffer as usize, size];
            let mut arguments = arguments.into_iter().chain(more.iter().copied());
            let transfer = Transfer {
                descriptor,
                direction: Direction::$direction,
                number: $number,
                arguments: core::array::from_fn(|_| arguments.next().unwrap_or(0)),
                nonblocking: $nonblocking,
                to: None,
                pc,
            };
            let result = transfer.make(|| real::$real(descriptor, buffer, size, $($argument),*));
            if Direction::$direction == Direction::Receive && result > 0 && turn::is_in_program() {
                abi::write(buffer as u64, (result as u64).min(size as u64), pc);
            }
            result
        }
        trampoline!(weak, stringify!($real), $count, $name);
    )* };
}

buffer_transfers! {
    3 read read(), libc::SYS_read, Receive, false, [];
    3 write write(), libc::SYS_write, Send, false, [];
    4 recv recv(flags: c_int),
        libc::SYS_recvfrom, Receive, flags & libc::MSG_DONTWAIT != 0, [flags as usize];
    4 send_to_peer send(flags: c_int),
        libc::SYS_sendto, Send, flags & libc::MSG_DONTWAIT != 0, [flags as usize];
}

/// The checked forms, which know how large the buffer is.
unsafe extern "C" fn read_checked(
    descriptor: c_int,
    buffer: *mut c_void,
    size: usize,
    _capacity: usize,
    pc: u64,
) -> isize {
    // SAFETY: the program's own call.
    unsafe { read(descriptor, buffer, size, pc) }
}

unsafe extern "C" fn recv_checked(
    descriptor: c_int,
    buffer: *mut c_void,
    size: usize,
    _capacity: usize,
    flags: c_int,
    pc: u64,
) -> isize {
    // SAFETY: the program's own call.
    unsafe { recv(descriptor, buffer, size, flags, pc) }
}

trampoline!(weak, "__read_chk", 4, read_checked);
trampoline!(weak, "__recv_chk", 5, recv_checked);
