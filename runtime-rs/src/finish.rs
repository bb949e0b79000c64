//! The end of the run as the program comes to it: exit, or a signal that kills.
//! The trace is written into a mapped file and needs none of this to survive; what
//! is added is how it ended.

use core::ffi::{c_int, c_void};

use wmfix_trace::{ContextId, End, ThreadId};

use crate::real;
use crate::sys;
use crate::turn::{self, Held};
use crate::unwind;

/// Signals that kill and that a fault of the program raises.
const FATAL_SIGNALS: [c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
];

unsafe extern "C" {
    fn on_exit(function: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Arranges that the end is noticed.
pub(crate) fn watch_for_the_end() {
    // SAFETY: handlers of the right types; those that the program has set stay.
    unsafe {
        on_exit(exits, core::ptr::null_mut());
        for signal in FATAL_SIGNALS {
            let mut action = core::mem::zeroed::<libc::sigaction>();
            if real::sigaction(signal, core::ptr::null(), &mut action) != 0
                || action.sa_sigaction != libc::SIG_DFL
            {
                continue;
            }
            action.sa_sigaction = dies as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            real::sigaction(signal, &action, core::ptr::null_mut());
        }
    }
}

/// All handlers and destructors of the program have run but for what the loader calls
/// itself. Where all runs are explored, others then go on for as long as they can: the
/// process might not end for a while.
unsafe extern "C" fn exits(code: c_int, _: *mut c_void) {
    #[cfg(not(test))]
    if let Some(mut held) = turn::enter()
        && held.explores()
    {
        // What the loader calls is not recorded, and may even start threads.
        if crate::unseen::has_fini() {
            held.unseen(0, b"");
        }
        if held.state().scheduler.alive() > 1 {
            held.let_others_finish();
        }
    }
    leaves(code);
}

/// The process is about to leave with this code. Threads are still scheduled:
/// destructors that run later may wait for them.
pub(crate) fn leaves(code: c_int) {
    if let Some(mut held) = turn::enter() {
        // What the others wait to do is not known.
        if held.explores() && held.state().scheduler.alive() > 1 {
            held.unexplored(0);
        }
        held.state().finish(End::Exit { code });
    }
}

unsafe extern "C" fn dies(signal: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    if let Some(mut held) = turn::enter() {
        let thread = ThreadId(held.thread().id);
        // SAFETY: the kernel's record of where the thread was.
        let pc = unsafe { program_counter(context.cast()) };
        let context = stood_at(&mut held, pc);
        held.state().finish(End::Signal {
            number: signal,
            thread,
            pc,
            context: ContextId(context),
        });
        // Nobody else may run any more: the process is about to die.
        core::mem::forget(held);
    }
    // SAFETY: back to the default, then the same signal again, which stays
    // pending until this handler returns.
    unsafe {
        let mut action = core::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = libc::SIG_DFL;
        real::sigaction(signal, &action, core::ptr::null_mut());
        let process = sys::raw_syscall(libc::SYS_getpid, [0; 6]) as usize;
        let thread = sys::thread_number() as usize;
        sys::raw_syscall(
            libc::SYS_tgkill,
            [process, thread, signal as usize, 0, 0, 0],
        );
    }
}

/// The context of a thread that a signal kills at `pc`. Within a library that is
/// the call that led there, as far as it is known.
fn stood_at(held: &mut Held, pc: u64) -> u32 {
    let thread = held.thread();
    let innermost = thread.depth().checked_sub(1);
    let unwound = innermost.and_then(|at| unwind::return_address_in(thread.frame(at).sp));
    let gave_up = (thread.gives_up_at != 0).then_some(thread.gives_up_at);
    let at = match unwound.or(gave_up) {
        Some(call) if call != pc => call,
        // A return address is one past the instruction that is meant.
        _ => pc + 1,
    };
    held.context(at)
}

unsafe fn program_counter(context: *const libc::ucontext_t) -> u64 {
    // SAFETY: as promised by the kernel.
    let machine = unsafe { &(*context).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    return machine.gregs[libc::REG_RIP as usize] as u64;
    #[cfg(target_arch = "aarch64")]
    return machine.pc;
}
