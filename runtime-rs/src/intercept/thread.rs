//! Threads: create, join, detach.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use wmfix_trace::{RecordedOperation, ThreadId, WaitsFor};

use super::time::Timeout;
use crate::abi::{self, flush_volatile};
use crate::leaving::watch_for_leaving;
use crate::real;
use crate::scheduler::Status;
use crate::start;
use crate::strategy::Kind;
use crate::sys;
use crate::thread::{Thread, phase};
use crate::thread_key;
use crate::trampoline;
use crate::turn::{self, Held};
use crate::unseen;

pub(super) unsafe extern "C" fn create(
    handle: *mut libc::pthread_t,
    attributes: *const c_void,
    routine: *mut c_void,
    argument: *mut c_void,
    pc: u64,
) -> c_int {
    start::ensure();
    // The library fills it, before the new thread runs.
    abi::write(handle as u64, size_of::<libc::pthread_t>() as u64, pc);
    let Some(mut held) = turn::enter() else {
        return real::pthread_create(handle, attributes, routine, argument);
    };
    flush_volatile(&mut held);
    held.point(Kind::Create);
    watch_for_leaving();
    // A library that makes threads lets them run as it likes.
    let of_library = held.controlled() && held.thread().openmp.in_library;
    let child = match held.state().scheduler.spare_record() {
        // SAFETY: it was given back when its thread was joined.
        Some(record) => unsafe { Thread::renewed(record, phase::INSIDE) },
        None => Thread::new(u32::MAX, phase::INSIDE),
    };
    // SAFETY: nobody else knows the record yet.
    unsafe {
        (*child).routine = routine;
        (*child).argument = argument;
        (*child).starts_away = of_library;
    }
    // SAFETY: nobody else knows the record yet.
    let child_record = unsafe { &mut *child };
    let (parent, state) = held.parts();
    state.create(parent, child_record);
    let begin = wmfix_thread_start as *mut c_void;
    // A handler that runs in the child must find it settled.
    let blocked = sys::block_signals(u64::MAX);
    // SAFETY: nobody else knows the record yet.
    unsafe { (*child).blocked_signals = blocked };
    // The library needs the loader's lock here. Whoever has it, in `pthread_exit`
    // for instance, may be about to allocate memory, and waits for us then.
    let result =
        held.let_others_act(|| real::pthread_create(handle, attributes, begin, child.cast()));
    sys::block_signals(blocked);
    if result != 0 {
        return result;
    }
    // SAFETY: the library has filled it, and the child cannot end before it has had
    // the turn.
    unsafe { thread_key::find_stack(child_record, *handle) };
    let context = held.context(pc);
    // SAFETY: the library has filled it.
    let id = held.state().scheduler.add(child, unsafe { *handle });
    child_record.id = id;
    let create = RecordedOperation::Create {
        child: ThreadId(id),
        start: routine as u64,
    };
    held.record(context, &create);
    if held.explores() && unseen::begins_unseen(routine as usize) {
        held.unseen(context, b"pthread_create");
    }
    held.has_changed();
    child_record.announced.store(true, Ordering::Release);
    if of_library {
        held.unexplored(context);
        held.state().scheduler.send_away(id);
        held.go_away();
    }
    0
}

unsafe extern "C" {
    fn wmfix_thread_start();
}

// Where a new thread begins. In assembly, so that what unwinds a thread
// (`pthread_exit`, cancellation) finds a frame that it can pass.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".text",
    ".hidden wmfix_thread_start",
    ".globl wmfix_thread_start",
    ".type wmfix_thread_start, @function",
    "wmfix_thread_start:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {begins}",
    "mov rdi, rdx",
    "call rax",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size wmfix_thread_start, . - wmfix_thread_start",
    begins = sym start::thread_begins,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".balign 4",
    ".hidden wmfix_thread_start",
    ".globl wmfix_thread_start",
    ".type wmfix_thread_start, %function",
    "wmfix_thread_start:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-16]!",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset 30, -8",
    ".cfi_offset 29, -16",
    "mov x29, sp",
    "bl {begins}",
    "mov x8, x0",
    "mov x0, x1",
    "blr x8",
    "ldp x29, x30, [sp], #16",
    ".cfi_def_cfa_offset 0",
    "ret",
    ".cfi_endproc",
    ".size wmfix_thread_start, . - wmfix_thread_start",
    begins = sym start::thread_begins,
);

