//! The thread-specific key that ties a record to its thread: libc gives the record
//! to the key's destructor when the thread ends.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::sys;
use crate::thread::Thread;
use crate::tls;

/// The key whose destructor is a thread's end.
static THREAD_KEY: AtomicU32 = AtomicU32::new(0);

/// Makes the key; false if there is none left.
///
/// # Safety
/// The destructor takes a [`Thread`], the calling thread's own record.
pub(crate) unsafe fn create(destructor: unsafe extern "C" fn(*mut c_void)) -> bool {
    let mut key = 0;
    // SAFETY: as promised by the caller.
    let made = unsafe { libc::pthread_key_create(&mut key, Some(destructor)) } == 0;
    if made {
        THREAD_KEY.store(key, Ordering::Release);
    }
    made
}

/// Has the destructor called, with this record, when the calling thread ends or,
/// from within the destructor, in its next round.
pub(crate) fn keep(thread: *mut Thread) {
    // SAFETY: the key was made at the start.
    unsafe { libc::pthread_setspecific(THREAD_KEY.load(Ordering::Acquire), thread.cast()) };
}

/// Ties a thread's record to the calling thread.
pub(crate) fn settle(thread: *mut Thread) {
    tls::set_current(thread);
    // SAFETY: the thread's own record.
    let thread = unsafe { &mut *thread };
    thread.number.store(sys::thread_number(), Ordering::SeqCst);
    keep(thread);
}

/// Finds out where the calling thread's stack lies. libc finds out about the main
/// thread's by reading files; its own address and the limit are as good.
pub(crate) fn find_own_stack(thread: &Thread) {
    let mark = 0u8;
    let here = &raw const mark as u64;
    if thread.id == 0 {
        // The kernel keeps at least as much as the limit free of anything else. Above
        // that there are other threads' stacks.
        let most = sys::limit(libc::RLIMIT_STACK).min(1 << 30);
        keep_bounds(thread, here.saturating_sub(most), here + 4096);
    } else {
        // SAFETY: the calling thread is alive.
        unsafe { find_stack(thread, libc::pthread_self()) };
    }
}

/// Finds out where a thread's stack lies. For this libc asks the program's `malloc`: a
/// new thread must not, before it has the turn.
///
/// # Safety
/// The thread of the handle has not ended.
pub(crate) unsafe fn find_stack(thread: &Thread, handle: libc::pthread_t) {
    // SAFETY: the attributes are filled before they are read.
    unsafe {
        let mut attributes = core::mem::zeroed::<libc::pthread_attr_t>();
        if libc::pthread_getattr_np(handle, &mut attributes) != 0 {
            return;
        }
        let (mut low, mut size) = (core::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attributes, &mut low, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
        keep_bounds(thread, low as u64, low as u64 + size as u64);
    }
}

fn keep_bounds(thread: &Thread, low: u64, high: u64) {
    thread.stack.0.store(low, Ordering::Relaxed);
    thread.stack.1.store(high, Ordering::Relaxed);
}
