//! OpenMP as gcc compiles it: libgomp.

use alloc::vec;
use alloc::vec::Vec;
use core::ffi::{c_long, c_uint, c_void};
use core::mem::size_of;

use super::task::{Dependence, TaskLinks, begin_group, end_group, wait_for};
use super::{
    ATOMIC, COPIES, CRITICAL, ITERATIONS, ORDERED, Team, barrier, children_key, give, key, learn,
    library, lock, shares_out, unlock, waits,
};
use crate::passed_on;
use crate::real;
use crate::trampoline;

type Body = unsafe extern "C" fn(*mut c_void);

/// What a team of threads is to run, and for us to know them by.
struct Work {
    team: Team,
    body: Body,
    data: *mut c_void,
    pc: u64,
}

impl Work {
    /// Has a team run it: `call` gets what stands for the body and its argument.
    fn run<R>(
        body: Body,
        data: *mut c_void,
        pc: u64,
        call: impl FnOnce(*mut c_void, *mut c_void) -> R,
    ) -> R {
        let work = Self {
            team: Team::new(),
            body,
            data,
            pc,
        };
        give(&[work.team.start()], pc);
        let argument = core::ptr::from_ref(&work).cast_mut().cast();
        let result = library(|| call(member as *mut c_void, argument));
        learn(&[work.team.end()], pc);
        result
    }
}

/// A member of a team, which outlives it.
unsafe extern "C" fn member(work: *mut c_void) {
    // SAFETY: what `run` passed on; it returns after the last member.
    let work = unsafe { &*work.cast::<Work>() };
    // SAFETY: the program's own function and argument.
    work.team
        .member(work.pc, || unsafe { (work.body)(work.data) });
}

unsafe extern "C" fn parallel(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
    pc: u64,
) {
    Work::run(body, data, pc, |body, data| {
        real::GOMP_parallel(body, data, threads, flags);
    });
}

unsafe extern "C" fn parallel_reductions(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
    pc: u64,
) -> c_uint {
    Work::run(body, data, pc, |body, data| {
        real::GOMP_parallel_reductions(body, data, threads, flags)
    })
}

unsafe extern "C" fn parallel_sections(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    count: c_uint,
    flags: c_uint,
    pc: u64,
) {
    Work::run(body, data, pc, |body, data| {
        real::GOMP_parallel_sections(body, data, threads, count, flags);
    });
}

trampoline!(weak, "GOMP_parallel", 4, parallel);
trampoline!(weak, "GOMP_parallel_reductions", 4, parallel_reductions);
trampoline!(weak, "GOMP_parallel_sections", 5, parallel_sections);

/// Teams that begin with a loop: the body's address stands for the place.
macro_rules! parallel_loops {
    ($($name:literal $function:ident $real:ident ( $($argument:ident),* );)*) => { $(
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn $function(
            body: Body,
            data: *mut c_void,
            threads: c_uint,
            $($argument: c_long,)*
            flags: c_uint,
        ) {
            Work::run(body, data, 0, |body, data| {
                real::$real(body, data, threads, $($argument,)* flags);
            });
        }
        passed_on! { $name $function; }
    )* };
}

parallel_loops! {
    "GOMP_parallel_loop_static" loop_static GOMP_parallel_loop_static(start, end, step, chunk);
    "GOMP_parallel_loop_dynamic" loop_dynamic GOMP_parallel_loop_dynamic(start, end, step, chunk);
    "GOMP_parallel_loop_guided" loop_guided GOMP_parallel_loop_guided(start, end, step, chunk);
    "GOMP_parallel_loop_nonmonotonic_dynamic" loop_nonmonotonic_dynamic
        GOMP_parallel_loop_nonmonotonic_dynamic(start, end, step, chunk);
    "GOMP_parallel_loop_nonmonotonic_guided" loop_nonmonotonic_guided
        GOMP_parallel_loop_nonmonotonic_guided(start, end, step, chunk);
    "GOMP_parallel_loop_runtime" loop_runtime GOMP_parallel_loop_runtime(start, end, step);
    "GOMP_parallel_loop_nonmonotonic_runtime" loop_nonmonotonic_runtime
        GOMP_parallel_loop_nonmonotonic_runtime(start, end, step);
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime" loop_maybe_nonmonotonic_runtime
        GOMP_parallel_loop_maybe_nonmonotonic_runtime(start, end, step);
}

