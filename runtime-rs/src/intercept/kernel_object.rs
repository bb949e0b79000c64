//! What the kernel keeps for threads to meet at besides descriptors: message queues,
//! System V's semaphores and messages, and locks on files.

use core::ffi::{c_int, c_long, c_uint, c_void};

use super::descriptor::{receive, send, wait, wake};
use super::time::{Timeout, fail_with};
use crate::abi::{self, flush_volatile};
use crate::descriptors::Channel;
use crate::real;
use crate::strategy::Kind;
use crate::sys;
use crate::trampoline;
use crate::turn;
use crate::unseen;

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It learns from those who gave.
    Takes,
    /// It gives to those who take.
    Gives,
    Both,
}

/// A call that can be tried without waiting: `attempt` gives minus the error, and
/// `would_wait` is that of a call that would have to.
struct Call<'a> {
    channel: Option<Channel>,
    effect: Effect,
    timeout: Timeout,
    would_wait: c_int,
    /// Whether it is to fail rather than wait.
    nonblocking: bool,
    attempt: &'a dyn Fn() -> isize,
    pc: u64,
}

impl Call<'_> {
    /// Makes the call; `block` is the library's own function.
    fn make(&self, block: impl FnOnce() -> isize) -> isize {
        let entered = turn::enter().filter(|_| !matches!(self.timeout, Timeout::Invalid));
        let (Some(mut held), Some(channel)) = (entered, self.channel) else {
            return block();
        };
        flush_volatile(&mut held);
        held.point(Kind::Operation);
        let context = held.context(self.pc);
        held.unexplored(context);
        if !held.controlled() {
            if self.effect != Effect::Takes {
                send(&mut held, context, channel);
            }
            drop(held);
            let result = block();
            if result >= 0
                && self.effect != Effect::Gives
                && let Some(mut held) = turn::enter()
            {
                let context = held.context(self.pc);
                receive(&mut held, context, channel.key());
            }
            return result;
        }
        let begun = self.timeout.begins(&mut held);
        held.was_interrupted();
        let result = loop {
            held.cancellation_point();
            if held.was_interrupted() {
                break -(libc::EINTR as isize);
            }
            let result = (self.attempt)();
            if self.nonblocking || result != -(self.would_wait as isize) {
                break result;
            }
            if wait(&mut held, context, channel.key(), begun.deadline) {
                begun.gave_up();
                break -(libc::ETIMEDOUT as isize);
            }
        };
        if result < 0 {
            drop(held);
            return fail_with(-result as c_int) as isize;
        }
        if self.effect != Effect::Gives {
            receive(&mut held, context, channel.key());
        }
        if self.effect != Effect::Takes {
            send(&mut held, context, channel);
        }
        wake(&mut held, channel);
        result
    }
}

/// A system call.
fn system_call(number: c_long, arguments: [usize; 6]) -> isize {
    // SAFETY: the program's own call.
    unsafe { sys::raw_syscall(number, arguments) }
}

const NOW: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// Whether a queue was opened so that calls on it never wait.
fn refuses_to_block(queue: c_int) -> bool {
    let arguments = [queue as usize, libc::F_GETFL as usize, 0, 0, 0, 0];
    let flags = system_call(libc::SYS_fcntl, arguments);
    flags < 0 || flags as c_int & libc::O_NONBLOCK != 0
}

pub(super) unsafe extern "C" fn mq_timedsend(
    queue: c_int,
    message: *mut c_void,
    size: usize,
    priority: c_uint,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    if turn::is_in_program() {
        abi::read(message as u64, size as u64, pc);
    }
    let now = NOW;
    let arguments = [
        queue as usize,
        message as usize,
        size,
        priority as usize,
        &raw const now as usize,
        0,
    ];
    let nonblocking = refuses_to_block(queue);
    let call = Call {
        channel: Channel::of_file(queue),
        effect: Effect::Gives,
        timeout: Timeout::until(libc::CLOCK_REALTIME, time),
        would_wait: libc::ETIMEDOUT,
        nonblocking,
        attempt: &|| system_call(libc::SYS_mq_timedsend, arguments),
        pc,
    };
    call.make(|| real::mq_timedsend(queue, message, size, priority, time) as isize) as c_int
}

