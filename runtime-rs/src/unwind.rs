//! Where in the program a library that is not instrumented was called from. Such
//! code says nothing when it is entered, so the shadow stack has a gap between it
//! and the instrumented function below, which the unwinder of the program's own
//! language runtime fills. Without one (a C program) the gap stays.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Set in a return address that lies in code that is not instrumented.
pub(crate) const FOREIGN: u64 = 1 << 63;

/// Frames to look at before giving up.
const MAX_FRAMES: u32 = 64;

/// The unwinder's `_URC_NORMAL_STOP`: anything but 0 ends the walk.
const STOP: c_int = 4;
const GO_ON: c_int = 0;

type Trace = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type Backtrace = unsafe extern "C" fn(Trace, *mut c_void) -> c_int;
type Get = unsafe extern "C" fn(*mut c_void) -> usize;

/// Functions of libgcc or libunwind; 1 while nobody has looked for them.
struct Unwinder {
    backtrace: AtomicUsize,
    get_ip: AtomicUsize,
    get_cfa: AtomicUsize,
}

const NOT_LOOKED_FOR: usize = 1;

static UNWINDER: Unwinder = Unwinder {
    backtrace: AtomicUsize::new(NOT_LOOKED_FOR),
    get_ip: AtomicUsize::new(NOT_LOOKED_FOR),
    get_cfa: AtomicUsize::new(NOT_LOOKED_FOR),
};

fn find(name: &core::ffi::CStr, found: &AtomicUsize) -> Option<usize> {
    let mut address = found.load(Ordering::Relaxed);
    if address == NOT_LOOKED_FOR {
        // SAFETY: a zero-terminated name.
        address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
        found.store(address, Ordering::Relaxed);
    }
    (address != 0).then_some(address)
}

struct Walk {
    /// The stack pointer of the function that is looked for.
    sp: usize,
    get_ip: Get,
    get_cfa: Get,
    frames: u32,
    found: usize,
}

/// The return address in the function whose stack pointer, just after it was
/// entered, was `sp`: the one that called whatever runs now.
pub(crate) fn return_address_in(sp: u64) -> Option<u64> {
    let backtrace = find(c"_Unwind_Backtrace", &UNWINDER.backtrace)?;
    let get_ip = find(c"_Unwind_GetIP", &UNWINDER.get_ip)?;
    let get_cfa = find(c"_Unwind_GetCFA", &UNWINDER.get_cfa)?;
    // SAFETY: functions of these names have these types.
    let (backtrace, mut walk) = unsafe {
        let walk = Walk {
            sp: sp as usize,
            get_ip: core::mem::transmute::<usize, Get>(get_ip),
            get_cfa: core::mem::transmute::<usize, Get>(get_cfa),
            frames: 0,
            found: 0,
        };
        (core::mem::transmute::<usize, Backtrace>(backtrace), walk)
    };
    // SAFETY: the callback gets back the pointer to our own walk.
    unsafe { backtrace(visit, (&raw mut walk).cast()) };
    (walk.found != 0).then_some(walk.found as u64)
}

unsafe extern "C" fn visit(frame: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: what `return_address_in` passed on.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    walk.frames += 1;
    // SAFETY: the unwinder's own frame. What it calls the frame's CFA is the stack
    // pointer that the frame has at its call.
    let (sp, ip) = unsafe { ((walk.get_cfa)(frame), (walk.get_ip)(frame)) };
    if sp > walk.sp || walk.frames > MAX_FRAMES || ip == 0 {
        return STOP;
    }
    walk.found = ip;
    GO_ON
}
