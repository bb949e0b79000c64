//! Threads that no interceptor announced: those that the C library, or a library that
//! was loaded without us, has started.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::SeqCst};

use wmfix_trace::{Cause, RecordedOperation, ThreadId};

use super::{Held, mode};
use crate::gate::GATE;
use crate::park::{HOLDER, park, write_turn};
use crate::scheduler::{Status, ThreadEntry};
use crate::thread::{Thread, phase};
use crate::thread_key::{self, settle};

/// Threads that no interceptor announced.
pub(super) static NEWCOMERS: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

impl Held {
    /// Numbers the threads that no interceptor announced.
    #[cold]
    pub(super) fn welcome(&mut self) {
        let mut newcomer = NEWCOMERS.swap(ptr::null_mut(), SeqCst);
        if newcomer.is_null() {
            return;
        }
        self.speak_for_the_living();
        self.unexplored(0);
        while !newcomer.is_null() {
            self.state().meet_unknown_thread();
            let id = self.state().scheduler.add(newcomer, 0);
            // SAFETY: the newcomer waits to be let in.
            let next = unsafe {
                (*newcomer).id = id;
                (*newcomer).next_newcomer
            };
            let create = RecordedOperation::Create {
                child: ThreadId(id),
                start: 0,
            };
            self.record(0, &create);
            newcomer = next;
        }
    }
}

impl Held {
    /// That a thread is there is said by one that lives: this one, unless it has ended or
    /// is the newcomer itself.
    fn speak_for_the_living(&mut self) {
        let me = self.thread().id as usize;
        let state = self.state();
        let lives = |entry: &ThreadEntry| entry.status != Status::Ended;
        let threads = &state.scheduler.threads;
        if threads.get(me).is_some_and(lives) {
            return;
        }
        let living = threads.iter().find(|(_, entry)| lives(entry));
        let living = living.map_or(0, |(number, _)| number);
        let choices = core::mem::take(&mut state.scheduler.choices);
        write_turn(state, living, choices, Cause::Watchdog);
    }

    /// The first thread to come while nobody has the turn.
    fn enter_from_nowhere(&mut self) {
        self.welcome();
        let me = self.thread().id;
        write_turn(self.state(), me, 0, Cause::Watchdog);
    }
}

/// A hook of a thread that the runtime does not know.
#[cold]
pub(super) fn enter_unknown(mode: u8) -> Option<Held> {
    if mode == mode::OFF {
        return None;
    }
    let thread = Thread::new(u32::MAX, phase::INSIDE);
    settle(thread);
    // SAFETY: the calling thread's own record.
    thread_key::find_own_stack(unsafe { &*thread });
    let controlled = mode == mode::CONTROLLED;
    let mut held = Held { thread, controlled };
    if controlled {
        let mut head = NEWCOMERS.load(SeqCst);
        loop {
            // SAFETY: the record is still this thread's alone.
            unsafe { (*thread).next_newcomer = head };
            match NEWCOMERS.compare_exchange(head, thread, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(other) => head = other,
            }
        }
        if HOLDER
            .compare_exchange(ptr::null_mut(), thread, SeqCst, SeqCst)
            .is_ok()
        {
            held.enter_from_nowhere();
        } else {
            park(thread);
        }
    } else {
        held.thread().inside = true;
        GATE.lock();
        held.state().meet_unknown_thread();
        let id = held.state().scheduler.add(thread, 0);
        held.thread().id = id;
        let create = RecordedOperation::Create {
            child: ThreadId(id),
            start: 0,
        };
        held.record(0, &create);
    }
    Some(held)
}
