//! The C library's own functions behind the interceptors, found by name with
//! `dlsym(RTLD_NEXT, …)`.

use core::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// A function of the C library, found once.
pub(crate) struct RealFunction {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl RealFunction {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address.
    #[inline]
    fn address(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    /// What a name that we export stands for behind us: the program's own function
    /// if it was `linked` under the name instead of `ours`, else the C library's.
    #[cfg(not(test))]
    #[inline]
    pub(crate) fn behind(&self, linked: *mut c_void, ours: *mut c_void) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if !found.is_null() {
            return found;
        }
        if linked != ours {
            self.found.store(linked, Ordering::Relaxed);
            return linked;
        }
        self.find()
    }

    /// Finds it if it is one of the C library's, and not of another one that the
    /// program may do without.
    fn find_in_c_library(&self) {
        let name = self.name.to_bytes();
        if name.starts_with(b"__atomic") || name.starts_with(b"__cxa") {
            return;
        }
        self.found.store(next(self.name), Ordering::Relaxed);
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let mut found = next(self.name);
        if found.is_null() {
            // A linker that leaves out what is not needed takes our functions
            // for all that a program wants of a library.
            found = if self.name.to_bytes().starts_with(b"__atomic") {
                self.find_in(c"libatomic.so.1", libc::RTLD_NOW)
            } else {
                self.find_in_openmp()
            };
        }
        assert!(
            !found.is_null(),
            "the C library has no {}",
            self.name.to_str().unwrap_or("?")
        );
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// OpenMP's libraries: clang's, then gcc's.
const OPENMP_LIBRARIES: [&CStr; 3] = [c"libomp.so.5", c"libomp.so", c"libgomp.so.1"];

impl RealFunction {
    /// The function in one of OpenMP's libraries: one that is loaded, or else the one
    /// that is meant by the name.
    fn find_in_openmp(&self) -> *mut c_void {
        let of_clang = self.name.to_bytes().starts_with(b"__kmp");
        for flags in [libc::RTLD_NOW | libc::RTLD_NOLOAD, libc::RTLD_NOW] {
            for library in OPENMP_LIBRARIES {
                let is_clang = library != OPENMP_LIBRARIES[2];
                if is_clang != of_clang && flags == libc::RTLD_NOW {
                    continue;
                }
                let found = self.find_in(library, flags);
                if !found.is_null() {
                    return found;
                }
            }
        }
        ptr::null_mut()
    }

    /// The function in a library; null if there is none.
    fn find_in(&self, library: &CStr, flags: c_int) -> *mut c_void {
        // SAFETY: names of a library and of a function in it.
        search(|| unsafe {
            let library = libc::dlopen(library.as_ptr(), flags);
            if library.is_null() {
                return library;
            }
            libc::dlsym(library, self.name.as_ptr())
        })
    }
}

/// How many searches of ours are going on.
static SEARCHES: AtomicUsize = AtomicUsize::new(0);

/// Whether the loader is asked by us, and not by the program.
#[cfg(not(test))]
pub(crate) fn is_searching() -> bool {
    SEARCHES.load(Ordering::Relaxed) > 0
}

fn search(ask: impl FnOnce() -> *mut c_void) -> *mut c_void {
    SEARCHES.fetch_add(1, Ordering::Relaxed);
    let found = ask();
    SEARCHES.fetch_sub(1, Ordering::Relaxed);
    found
}

/// The function of this name behind ours.
fn next(name: &CStr) -> *mut c_void {
    // SAFETY: a zero-terminated name.
    search(|| unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) })
}

/// Set while the allocator itself is looked for. The search frees the message of an
/// earlier one that failed, and may want memory, which would start the search again.
static FINDING_ALLOCATOR: AtomicBool = AtomicBool::new(false);

/// Finds the allocator's functions, and what our own `free` asks for, before anything
/// else is looked for: at the start, and where one is called earlier than that.
pub(crate) fn find_allocator() {
    if !FINDING_ALLOCATOR.swap(true, Ordering::Relaxed) {
        free(malloc(1));
        free(calloc(1, 1));
        free(realloc(ptr::null_mut(), 1));
        malloc_usable_size(ptr::null_mut());
        FINDING_ALLOCATOR.store(false, Ordering::Relaxed);
    }
}

/// Finds what the C library has before there is a second thread: a search waits for
/// the loader's lock, and who has that may be waiting for the turn, in the constructor
/// of a plugin or where the loader allocates memory.
pub(crate) fn find_functions() {
    for function in functions::ALL {
        function.find_in_c_library();
    }
    #[cfg(not(test))]
    look_for_library();
    // And what compilers make of our own copies and comparisons.
    let mut bytes = [0u8; 2];
    let (from, to) = (bytes.as_ptr(), bytes.as_mut_ptr());
    let size = black_box(1);
    // SAFETY: two bytes, one of which is copied, filled or compared.
    unsafe {
        ptr::copy(from, to.add(1), size);
        ptr::copy_nonoverlapping(from, to.add(1), size);
        ptr::write_bytes(to, 0, size);
    }
    black_box(bytes[..size] == bytes[2 - size..]);
    black_box(bytes[..size].cmp(&bytes[2 - size..]));
}

/// Whether the allocator is being looked up, so that a block must be leaked.
pub(crate) fn is_finding_allocator() -> bool {
    FINDING_ALLOCATOR.load(Ordering::Relaxed)
}

/// A name that ends in its only zero.
pub(crate) const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("no zero within a name"),
    }
}

