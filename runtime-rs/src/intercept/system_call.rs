//! System calls that the program makes by their numbers: those that wait, or hand something
//! over, go the way of the function of the C library that makes them.

use core::ffi::{c_int, c_long, c_uint};

use super::time::fail_with;
use super::{descriptor, ends, kernel_object, message, polling, signal, splicing, time};

/// The result of a call that is one of these.
///
/// # Safety
/// It is the program's own call, with its own arguments.
pub(super) unsafe fn as_wrapped(number: c_long, arguments: [usize; 6], pc: u64) -> Option<c_long> {
    // SAFETY: as promised by the caller.
    let found = unsafe {
        transfers(number, arguments, pc)
            .or_else(|| others(number, arguments, pc))
            .or_else(|| old(number, arguments, pc))
    };
    found.map(|result| result as c_long)
}

/// Calls on descriptors.
///
/// # Safety
/// See [`as_wrapped`].
unsafe fn transfers(number: c_long, [a, b, c, d, e, f]: [usize; 6], pc: u64) -> Option<isize> {
    let (one, other) = (a as c_int, b as c_int);
    // SAFETY: as promised by the caller.
    unsafe {
        Some(match number {
            libc::SYS_read => descriptor::read(one, b as _, c, pc),
            libc::SYS_write => descriptor::write(one, b as _, c, pc),
            libc::SYS_readv => descriptor::readv(one, b as _, c as c_int, pc),
            libc::SYS_writev => descriptor::writev(one, b as _, c as c_int, pc),
            libc::SYS_preadv2 => {
                message::preadv2(one, b as _, c as c_int, d as i64, f as c_int, pc)
            }
            libc::SYS_pwritev2 => {
                message::pwritev2(one, b as _, c as c_int, d as i64, f as c_int, pc)
            }
            libc::SYS_recvfrom => message::recvfrom(one, b as _, c, d as c_int, e, f, 0, pc),
            libc::SYS_sendto => message::sendto(one, b as _, c, d as c_int, e, f, 0, pc),
            libc::SYS_recvmsg => descriptor::recvmsg(one, b as _, c as c_int, pc),
            libc::SYS_sendmsg => message::sendmsg(one, b as _, c as c_int, pc),
            libc::SYS_accept => descriptor::accept(one, b as _, c as _, pc),
            libc::SYS_accept4 => descriptor::accept4(one, b as _, c as _, d as c_int, pc),
            libc::SYS_connect => ends::connect(one, b as _, c as _, pc) as isize,
            libc::SYS_close => ends::close(one, pc) as isize,
            libc::SYS_shutdown => ends::shutdown(one, other, pc) as isize,
            libc::SYS_pipe2 => ends::pipe2(a as _, other, pc) as isize,
            libc::SYS_socketpair => ends::socketpair(one, other, c as c_int, d as _, pc) as isize,
            libc::SYS_eventfd2 => ends::eventfd(a as c_uint, other, pc) as isize,
            libc::SYS_recvmmsg => {
                let (count, flags) = (c as c_uint, d as c_int);
                splicing::recvmmsg(one, b as _, count, flags, e as _, pc) as isize
            }
            libc::SYS_sendmmsg => {
                splicing::sendmmsg(one, b as _, c as c_uint, d as c_int, pc) as isize
            }
            libc::SYS_sendfile => splicing::sendfile(one, other, c as _, d, pc),
            libc::SYS_tee => splicing::tee(one, other, c, d as c_uint, pc),
            libc::SYS_splice => {
                splicing::splice(one, b as _, c as c_int, d as _, e, f as c_uint, 0, pc)
            }
            libc::SYS_vmsplice => splicing::vmsplice(one, b as _, c, d as c_uint, pc),
            _ => return None,
        })
    }
}

