//! OpenMP as clang compiles it: libomp.

use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use core::mem::size_of;

use super::task::{Dependence, TaskLinks, begin_group, end_group, wait_for};
use super::{
    COPIES, ITERATIONS, ORDERED, REDUCTION, Team, barrier, children_key, current, give, key, learn,
    library, lock, shares_out, unlock, waits,
};
use crate::passed_on;
use crate::real;
use crate::trampoline;
use crate::turn;

type Location = *mut c_void;

/// What a team of threads is to run, and for us to know them by.
struct Work {
    team: Team,
    body: *mut c_void,
    arguments: Vec<usize>,
    count: c_int,
    pc: u64,
}

/// A member of a team, which outlives it.
unsafe extern "C" fn member(thread: *const c_int, number: *const c_int, work: *mut Work) {
    // SAFETY: what `fork_call` passed on; it returns after the last member.
    let (work, thread, number) = unsafe { (&mut *work, *thread, *number) };
    let arguments = work.arguments.as_ptr().cast_mut().cast();
    let count = work.count;
    let mut frame: *mut c_void = core::ptr::null_mut();
    work.team.member(work.pc, || {
        real::__kmp_invoke_microtask(work.body, thread, number, count, arguments, &raw mut frame);
    });
}

/// Has a team run a function whose arguments lie in `registers` and on the `stack`.
unsafe extern "C" fn fork_call(
    location: Location,
    count: c_int,
    body: *mut c_void,
    registers: *const usize,
    stack: *const usize,
    pc: u64,
) {
    let argument = |index: usize| {
        // SAFETY: the caller has passed `count` arguments.
        unsafe {
            if index < VARIADIC_REGISTERS {
                *registers.add(index)
            } else {
                *stack.add(index - VARIADIC_REGISTERS)
            }
        }
    };
    let passed_count = count.max(0) as usize;
    // The library fills all registers, with what is passed or not.
    let padding = core::iter::repeat_n(0, MOST_REGISTERS);
    let mut work = library(|| Work {
        team: Team::new(),
        body,
        arguments: (0..passed_count).map(argument).chain(padding).collect(),
        count,
        pc,
    });
    give(&[work.team.start()], pc);
    let passed = &raw mut work;
    library(|| real::__kmpc_fork_call(location, 1, member as *mut c_void, passed.cast()));
    learn(&[work.team.end()], pc);
}

/// How many arguments come in registers.
const MOST_REGISTERS: usize = 8;

/// How many of the variable arguments come in registers.
const VARIADIC_REGISTERS: usize = if cfg!(target_arch = "x86_64") { 3 } else { 5 };

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".text",
    ".weak __kmpc_fork_call",
    ".type __kmpc_fork_call, @function",
    "__kmpc_fork_call:",
    ".cfi_startproc",
    "mov r10, [rsp]",
    "lea r11, [rsp + 8]",
    "push r9",
    ".cfi_adjust_cfa_offset 8",
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    "push rcx",
    ".cfi_adjust_cfa_offset 8",
    "mov rcx, rsp",
    "mov r8, r11",
    "mov r9, r10",
    "call {fork_call}",
    "add rsp, 24",
    ".cfi_adjust_cfa_offset -24",
    "ret",
    ".cfi_endproc",
    ".size __kmpc_fork_call, . - __kmpc_fork_call",
    fork_call = sym fork_call,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".balign 4",
    ".weak __kmpc_fork_call",
    ".type __kmpc_fork_call, %function",
    "__kmpc_fork_call:",
    ".cfi_startproc",
    "mov x9, sp",
    "stp x29, x30, [sp, #-64]!",
    ".cfi_def_cfa_offset 64",
    ".cfi_offset 30, -56",
    ".cfi_offset 29, -64",
    "mov x29, sp",
    "stp x3, x4, [sp, #16]",
    "stp x5, x6, [sp, #32]",
    "str x7, [sp, #48]",
    "add x3, sp, #16",
    "mov x4, x9",
    "mov x5, x30",
    "bl {fork_call}",
    "ldp x29, x30, [sp], #64",
    ".cfi_def_cfa_offset 0",
    "ret",
    ".cfi_endproc",
    ".size __kmpc_fork_call, . - __kmpc_fork_call",
    fork_call = sym fork_call,
);

unsafe extern "C" fn plain_barrier(location: Location, thread: c_int, pc: u64) {
    barrier(pc, || real::__kmpc_barrier(location, thread));
}

unsafe extern "C" fn cancel_barrier(location: Location, thread: c_int, pc: u64) -> c_int {
    barrier(pc, || real::__kmpc_cancel_barrier(location, thread))
}

