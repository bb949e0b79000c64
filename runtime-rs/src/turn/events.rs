//! What the thread that has the turn did, told to the trace or the check, to the
//! scheduler, and to an exploration.

use wmfix_analysis::Bytes;
use wmfix_trace::{
    ContextId, LockMode, MAX_RECORD, RecordedOperation, SyncKind, SyncRecord, encode_sync,
};
#[cfg(not(test))]
use wmfix_trace::{encode_unseen, unseen_len};

use super::Held;
use crate::spin::Read;

/// The number by which all threads of the process meet: no address.
const MEETING: u64 = 1 << 62 | 1 << 46;

impl Held {
    /// Writes what this thread did.
    #[inline(always)]
    pub(crate) fn record(&mut self, context: u32, operation: &RecordedOperation) {
        let left_out = self.state().leaves_out(context, operation);
        if self.controlled {
            let me = self.thread().id;
            let scheduler = &mut self.state().scheduler;
            scheduler.detector(me).other();
            // A plan counts what traces have.
            if !left_out && !operation.is_plain() {
                scheduler.done(me, None);
            }
        }
        if !left_out {
            let (thread, state) = self.parts();
            state.record(thread, context, operation);
        }
    }

    /// Whether the run is one of an exploration of all runs.
    #[inline]
    pub(crate) fn explores(&mut self) -> bool {
        self.controlled && self.state().scheduler.explores()
    }

    /// Tells an exploration what this thread did with a synchronisation object, where
    /// no event does: a step of its own, or a part of one.
    pub(crate) fn sync(&mut self, context: u32, kind: SyncKind, object: u64, state: u64) {
        if !self.explores() {
            return;
        }
        let me = self.thread().id;
        if kind != SyncKind::Unexplored {
            self.state().scheduler.done(me, None);
        }
        let context = ContextId(context);
        let sync = SyncRecord {
            context,
            kind,
            object,
            state,
        };
        let recorder = &mut self.state().recorder;
        recorder.write(MAX_RECORD, |out| encode_sync(out, &sync));
    }

    /// Tells an exploration that not all orders of what this thread does now are tried.
    pub(crate) fn unexplored(&mut self, context: u32) {
        self.sync(context, SyncKind::Unexplored, 0, 0);
    }

    /// Whether another thread may notice what this one does now, in some run.
    #[cfg(not(test))]
    pub(crate) fn has_company(&mut self) -> bool {
        self.state().scheduler.has_company()
    }

    /// Tells an exploration of a call whose accesses nobody sees.
    #[cfg(not(test))]
    pub(crate) fn unseen(&mut self, context: u32, function: &[u8]) {
        if !self.explores() {
            return;
        }
        let context = ContextId(context);
        let recorder = &mut self.state().recorder;
        recorder.write(unseen_len(function), |out| {
            encode_unseen(out, context, function)
        });
    }

    /// Writes a plain access of this thread.
    #[inline(always)]
    pub(crate) fn record_plain(&mut self, context: u32, operation: &RecordedOperation) {
        if self.controlled {
            let me = self.thread().id;
            self.state().scheduler.detector(me).other();
        }
        self.state().event(context, operation, 0);
    }

    /// Checks a plain access of this thread.
    #[inline(always)]
    pub(crate) fn check_plain(&mut self, address: u64, size: u64, pc: u64, writes: bool) {
        let me = self.thread().id;
        let controlled = self.controlled;
        let (thread, state) = self.parts();
        state.scheduler.detector(me).other();
        let bytes = Bytes { address, size };
        if controlled && state.check_plain_ordered(thread, bytes, pc, writes) {
            return;
        }
        let context = self.context(pc);
        let (thread, state) = self.parts();
        state.check_plain(thread, (context, pc), address, size, writes);
    }

    /// Writes what this thread has read without changing anything, unless it
    /// tells nothing.
    #[inline(always)]
    pub(crate) fn record_read(&mut self, read: Read, operation: &RecordedOperation) {
        let left_out = self.state().leaves_out(read.context, operation);
        let known = if left_out {
            self.has_read(read)
        } else {
            self.looks(read)
        };
        if !known && !left_out {
            let (thread, state) = self.parts();
            state.record(thread, read.context, operation);
        }
    }

    /// This thread has read without changing anything. True if the read tells
    /// nothing that is not recorded.
    #[inline(always)]
    pub(crate) fn looks(&mut self, read: Read) -> bool {
        if self.controlled {
            let me = self.thread().id;
            self.state().scheduler.done(me, Some(read));
        }
        self.has_read(read)
    }

    /// This thread has read a value and changed nothing: does it spin? True if
    /// the read tells nothing that is not recorded.
    #[inline(always)]
    pub(crate) fn has_read(&mut self, read: Read) -> bool {
        if !self.controlled {
            return false;
        }
        let me = self.thread().id;
        let scheduler = &mut self.state().scheduler;
        let changes = scheduler.changes;
        let found = scheduler.detector(me).read(read, changes);
        if found.spins {
            scheduler.idles(me);
        } else if scheduler.idle_choices > 0 {
            scheduler.gets_on(me);
        }
        // Rounds of a loop count where somebody else could end it.
        let scheduler = &self.state().scheduler;
        found.known && !(scheduler.explores() && scheduler.idle_choices == 0)
    }

    /// This thread has changed something that others may wait to see.
    #[inline(always)]
    pub(crate) fn has_changed(&mut self) {
        if !self.controlled {
            return;
        }
        let me = self.thread().id;
        let state = self.state();
        state.fruitless_looks = 0;
        state.scheduler.detector(me).progress();
        state.scheduler.changed();
    }

    /// This thread has written an atomic object.
    #[inline(always)]
    pub(crate) fn has_written(&mut self, location: u32) {
        if self.controlled {
            let me = self.thread().id;
            self.state().scheduler.wrote(me, location);
        }
        self.has_changed();
    }

    /// All threads meet, wherever they are, as none of the others does anything while
    /// this one has the turn: what each did comes before what any of them does next.
    #[cfg(not(test))]
    pub(crate) fn meet_everywhere(&mut self) {
        self.unexplored(0);
        let me = self.thread().id;
        let scheduler = &mut self.state().scheduler;
        let living: alloc::vec::Vec<(u32, *mut crate::thread::Thread)> = (scheduler.threads)
            .iter()
            .filter(|(_, entry)| entry.status != crate::scheduler::Status::Ended)
            .map(|(id, entry)| (id, entry.thread))
            .collect();
        let (lock, mode) = (MEETING, LockMode::Signal);
        let gives = RecordedOperation::Release { lock, mode };
        let learns = RecordedOperation::Acquire { lock, mode };
        for operation in [gives, learns] {
            for &(id, thread) in &living {
                let state = self.state();
                crate::park::write_turn(state, id, 0, wmfix_trace::Cause::System);
                // SAFETY: the thread is parked, or runs nothing that is recorded.
                state.record(unsafe { &mut *thread }, 0, &operation);
            }
        }
        let state = self.state();
        crate::park::write_turn(state, me, 0, wmfix_trace::Cause::System);
        state.last_thread = me;
        self.has_changed();
    }

    /// A thread that ends was there before all who meet later.
    pub(crate) fn leave_meetings(&mut self, context: u32) {
        if self.state().meets_everywhere {
            let (lock, mode) = (MEETING, LockMode::Signal);
            self.record(context, &RecordedOperation::Release { lock, mode });
        }
    }
}