/// The ends of shared work, which are barriers.
macro_rules! barriers {
    ($($name:literal $function:ident $real:ident -> $result:ty;)*) => { $(
        unsafe extern "C" fn $function(pc: u64) -> $result {
            barrier(pc, || real::$real())
        }
        trampoline!(weak, $name, 0, $function);
    )* };
}

barriers! {
    "GOMP_barrier" plain_barrier GOMP_barrier -> ();
    "GOMP_barrier_cancel" barrier_cancel GOMP_barrier_cancel -> bool;
    "GOMP_loop_end" loop_end GOMP_loop_end -> ();
    "GOMP_loop_end_cancel" loop_end_cancel GOMP_loop_end_cancel -> bool;
    "GOMP_sections_end" sections_end GOMP_sections_end -> ();
    "GOMP_sections_end_cancel" sections_end_cancel GOMP_sections_end_cancel -> bool;
}

unsafe extern "C" fn workshare_unregister(cancelled: bool, pc: u64) {
    barrier(pc, || {
        real::GOMP_workshare_task_reduction_unregister(cancelled);
    });
}

trampoline!(
    weak,
    "GOMP_workshare_task_reduction_unregister",
    1,
    workshare_unregister
);

/// Who gets the next part of shared work is a choice.
macro_rules! next_parts {
    ($($name:literal $function:ident $real:ident;)*) => { $(
        unsafe extern "C" fn $function(start: *mut c_void, end: *mut c_void, _pc: u64) -> bool {
            shares_out(|| real::$real(start, end))
        }
        trampoline!(weak, $name, 2, $function);
    )* };
}

next_parts! {
    "GOMP_loop_dynamic_next" dynamic_next GOMP_loop_dynamic_next;
    "GOMP_loop_guided_next" guided_next GOMP_loop_guided_next;
    "GOMP_loop_runtime_next" runtime_next GOMP_loop_runtime_next;
    "GOMP_loop_nonmonotonic_dynamic_next" nonmonotonic_dynamic_next
        GOMP_loop_nonmonotonic_dynamic_next;
    "GOMP_loop_nonmonotonic_guided_next" nonmonotonic_guided_next
        GOMP_loop_nonmonotonic_guided_next;
    "GOMP_loop_nonmonotonic_runtime_next" nonmonotonic_runtime_next
        GOMP_loop_nonmonotonic_runtime_next;
    "GOMP_loop_maybe_nonmonotonic_runtime_next" maybe_nonmonotonic_runtime_next
        GOMP_loop_maybe_nonmonotonic_runtime_next;
    "GOMP_loop_ull_dynamic_next" ull_dynamic_next GOMP_loop_ull_dynamic_next;
    "GOMP_loop_ull_guided_next" ull_guided_next GOMP_loop_ull_guided_next;
    "GOMP_loop_ull_runtime_next" ull_runtime_next GOMP_loop_ull_runtime_next;
    "GOMP_loop_ull_nonmonotonic_dynamic_next" ull_nonmonotonic_dynamic_next
        GOMP_loop_ull_nonmonotonic_dynamic_next;
    "GOMP_loop_ull_nonmonotonic_guided_next" ull_nonmonotonic_guided_next
        GOMP_loop_ull_nonmonotonic_guided_next;
    "GOMP_loop_ull_nonmonotonic_runtime_next" ull_nonmonotonic_runtime_next
        GOMP_loop_ull_nonmonotonic_runtime_next;
    "GOMP_loop_ull_maybe_nonmonotonic_runtime_next" ull_maybe_nonmonotonic_runtime_next
        GOMP_loop_ull_maybe_nonmonotonic_runtime_next;
}

