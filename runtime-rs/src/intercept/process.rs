//! Processes: leaving, forking, becoming another program; signal handlers.

use core::ffi::c_int;

use crate::behind;
use crate::finish;
use crate::trampoline;
use crate::turn;

unsafe extern "C" fn leave_now(code: c_int, _pc: u64) -> ! {
    finish::leaves(code);
    crate::sys::exit_now(code)
}

trampoline!(weak, "_exit", 1, leave_now);
trampoline!(weak, "_Exit", 1, leave_now);

/// A handler of the program's own may wake threads that wait.
unsafe extern "C" fn action(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
    _pc: u64,
) -> c_int {
    // SAFETY: the program's own record, or null.
    if let Some(new) = unsafe { new.as_ref() }
        && let Some(mut held) = turn::enter()
    {
        held.state().outside_help |= new.sa_sigaction > libc::SIG_IGN;
    }
    behind::sigaction(signal, new, old)
}

unsafe extern "C" fn signal(signal: c_int, handler: usize, _pc: u64) -> usize {
    if let Some(mut held) = turn::enter() {
        held.state().outside_help |= handler > libc::SIG_IGN;
    }
    behind::signal(signal, handler)
}

trampoline!(weak, "sigaction", 3, action);
trampoline!(weak, "signal", 2, signal);
