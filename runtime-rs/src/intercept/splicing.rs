//! Moving bytes from one descriptor to another without the program's memory in between
//! (`splice`, `tee`, `sendfile`), pages of it into a pipe (`vmsplice`), and several
//! messages at once. Whoever receives at the far end learns from those who sent at the
//! near one: what comes in is taken before it is passed on.

use core::ffi::{c_int, c_long, c_uint, c_void};

use super::descriptor::{
    Direction, Transfer, is_ready, note_end, note_receipt, receive, refuses_to_block, send,
    tries_again, wait, wake,
};
use super::message::addressee;
use super::time::fail_with;
use crate::abi::flush_volatile;
use crate::descriptors::Channel;
use crate::real;
use crate::strategy::Kind;
use crate::sys;
use crate::trampoline;
use crate::turn::{self, Held};

/// A system call that moves bytes between two descriptors.
struct Passage {
    input: c_int,
    output: c_int,
    number: c_long,
    arguments: [usize; 6],
    nonblocking: bool,
    pc: u64,
}

/// The channels at both ends; what is none, such as a file, orders nobody.
#[derive(Clone, Copy)]
struct Ends {
    from: Option<Channel>,
    to: Option<Channel>,
}

impl Ends {
    /// What was sent to the near end comes before what is received at the far one.
    fn pass_on(self, held: &mut Held, context: u32) {
        if let Some(from) = self.from {
            receive(held, context, from.key());
        }
        if let Some(to) = self.to {
            send(held, context, to);
        }
    }
}

impl Passage {
    /// Makes the call; `block` is the library's own function.
    fn make(&self, block: impl FnOnce() -> isize) -> isize {
        let Some(mut held) = turn::enter() else {
            return block();
        };
        let descriptors = &held.state().descriptors;
        let ends = Ends {
            from: descriptors.channel(self.input),
            to: descriptors.channel(self.output),
        };
        if ends.from.is_none() && ends.to.is_none() {
            drop(held);
            return block();
        }
        flush_volatile(&mut held);
        held.point(Kind::Operation);
        let context = held.context(self.pc);
        held.unexplored(context);
        if !held.controlled() {
            drop(held);
            return self.uncontrolled(ends, block);
        }
        let waits = |descriptor| !self.nonblocking && !refuses_to_block(descriptor);
        held.was_interrupted();
        for (channel, descriptor, direction) in [
            (ends.from, self.input, Direction::Receive),
            (ends.to, self.output, Direction::Send),
        ] {
            let Some(channel) = channel.filter(|_| waits(descriptor)) else {
                continue;
            };
            while !is_ready(descriptor, direction) {
                wait(&mut held, context, channel.key(), None);
                held.cancellation_point();
                if held.was_interrupted() {
                    drop(held);
                    return fail_with(libc::EINTR) as isize;
                }
            }
        }
        ends.pass_on(&mut held, context);
        let mut result = 0;
        // It may wait after all, as somebody outside was faster: then the others go on.
        held.step_out(|| {
            // SAFETY: the program's own call.
            result = unsafe { sys::raw_syscall(self.number, self.arguments) };
        });
        if result < 0 {
            let key = ends.from.or(ends.to).map_or(0, Channel::key);
            tries_again(&mut held, context, key);
            drop(held);
            return fail_with(-result as c_int) as isize;
        }
        ends.pass_on(&mut held, context);
        if result == 0
            && let Some(from) = ends.from
        {
            receive(&mut held, context, from.end());
        }
        for channel in [ends.from, ends.to].into_iter().flatten() {
            wake(&mut held, channel);
        }
        result
    }

    /// The same where the system schedules. Bytes that come while the call waits must be
    /// known to be received before it passes them on: so the wait is for them alone.
    fn uncontrolled(&self, ends: Ends, block: impl FnOnce() -> isize) -> isize {
        if ends.from.is_some() && !self.nonblocking && !refuses_to_block(self.input) {
            let waited = wait_for_bytes(self.input);
            if waited < 0 {
                return fail_with(-waited as c_int) as isize;
            }
        }
        if let Some(mut held) = turn::enter() {
            let context = held.context(self.pc);
            ends.pass_on(&mut held, context);
        }
        let result = block();
        if result >= 0
            && let Some(from) = ends.from
        {
            note_receipt(from, self.pc);
            if result == 0 {
                note_end(from, self.pc);
            }
        }
        result
    }
}

/// Waits until there is something to read.
fn wait_for_bytes(descriptor: c_int) -> isize {
    let mut asked = libc::pollfd {
        fd: descriptor,
        events: libc::POLLIN,
        revents: 0,
    };
    let arguments = [&raw mut asked as usize, 1, 0, 0, size_of::<u64>(), 0];
    // SAFETY: the record lives for as long as the call.
    unsafe { sys::raw_syscall(libc::SYS_ppoll, arguments) }
}