macro_rules! real {
    ($($name:ident ( $($argument:ident : $type:ty),* ) -> $result:ty;)*) => {
        #[allow(non_upper_case_globals)]
        mod functions {
            use super::{RealFunction, c_name};

            $(pub(super) static $name: RealFunction =
                RealFunction::new(c_name(concat!(stringify!($name), "\0")));)*

            /// All of them; nobody asks for those of some libraries.
            #[allow(dead_code)]
            pub(super) const ALL: &[&RealFunction] = &[$(&$name),*];
        }

        $(
            #[doc = concat!("The C library's `", stringify!($name), "`.")]
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub(crate) fn $name($($argument: $type),*) -> $result {
                // SAFETY: the C library's function of this name has this type, and
                // is called with what the program called us with.
                unsafe {
                    let function: unsafe extern "C" fn($($type),*) -> $result =
                        core::mem::transmute(functions::$name.address());
                    function($($argument),*)
                }
            }
        )*
    };
}

#[cfg(not(test))]
mod openmp;

#[cfg(not(test))]
pub(crate) use openmp::*;

type Handle = libc::pthread_t;
type Time = *const libc::timespec;

/// What a stream of `fopencookie` calls.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CookieFunctions {
    pub(crate) read: *mut c_void,
    pub(crate) write: *mut c_void,
    pub(crate) seek: *mut c_void,
    pub(crate) close: *mut c_void,
}