unsafe extern "C" fn sections_next(_pc: u64) -> c_uint {
    shares_out(real::GOMP_sections_next)
}

unsafe extern "C" fn single_start(_pc: u64) -> bool {
    shares_out(real::GOMP_single_start)
}

/// The one who did the work hands a copy of it to the others, who wait for it.
unsafe extern "C" fn copy_start(pc: u64) -> *mut c_void {
    let copy = waits(real::GOMP_single_copy_start);
    if !copy.is_null() {
        learn(&[key(&COPIES)], pc);
    }
    copy
}

unsafe extern "C" fn copy_end(data: *mut c_void, pc: u64) {
    give(&[key(&COPIES)], pc);
    waits(|| real::GOMP_single_copy_end(data));
}

unsafe extern "C" fn ordered_start(pc: u64) {
    waits(real::GOMP_ordered_start);
    learn(&[key(&ORDERED)], pc);
}

unsafe extern "C" fn ordered_end(pc: u64) {
    give(&[key(&ORDERED)], pc);
    real::GOMP_ordered_end();
}

unsafe extern "C" fn doacross_post(counts: *mut c_void, pc: u64) {
    give(&[key(&ITERATIONS)], pc);
    real::GOMP_doacross_post(counts);
}

unsafe extern "C" fn doacross_ull_post(counts: *mut c_void, pc: u64) {
    give(&[key(&ITERATIONS)], pc);
    real::GOMP_doacross_ull_post(counts);
}

/// Variadic in C: a loop nest of more than six loops waits in vain here.
unsafe extern "C" fn doacross_wait(
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) {
    waits(|| real::GOMP_doacross_wait(a, b, c, d, e, f));
    learn(&[key(&ITERATIONS)], 0);
}

unsafe extern "C" fn doacross_ull_wait(
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) {
    waits(|| real::GOMP_doacross_ull_wait(a, b, c, d, e, f));
    learn(&[key(&ITERATIONS)], 0);
}

trampoline!(weak, "GOMP_sections_next", 0, sections_next);
trampoline!(weak, "GOMP_single_start", 0, single_start);
trampoline!(weak, "GOMP_single_copy_start", 0, copy_start);
trampoline!(weak, "GOMP_single_copy_end", 1, copy_end);
trampoline!(weak, "GOMP_ordered_start", 0, ordered_start);
trampoline!(weak, "GOMP_ordered_end", 0, ordered_end);
trampoline!(weak, "GOMP_doacross_post", 1, doacross_post);
trampoline!(weak, "GOMP_doacross_ull_post", 1, doacross_ull_post);
passed_on! {
    "GOMP_doacross_wait" doacross_wait;
    "GOMP_doacross_ull_wait" doacross_ull_wait;
}

unsafe extern "C" fn critical_start(pc: u64) {
    waits(real::GOMP_critical_start);
    lock(key(&CRITICAL), pc);
}

unsafe extern "C" fn critical_end(pc: u64) {
    unlock(key(&CRITICAL), pc);
    real::GOMP_critical_end();
}

unsafe extern "C" fn critical_name_start(name: *mut c_void, pc: u64) {
    waits(|| real::GOMP_critical_name_start(name));
    lock(name as u64, pc);
}

unsafe extern "C" fn critical_name_end(name: *mut c_void, pc: u64) {
    unlock(name as u64, pc);
    real::GOMP_critical_name_end(name);
}

unsafe extern "C" fn atomic_start(pc: u64) {
    waits(real::GOMP_atomic_start);
    lock(key(&ATOMIC), pc);
}

unsafe extern "C" fn atomic_end(pc: u64) {
    unlock(key(&ATOMIC), pc);
    real::GOMP_atomic_end();
}

