//! Processes: leaving, forking, starting and becoming another program.

use core::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};

use wmfix_trace::{Limit, MAX_RECORD, Strategy, encode_exec};

use super::time::fail_with;
use crate::abi::flush_volatile;
use crate::arena;
use crate::finish;
use crate::help;
use crate::random;
use crate::real;
use crate::start;
use crate::sys;
use crate::trampoline;
use crate::turn::{self, Held};
use crate::unseen;

unsafe extern "C" fn leave_now(code: c_int, _pc: u64) -> ! {
    finish::leaves(code);
    sys::exit_now(code)
}

/// What the handlers of such an exit do is not recorded: nothing tells when
/// they are done.
unsafe extern "C" fn leave_quickly(code: c_int, pc: u64) {
    unseen::called(c"quick_exit", pc);
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

/// Forks by `call`. The child is a process with one thread and a trace of its own.
fn fork_by(call: impl FnOnce() -> c_long) -> c_long {
    let Some(mut held) = turn::enter() else {
        return call();
    };
    flush_volatile(&mut held);
    has_a_child(&mut held);
    let result = call();
    if result == 0 {
        begin_in_child(&mut held);
    }
    result
}

/// The process has a child from now on.
fn has_a_child(held: &mut Held) {
    random::will_fork();
    let state = held.state();
    // The child may wake a thread of ours, through memory they share.
    state.scheduler.outside_help = true;
    state.has_relatives = true;
    if !state.shared_memory.is_empty() {
        state.meets(Limit::SharedMemory);
    }
}

/// The first thing that a forked child does.
fn begin_in_child(held: &mut Held) {
    arena::after_fork();
    turn::after_fork();
    help::was_forked();
    random::begin_in_child();
    held.state().recorder.abandon();
    held.state().drop_filter();
    let shared_memory = core::mem::take(&mut held.state().shared_memory);
    let mut config = held.state().config.clone();
    if matches!(config.strategy, Strategy::Replay | Strategy::Explore) {
        // The schedule was the parent's.
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
    held.state().holders.inherits = true;
    held.state().has_relatives = true;
    held.state().shared_memory = shared_memory;
}

unsafe extern "C" fn fork(_pc: u64) -> libc::pid_t {
    fork_by(|| real::fork().into()) as libc::pid_t
}

unsafe extern "C" fn fork_alone(_pc: u64) -> libc::pid_t {
    fork_by(|| real::_Fork().into()) as libc::pid_t
}

trampoline!(weak, "fork", 0, fork);
trampoline!(weak, "_Fork", 0, fork_alone);
// A child that borrows its parent's memory would write into its trace.
trampoline!(weak, "vfork", 0, fork);

/// Forks by a system call, if it is one that does.
pub(super) fn forks(number: c_long, arguments: [usize; 6]) -> Option<c_long> {
    let shares = arguments[0] & libc::CLONE_VM as usize != 0;
    let forks = match number {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork | libc::SYS_vfork => true,
        libc::SYS_clone => !shares,
        libc::SYS_clone3 => {
            // SAFETY: the program's own record, which begins with the flags.
            let flags = unsafe { *(arguments[0] as *const u64) };
            flags & libc::CLONE_VM as u64 == 0
        }
        _ => false,
    };
    if !turn::is_on() {
        return None;
    }
    if !forks {
        if (shares && number == libc::SYS_clone) || number == libc::SYS_clone3 {
            shares_memory();
        }
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    let number = if number == libc::SYS_vfork {
        // As above.
        libc::SYS_fork
    } else {
        number
    };
    // SAFETY: the program's own call.
    let result = fork_by(|| unsafe { sys::raw_syscall(number, arguments) } as c_long);
    Some(if result < 0 {
        fail_with(-result as c_int).into()
    } else {
        result
    })
}

/// The program makes a thread or a process that has its memory, and that is not told
/// from its maker.
fn shares_memory() {
    if let Some(mut held) = turn::enter() {
        held.state().scheduler.outside_help = true;
        held.state().meets(Limit::SharedAddressSpace);
    }
}

/// What a process that `clone` makes is to run.
struct ClonedBody {
    body: unsafe extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
}

/// Where such a process begins, on a stack of its own.
unsafe extern "C" fn cloned(body: *mut c_void) -> c_int {
    // SAFETY: what `clone` passed on, in this process's copy of the memory.
    let body = unsafe { &*body.cast::<ClonedBody>() };
    if let Some(mut held) = turn::enter() {
        begin_in_child(&mut held);
    }
    // SAFETY: the program's own function and argument.
    let code = unsafe { (body.body)(body.argument) };
    finish::leaves(code);
    code
}

/// `clone` as the C library has it: a child with memory of its own is one that was
/// forked. One that shares the memory is no thread that we could tell from its maker.
unsafe extern "C" fn clone(
    body: unsafe extern "C" fn(*mut c_void) -> c_int,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent_number: usize,
    storage: usize,
    child_number: usize,
) -> c_int {
    let function = body as *mut c_void;
    if flags & libc::CLONE_VM != 0 || !turn::is_on() {
        if turn::is_on() {
            shares_memory();
        }
        return real::clone(
            function,
            stack,
            flags,
            argument,
            parent_number,
            storage,
            child_number,
        );
    }
    if let Some(mut held) = turn::enter() {
        flush_volatile(&mut held);
        has_a_child(&mut held);
    }
    let body = ClonedBody { body, argument };
    let passed = (&raw const body).cast_mut().cast();
    let begin = cloned as *mut c_void;
    real::clone(
        begin,
        stack,
        flags,
        passed,
        parent_number,
        storage,
        child_number,
    )
}

// Variadic in C, with more arguments than registers.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".text",
    ".weak clone",
    ".type clone, @function",
    "clone:",
    "jmp {clone}",
    ".size clone, . - clone",
    clone = sym clone,
);
#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".balign 4",
    ".weak clone",
    ".type clone, %function",
    "clone:",
    "b {clone}",
    ".size clone, . - clone",
    clone = sym clone,
);

/// The process starts another program, which has its descriptors and may wake a thread
/// through them.
fn starts_another(by: &CStr, pc: u64) {
    unseen::called(by, pc);
    if let Some(mut held) = turn::enter() {
        flush_volatile(&mut held);
        held.state().scheduler.outside_help = true;
    }
}

/// The arguments fill the registers: the word of the caller's stack that the trampoline
/// hands over is nothing of theirs.
macro_rules! spawns {
    ($($name:ident $text:literal;)*) => { $(
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn $name(
            number: *mut libc::pid_t,
            program: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const c_void,
            environment: *const c_void,
            _stack: usize,
            pc: u64,
        ) -> c_int {
            starts_another($text, pc);
            real::$name(number, program, actions, attributes, arguments, environment)
        }
        crate::stack_trampoline!(weak, stringify!($name), $name);
    )* };
}

spawns! {
    posix_spawn c"posix_spawn";
    posix_spawnp c"posix_spawnp";
}

unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char, pc: u64) -> *mut c_void {
    starts_another(c"popen", pc);
    real::popen(command, mode)
}

unsafe extern "C" fn system(command: *const c_char, pc: u64) -> c_int {
    starts_another(c"system", pc);
    real::system(command)
}

trampoline!(weak, "popen", 2, popen);
trampoline!(weak, "system", 1, system);

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
