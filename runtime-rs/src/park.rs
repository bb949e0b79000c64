//! Waiting for the turn, and watching whoever holds it meanwhile: a holder that
//! makes no step, asleep in a call that is not controlled, is preempted.

use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{self, SeqCst},
};

use wmfix_trace::{Cause, ThreadId, Turn};

use crate::state::{State, state};
use crate::sys;
use crate::thread::{Thread, go, phase};

/// Looks at the turn before a thread sleeps: a turn that comes back soon then
/// costs no system call.
const SPINS_BEFORE_SLEEP: u32 = 100;

/// A holder that computes is left alone until it has used the processor for this
/// many watch intervals: one that waits for a processor is not stuck.
const COMPUTING_INTERVALS: u64 = 25;

/// Who holds the turn; null if everybody waits for somebody who is away.
pub(crate) static HOLDER: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

/// Records that the turn changes hands.
pub(crate) fn write_turn(state: &mut State, thread: u32, choices: u64, cause: Cause) {
    let turn = Turn {
        thread: ThreadId(thread),
        choices,
        cause,
    };
    state.turn(turn);
}

/// Makes this thread, which is parked, the holder.
pub(crate) fn hand_to(thread: *mut Thread) {
    HOLDER.store(thread, SeqCst);
    // SAFETY: threads' records are never freed.
    let word = unsafe { &(*thread).go };
    if word.swap(go::GO, SeqCst) == go::ASLEEP {
        sys::futex_wake(word);
    }
}

/// Waits until the turn is handed to this thread, and a thread that has ended is gone.
pub(crate) fn park(thread: *mut Thread) {
    wait_for_turn(thread);
    let leaving = LEAVING.swap(0, SeqCst);
    if leaving != 0 {
        wait_for_end(leaving);
    }
}

/// The kernel's number of a thread that has made its last step and still gives back what
/// the library keeps for it; 0 if there is none. Whoever has the turn next lets it:
/// what memory it is handed out depends on that.
pub(crate) static LEAVING: AtomicU32 = AtomicU32::new(0);

/// Nobody waits longer for a thread to be gone.
const LONGEST_LEAVE_NS: u64 = 100_000_000;

#[cold]
fn wait_for_end(number: u32) {
    let until = sys::clock(libc::CLOCK_MONOTONIC) + LONGEST_LEAVE_NS;
    while sys::is_alive(number) && sys::clock(libc::CLOCK_MONOTONIC) < until {
        sys::yield_now();
    }
}

fn wait_for_turn(thread: *mut Thread) {
    // SAFETY: the thread's own record.
    let me = unsafe { &*thread };
    for _ in 0..SPINS_BEFORE_SLEEP {
        if me.go.load(SeqCst) == go::GO {
            me.go.store(go::WAIT, SeqCst);
            return;
        }
        core::hint::spin_loop();
    }
    let mut watch = Watch::default();
    loop {
        match me.go.compare_exchange(go::WAIT, go::ASLEEP, SeqCst, SeqCst) {
            Err(go::GO) => break,
            _ => {
                let timeout = WATCH_INTERVAL_MS.load(Ordering::Relaxed);
                sys::futex_wait(&me.go, go::ASLEEP, Some(u64::from(timeout)));
            }
        }
        if me.go.load(SeqCst) == go::GO {
            break;
        }
        if watch.look(thread) {
            return;
        }
    }
    me.go.store(go::WAIT, SeqCst);
}

/// Milliseconds between two looks of a parked thread.
pub(crate) static WATCH_INTERVAL_MS: AtomicU32 = AtomicU32::new(20);

/// Looks without a step of the holder after which a thread that waits for a time
/// acts: those that could go on at once act earlier.
const LOOKS_OF_TIMED: u32 = 2;

/// Looks after which a holder that uses no processor is taken to sleep where the
/// system does not say whether it does.
const LOOKS_IN_THE_DARK: u32 = 50;

/// What a parked thread has seen of the holder.
#[derive(Default)]
struct Watch {
    holder: usize,
    steps: u32,
    /// The processor time that the holder had used when it was first seen.
    used: u64,
    /// How often it was looked at since its last step.
    looks: u32,
}