unsafe extern "C" fn mq_send(
    queue: c_int,
    message: *mut c_void,
    size: usize,
    priority: c_uint,
    pc: u64,
) -> c_int {
    // SAFETY: the program's own call, without a deadline.
    unsafe { mq_timedsend(queue, message, size, priority, core::ptr::null(), pc) }
}

pub(super) unsafe extern "C" fn mq_timedreceive(
    queue: c_int,
    message: *mut c_void,
    size: usize,
    priority: *mut c_uint,
    time: *const libc::timespec,
    pc: u64,
) -> isize {
    let now = NOW;
    let arguments = [
        queue as usize,
        message as usize,
        size,
        priority as usize,
        &raw const now as usize,
        0,
    ];
    let nonblocking = refuses_to_block(queue);
    let call = Call {
        channel: Channel::of_file(queue),
        effect: Effect::Takes,
        timeout: Timeout::until(libc::CLOCK_REALTIME, time),
        would_wait: libc::ETIMEDOUT,
        nonblocking,
        attempt: &|| system_call(libc::SYS_mq_timedreceive, arguments),
        pc,
    };
    let len = call.make(|| real::mq_timedreceive(queue, message, size, priority, time));
    if len > 0 && turn::is_in_program() {
        abi::write(message as u64, len as u64, pc);
    }
    len
}

unsafe extern "C" fn mq_receive(
    queue: c_int,
    message: *mut c_void,
    size: usize,
    priority: *mut c_uint,
    pc: u64,
) -> isize {
    // SAFETY: the program's own call, without a deadline.
    unsafe { mq_timedreceive(queue, message, size, priority, core::ptr::null(), pc) }
}

trampoline!(weak, "mq_send", 4, mq_send);
trampoline!(weak, "mq_timedsend", 5, mq_timedsend);
trampoline!(weak, "mq_receive", 4, mq_receive);
trampoline!(weak, "mq_timedreceive", 5, mq_timedreceive);

/// A call on a lock that a file has. What is locked of it is not told apart, so that
/// order is only ever added.
fn lock_file(
    file: c_int,
    gives: bool,
    nonblocking: bool,
    attempt: &dyn Fn() -> isize,
    pc: u64,
    block: impl FnOnce() -> c_int,
) -> c_int {
    let call = Call {
        channel: Channel::of_file(file),
        effect: if gives { Effect::Gives } else { Effect::Takes },
        timeout: Timeout::Never,
        would_wait: libc::EWOULDBLOCK,
        nonblocking,
        attempt,
        pc,
    };
    let result = call.make(|| block() as isize) as c_int;
    if result == 0
        && let Some(mut held) = turn::enter()
    {
        held.state().descriptors.has_locked(file, !gives);
    }
    result
}

pub(super) unsafe extern "C" fn flock(file: c_int, operation: c_int, pc: u64) -> c_int {
    let gives = operation & libc::LOCK_UN != 0;
    let nonblocking = operation & libc::LOCK_NB != 0;
    let tried = operation | libc::LOCK_NB;
    let attempt = || system_call(libc::SYS_flock, [file as usize, tried as usize, 0, 0, 0, 0]);
    lock_file(file, gives, nonblocking, &attempt, pc, || {
        real::flock(file, operation)
    })
}

/// Variadic in C: the third argument is a number or a pointer.
pub(super) unsafe extern "C" fn fcntl(
    file: c_int,
    command: c_int,
    argument: usize,
    pc: u64,
) -> c_int {
    let tried = match command {
        libc::F_SETLK | libc::F_SETLKW => libc::F_SETLK,
        libc::F_OFD_SETLK | libc::F_OFD_SETLKW => libc::F_OFD_SETLK,
        _ => {
            unseen::called(c"fcntl", pc);
            return real::fcntl(file, command, argument);
        }
    };
    // SAFETY: the program's own record, or null.
    let Some(lock) = (unsafe { (argument as *const libc::flock).as_ref() }) else {
        return real::fcntl(file, command, argument);
    };
    if turn::is_in_program() {
        abi::read(argument as u64, size_of::<libc::flock>() as u64, pc);
    }
    let gives = c_int::from(lock.l_type) == libc::F_UNLCK;
    let arguments = [file as usize, tried as usize, argument, 0, 0, 0];
    let attempt = || system_call(libc::SYS_fcntl, arguments);
    lock_file(file, gives, command == tried, &attempt, pc, || {
        real::fcntl(file, command, argument)
    })
}