/// Calls that wait for one of several, for what the kernel keeps, or for a time.
///
/// # Safety
/// See [`as_wrapped`].
unsafe fn others(number: c_long, [a, b, c, d, e, f]: [usize; 6], pc: u64) -> Option<isize> {
    let (one, other) = (a as c_int, b as c_int);
    // SAFETY: as promised by the caller.
    let result = unsafe {
        match number {
            libc::SYS_ppoll => polling::ppoll(a as _, b as _, c as _, d as _, pc),
            libc::SYS_pselect6 => {
                // The kernel takes the mask with its size.
                let mask = (f as *const usize).as_ref().copied().unwrap_or(0);
                let sets = [b, c, d];
                polling::pselect(
                    one,
                    sets[0] as _,
                    sets[1] as _,
                    sets[2] as _,
                    e as _,
                    mask as _,
                    0,
                    pc,
                )
            }
            libc::SYS_epoll_pwait => {
                polling::epoll_pwait(one, b as _, c as c_int, d as c_int, e as _, pc)
            }
            libc::SYS_epoll_pwait2 => {
                polling::epoll_pwait2(one, b as _, c as c_int, d as _, e as _, pc)
            }
            libc::SYS_ioctl => polling::ioctl(one, b as _, c, pc),
            libc::SYS_fcntl => kernel_object::fcntl(one, other, c, pc),
            libc::SYS_flock => kernel_object::flock(one, other, pc),
            libc::SYS_semop => kernel_object::semop(one, b as _, c, pc),
            libc::SYS_semtimedop => kernel_object::semtimedop(one, b as _, c, d as _, pc),
            libc::SYS_msgsnd => kernel_object::msgsnd(one, b as _, c, d as c_int, pc),
            libc::SYS_msgrcv => {
                return Some(kernel_object::msgrcv(
                    one,
                    b as _,
                    c,
                    d as c_long,
                    e as c_int,
                    pc,
                ));
            }
            libc::SYS_mq_timedsend => {
                kernel_object::mq_timedsend(one, b as _, c, d as c_uint, e as _, pc)
            }
            libc::SYS_mq_timedreceive => {
                return Some(kernel_object::mq_timedreceive(
                    one, b as _, c, d as _, e as _, pc,
                ));
            }
            libc::SYS_nanosleep => time::nanosleep(a as _, b as _, pc),
            // The library gives the error back.
            libc::SYS_clock_nanosleep => {
                fail_with(time::clock_nanosleep(one, other, c as _, d as _, pc))
            }
            libc::SYS_rt_sigtimedwait => signal::sigtimedwait(a as _, b as _, c as _, pc),
            _ => {
                if let Some(signal) = signal_of(number, [a, b, c]) {
                    signal::sends(signal, pc);
                }
                return None;
            }
        }
    };
    Some(result as isize)
}

/// The signal that a call sends, which the kernel then does.
fn signal_of(number: c_long, [_, second, third]: [usize; 3]) -> Option<c_int> {
    match number {
        libc::SYS_kill | libc::SYS_tkill | libc::SYS_rt_sigqueueinfo => Some(second as c_int),
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => Some(third as c_int),
        _ => None,
    }
}

/// Calls that newer machines do without.
///
/// # Safety
/// See [`as_wrapped`].
#[cfg(target_arch = "x86_64")]
unsafe fn old(number: c_long, [a, b, c, d, e, _]: [usize; 6], pc: u64) -> Option<isize> {
    // SAFETY: as promised by the caller.
    let result = unsafe {
        match number {
            libc::SYS_poll => polling::poll(a as _, b as _, c as c_int, pc),
            libc::SYS_select => polling::select(a as c_int, b as _, c as _, d as _, e as _, pc),
            libc::SYS_epoll_wait => {
                polling::epoll_wait(a as c_int, b as _, c as c_int, d as c_int, pc)
            }
            libc::SYS_pipe => ends::pipe2(a as _, 0, pc),
            libc::SYS_eventfd => ends::eventfd(a as c_uint, 0, pc),
            _ => return None,
        }
    };
    Some(result as isize)
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn old(_number: c_long, _arguments: [usize; 6], _pc: u64) -> Option<isize> {
    None
}