real! {
    abort() -> ();
    __assert_fail(
        assertion: *const c_char, file: *const c_char, line: c_uint, function: *const c_char
    ) -> ();
    pthread_create(
        handle: *mut Handle,
        attributes: *const c_void,
        routine: *mut c_void,
        argument: *mut c_void
    ) -> c_int;
    pthread_join(handle: Handle, result: *mut *mut c_void) -> c_int;
    pthread_tryjoin_np(handle: Handle, result: *mut *mut c_void) -> c_int;
    pthread_timedjoin_np(handle: Handle, result: *mut *mut c_void, time: Time) -> c_int;
    pthread_clockjoin_np(
        handle: Handle,
        result: *mut *mut c_void,
        clock: libc::clockid_t,
        time: Time
    ) -> c_int;
    pthread_detach(handle: Handle) -> c_int;

    pthread_mutex_lock(mutex: *mut c_void) -> c_int;
    pthread_mutex_trylock(mutex: *mut c_void) -> c_int;
    pthread_mutex_timedlock(mutex: *mut c_void, time: Time) -> c_int;
    pthread_mutex_clocklock(mutex: *mut c_void, clock: c_int, time: Time) -> c_int;
    pthread_mutex_unlock(mutex: *mut c_void) -> c_int;
    pthread_rwlock_rdlock(lock: *mut c_void) -> c_int;
    pthread_rwlock_tryrdlock(lock: *mut c_void) -> c_int;
    pthread_rwlock_timedrdlock(lock: *mut c_void, time: Time) -> c_int;
    pthread_rwlock_wrlock(lock: *mut c_void) -> c_int;
    pthread_rwlock_trywrlock(lock: *mut c_void) -> c_int;
    pthread_rwlock_timedwrlock(lock: *mut c_void, time: Time) -> c_int;
    pthread_rwlock_clockrdlock(lock: *mut c_void, clock: c_int, time: Time) -> c_int;
    pthread_rwlock_clockwrlock(lock: *mut c_void, clock: c_int, time: Time) -> c_int;
    pthread_rwlock_unlock(lock: *mut c_void) -> c_int;
    pthread_spin_lock(lock: *mut c_void) -> c_int;
    pthread_spin_trylock(lock: *mut c_void) -> c_int;
    pthread_spin_unlock(lock: *mut c_void) -> c_int;
    pthread_cond_wait(condition: *mut c_void, mutex: *mut c_void) -> c_int;
    pthread_cond_timedwait(
        condition: *mut c_void,
        mutex: *mut c_void,
        time: Time
    ) -> c_int;
    pthread_cond_clockwait(
        condition: *mut c_void,
        mutex: *mut c_void,
        clock: c_int,
        time: Time
    ) -> c_int;
    pthread_cond_signal(condition: *mut c_void) -> c_int;
    pthread_cond_broadcast(condition: *mut c_void) -> c_int;
    pthread_barrier_init(barrier: *mut c_void, attributes: *const c_void, count: u32) -> c_int;
    pthread_barrier_wait(barrier: *mut c_void) -> c_int;
    pthread_once(control: *mut c_int, routine: *mut c_void) -> c_int;
    sem_wait(semaphore: *mut c_void) -> c_int;
    sem_trywait(semaphore: *mut c_void) -> c_int;
    sem_getvalue(semaphore: *mut c_void, level: *mut c_int) -> c_int;
    sem_timedwait(semaphore: *mut c_void, time: Time) -> c_int;
    sem_clockwait(semaphore: *mut c_void, clock: c_int, time: Time) -> c_int;
    sem_post(semaphore: *mut c_void) -> c_int;
    __cxa_guard_acquire(guard: *mut u8) -> c_int;
    __cxa_guard_release(guard: *mut u8) -> ();
    __cxa_guard_abort(guard: *mut u8) -> ();

    pthread_cancel(handle: Handle) -> c_int;
    pthread_testcancel() -> ();
    pthread_setcanceltype(new: c_int, old: *mut c_int) -> c_int;
    pthread_setcancelstate(new: c_int, old: *mut c_int) -> c_int;
    pthread_mutex_destroy(mutex: *mut c_void) -> c_int;
    pthread_barrier_destroy(barrier: *mut c_void) -> c_int;
    mq_timedsend(
        queue: c_int, message: *mut c_void, size: usize, priority: c_uint, time: Time
    ) -> c_int;
    mq_timedreceive(
        queue: c_int, message: *mut c_void, size: usize, priority: *mut c_uint, time: Time
    ) -> isize;
    alarm(seconds: c_uint) -> c_uint;
    setitimer(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int;
    timer_settime(
        timer: *mut c_void,
        flags: c_int,
        new: *const libc::itimerspec,
        old: *mut libc::itimerspec
    ) -> c_int;
    timerfd_settime(
        timer: c_int,
        flags: c_int,
        new: *const libc::itimerspec,
        old: *mut libc::itimerspec
    ) -> c_int;
    signalfd(descriptor: c_int, signals: *const c_void, flags: c_int) -> c_int;
    aio_error(request: *const c_void) -> c_int;
    aio_return(request: *mut c_void) -> isize;
    aio_suspend(requests: *const c_void, count: c_int, time: Time) -> c_int;
    flock(file: c_int, operation: c_int) -> c_int;
    fcntl(file: c_int, command: c_int, argument: usize) -> c_int;
    ioctl(descriptor: c_int, request: c_ulong, argument: usize) -> c_int;
    preadv2(
        descriptor: c_int, parts: *const c_void, count: c_int, offset: i64, flags: c_int
    ) -> isize;
    pwritev2(
        descriptor: c_int, parts: *const c_void, count: c_int, offset: i64, flags: c_int
    ) -> isize;
    semtimedop(set: c_int, operations: *mut c_void, count: usize, time: Time) -> c_int;
    msgsnd(queue: c_int, message: *const c_void, size: usize, flags: c_int) -> c_int;
    msgrcv(
        queue: c_int, message: *mut c_void, size: usize, kind: c_long, flags: c_int
    ) -> isize;
    _Fork() -> libc::pid_t;
    clone(
        body: *mut c_void,
        stack: *mut c_void,
        flags: c_int,
        argument: *mut c_void,
        parent_number: usize,
        storage: usize,
        child_number: usize
    ) -> c_int;

    __atomic_load(size: usize, object: *mut c_void, into: *mut c_void, order: c_int) -> ();
    __atomic_store(size: usize, object: *mut c_void, value: *mut c_void, order: c_int) -> ();
    __atomic_exchange(
        size: usize,
        object: *mut c_void,
        value: *mut c_void,
        into: *mut c_void,
        order: c_int
    ) -> ();
    __atomic_compare_exchange(
        size: usize,
        object: *mut c_void,
        expected: *mut c_void,
        desired: *mut c_void,
        success: c_int,
        failure: c_int
    ) -> bool;

    sched_yield() -> c_int;
    clock_gettime(clock: c_int, time: *mut libc::timespec) -> c_int;
    gettimeofday(time: *mut c_void, zone: *mut c_void) -> c_int;
    clock_nanosleep(clock: c_int, flags: c_int, time: Time, left: *mut libc::timespec) -> c_int;

    strlen(text: *const c_char) -> usize;
    free(block: *mut c_void) -> ();
    malloc(size: usize) -> *mut c_void;
    calloc(count: usize, size: usize) -> *mut c_void;
    realloc(block: *mut c_void, size: usize) -> *mut c_void;
    aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    memalign(alignment: usize, size: usize) -> *mut c_void;
    posix_memalign(block: *mut *mut c_void, alignment: usize, size: usize) -> c_int;
    malloc_usable_size(block: *mut c_void) -> usize;

    __libc_start_main(
        main: *mut c_void,
        argc: c_int,
        argv: *mut *mut c_char,
        init: *mut c_void,
        fini: *mut c_void,
        loader_fini: *mut c_void,
        stack_end: *mut c_void
    ) -> c_int;
    quick_exit(code: c_int) -> ();
    fork() -> libc::pid_t;
    execve(path: *const c_char, arguments: *const c_void, environment: *const c_void) -> c_int;
    execvpe(file: *const c_char, arguments: *const c_void, environment: *const c_void) -> c_int;
    posix_spawn(
        number: *mut libc::pid_t,
        path: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: *const c_void,
        environment: *const c_void
    ) -> c_int;
    posix_spawnp(
        number: *mut libc::pid_t,
        file: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        arguments: *const c_void,
        environment: *const c_void
    ) -> c_int;
    popen(command: *const c_char, mode: *const c_char) -> *mut c_void;
    system(command: *const c_char) -> c_int;
    fexecve(file: c_int, arguments: *const c_void, environment: *const c_void) -> c_int;
    sigaction(
        signal: c_int,
        new: *const libc::sigaction,
        old: *mut libc::sigaction
    ) -> c_int;
    signal(signal: c_int, handler: usize) -> usize;
    raise(signal: c_int) -> c_int;
    kill(process: libc::pid_t, signal: c_int) -> c_int;
    pthread_kill(thread: Handle, signal: c_int) -> c_int;
    sigqueue(process: libc::pid_t, signal: c_int, value: usize) -> c_int;
    pthread_sigqueue(thread: Handle, signal: c_int, value: usize) -> c_int;
    sigwait(signals: *const c_void, taken: *mut c_int) -> c_int;
    sigwaitinfo(signals: *const c_void, info: *mut c_void) -> c_int;
    sigtimedwait(signals: *const c_void, info: *mut c_void, time: Time) -> c_int;

    read(descriptor: c_int, buffer: *mut c_void, size: usize) -> isize;
    write(descriptor: c_int, buffer: *mut c_void, size: usize) -> isize;
    readv(descriptor: c_int, parts: *const c_void, count: c_int) -> isize;
    writev(descriptor: c_int, parts: *const c_void, count: c_int) -> isize;
    recv(descriptor: c_int, buffer: *mut c_void, size: usize, flags: c_int) -> isize;
    send(descriptor: c_int, buffer: *mut c_void, size: usize, flags: c_int) -> isize;
    recvfrom(
        descriptor: c_int,
        buffer: *mut c_void,
        size: usize,
        flags: c_int,
        address: usize,
        len: usize
    ) -> isize;
    sendto(
        descriptor: c_int,
        buffer: *mut c_void,
        size: usize,
        flags: c_int,
        address: usize,
        len: usize
    ) -> isize;
    recvmsg(descriptor: c_int, message: *mut c_void, flags: c_int) -> isize;
    sendmsg(descriptor: c_int, message: *const c_void, flags: c_int) -> isize;
    sendfile(output: c_int, input: c_int, offset: *mut libc::off_t, count: usize) -> isize;
    tee(input: c_int, output: c_int, len: usize, flags: u32) -> isize;
    splice(
        input: c_int,
        input_offset: *mut c_void,
        output: c_int,
        output_offset: *mut c_void,
        len: usize,
        flags: u32
    ) -> isize;
    vmsplice(descriptor: c_int, parts: *const c_void, count: usize, flags: u32) -> isize;
    sendmmsg(descriptor: c_int, messages: *mut c_void, count: u32, flags: c_int) -> c_int;
    recvmmsg(
        descriptor: c_int,
        messages: *mut c_void,
        count: u32,
        flags: c_int,
        time: *mut libc::timespec
    ) -> c_int;
    accept(descriptor: c_int, address: *mut c_void, len: *mut c_void) -> isize;
    accept4(descriptor: c_int, address: *mut c_void, len: *mut c_void, flags: c_int) -> isize;
    close(descriptor: c_int) -> c_int;
    shutdown(socket: c_int, how: c_int) -> c_int;
    connect(socket: c_int, address: *const c_void, len: libc::socklen_t) -> c_int;
    pipe(ends: *mut c_int) -> c_int;
    pipe2(ends: *mut c_int, flags: c_int) -> c_int;
    socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int;
    eventfd(start: u32, flags: c_int) -> c_int;
    poll(asked: *mut c_void, count: libc::nfds_t, timeout: c_int) -> c_int;
    ppoll(asked: *mut c_void, count: libc::nfds_t, time: Time, mask: *const c_void) -> c_int;
    select(
        count: c_int,
        reads: *mut libc::fd_set,
        writes: *mut libc::fd_set,
        errors: *mut libc::fd_set,
        time: *mut libc::timeval
    ) -> c_int;
    epoll_wait(set: c_int, events: *mut c_void, most: c_int, timeout: c_int) -> c_int;
    epoll_pwait(
        set: c_int,
        events: *mut c_void,
        most: c_int,
        timeout: c_int,
        mask: *const c_void
    ) -> c_int;
    epoll_pwait2(
        set: c_int,
        events: *mut c_void,
        most: c_int,
        time: Time,
        mask: *const c_void
    ) -> c_int;
    pselect(
        count: c_int,
        reads: *mut libc::fd_set,
        writes: *mut libc::fd_set,
        errors: *mut libc::fd_set,
        time: Time,
        mask: *const c_void
    ) -> c_int;
    flockfile(file: *mut c_void) -> ();
    ftrylockfile(file: *mut c_void) -> c_int;
    funlockfile(file: *mut c_void) -> ();
    fopen(path: *const c_char, mode: *const c_char) -> *mut c_void;
    fopen64(path: *const c_char, mode: *const c_char) -> *mut c_void;
    fdopen(descriptor: c_int, mode: *const c_char) -> *mut c_void;
    fopencookie(
        cookie: *mut c_void, mode: *const c_char, functions: CookieFunctions
    ) -> *mut c_void;
    fileno(file: *mut c_void) -> c_int;
    fclose(file: *mut c_void) -> c_int;
    __vdprintf_chk(
        descriptor: c_int, checks: c_int, format: *const c_char, arguments: *mut c_void
    ) -> c_int;
    __vasprintf_chk(
        text: *mut *mut c_char, checks: c_int, format: *const c_char, arguments: *mut c_void
    ) -> c_int;

    getrandom(buffer: *mut c_void, size: usize, flags: c_uint) -> isize;
    getentropy(buffer: *mut c_void, size: usize) -> c_int;
}

/// Tests have no library for OpenMP.
#[cfg(test)]
pub(crate) fn has_openmp() -> bool {
    false
}
