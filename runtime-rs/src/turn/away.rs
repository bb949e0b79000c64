//! Going away: a thread that is about to wait in a library gives the turn up itself,
//! rather than being found asleep. It comes back with its next call of the runtime.

use wmfix_trace::Cause;

use super::{Held, enter, signals, unknown};
use crate::strategy::{Kind, Pending};
use crate::thread::{Thread, phase};
use core::sync::atomic::Ordering::SeqCst;

/// Gives the turn up until the calling thread's next call of the runtime.
pub(crate) fn go_away() {
    if let Some(held) = enter()
        && held.controlled()
    {
        held.go_away();
    }
}

impl Held {
    /// Gives the turn up until this thread's next call of the runtime.
    pub(crate) fn go_away(mut self) {
        let me = self.thread().id;
        self.state().scheduler.send_away(me);
        loop {
            if !unknown::NEWCOMERS.load(SeqCst).is_null() {
                self.welcome();
            }
            if signals::INTERRUPTED.load(SeqCst) {
                self.wake_interrupted();
            }
            self.state().scheduler.let_in();
            let scheduler = &mut self.state().scheduler;
            if let Some(next) = scheduler.choose(me, Kind::Stop, None, Pending::Other) {
                self.hand_over(next, Cause::Blocked);
                break;
            }
            if self.state().scheduler.skip_time().is_none() {
                self.leave_to_nobody();
                break;
            }
        }
        let thread: *mut Thread = self.thread;
        core::mem::forget(self);
        // Not before: to choose, the runtime moves memory, and a thread that counts as
        // the program's would wait in that call for the turn that it has itself. Until
        // now nobody lets it in, as it has not come back.
        // SAFETY: the thread's own record, and atomics.
        let (phase_of, deferred) = unsafe { (&(*thread).phase, &(*thread).deferred) };
        phase_of.store(phase::PREEMPTED, SeqCst);
        if deferred.load(SeqCst) != 0 {
            // They are handled with the turn, which is given up again.
            signals::run_deferred(thread);
            go_away();
        }
    }
}