unsafe extern "C" fn single(location: Location, thread: c_int, _pc: u64) -> c_int {
    shares_out(|| real::__kmpc_single(location, thread))
}

unsafe extern "C" fn ordered(location: Location, thread: c_int, pc: u64) {
    waits(|| real::__kmpc_ordered(location, thread));
    learn(&[key(&ORDERED)], pc);
}

unsafe extern "C" fn end_ordered(location: Location, thread: c_int, pc: u64) {
    give(&[key(&ORDERED)], pc);
    real::__kmpc_end_ordered(location, thread);
}

unsafe extern "C" fn critical(location: Location, thread: c_int, name: *mut c_void, pc: u64) {
    waits(|| real::__kmpc_critical(location, thread, name));
    lock(name as u64, pc);
}

unsafe extern "C" fn critical_with_hint(
    location: Location,
    thread: c_int,
    name: *mut c_void,
    hint: u32,
    pc: u64,
) {
    waits(|| real::__kmpc_critical_with_hint(location, thread, name, hint));
    lock(name as u64, pc);
}

unsafe extern "C" fn end_critical(location: Location, thread: c_int, name: *mut c_void, pc: u64) {
    unlock(name as u64, pc);
    real::__kmpc_end_critical(location, thread, name);
}

unsafe extern "C" fn doacross_post(location: Location, thread: c_int, at: *mut c_void, pc: u64) {
    give(&[key(&ITERATIONS)], pc);
    real::__kmpc_doacross_post(location, thread, at);
}

unsafe extern "C" fn doacross_wait(location: Location, thread: c_int, at: *mut c_void, pc: u64) {
    waits(|| real::__kmpc_doacross_wait(location, thread, at));
    learn(&[key(&ITERATIONS)], pc);
}

trampoline!(weak, "__kmpc_barrier", 2, plain_barrier);
trampoline!(weak, "__kmpc_cancel_barrier", 2, cancel_barrier);
trampoline!(weak, "__kmpc_single", 2, single);
trampoline!(weak, "__kmpc_ordered", 2, ordered);
trampoline!(weak, "__kmpc_end_ordered", 2, end_ordered);
trampoline!(weak, "__kmpc_critical", 3, critical);
trampoline!(weak, "__kmpc_critical_with_hint", 4, critical_with_hint);
trampoline!(weak, "__kmpc_end_critical", 3, end_critical);
trampoline!(weak, "__kmpc_doacross_post", 3, doacross_post);
trampoline!(weak, "__kmpc_doacross_wait", 3, doacross_wait);

/// The one who did the work hands it to the others, whose copies the program's
/// function makes.
unsafe extern "C" fn copyprivate(
    location: Location,
    thread: c_int,
    size: usize,
    data: *mut c_void,
    copy: *mut c_void,
    did_it: c_int,
) {
    if did_it != 0 {
        give(&[key(&COPIES)], 0);
    }
    if let Some(task) = current() {
        task.combine = copy as usize;
    }
    barrier(0, || {
        let copy = copy_from_others as *mut c_void;
        real::__kmpc_copyprivate(location, thread, size, data, copy, did_it);
    });
}

unsafe extern "C" fn copy_from_others(to: *mut c_void, from: *mut c_void) {
    learn(&[key(&COPIES)], 0);
    // SAFETY: the program's own function and arguments.
    unsafe { combine(to, from) };
}

/// Calls the function that the program combines values with.
unsafe fn combine(to: *mut c_void, from: *mut c_void) {
    if let Some(task) = current()
        && task.combine != 0
    {
        // SAFETY: the program has passed it for this.
        unsafe {
            let function: unsafe extern "C" fn(*mut c_void, *mut c_void) =
                core::mem::transmute(task.combine);
            function(to, from);
        }
    }
}

/// Combines what two threads have reduced: the other one has given its part.
unsafe extern "C" fn combine_with_others(to: *mut c_void, from: *mut c_void) {
    learn(&[key(&REDUCTION)], 0);
    // SAFETY: the program's own function and arguments.
    unsafe { combine(to, from) };
    give(&[key(&REDUCTION)], 0);
}

macro_rules! reductions {
    ($($name:literal $function:ident $real:ident;)*) => { $(
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn $function(
            location: Location,
            thread: c_int,
            variables: c_int,
            size: usize,
            data: *mut c_void,
            function: *mut c_void,
            name: *mut c_void,
        ) -> c_int {
            give(&[key(&REDUCTION)], 0);
            if let Some(task) = current() {
                task.combine = function as usize;
            }
            let combine = combine_with_others as *mut c_void;
            let result = waits(|| {
                real::$real(location, thread, variables, size, data, combine, name)
            });
            learn(&[key(&REDUCTION)], 0);
            result
        }
        passed_on! { $name $function; }
    )* };
}

