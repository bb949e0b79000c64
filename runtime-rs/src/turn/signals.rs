//! Signals that come while a thread is in the runtime. Their handlers are program
//! code: they run when the thread is out of it again, with the turn, and may leave it
//! by `longjmp`, wait, or be cancelled there. A thread that waits in the scheduler is
//! woken for them.

#[cfg(not(test))]
use core::ffi::c_void;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{self, SeqCst},
};

use wmfix_trace::{LockMode, RecordedOperation};

#[cfg(not(test))]
use super::is_on;
use super::{Held, come_back};
use crate::descriptors::Channel;
use crate::handlers;
use crate::real;
use crate::thread::{Thread, phase};
#[cfg(not(test))]
use crate::tls;

/// A thread that may wait in the scheduler has a signal to handle.
pub(super) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The C library's own signal for cancellation, which no program can send: its bit
/// stands for a cancellation.
const CANCELLATION: u64 = 1 << 32;

fn bit(signal: i32) -> u64 {
    1 << (signal as u64 % 64)
}

impl Held {
    /// Whoever sent a signal that came while this thread was in the runtime did so
    /// before what this thread does next.
    pub(super) fn learn_from_signals(&mut self) {
        let mut signals = self.thread().pending_signals.swap(0, SeqCst);
        while signals != 0 {
            let signal = signals.trailing_zeros() as i32;
            signals &= signals - 1;
            let (lock, mode) = (Channel::of_signal(signal).key(), LockMode::Signal);
            self.record(0, &RecordedOperation::Acquire { lock, mode });
        }
    }

    /// Wakes those who wait and have a signal to handle.
    #[cold]
    pub(super) fn wake_interrupted(&mut self) {
        INTERRUPTED.store(false, SeqCst);
        let scheduler = &mut self.state().scheduler;
        for id in 0..scheduler.threads.len() as u32 {
            let thread = scheduler.entry(id).thread;
            // SAFETY: threads' records are never freed; those of joined ones are gone.
            let record = unsafe { thread.as_ref() };
            if record.is_some_and(|thread| thread.deferred.load(SeqCst) != 0) {
                scheduler.wake(id);
            }
        }
    }

    /// Handles the signals that came while this thread waited.
    pub(super) fn run_signals(&mut self) {
        if self.thread().deferred.load(SeqCst) != 0 {
            let thread: *mut Thread = self.thread();
            self.step_out(|| run_deferred(thread));
        }
    }

    /// A place where a cancelled thread ends.
    pub(crate) fn cancellation_point(&mut self) {
        self.run_signals();
        self.step_out(real::pthread_testcancel);
    }

    /// Whether a handler ran, since this was last asked, that ends the call which it
    /// interrupted.
    pub(crate) fn was_interrupted(&mut self) -> bool {
        core::mem::take(&mut self.thread().interrupted)
    }

    /// Runs program code, with the turn, from within the runtime. It may never return.
    pub(crate) fn step_out(&mut self, code: impl FnOnce()) {
        if !self.controlled() {
            return;
        }
        let thread: *mut Thread = self.thread();
        // SAFETY: the thread's own record.
        let phase_of = unsafe { &(*thread).phase };
        phase_of.store(phase::OUTSIDE, Ordering::Release);
        code();
        let back = phase_of.compare_exchange(phase::OUTSIDE, phase::INSIDE, SeqCst, SeqCst);
        if back == Err(phase::PREEMPTED) {
            come_back(thread);
        }
    }
}

/// Handles what came while this thread was in the runtime, which it has left.
#[cold]
pub(super) fn run_deferred(thread: *mut Thread) {
    // SAFETY: the thread's own record.
    let thread = unsafe { &mut *thread };
    loop {
        let signals = thread.deferred.load(SeqCst);
        if signals == 0 {
            return;
        }
        let number = match signals.trailing_zeros() as i32 {
            0 => 64,
            number => number,
        };
        thread.deferred.fetch_and(!bit(number), SeqCst);
        if bit(number) == CANCELLATION {
            thread.interrupted = true;
            // SAFETY: asks who is calling. An asynchronous one ends the thread here.
            real::pthread_cancel(unsafe { libc::pthread_self() });
            continue;
        }
        if let Some(mut held) = super::enter() {
            let (lock, mode) = (Channel::of_signal(number).key(), LockMode::Signal);
            let context = held.context(0);
            held.record(context, &RecordedOperation::Acquire { lock, mode });
        }
        let mut info = thread.signal_info;
        let restarts = handlers::of(number).call_late(number, &mut info);
        thread.interrupted |= !restarts;
    }
}

/// Has the handler of a signal wait until the calling thread has left the runtime;
/// false if it is not in it.
#[cfg(not(test))]
pub(crate) fn defer_signal(signal: i32, info: *const c_void) -> bool {
    let thread = tls::current();
    if !is_on() || thread.is_null() {
        return false;
    }
    // SAFETY: the thread's own record; the kernel's record of the signal, or null.
    unsafe {
        if let Some(info) = info.cast::<libc::siginfo_t>().as_ref() {
            (*thread).signal_info = *info;
        }
        (*thread).deferred.fetch_or(bit(signal), SeqCst);
    }
    INTERRUPTED.store(true, SeqCst);
    true
}

/// Has a thread that is in the runtime end where it is cancelled next.
#[cfg(not(test))]
pub(crate) fn interrupt_for_cancellation(thread: &Thread) {
    thread.deferred.fetch_or(CANCELLATION, SeqCst);
    INTERRUPTED.store(true, SeqCst);
}

/// A signal came while the calling thread was in the runtime.
#[cfg(not(test))]
pub(crate) fn note_signal(signal: i32) {
    let thread = tls::current();
    if is_on() && !thread.is_null() && (0..64).contains(&signal) {
        // SAFETY: the thread's own record, and an atomic.
        unsafe { &(*thread).pending_signals }.fetch_or(1 << signal, SeqCst);
    }
}
