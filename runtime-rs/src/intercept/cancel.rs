//! Cancellation: a thread that waits in the scheduler is woken to end, and one that is
//! in the runtime ends after it has left it.

use core::ffi::c_int;

use super::thread::named;
use crate::abi::flush_volatile;
use crate::real;
use crate::strategy::Kind;
use crate::thread::phase;
use crate::trampoline;
use crate::turn;

unsafe extern "C" fn cancel(handle: libc::pthread_t, _pc: u64) -> c_int {
    if let Some(mut held) = turn::enter()
        && held.controlled()
    {
        flush_volatile(&mut held);
        held.point(Kind::Operation);
        held.unexplored(0);
        let me = held.thread().id;
        if let Some(target) = named(&mut held, handle).filter(|&target| target != me) {
            let thread = held.state().scheduler.entry(target).thread;
            // SAFETY: threads' records are never freed, and this one is not joined.
            let thread = unsafe { &*thread };
            // One that is out, in a call of the system, is the library's to cancel.
            if thread.phase.load(core::sync::atomic::Ordering::SeqCst) != phase::PREEMPTED {
                turn::interrupt_for_cancellation(thread);
                held.has_changed();
                return 0;
            }
        }
    }
    real::pthread_cancel(handle)
}

unsafe extern "C" fn testcancel(_pc: u64) {
    // Leaving the runtime tells the library of a cancellation.
    drop(turn::enter());
    real::pthread_testcancel();
}

unsafe extern "C" fn setcanceltype(new: c_int, old: *mut c_int, _pc: u64) -> c_int {
    drop(turn::enter());
    real::pthread_setcanceltype(new, old)
}

unsafe extern "C" fn setcancelstate(new: c_int, old: *mut c_int, _pc: u64) -> c_int {
    drop(turn::enter());
    real::pthread_setcancelstate(new, old)
}

trampoline!(weak, "pthread_setcanceltype", 2, setcanceltype);
trampoline!(weak, "pthread_setcancelstate", 2, setcancelstate);
trampoline!(weak, "pthread_cancel", 1, cancel);
trampoline!(weak, "pthread_testcancel", 0, testcancel);