reductions! {
    "__kmpc_reduce" reduce __kmpc_reduce;
    "__kmpc_reduce_nowait" reduce_nowait __kmpc_reduce_nowait;
}

unsafe extern "C" fn end_reduce(location: Location, thread: c_int, name: *mut c_void, pc: u64) {
    give(&[key(&REDUCTION)], pc);
    barrier(pc, || real::__kmpc_end_reduce(location, thread, name));
}

unsafe extern "C" fn end_reduce_nowait(
    location: Location,
    thread: c_int,
    name: *mut c_void,
    pc: u64,
) {
    give(&[key(&REDUCTION)], pc);
    real::__kmpc_end_reduce_nowait(location, thread, name);
}

trampoline!(weak, "__kmpc_end_reduce", 3, end_reduce);
trampoline!(weak, "__kmpc_end_reduce_nowait", 3, end_reduce_nowait);
passed_on! { "__kmpc_copyprivate" copyprivate; }

/// The beginning of a loop whose parts are shared out.
macro_rules! first_parts {
    ($($name:literal $function:ident $real:ident $bound:ty;)*) => { $(
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn $function(
            location: Location,
            thread: c_int,
            schedule: c_int,
            lower: $bound,
            upper: $bound,
            step: $bound,
            chunk: $bound,
        ) {
            library(|| real::$real(location, thread, schedule, lower, upper, step, chunk));
        }
        passed_on! { $name $function; }
    )* };
}

first_parts! {
    "__kmpc_dispatch_init_4" dispatch_init_4 __kmpc_dispatch_init_4 i32;
    "__kmpc_dispatch_init_4u" dispatch_init_4u __kmpc_dispatch_init_4u u32;
    "__kmpc_dispatch_init_8" dispatch_init_8 __kmpc_dispatch_init_8 i64;
    "__kmpc_dispatch_init_8u" dispatch_init_8u __kmpc_dispatch_init_8u u64;
}

/// Who gets the next part of a loop is a choice.
macro_rules! next_parts {
    ($($name:literal $function:ident $real:ident;)*) => { $(
        unsafe extern "C" fn $function(
            location: Location,
            thread: c_int,
            last: *mut c_void,
            lower: *mut c_void,
            upper: *mut c_void,
            step: *mut c_void,
        ) -> c_int {
            shares_out(|| real::$real(location, thread, last, lower, upper, step))
        }
        passed_on! { $name $function; }
    )* };
}

next_parts! {
    "__kmpc_dispatch_next_4" dispatch_next_4 __kmpc_dispatch_next_4;
    "__kmpc_dispatch_next_4u" dispatch_next_4u __kmpc_dispatch_next_4u;
    "__kmpc_dispatch_next_8" dispatch_next_8 __kmpc_dispatch_next_8;
    "__kmpc_dispatch_next_8u" dispatch_next_8u __kmpc_dispatch_next_8u;
}

/// A task as the library lays it out, as far as it concerns us.
#[repr(C)]
struct Task {
    /// The variables it shares, which follow what we add.
    shared: *mut c_void,
    routine: *mut c_void,
}

type Routine = unsafe extern "C" fn(c_int, *mut Task) -> c_int;

/// What we add to a task.
#[repr(C)]
struct Added {
    routine: Routine,
    links: TaskLinks,
}

/// # Safety
/// The task is one that `task_alloc` made.
unsafe fn added(task: *mut Task) -> *mut Added {
    // SAFETY: as promised.
    unsafe { (*task).shared.cast::<Added>().sub(1) }
}

unsafe extern "C" fn task_alloc(
    location: Location,
    thread: c_int,
    flags: c_int,
    task_size: usize,
    shared_size: usize,
    routine: Routine,
) -> *mut Task {
    let size = task_size.next_multiple_of(16) + size_of::<Added>();
    let shared = shared_size.max(size_of::<u64>());
    let run = run_task as *mut c_void;
    let task = real::__kmpc_omp_task_alloc(location, thread, flags, size, shared, run);
    // The library uses the memory of tasks again, whoever had them.
    if let Some(mut held) = turn::enter() {
        let context = held.context(0);
        let whole = (size + shared) as u64;
        held.state().reclaim(context, task as u64, whole);
    }
    let task = task.cast::<Task>();
    // SAFETY: the library has made room for it.
    unsafe { (&raw mut (*added(task)).routine).write(routine) };
    task
}

