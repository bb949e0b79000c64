//! The C library's own functions behind the interceptors, found by name with
//! `dlsym(RTLD_NEXT, …)`.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

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

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: a zero-terminated name.
        let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            // A linker that leaves out what is not needed takes our functions
            // for all that a program wants of OpenMP's library.
            // SAFETY: names of a library and of a function in it.
            found = unsafe {
                let library = libc::dlopen(c"libgomp.so.1".as_ptr(), libc::RTLD_NOW);
                if library.is_null() {
                    library
                } else {
                    libc::dlsym(library, self.name.as_ptr())
                }
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

/// Set while `free` itself is looked for. The search frees the message of an
/// earlier one that failed, which would start the search again.
static FINDING_FREE: AtomicBool = AtomicBool::new(false);

/// Finds `free`, and what our own `free` asks for, before anything else is
/// looked for: at the start, and where it is called earlier than that.
pub(crate) fn find_free() {
    if !FINDING_FREE.swap(true, Ordering::Relaxed) {
        free(ptr::null_mut());
        malloc_usable_size(ptr::null_mut());
        FINDING_FREE.store(false, Ordering::Relaxed);
    }
}

/// Whether `free` is being looked up, so that a block must be leaked.
pub(crate) fn is_finding_free() -> bool {
    FINDING_FREE.load(Ordering::Relaxed)
}

/// A name that ends in its only zero.
pub(crate) const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("no zero within a name"),
    }
}

macro_rules! real {
    ($($name:ident ( $($argument:ident : $type:ty),* ) -> $result:ty;)*) => { $(
        #[doc = concat!("The C library's `", stringify!($name), "`.")]
        #[allow(non_snake_case)]
        pub(crate) fn $name($($argument: $type),*) -> $result {
            static REAL: RealFunction =
                RealFunction::new(c_name(concat!(stringify!($name), "\0")));
            // SAFETY: the C library's function of this name has this type, and
            // is called with what the program called us with.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) -> $result =
                    core::mem::transmute(REAL.address());
                function($($argument),*)
            }
        }
    )* };
}

type Handle = libc::pthread_t;
type Time = *const libc::timespec;

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
    sem_timedwait(semaphore: *mut c_void, time: Time) -> c_int;
    sem_clockwait(semaphore: *mut c_void, clock: c_int, time: Time) -> c_int;
    sem_post(semaphore: *mut c_void) -> c_int;
    __cxa_guard_acquire(guard: *mut u8) -> c_int;
    __cxa_guard_release(guard: *mut u8) -> ();
    __cxa_guard_abort(guard: *mut u8) -> ();

    GOMP_parallel(
        body: *mut c_void,
        data: *mut c_void,
        threads: u32,
        flags: u32
    ) -> ();
    GOMP_barrier() -> ();
    GOMP_critical_start() -> ();
    GOMP_critical_end() -> ();
    GOMP_critical_name_start(name: *mut c_void) -> ();
    GOMP_critical_name_end(name: *mut c_void) -> ();
    GOMP_atomic_start() -> ();
    GOMP_atomic_end() -> ();
    omp_set_lock(lock: *mut c_void) -> ();
    omp_unset_lock(lock: *mut c_void) -> ();

    sched_yield() -> c_int;
    clock_gettime(clock: c_int, time: *mut libc::timespec) -> c_int;
    gettimeofday(time: *mut c_void, zone: *mut c_void) -> c_int;
    clock_nanosleep(clock: c_int, flags: c_int, time: Time, left: *mut libc::timespec) -> c_int;

    strlen(text: *const c_char) -> usize;
    free(block: *mut c_void) -> ();
    realloc(block: *mut c_void, size: usize) -> *mut c_void;
    malloc_usable_size(block: *mut c_void) -> usize;
    munmap(address: *mut c_void, size: usize) -> c_int;

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
    accept(descriptor: c_int, address: *mut c_void, len: *mut c_void) -> isize;
    accept4(descriptor: c_int, address: *mut c_void, len: *mut c_void, flags: c_int) -> isize;
    close(descriptor: c_int) -> c_int;
    shutdown(socket: c_int, how: c_int) -> c_int;
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
    flockfile(file: *mut c_void) -> ();
    ftrylockfile(file: *mut c_void) -> c_int;
    funlockfile(file: *mut c_void) -> ();
}
