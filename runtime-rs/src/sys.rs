//! The operating system, reached without passing our own interceptors: raw
//! system calls for whatever the runtime waits on or writes to.

use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_long};
use core::fmt::{self, Write};
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Waits until `word` is no longer `value`, somebody wakes it, or the time is
/// over. May return early.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, milliseconds: Option<u64>) {
    let time = milliseconds.map(|milliseconds| libc::timespec {
        tv_sec: (milliseconds / 1000) as libc::time_t,
        tv_nsec: (milliseconds % 1000 * 1_000_000) as c_long,
    });
    let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word and the time live for as long as the call.
    unsafe {
        raw_syscall(
            libc::SYS_futex,
            [
                ptr::from_ref(word) as usize,
                operation as usize,
                value as usize,
                time as usize,
                0,
                0,
            ],
        );
    }
}

/// Wakes one thread that waits on `word`.
pub(crate) fn futex_wake(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: waking looks at the address alone.
    unsafe {
        raw_syscall(
            libc::SYS_futex,
            [ptr::from_ref(word) as usize, operation as usize, 1, 0, 0, 0],
        );
    }
}

/// A system call that bypasses libc (whose `syscall` is intercepted, and whose
/// `errno` belongs to the program). Returns the result, or minus the error.
///
/// # Safety
/// As the call in question demands.
pub(crate) unsafe fn raw_syscall(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result;
    // SAFETY: the kernel's calling convention; the caller answers for the rest.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _, options(nostack)
        );
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f, options(nostack)
        );
    }
    result
}

/// The number of the calling thread, as the kernel has it.
pub(crate) fn thread_number() -> u32 {
    // SAFETY: takes nothing, changes nothing.
    unsafe { raw_syscall(libc::SYS_gettid, [0; 6]) as u32 }
}

/// Sets which signals the calling thread does not get; the ones before.
pub(crate) fn block_signals(mask: u64) -> u64 {
    let mut before = 0u64;
    let arguments = [
        libc::SIG_SETMASK as usize,
        &raw const mask as usize,
        &raw mut before as usize,
        size_of::<u64>(),
        0,
        0,
    ];
    // SAFETY: both masks are ours.
    unsafe { raw_syscall(libc::SYS_rt_sigprocmask, arguments) };
    before
}

/// Where a new map of ours is to lie: far from where the system puts the program's,
/// so that what the runtime needs does not change the addresses that a program gets.
/// The system takes it as a hint.
pub(crate) fn address_for_own(len: usize) -> usize {
    const PAGE_BYTES: usize = 4096;
    static NEXT: AtomicUsize = AtomicUsize::new(1 << 44);
    NEXT.fetch_add(len.next_multiple_of(PAGE_BYTES), Ordering::Relaxed)
}

/// How much of something the process may use.
pub(crate) fn limit(resource: u32) -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the record is ours to fill.
    unsafe { libc::getrlimit(resource, &mut limit) };
    limit.rlim_cur
}

/// Lets another thread of the machine run.
pub(crate) fn yield_now() {
    // SAFETY: takes nothing, changes nothing of ours.
    unsafe { raw_syscall(libc::SYS_sched_yield, [0; 6]) };
}

/// Pauses the calling thread.
pub(crate) fn sleep(milliseconds: u64) {
    let word = AtomicU32::new(0);
    futex_wait(&word, 0, Some(milliseconds));
}

/// Gives the processor away for about this long.
pub(crate) fn nap(nanoseconds: u32) {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: c_long::from(nanoseconds),
    };
    // SAFETY: the time lives for as long as the call.
    unsafe {
        raw_syscall(
            libc::SYS_nanosleep,
            [ptr::from_ref(&time) as usize, 0, 0, 0, 0, 0],
        );
    }
}

/// Nanoseconds of a clock that never goes back.
pub(crate) fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    crate::real::clock_gettime(id, &mut time);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Writes a line to stderr, whole or not at all.
pub(crate) fn say(message: fmt::Arguments<'_>) {
    let mut line = Line {
        text: [0; 512],
        len: 0,
    };
    // A line that is too long is cut, which is all that can be done about it.
    let _ = line.write_fmt(message);
    // SAFETY: the bytes are ours and live for as long as the call.
    unsafe {
        raw_syscall(
            libc::SYS_write,
            [2, line.text.as_ptr() as usize, line.len, 0, 0, 0],
        )
    };
}

struct Line {
    text: [u8; 512],
    len: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.text.len() - self.len;
        let take = text.len().min(room);
        self.text[self.len..self.len + take].copy_from_slice(&text.as_bytes()[..take]);
        self.len += take;
        if take == text.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}

/// Ends the process at once, running nothing of the program's.
pub(crate) fn exit_now(code: c_int) -> ! {
    loop {
        // SAFETY: there is no after.
        unsafe { raw_syscall(libc::SYS_exit_group, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Ends the process as `abort` does, running nothing of the program's.
#[cfg_attr(any(test, not(panic = "abort")), allow(dead_code))]
pub(crate) fn abort_now() -> ! {
    // SAFETY: default disposition, then the signal; there is no after.
    unsafe {
        libc::signal(libc::SIGABRT, libc::SIG_DFL);
        let process = raw_syscall(libc::SYS_getpid, [0; 6]) as usize;
        let thread = thread_number() as usize;
        raw_syscall(
            libc::SYS_tgkill,
            [process, thread, libc::SIGABRT as usize, 0, 0, 0],
        );
    }
    exit_now(134)
}

/// The program's environment variable of this name.
pub(crate) fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: libc's own copy, which lives as long as nobody changes it; it is
    // read before `main`.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

/// Whether a thread of this process has not ended.
pub(crate) fn is_alive(number: u32) -> bool {
    // SAFETY: no signal is sent.
    unsafe {
        let process = raw_syscall(libc::SYS_getpid, [0; 6]) as usize;
        raw_syscall(libc::SYS_tgkill, [process, number as usize, 0, 0, 0, 0]) == 0
    }
}

/// What a file holds. The path ends in a zero; an error is the number of the
/// system's.
pub(crate) fn read_file(path: &[u8]) -> Result<Vec<u8>, i32> {
    let arguments = [
        libc::AT_FDCWD as usize,
        path.as_ptr() as usize,
        libc::O_CLOEXEC as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the path ends in a zero.
    let file = unsafe { raw_syscall(libc::SYS_openat, arguments) };
    if file < 0 {
        return Err(-file as i32);
    }
    let mut bytes = Vec::new();
    let mut part = [0u8; 4096];
    let result = loop {
        let arguments = [
            file as usize,
            part.as_mut_ptr() as usize,
            part.len(),
            0,
            0,
            0,
        ];
        // SAFETY: the buffer is ours.
        match unsafe { raw_syscall(libc::SYS_read, arguments) } {
            0 => break Ok(bytes),
            len if len < 0 => break Err(-len as i32),
            len => bytes.extend_from_slice(&part[..len as usize]),
        }
    };
    // SAFETY: opened above.
    unsafe { raw_syscall(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]) };
    result
}