/// The task is about to be handed to the library.
///
/// # Safety
/// The task is one that `task_alloc` made.
unsafe fn create(task: *mut c_void, dependences: Vec<Dependence>) {
    let links = TaskLinks::create(dependences, 0);
    // SAFETY: as promised.
    unsafe { (&raw mut (*added(task.cast())).links).write(links) };
}

unsafe extern "C" fn run_task(thread: c_int, task: *mut Task) -> c_int {
    // SAFETY: what `task_alloc` and `create` made, or the library's copy of it.
    unsafe {
        let added = &*added(task);
        // A task that is not tied to its thread is run in parts.
        let (routine, links) = (added.routine, added.links);
        links.run(task as u64, false, || routine(thread, task))
    }
}

unsafe extern "C" fn omp_task(
    location: Location,
    thread: c_int,
    task: *mut c_void,
    _pc: u64,
) -> c_int {
    // SAFETY: compiled code gets its tasks from `task_alloc`.
    unsafe { create(task, Vec::new()) };
    library(|| real::__kmpc_omp_task(location, thread, task))
}

/// Something that a task depends on, as compiled code writes it.
#[repr(C)]
struct ListedDependence {
    address: u64,
    size: usize,
    flags: u64,
}

/// The flag of those that only read.
const READS: u64 = 1;

/// # Safety
/// There are as many as `count` says.
unsafe fn dependences(count: c_int, list: *const ListedDependence) -> Vec<Dependence> {
    let count = count.max(0) as usize;
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: as promised.
    let listed = unsafe { core::slice::from_raw_parts(list, count) };
    let dependences = listed.iter().map(|one| Dependence {
        address: one.address,
        writes: one.flags & 0xff != READS,
    });
    dependences.collect()
}

unsafe extern "C" fn omp_task_with_deps(
    location: Location,
    thread: c_int,
    task: *mut c_void,
    count: c_int,
    list: *const ListedDependence,
    other_count: c_int,
    other_list: *mut c_void,
) -> c_int {
    // SAFETY: compiled code gets its tasks from `task_alloc`.
    unsafe { create(task, dependences(count, list)) };
    let list = list.cast_mut().cast();
    library(|| {
        real::__kmpc_omp_task_with_deps(
            location,
            thread,
            task,
            count,
            list,
            other_count,
            other_list,
        )
    })
}

unsafe extern "C" fn omp_wait_deps(
    location: Location,
    thread: c_int,
    count: c_int,
    list: *const ListedDependence,
    other_count: c_int,
    other_list: *mut c_void,
) {
    waits(|| {
        let list = list.cast_mut().cast();
        real::__kmpc_omp_wait_deps(location, thread, count, list, other_count, other_list);
    });
    // SAFETY: the program's own list.
    wait_for(&unsafe { dependences(count, list) });
}

unsafe extern "C" fn omp_taskwait(location: Location, thread: c_int, pc: u64) -> c_int {
    let result = waits(|| real::__kmpc_omp_taskwait(location, thread));
    learn(&[children_key()], pc);
    result
}

unsafe extern "C" fn taskgroup(location: Location, thread: c_int, _pc: u64) {
    begin_group();
    real::__kmpc_taskgroup(location, thread);
}

unsafe extern "C" fn end_taskgroup(location: Location, thread: c_int, pc: u64) {
    waits(|| real::__kmpc_end_taskgroup(location, thread));
    end_group(pc);
}

/// A loop whose iterations are tasks, copies of one.
#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn taskloop(
    location: Location,
    thread: c_int,
    task: *mut c_void,
    condition: c_int,
    lower: *mut c_void,
    upper: *mut c_void,
    step: i64,
    no_group: c_int,
    schedule: c_int,
    grain: u64,
    duplicate: *mut c_void,
) {
    if no_group == 0 {
        begin_group();
    }
    // SAFETY: compiled code gets its tasks from `task_alloc`.
    unsafe { create(task, Vec::new()) };
    waits(|| {
        real::__kmpc_taskloop(
            location, thread, task, condition, lower, upper, step, no_group, schedule, grain,
            duplicate,
        );
    });
    if no_group == 0 {
        end_group(0);
    }
}

trampoline!(weak, "__kmpc_omp_task", 3, omp_task);
trampoline!(weak, "__kmpc_omp_taskwait", 2, omp_taskwait);
trampoline!(weak, "__kmpc_taskgroup", 2, taskgroup);
trampoline!(weak, "__kmpc_end_taskgroup", 2, end_taskgroup);
passed_on! {
    "__kmpc_omp_task_alloc" task_alloc;
    "__kmpc_omp_task_with_deps" omp_task_with_deps;
    "__kmpc_omp_wait_deps" omp_wait_deps;
    "__kmpc_taskloop" taskloop;
}