trampoline!(weak, "fcntl", 3, fcntl);
trampoline!(weak, "fcntl64", 3, fcntl);
trampoline!(weak, "flock", 2, flock);

/// The kinds of System V's objects.
const SEMAPHORES: u64 = 1;
const MESSAGES: u64 = 2;

pub(super) unsafe extern "C" fn semtimedop(
    set: c_int,
    operations: *mut c_void,
    count: usize,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    let now = NOW;
    let arguments = [
        set as usize,
        operations as usize,
        count,
        &raw const now as usize,
        0,
        0,
    ];
    // SAFETY: the program's own records.
    let listed = unsafe { core::slice::from_raw_parts(operations.cast::<libc::sembuf>(), count) };
    let nonblocking = listed
        .iter()
        .any(|one| c_int::from(one.sem_flg) & libc::IPC_NOWAIT != 0);
    let effect = if listed.iter().all(|one| one.sem_op > 0) {
        Effect::Gives
    } else if listed.iter().all(|one| one.sem_op <= 0) {
        Effect::Takes
    } else {
        Effect::Both
    };
    let call = Call {
        channel: Some(Channel::of_kernel_object(SEMAPHORES, set)),
        effect,
        timeout: Timeout::of(time),
        would_wait: libc::EAGAIN,
        nonblocking,
        attempt: &|| system_call(libc::SYS_semtimedop, arguments),
        pc,
    };
    call.make(|| real::semtimedop(set, operations, count, time) as isize) as c_int
}

pub(super) unsafe extern "C" fn semop(
    set: c_int,
    operations: *mut c_void,
    count: usize,
    pc: u64,
) -> c_int {
    // SAFETY: the program's own call, without a deadline.
    unsafe { semtimedop(set, operations, count, core::ptr::null(), pc) }
}

pub(super) unsafe extern "C" fn msgsnd(
    queue: c_int,
    message: *mut c_void,
    size: usize,
    flags: c_int,
    pc: u64,
) -> c_int {
    let tried = flags | libc::IPC_NOWAIT;
    let arguments = [queue as usize, message as usize, size, tried as usize, 0, 0];
    let call = Call {
        channel: Some(Channel::of_kernel_object(MESSAGES, queue)),
        effect: Effect::Gives,
        timeout: Timeout::Never,
        would_wait: libc::EAGAIN,
        nonblocking: flags & libc::IPC_NOWAIT != 0,
        attempt: &|| system_call(libc::SYS_msgsnd, arguments),
        pc,
    };
    call.make(|| real::msgsnd(queue, message, size, flags) as isize) as c_int
}

pub(super) unsafe extern "C" fn msgrcv(
    queue: c_int,
    message: *mut c_void,
    size: usize,
    kind: c_long,
    flags: c_int,
    pc: u64,
) -> isize {
    let tried = flags | libc::IPC_NOWAIT;
    let arguments = [
        queue as usize,
        message as usize,
        size,
        kind as usize,
        tried as usize,
        0,
    ];
    let call = Call {
        channel: Some(Channel::of_kernel_object(MESSAGES, queue)),
        effect: Effect::Takes,
        timeout: Timeout::Never,
        would_wait: libc::ENOMSG,
        nonblocking: flags & libc::IPC_NOWAIT != 0,
        attempt: &|| system_call(libc::SYS_msgrcv, arguments),
        pc,
    };
    call.make(|| real::msgrcv(queue, message, size, kind, flags))
}

trampoline!(weak, "semop", 3, semop);
trampoline!(weak, "semtimedop", 4, semtimedop);
trampoline!(weak, "msgsnd", 4, msgsnd);
trampoline!(weak, "msgrcv", 5, msgrcv);