pub(super) unsafe extern "C" fn sendfile(
    output: c_int,
    input: c_int,
    offset: *mut libc::off_t,
    count: usize,
    pc: u64,
) -> isize {
    let passage = Passage {
        input,
        output,
        number: libc::SYS_sendfile,
        arguments: [
            output as usize,
            input as usize,
            offset as usize,
            count,
            0,
            0,
        ],
        nonblocking: false,
        pc,
    };
    passage.make(|| real::sendfile(output, input, offset, count))
}

pub(super) unsafe extern "C" fn tee(
    input: c_int,
    output: c_int,
    len: usize,
    flags: c_uint,
    pc: u64,
) -> isize {
    let passage = Passage {
        input,
        output,
        number: libc::SYS_tee,
        arguments: [input as usize, output as usize, len, flags as usize, 0, 0],
        nonblocking: flags & libc::SPLICE_F_NONBLOCK != 0,
        pc,
    };
    passage.make(|| real::tee(input, output, len, flags))
}

/// Its arguments fill the registers: the word of the caller's stack that the trampoline
/// hands over is nothing of theirs.
#[allow(clippy::too_many_arguments)]
pub(super) unsafe extern "C" fn splice(
    input: c_int,
    input_offset: *mut c_void,
    output: c_int,
    output_offset: *mut c_void,
    len: usize,
    flags: c_uint,
    _stack: usize,
    pc: u64,
) -> isize {
    let passage = Passage {
        input,
        output,
        number: libc::SYS_splice,
        arguments: [
            input as usize,
            input_offset as usize,
            output as usize,
            output_offset as usize,
            len,
            flags as usize,
        ],
        nonblocking: flags & libc::SPLICE_F_NONBLOCK != 0,
        pc,
    };
    passage.make(|| real::splice(input, input_offset, output, output_offset, len, flags))
}

pub(super) unsafe extern "C" fn vmsplice(
    descriptor: c_int,
    parts: *const c_void,
    count: usize,
    flags: c_uint,
    pc: u64,
) -> isize {
    let asks = [descriptor as usize, libc::F_GETFL as usize, 0, 0, 0, 0];
    // SAFETY: asks for flags.
    let mode = unsafe { sys::raw_syscall(libc::SYS_fcntl, asks) };
    let reads = mode >= 0 && mode as c_int & libc::O_ACCMODE == libc::O_RDONLY;
    let transfer = Transfer {
        descriptor,
        direction: match reads {
            true => Direction::Receive,
            false => Direction::Send,
        },
        number: libc::SYS_vmsplice,
        arguments: [
            descriptor as usize,
            parts as usize,
            count,
            flags as usize,
            0,
            0,
        ],
        nonblocking: flags & libc::SPLICE_F_NONBLOCK != 0,
        to: None,
        pc,
    };
    transfer.make(|| real::vmsplice(descriptor, parts, count, flags))
}

pub(super) unsafe extern "C" fn sendmmsg(
    descriptor: c_int,
    messages: *mut c_void,
    count: c_uint,
    flags: c_int,
    pc: u64,
) -> c_int {
    let transfer = Transfer {
        descriptor,
        direction: Direction::Send,
        number: libc::SYS_sendmmsg,
        arguments: [
            descriptor as usize,
            messages as usize,
            count as usize,
            flags as usize,
            0,
            0,
        ],
        nonblocking: flags & libc::MSG_DONTWAIT != 0,
        to: match count {
            0 => None,
            // SAFETY: the program's own messages.
            _ => unsafe { addressee(messages) },
        },
        pc,
    };
    transfer.make(|| real::sendmmsg(descriptor, messages, count, flags) as isize) as c_int
}

pub(super) unsafe extern "C" fn recvmmsg(
    descriptor: c_int,
    messages: *mut c_void,
    count: c_uint,
    flags: c_int,
    time: *mut libc::timespec,
    pc: u64,
) -> c_int {
    let transfer = Transfer {
        descriptor,
        direction: Direction::Receive,
        number: libc::SYS_recvmmsg,
        arguments: [
            descriptor as usize,
            messages as usize,
            count as usize,
            flags as usize,
            time as usize,
            0,
        ],
        nonblocking: flags & libc::MSG_DONTWAIT != 0,
        to: None,
        pc,
    };
    transfer.make(|| real::recvmmsg(descriptor, messages, count, flags, time) as isize) as c_int
}

trampoline!(weak, "sendfile", 4, sendfile);
trampoline!(weak, "sendfile64", 4, sendfile);
trampoline!(weak, "tee", 4, tee);
crate::stack_trampoline!(weak, "splice", splice);
trampoline!(weak, "vmsplice", 4, vmsplice);
trampoline!(weak, "sendmmsg", 4, sendmmsg);
trampoline!(weak, "recvmmsg", 5, recvmmsg);