/// The thread that a handle names, if it was not joined yet. The last one, as
/// the library uses handles again.
pub(super) fn named(held: &mut Held, handle: libc::pthread_t) -> Option<u32> {
    let threads = &held.state().scheduler.threads;
    let mut newest_first = threads.iter().rev();
    let found = newest_first.find(|(_, entry)| entry.handle == handle && !entry.joined);
    found.map(|(number, _)| number)
}

pub(super) unsafe extern "C" fn join(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    pc: u64,
) -> c_int {
    if !result.is_null() {
        abi::write(result as u64, size_of::<*mut c_void>() as u64, pc);
    }
    wait_for_end(handle, result, Timeout::Never, pc, || {
        real::pthread_join(handle, result)
    })
}

unsafe extern "C" fn tryjoin(handle: libc::pthread_t, result: *mut *mut c_void, pc: u64) -> c_int {
    let now = Timeout::After(0);
    match wait_for_end(handle, result, now, pc, || {
        real::pthread_tryjoin_np(handle, result)
    }) {
        libc::ETIMEDOUT => libc::EBUSY,
        outcome => outcome,
    }
}

unsafe extern "C" fn clockjoin(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    clock: libc::clockid_t,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    let timeout = Timeout::until(clock, time);
    wait_for_end(handle, result, timeout, pc, || {
        real::pthread_clockjoin_np(handle, result, clock, time)
    })
}

unsafe extern "C" fn timedjoin(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    time: *const libc::timespec,
    pc: u64,
) -> c_int {
    let timeout = Timeout::until(libc::CLOCK_REALTIME, time);
    wait_for_end(handle, result, timeout, pc, || {
        real::pthread_timedjoin_np(handle, result, time)
    })
}

fn wait_for_end(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    timeout: Timeout,
    pc: u64,
    block: impl FnOnce() -> c_int,
) -> c_int {
    let Some(mut held) = turn::enter() else {
        return block();
    };
    flush_volatile(&mut held);
    // A thread that waits for itself is refused by the library.
    let me = held.thread().id;
    let Some(child) = named(&mut held, handle).filter(|&child| child != me) else {
        drop(held);
        return block();
    };
    if !held.controlled() || matches!(timeout, Timeout::Invalid) {
        held.context(pc);
        if matches!(timeout, Timeout::Never) {
            let (thread, state) = held.parts();
            state.awaits_end(thread, child);
        }
        drop(held);
        let outcome = block();
        if outcome == 0 {
            joined(child, pc);
        }
        return outcome;
    }
    held.point(Kind::Operation);
    let context = held.context(pc);
    let wait = timeout.begins(&mut held);
    if matches!(timeout, Timeout::After(_)) {
        held.unexplored(context);
    }
    loop {
        held.cancellation_point();
        if held.state().scheduler.entry(child).status == Status::Ended {
            break;
        }
        if wait.deadline.is_none() {
            let (thread, state) = held.parts();
            state.awaits_end(thread, child);
        }
        if held.wait(context, WaitsFor::Thread(ThreadId(child)), wait.deadline) {
            wait.gave_up();
            return libc::ETIMEDOUT;
        }
    }
    // What is left of the thread is the library's, and short.
    let outcome = real::pthread_join(handle, result);
    if outcome == 0 {
        note_join(&mut held, child, context);
    }
    outcome
}

fn note_join(held: &mut Held, child: u32, context: u32) {
    let entry = held.state().scheduler.entry(child);
    entry.joined = true;
    let record = entry.thread;
    let child = ThreadId(child);
    held.record(context, &RecordedOperation::Join { child });
    let (thread, state) = held.parts();
    // SAFETY: threads' records are never freed, and this one has ended.
    state.join(thread, unsafe { &*record });
    state.scheduler.joins();
    state.scheduler.give_back(child.0);
    held.has_changed();
}

fn joined(child: u32, pc: u64) {
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        note_join(&mut held, child, context);
    }
}

pub(super) unsafe extern "C" fn detach(handle: libc::pthread_t, _pc: u64) -> c_int {
    if let Some(mut held) = turn::enter()
        && let Some(thread) = named(&mut held, handle)
    {
        held.state().scheduler.entry(thread).joined = true;
    }
    real::pthread_detach(handle)
}

trampoline!(weak, "pthread_create", 4, create);
trampoline!(weak, "pthread_join", 2, join);
trampoline!(weak, "pthread_tryjoin_np", 2, tryjoin);
trampoline!(weak, "pthread_timedjoin_np", 3, timedjoin);
trampoline!(weak, "pthread_clockjoin_np", 4, clockjoin);
trampoline!(weak, "pthread_detach", 1, detach);