trampoline!(weak, "GOMP_critical_start", 0, critical_start);
trampoline!(weak, "GOMP_critical_end", 0, critical_end);
trampoline!(weak, "GOMP_critical_name_start", 1, critical_name_start);
trampoline!(weak, "GOMP_critical_name_end", 1, critical_name_end);
trampoline!(weak, "GOMP_atomic_start", 0, atomic_start);
trampoline!(weak, "GOMP_atomic_end", 0, atomic_end);

type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// In front of what a task works on, which the library copies with it.
#[derive(Clone)]
#[repr(C)]
struct Header {
    /// The first words of what follows: the library reads and writes some of them.
    first: [u64; 3],
    /// How many of them it writes.
    written: usize,
    body: Body,
    /// The program's own way to copy.
    copy: Option<Copy>,
    source: *mut c_void,
    /// Where the program's data begins.
    offset: usize,
    once: bool,
    links: TaskLinks,
}

/// A task's data with a header in front, aligned as the program wants it.
struct Packed {
    words: Vec<u128>,
    size: usize,
    align: usize,
}

impl Packed {
    /// # Safety
    /// `data` has `size` bytes, unless there is a way to `copy` them.
    unsafe fn new(mut header: Header, data: *mut c_void, size: usize, align: usize) -> Self {
        let align = align.max(align_of::<u128>());
        header.offset = size_of::<Header>().next_multiple_of(align);
        let whole = header.offset + size;
        let mut words = vec![0u128; whole.div_ceil(size_of::<u128>())];
        for (index, word) in header.first.iter_mut().enumerate() {
            if size >= (index + 1) * size_of::<u64>() {
                // SAFETY: within the program's data.
                *word = unsafe { data.cast::<u64>().add(index).read_unaligned() };
            }
        }
        let start = words.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room for both, and the caller answers for the data.
        unsafe {
            if header.copy.is_none() {
                start
                    .add(header.offset)
                    .copy_from_nonoverlapping(data.cast(), size);
            }
            start.cast::<Header>().write(header);
        }
        Self {
            words,
            size: whole,
            align,
        }
    }

    fn data(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }
}

/// Copies a task's data and its header.
unsafe extern "C" fn copy_task(to: *mut c_void, from: *mut c_void) {
    // SAFETY: what `Packed` made, and as much room.
    unsafe {
        let header = &*from.cast::<Header>();
        to.cast::<Header>().write(header.clone());
        if let Some(copy) = header.copy {
            copy(to.cast::<u8>().add(header.offset).cast(), header.source);
            // The program has copied after it created the task.
            header.links.copied();
        }
    }
}

/// Runs a task.
unsafe extern "C" fn run_task(data: *mut c_void) {
    // SAFETY: what `Packed` made, or the library's copy of it.
    let header = unsafe { &*data.cast::<Header>() };
    // SAFETY: the program's data follows its header.
    unsafe {
        let own = data.cast::<u8>().add(header.offset);
        own.cast::<u64>()
            .copy_from_nonoverlapping(header.first.as_ptr(), header.written);
        header
            .links
            .run(own as u64, header.once, || (header.body)(own.cast()));
    }
}

/// The library writes the number of an event into the first word.
const DETACHABLE: c_uint = 1 << 13;
const NO_GROUP: c_uint = 1 << 11;
const HAS_DEPENDENCES: c_uint = 1 << 3;

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn task(
    body: Body,
    data: *mut c_void,
    copy: Option<Copy>,
    size: c_long,
    align: c_long,
    condition: bool,
    flags: c_uint,
    depend: *mut *mut c_void,
    priority: i32,
    detach: *mut c_void,
) {
    let dependences = if flags & HAS_DEPENDENCES != 0 {
        // SAFETY: the program's own list.
        unsafe { dependences_of(depend) }
    } else {
        Vec::new()
    };
    let header = Header {
        first: [0; 3],
        written: usize::from(flags & DETACHABLE != 0),
        body,
        copy,
        source: data,
        offset: 0,
        once: true,
        links: TaskLinks::create(dependences, 0),
    };
    let copy = copy.map_or(core::ptr::null_mut(), |_| copy_task as *mut c_void);
    library(|| {
        // SAFETY: the program's own data.
        let mut packed = unsafe { Packed::new(header, data, size as usize, align as usize) };
        let (whole, align) = (packed.size as c_long, packed.align as c_long);
        real::GOMP_task(
            run_task as *mut c_void,
            packed.data(),
            copy,
            whole,
            align,
            condition,
            flags,
            depend.cast(),
            priority,
            detach,
        );
    });
}

