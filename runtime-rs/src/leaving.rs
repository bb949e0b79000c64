//! Leaving a process that still has threads: those that nobody waits for could
//! have gone on for a while before it ends, and in some schedules they do.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use wmfix_trace::WaitsFor;

use crate::turn;

unsafe extern "C" {
    fn on_exit(function: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Whether the handler is registered.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// The process is about to have more than one thread. Handlers run in the reverse
/// order of their registration: this one comes before those that the program
/// registered while it was alone, so its destructors find the threads where they
/// have come to.
pub(crate) fn watch_for_leaving() {
    if !WATCHED.swap(true, Ordering::Relaxed) {
        // SAFETY: a handler of the right type. If there is no room for it, main
        // returns at once.
        unsafe { on_exit(leaves, core::ptr::null_mut()) };
    }
}

unsafe extern "C" fn leaves(_code: c_int, _: *mut c_void) {
    let Some(mut held) = turn::enter() else {
        return;
    };
    if !held.controlled() {
        return;
    }
    if held.explores() {
        // The handlers are code like any other, which the others go on beside.
        return;
    }
    if let Some(deadline) = held.state().scheduler.end_of_stay() {
        held.wait(0, WaitsFor::Time, Some(deadline));
    }
}
