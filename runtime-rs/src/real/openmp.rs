//! The functions of OpenMP's libraries behind the interceptors: gcc's and clang's.

use core::ffi::{c_int, c_long, c_uint, c_void};

use core::sync::atomic::{AtomicBool, Ordering};

use super::{RealFunction, c_name};

/// One of the libraries is loaded.
static HAS_LIBRARY: AtomicBool = AtomicBool::new(false);

/// Whether one of the libraries was loaded before the program began. Which of a team's
/// threads comes back from it first, and which takes a task, is decided in it by time.
pub(crate) fn has_openmp() -> bool {
    HAS_LIBRARY.load(Ordering::Relaxed)
}

/// Finds out whether one of the libraries is loaded, as long as there is only one thread.
pub(super) fn look_for_library() {
    // SAFETY: a zero-terminated name.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"omp_get_num_threads".as_ptr()) };
    HAS_LIBRARY.store(!found.is_null(), Ordering::Relaxed);
}

real! {
    GOMP_parallel(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        flags: u32
    ) -> ();
    GOMP_barrier() -> ();
    GOMP_barrier_cancel() -> bool;
    GOMP_loop_end() -> ();
    GOMP_loop_end_cancel() -> bool;
    GOMP_sections_end() -> ();
    GOMP_sections_end_cancel() -> bool;
    GOMP_sections_next() -> c_uint;
    GOMP_single_start() -> bool;
    GOMP_single_copy_start() -> *mut c_void;
    GOMP_single_copy_end(data: *mut c_void) -> ();
    GOMP_ordered_start() -> ();
    GOMP_ordered_end() -> ();
    GOMP_doacross_post(counts: *mut c_void) -> ();
    GOMP_doacross_ull_post(counts: *mut c_void) -> ();
    GOMP_doacross_wait(
        a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long
    ) -> ();
    GOMP_doacross_ull_wait(
        a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long
    ) -> ();
    GOMP_workshare_task_reduction_unregister(cancelled: bool) -> ();
    GOMP_parallel_reductions(
        body: *mut c_void, data: *mut c_void, threads: u32, flags: u32
    ) -> c_uint;
    GOMP_parallel_sections(
        body: *mut c_void, data: *mut c_void, threads: u32, count: u32, flags: u32
    ) -> ();
    GOMP_task(
        body: *mut c_void,
        data: *mut c_void,
        copy: *mut c_void,
        size: c_long,
        align: c_long,
        condition: bool,
        flags: u32,
        depend: *mut c_void,
        priority: c_int,
        detach: *mut c_void
    ) -> ();
    GOMP_taskwait() -> ();
    GOMP_taskwait_depend(depend: *mut c_void) -> ();
    GOMP_taskyield() -> ();
    GOMP_taskgroup_start() -> ();
    GOMP_taskgroup_end() -> ();
    GOMP_parallel_loop_static(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        start: c_long,
        end: c_long,
        step: c_long,
        chunk: c_long,
        flags: u32
    ) -> ();
    GOMP_parallel_loop_dynamic(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        start: c_long,
        end: c_long,
        step: c_long,
        chunk: c_long,
        flags: u32
    ) -> ();
    GOMP_parallel_loop_guided(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        start: c_long,
        end: c_long,
        step: c_long,
        chunk: c_long,
        flags: u32
    ) -> ();
    GOMP_parallel_loop_nonmonotonic_dynamic(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        start: c_long,
        end: c_long,
        step: c_long,
        chunk: c_long,
        flags: u32
    ) -> ();
    GOMP_parallel_loop_nonmonotonic_guided(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        start: c_long,
        end: c_long,
        step: c_long,
        chunk: c_long,
        flags: u32
    ) -> ();
    GOMP_parallel_loop_runtime(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        start: c_long,
        end: c_long,
        step: c_long,
        flags: u32
    ) -> ();
    GOMP_parallel_loop_nonmonotonic_runtime(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        start: c_long,
        end: c_long,
        step: c_long,
        flags: u32
    ) -> ();
    GOMP_parallel_loop_maybe_nonmonotonic_runtime(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        start: c_long,
        end: c_long,
        step: c_long,
        flags: u32
    ) -> ();
    GOMP_loop_dynamic_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_guided_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_runtime_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_nonmonotonic_dynamic_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_nonmonotonic_guided_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_nonmonotonic_runtime_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_maybe_nonmonotonic_runtime_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_ull_dynamic_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_ull_guided_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_ull_runtime_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_ull_nonmonotonic_dynamic_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_ull_nonmonotonic_guided_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_ull_nonmonotonic_runtime_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next(start: *mut c_void, end: *mut c_void) -> bool;
    GOMP_taskloop(
        body: *mut c_void,
        data: *mut c_void,
        copy: *mut c_void,
        size: c_long,
        align: c_long,
        flags: u32,
        tasks: c_long,
        priority: c_int,
        start: c_long,
        end: c_long,
        step: c_long
    ) -> ();
    GOMP_taskloop_ull(
        body: *mut c_void,
        data: *mut c_void,
        copy: *mut c_void,
        size: c_long,
        align: c_long,
        flags: u32,
        tasks: c_long,
        priority: c_int,
        start: c_long,
        end: c_long,
        step: c_long
    ) -> ();
    omp_get_num_threads() -> c_int;
    omp_test_lock(lock: *mut c_void) -> c_int;
    omp_set_nest_lock(lock: *mut c_void) -> ();
    omp_unset_nest_lock(lock: *mut c_void) -> ();
    omp_test_nest_lock(lock: *mut c_void) -> c_int;

    __kmp_invoke_microtask(
        body: *mut c_void,
        thread: c_int,
        number: c_int,
        count: c_int,
        arguments: *mut c_void,
        frame: *mut *mut c_void
    ) -> c_int;
    __kmpc_fork_call(
        location: *mut c_void, count: c_int, body: *mut c_void, argument: *mut c_void
    ) -> ();
    __kmpc_barrier(location: *mut c_void, thread: c_int) -> ();
    __kmpc_cancel_barrier(location: *mut c_void, thread: c_int) -> c_int;
    __kmpc_single(location: *mut c_void, thread: c_int) -> c_int;
    __kmpc_ordered(location: *mut c_void, thread: c_int) -> ();
    __kmpc_end_ordered(location: *mut c_void, thread: c_int) -> ();
    __kmpc_critical(location: *mut c_void, thread: c_int, name: *mut c_void) -> ();
    __kmpc_critical_with_hint(
        location: *mut c_void, thread: c_int, name: *mut c_void, hint: u32
    ) -> ();
    __kmpc_end_critical(location: *mut c_void, thread: c_int, name: *mut c_void) -> ();
    __kmpc_doacross_post(location: *mut c_void, thread: c_int, at: *mut c_void) -> ();
    __kmpc_doacross_wait(location: *mut c_void, thread: c_int, at: *mut c_void) -> ();
    __kmpc_copyprivate(
        location: *mut c_void,
        thread: c_int,
        size: usize,
        data: *mut c_void,
        copy: *mut c_void,
        did_it: c_int
    ) -> ();
    __kmpc_reduce(
        location: *mut c_void,
        thread: c_int,
        variables: c_int,
        size: usize,
        data: *mut c_void,
        combine: *mut c_void,
        name: *mut c_void
    ) -> c_int;
    __kmpc_reduce_nowait(
        location: *mut c_void,
        thread: c_int,
        variables: c_int,
        size: usize,
        data: *mut c_void,
        combine: *mut c_void,
        name: *mut c_void
    ) -> c_int;
    __kmpc_end_reduce(location: *mut c_void, thread: c_int, name: *mut c_void) -> ();
    __kmpc_end_reduce_nowait(location: *mut c_void, thread: c_int, name: *mut c_void) -> ();
    __kmpc_omp_task_alloc(
        location: *mut c_void,
        thread: c_int,
        flags: c_int,
        task_size: usize,
        shared_size: usize,
        routine: *mut c_void
    ) -> *mut c_void;
    __kmpc_omp_task(location: *mut c_void, thread: c_int, task: *mut c_void) -> c_int;
    __kmpc_omp_task_with_deps(
        location: *mut c_void,
        thread: c_int,
        task: *mut c_void,
        count: c_int,
        list: *mut c_void,
        other_count: c_int,
        other_list: *mut c_void
    ) -> c_int;
    __kmpc_omp_wait_deps(
        location: *mut c_void,
        thread: c_int,
        count: c_int,
        list: *mut c_void,
        other_count: c_int,
        other_list: *mut c_void
    ) -> ();
    __kmpc_omp_taskwait(location: *mut c_void, thread: c_int) -> c_int;
    __kmpc_taskgroup(location: *mut c_void, thread: c_int) -> ();
    __kmpc_end_taskgroup(location: *mut c_void, thread: c_int) -> ();
    __kmpc_taskloop(
        location: *mut c_void,
        thread: c_int,
        task: *mut c_void,
        condition: c_int,
        lower: *mut c_void,
        upper: *mut c_void,
        step: i64,
        no_group: c_int,
        schedule: c_int,
        grain: u64,
        duplicate: *mut c_void
    ) -> ();
    __kmpc_dispatch_init_4(
        location: *mut c_void,
        thread: c_int,
        schedule: c_int,
        lower: i32,
        upper: i32,
        step: i32,
        chunk: i32
    ) -> ();
    __kmpc_dispatch_init_4u(
        location: *mut c_void,
        thread: c_int,
        schedule: c_int,
        lower: u32,
        upper: u32,
        step: u32,
        chunk: u32
    ) -> ();
    __kmpc_dispatch_init_8(
        location: *mut c_void,
        thread: c_int,
        schedule: c_int,
        lower: i64,
        upper: i64,
        step: i64,
        chunk: i64
    ) -> ();
    __kmpc_dispatch_init_8u(
        location: *mut c_void,
        thread: c_int,
        schedule: c_int,
        lower: u64,
        upper: u64,
        step: u64,
        chunk: u64
    ) -> ();
    __kmpc_dispatch_next_4(
        location: *mut c_void,
        thread: c_int,
        last: *mut c_void,
        lower: *mut c_void,
        upper: *mut c_void,
        step: *mut c_void
    ) -> c_int;
    __kmpc_dispatch_next_4u(
        location: *mut c_void,
        thread: c_int,
        last: *mut c_void,
        lower: *mut c_void,
        upper: *mut c_void,
        step: *mut c_void
    ) -> c_int;
    __kmpc_dispatch_next_8(
        location: *mut c_void,
        thread: c_int,
        last: *mut c_void,
        lower: *mut c_void,
        upper: *mut c_void,
        step: *mut c_void
    ) -> c_int;
    __kmpc_dispatch_next_8u(
        location: *mut c_void,
        thread: c_int,
        last: *mut c_void,
        lower: *mut c_void,
        upper: *mut c_void,
        step: *mut c_void
    ) -> c_int;
    GOMP_critical_start() -> ();
    GOMP_critical_end() -> ();
    GOMP_critical_name_start(name: *mut c_void) -> ();
    GOMP_critical_name_end(name: *mut c_void) -> ();
    GOMP_atomic_start() -> ();
    GOMP_atomic_end() -> ();
    omp_set_lock(lock: *mut c_void) -> ();
    omp_unset_lock(lock: *mut c_void) -> ();
}