/// Loops whose iterations are tasks. The bounds of each come in the first words.
macro_rules! taskloops {
    ($($name:literal $function:ident $real:ident;)*) => { $(
        #[allow(clippy::too_many_arguments)]
        unsafe extern "C" fn $function(
            body: Body,
            data: *mut c_void,
            copy: Option<Copy>,
            size: c_long,
            align: c_long,
            flags: c_uint,
            tasks: c_long,
            priority: i32,
            start: c_long,
            end: c_long,
            step: c_long,
        ) {
            let grouped = flags & NO_GROUP == 0;
            if grouped {
                begin_group();
            }
            let header = Header {
                first: [0; 3],
                written: 2,
                body,
                copy,
                source: data,
                offset: 0,
                once: false,
                links: TaskLinks::create(Vec::new(), 0),
            };
            let copy = copy.map_or(core::ptr::null_mut(), |_| copy_task as *mut c_void);
            waits(|| {
                let (size, align) = (size as usize, align as usize);
                // SAFETY: the program's own data.
                let mut packed = unsafe { Packed::new(header, data, size, align) };
                let (whole, align) = (packed.size as c_long, packed.align as c_long);
                real::$real(
                    run_task as *mut c_void, packed.data(), copy, whole, align, flags, tasks,
                    priority, start, end, step,
                );
            });
            if grouped {
                end_group(0);
            }
        }
        passed_on! { $name $function; }
    )* };
}

taskloops! {
    "GOMP_taskloop" taskloop GOMP_taskloop;
    "GOMP_taskloop_ull" taskloop_ull GOMP_taskloop_ull;
}

/// # Safety
/// The list is one that the compiler made.
unsafe fn dependences_of(list: *mut *mut c_void) -> Vec<Dependence> {
    // SAFETY: as promised.
    let word = |index: usize| unsafe { *list.add(index) as u64 };
    // The number of all and of those that write; or, after a zero, the numbers of all,
    // writers, and two more kinds.
    let (all, writers, first) = match word(0) {
        0 => (word(1), word(2) + word(3), 5),
        all => (all, word(1), 2),
    };
    (0..all)
        .map(|index| Dependence {
            address: word(first + index as usize),
            writes: index < writers,
        })
        .collect()
}

unsafe extern "C" fn taskwait(pc: u64) {
    waits(real::GOMP_taskwait);
    learn(&[children_key()], pc);
}

unsafe extern "C" fn taskwait_depend(depend: *mut *mut c_void, _pc: u64) {
    waits(|| real::GOMP_taskwait_depend(depend.cast()));
    // SAFETY: the program's own list.
    wait_for(&unsafe { dependences_of(depend) });
}

unsafe extern "C" fn taskyield(_pc: u64) {
    waits(real::GOMP_taskyield);
}

unsafe extern "C" fn taskgroup_start(_pc: u64) {
    begin_group();
    real::GOMP_taskgroup_start();
}

unsafe extern "C" fn taskgroup_end(pc: u64) {
    waits(real::GOMP_taskgroup_end);
    end_group(pc);
}

passed_on! { "GOMP_task" task; }
trampoline!(weak, "GOMP_taskwait", 0, taskwait);
trampoline!(weak, "GOMP_taskwait_depend", 1, taskwait_depend);
trampoline!(weak, "GOMP_taskyield", 0, taskyield);
trampoline!(weak, "GOMP_taskgroup_start", 0, taskgroup_start);
trampoline!(weak, "GOMP_taskgroup_end", 0, taskgroup_end);
