//! The program's signal handlers, which the kernel knows ours in place of.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

use crate::sys;

/// Signals there can be, and none.
pub(crate) const SIGNALS: usize = 65;

/// A handler of the program's own.
pub(crate) struct Handler {
    /// Its address.
    pub(crate) function: AtomicUsize,
    /// Whether it takes three arguments.
    with_info: AtomicBool,
    flags: AtomicI32,
    /// The signals that do not come while it runs.
    blocked: AtomicU64,
}

static HANDLERS: [Handler; SIGNALS] = [const {
    Handler {
        function: AtomicUsize::new(0),
        with_info: AtomicBool::new(false),
        flags: AtomicI32::new(0),
        blocked: AtomicU64::new(0),
    }
}; SIGNALS];

/// The handler of a signal; that of none for a number that is not a signal's.
pub(crate) fn of(signal: c_int) -> &'static Handler {
    let number = usize::try_from(signal).unwrap_or(0);
    &HANDLERS[if number < SIGNALS { number } else { 0 }]
}

impl Handler {
    /// The program has set this one.
    pub(crate) fn set(&self, function: usize, flags: c_int, blocked: u64) {
        let with_info = flags & libc::SA_SIGINFO != 0;
        self.with_info.store(with_info, Ordering::Relaxed);
        self.flags.store(flags, Ordering::Relaxed);
        self.blocked.store(blocked, Ordering::Relaxed);
        self.function.store(function, Ordering::Relaxed);
    }

    /// The flags that it was set with.
    pub(crate) fn flags(&self) -> c_int {
        self.flags.load(Ordering::Relaxed)
    }

    /// Calls it.
    ///
    /// # Safety
    /// The arguments are what the kernel would pass.
    pub(crate) unsafe fn call(&self, signal: c_int, info: *mut c_void, context: *mut c_void) {
        let function = self.function.load(Ordering::Relaxed);
        if function <= libc::SIG_IGN {
            return;
        }
        // SAFETY: what the program has set, with the arguments that it asked for.
        unsafe {
            if self.with_info.load(Ordering::Relaxed) {
                let function: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) =
                    core::mem::transmute(function);
                function(signal, info, context);
            } else {
                let function: unsafe extern "C" fn(c_int) = core::mem::transmute(function);
                function(signal);
            }
        }
    }

    /// Calls it for a signal that came earlier, as the kernel would have; whether
    /// calls that it interrupts are made again.
    pub(crate) fn call_late(&self, signal: c_int, info: &mut libc::siginfo_t) -> bool {
        let flags = self.flags.load(Ordering::Relaxed);
        let own = if flags & libc::SA_NODEFER == 0 {
            1u64 << (signal - 1)
        } else {
            0
        };
        info.si_signo = signal;
        // SAFETY: numbers and addresses, all of which may be zero.
        let mut context: libc::ucontext_t = unsafe { core::mem::zeroed() };
        let before = sys::block_signals(u64::MAX);
        sys::block_signals(before | own | self.blocked.load(Ordering::Relaxed));
        let info: *mut libc::siginfo_t = info;
        // SAFETY: both records live for as long as the call.
        unsafe { self.call(signal, info.cast(), (&raw mut context).cast()) };
        sys::block_signals(before);
        flags & libc::SA_RESTART != 0
    }
}