impl Watch {
    /// Looks at the holder; true if the turn is this thread's now.
    fn look(&mut self, me: *mut Thread) -> bool {
        let holder = HOLDER.load(SeqCst);
        // SAFETY: threads' records are never freed.
        let (ready, phase_of_me, deferred) =
            unsafe { (&(*me).ready, &(*me).phase, &(*me).deferred) };
        // One that has come back counts too, as nobody may be left to let it in, and
        // one that has a signal to handle.
        let ready = ready.load(SeqCst)
            || phase_of_me.load(SeqCst) == phase::ARRIVED
            || deferred.load(SeqCst) != 0;
        // SAFETY: as above.
        let timed = unsafe { &(*me).timed }.load(SeqCst);
        if holder.is_null() {
            return (ready || timed) && take_from_nobody(me, ready);
        }
        if holder == me || !(ready || timed) {
            return false;
        }
        // SAFETY: as above.
        let (steps, phase_of, number) = unsafe {
            (
                (*holder).steps.load(SeqCst),
                &(*holder).phase,
                (*holder).number.load(SeqCst),
            )
        };
        if self.holder != holder as usize || self.steps != steps {
            *self = Self {
                holder: holder as usize,
                steps,
                used: processor_time(number),
                looks: 0,
            };
            return false;
        }
        self.looks += 1;
        if !ready && self.looks < LOOKS_OF_TIMED {
            return false;
        }
        let used = processor_time(number).saturating_sub(self.used) / 1_000_000;
        let patience = u64::from(WATCH_INTERVAL_MS.load(Ordering::Relaxed));
        let asleep = || sleeps(number).unwrap_or(used == 0 && self.looks >= LOOKS_IN_THE_DARK);
        let stuck = used >= COMPUTING_INTERVALS * patience || asleep();
        if !stuck || phase_of.load(SeqCst) != phase::OUTSIDE {
            return false;
        }
        if phase_of
            .compare_exchange(phase::OUTSIDE, phase::PREEMPTED, SeqCst, SeqCst)
            .is_err()
        {
            return false;
        }
        HOLDER.store(me, SeqCst);
        // SAFETY: the turn is this thread's now.
        unsafe {
            let state = state();
            state.scheduler.send_away((*holder).id);
            state.scheduler.let_in();
            // Its wait is over if it has a signal to handle.
            if (*me).deferred.load(SeqCst) != 0 {
                state.scheduler.wake((*me).id);
            }
            // Nobody else can go on, so the time is all there is to wait for, or what
            // the holder has written before it fell asleep.
            if !ready && !state.scheduler.has_message_looked_for((*me).id) {
                state.scheduler.reach_deadline((*me).id);
            }
            let choices = core::mem::take(&mut state.scheduler.choices);
            write_turn(state, (*me).id, choices, Cause::Watchdog);
            (*me).go.store(go::WAIT, SeqCst);
        }
        true
    }
}

/// Takes the turn, which nobody has: if this thread can go on, or if there may be a message
/// for it.
fn take_from_nobody(me: *mut Thread, ready: bool) -> bool {
    if HOLDER
        .compare_exchange(ptr::null_mut(), me, SeqCst, SeqCst)
        .is_err()
    {
        return false;
    }
    // SAFETY: the turn is this thread's now.
    unsafe {
        let state = state();
        state.scheduler.let_in();
        if (*me).deferred.load(SeqCst) != 0 {
            state.scheduler.wake((*me).id);
        } else if !ready && !state.scheduler.has_message_looked_for((*me).id) {
            HOLDER.store(ptr::null_mut(), SeqCst);
            return false;
        }
        let choices = core::mem::take(&mut state.scheduler.choices);
        write_turn(state, (*me).id, choices, Cause::Watchdog);
        (*me).go.store(go::WAIT, SeqCst);
    }
    true
}

/// Nanoseconds for which a thread of ours has had a processor.
fn processor_time(number: u32) -> u64 {
    // The kernel's name for the clock of a thread: its number, inverted, and
    // which kind of clock.
    const OF_THREAD: libc::clockid_t = 6;
    sys::clock(!(number as libc::clockid_t) << 3 | OF_THREAD)
}

/// Whether the kernel has this thread of ours asleep; `None` where that cannot be
/// found out: no descriptor is left, or there is no /proc.
fn sleeps(number: u32) -> Option<bool> {
    let mut path = [0u8; 48];
    let text = alloc::format!("/proc/self/task/{number}/stat\0");
    path[..text.len()].copy_from_slice(text.as_bytes());
    let mut status = [0u8; 128];
    // SAFETY: names and buffers are ours.
    let len = unsafe {
        let file = sys::raw_syscall(
            libc::SYS_openat,
            [
                libc::AT_FDCWD as usize,
                path.as_ptr() as usize,
                libc::O_CLOEXEC as usize,
                0,
                0,
                0,
            ],
        );
        if file < 0 {
            return None;
        }
        let buffer = status.as_mut_ptr() as usize;
        let len = sys::raw_syscall(
            libc::SYS_read,
            [file as usize, buffer, status.len(), 0, 0, 0],
        );
        sys::raw_syscall(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]);
        len
    };
    let read = &status[..usize::try_from(len).ok()?];
    // The state follows the name, which is in parentheses and may hold others.
    let after_name = read.iter().rposition(|&byte| byte == b')');
    let state = after_name.and_then(|at| read.get(at + 2));
    state.map(|&state| state == b'S')
}
