//! Processes: leaving, forking, becoming another program.

use core::ffi::{c_char, c_int, c_uint, c_void};

use wmfix_trace::{MAX_RECORD, Strategy, encode_exec};

use crate::abi::flush_volatile;
use crate::arena;
use crate::finish;
use crate::real;
use crate::start;
use crate::sys;
use crate::trampoline;
use crate::turn;

unsafe extern "C" fn leave_now(code: c_int, _pc: u64) -> ! {
    finish::leaves(code);
    sys::exit_now(code)
}

/// What the handlers of such an exit do is not recorded: nothing tells when
/// they are done.
unsafe extern "C" fn leave_quickly(code: c_int, _pc: u64) {
    finish::leaves(code);
    real::quick_exit(code);
}

trampoline!(weak, "quick_exit", 1, leave_quickly);
trampoline!(weak, "_exit", 1, leave_now);
trampoline!(weak, "_Exit", 1, leave_now);

/// The program gives up at this call. The signal that follows comes in the C
/// library, whose frames nobody can walk where there is no unwinder.
fn gives_up(pc: u64) {
    if let Some(mut held) = turn::enter() {
        held.thread().gives_up_at = pc;
    }
}

unsafe extern "C" fn abort(pc: u64) {
    gives_up(pc);
    real::abort();
}

unsafe extern "C" fn assertion_fails(
    assertion: *const c_char,
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
    pc: u64,
) {
    gives_up(pc);
    real::__assert_fail(assertion, file, line, function);
}

trampoline!(weak, "abort", 0, abort);
trampoline!(weak, "__assert_fail", 4, assertion_fails);

/// The child is a process with one thread and a trace of its own.
unsafe extern "C" fn fork(_pc: u64) -> libc::pid_t {
    let Some(mut held) = turn::enter() else {
        return real::fork();
    };
    flush_volatile(&mut held);
    // The child may wake a thread of ours, through memory they share.
    held.state().scheduler.outside_help = true;
    let pid = real::fork();
    if pid != 0 {
        return pid;
    }
    arena::after_fork();
    turn::after_fork();
    held.state().recorder.abandon();
    held.state().drop_filter();
    let mut config = held.state().config.clone();
    if config.strategy == Strategy::Replay {
        // The recorded schedule was the parent's.
        config.strategy = Strategy::Mixed;
    }
    let thread = held.thread();
    thread.id = 0;
    thread.forget_stacks();
    thread.clock_slot = None;
    thread.epoch_tag = 0;
    thread
        .number
        .store(sys::thread_number(), core::sync::atomic::Ordering::SeqCst);
    start::begin_run(config, true);
    held.state().scheduler.outside_help = true;
    0
}

trampoline!(weak, "fork", 0, fork);
// A child that borrows its parent's memory would write into its trace.
trampoline!(weak, "vfork", 0, fork);

/// Notes that the process becomes another program. If it cannot, it goes on.
fn becomes_another() {
    if let Some(mut held) = turn::enter() {
        flush_volatile(&mut held);
        held.state().recorder.write(MAX_RECORD, encode_exec);
    }
}

unsafe extern "C" {
    static environ: *const c_void;
}

unsafe extern "C" fn execve(
    path: *const c_char,
    arguments: *const c_void,
    environment: *const c_void,
    _pc: u64,
) -> c_int {
    becomes_another();
    real::execve(path, arguments, environment)
}

unsafe extern "C" fn execv(path: *const c_char, arguments: *const c_void, _pc: u64) -> c_int {
    becomes_another();
    // SAFETY: the program's own environment.
    real::execve(path, arguments, unsafe { environ })
}

unsafe extern "C" fn execvp(file: *const c_char, arguments: *const c_void, _pc: u64) -> c_int {
    becomes_another();
    // SAFETY: the program's own environment.
    real::execvpe(file, arguments, unsafe { environ })
}

unsafe extern "C" fn execvpe(
    file: *const c_char,
    arguments: *const c_void,
    environment: *const c_void,
    _pc: u64,
) -> c_int {
    becomes_another();
    real::execvpe(file, arguments, environment)
}

unsafe extern "C" fn fexecve(
    file: c_int,
    arguments: *const c_void,
    environment: *const c_void,
    _pc: u64,
) -> c_int {
    becomes_another();
    real::fexecve(file, arguments, environment)
}

trampoline!(weak, "execve", 3, execve);
trampoline!(weak, "execv", 2, execv);
trampoline!(weak, "execvp", 2, execvp);
trampoline!(weak, "execvpe", 3, execvpe);
trampoline!(weak, "fexecve", 3, fexecve);
