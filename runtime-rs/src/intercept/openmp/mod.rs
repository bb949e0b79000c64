//! OpenMP: its libraries are not instrumented and their threads meet in calls of
//! their own, so the order that these make is recorded here. Waiting happens in the
//! library, without the turn; how work is shared out is a choice of the schedule.

mod gomp;
mod kmp;
mod task;

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use wmfix_trace::{Limit, LockMode, RecordedOperation, WaitsFor};

use crate::openmp_task::OpenMpTask;
use crate::spin::Read;
use crate::strategy::Kind;
use crate::tls;
use crate::trampoline;
use crate::turn;

/// One address for all barriers: a team has one, and teams within teams are rare
/// enough to be ordered more than they are. The same for the others.
static BARRIER: u8 = 0;
static CRITICAL: u8 = 0;
static ATOMIC: u8 = 0;
static ORDERED: u8 = 0;
static ITERATIONS: u8 = 0;
static COPIES: u8 = 0;
static REDUCTION: u8 = 0;

/// The number by which an address is known as a meeting point.
fn key(meeting: &'static u8) -> u64 {
    core::ptr::from_ref(meeting) as u64
}

/// The task that the calling thread runs; `None` where the runtime does not know it.
fn current() -> Option<&'static mut OpenMpTask> {
    let thread = tls::current();
    // SAFETY: the thread's own record, which only it uses this part of.
    (!thread.is_null()).then(|| unsafe { &mut (*thread).openmp })
}

/// What the children of the running task give when they end.
fn children_key() -> u64 {
    match current() {
        Some(task) if task.children != 0 => task.children,
        Some(task) => core::ptr::from_mut(task) as u64,
        None => 0,
    }
}

fn record(pc: u64, operation: &RecordedOperation) {
    if let Some(mut held) = turn::enter() {
        held.point(Kind::Operation);
        let context = held.context(pc);
        held.record(context, operation);
        held.has_changed();
    }
}

/// What others gave under these numbers came before what this thread does next.
fn learn(keys: &[u64], pc: u64) {
    let mode = LockMode::Signal;
    for &lock in keys.iter().filter(|&&key| key != 0) {
        record(pc, &RecordedOperation::Acquire { lock, mode });
    }
}

/// What this thread did so far is given under these numbers.
fn give(keys: &[u64], pc: u64) {
    let mode = LockMode::Signal;
    for &lock in keys.iter().filter(|&&key| key != 0) {
        record(pc, &RecordedOperation::Release { lock, mode });
    }
}

fn lock(lock: u64, pc: u64) {
    let mode = LockMode::Exclusive;
    record(pc, &RecordedOperation::Acquire { lock, mode });
}

fn unlock(lock: u64, pc: u64) {
    let mode = LockMode::Exclusive;
    record(pc, &RecordedOperation::Release { lock, mode });
}

/// A call of the library, which may start threads.
fn library<R>(call: impl FnOnce() -> R) -> R {
    let before = current().map(|task| core::mem::replace(&mut task.in_library, true));
    let result = call();
    if let (Some(task), Some(before)) = (current(), before) {
        task.in_library = before;
    }
    result
}

/// A call of the library that may wait for other threads.
fn waits<R>(call: impl FnOnce() -> R) -> R {
    turn::go_away();
    library(call)
}

/// A call of the library that shares out work.
fn shares_out<R>(call: impl FnOnce() -> R) -> R {
    if let Some(mut held) = turn::enter() {
        held.point(Kind::Operation);
    }
    library(call)
}

/// Meets the others at a barrier.
fn barrier<R>(pc: u64, call: impl FnOnce() -> R) -> R {
    give(&[key(&BARRIER)], pc);
    let result = waits(call);
    learn(&[key(&BARRIER)], pc);
    result
}

/// A lock was tried for: whoever tries again and again spins.
fn tried(lock_address: *mut c_void, taken: bool, pc: u64) {
    if taken {
        return lock(lock_address as u64, pc);
    }
    if let Some(mut held) = turn::enter() {
        held.point(Kind::Operation);
        let context = held.context(pc);
        held.has_read(Read {
            context,
            location: u32::MAX,
            value: lock_address as u64,
            order: 0,
        });
    }
}

/// A team of threads, and what its members meet by before and after.
struct Team {
    start: u8,
    end: u8,
    /// How many members have come.
    arrived: AtomicU32,
}

impl Team {
    fn new() -> Self {
        Self {
            start: 0,
            end: 0,
            arrived: AtomicU32::new(0),
        }
    }

    fn start(&self) -> u64 {
        core::ptr::from_ref(&self.start) as u64
    }

    fn end(&self) -> u64 {
        core::ptr::from_ref(&self.end) as u64
    }

    /// Waits until all members are there: from then on it is the schedule that shares
    /// out the work among them.
    fn gather(&self, pc: u64) {
        let members = crate::real::omp_get_num_threads() as u32;
        let Some(mut held) = turn::enter() else {
            return;
        };
        if !held.controlled() {
            return;
        }
        let context = held.context(pc);
        let meeting = WaitsFor::Barrier(self.start());
        if self.arrived.fetch_add(1, Ordering::SeqCst) + 1 >= members {
            held.state().scheduler.wake_all(meeting);
            held.has_changed();
        }
        while self.arrived.load(Ordering::SeqCst) < members {
            held.wait(context, meeting, None);
        }
    }

    /// Runs what a member does.
    fn member(&self, pc: u64, body: impl FnOnce()) {
        self.gather(pc);
        learn(&[self.start()], pc);
        let task = OpenMpTask {
            team: self.end(),
            ..OpenMpTask::default()
        };
        let before = current().map(|current| core::mem::replace(current, task));
        if before.is_some_and(|before| before.team != 0)
            && let Some(mut held) = turn::enter()
        {
            held.state().meets(Limit::NestedTeams);
        }
        body();
        give(&[self.end()], pc);
        if let (Some(current), Some(before)) = (current(), before) {
            *current = before;
        }
        // From here on it waits for the others, or for the next team.
        turn::go_away();
    }
}

unsafe extern "C" fn set_lock(address: *mut c_void, pc: u64) {
    waits(|| crate::real::omp_set_lock(address));
    lock(address as u64, pc);
}

unsafe extern "C" fn unset_lock(address: *mut c_void, pc: u64) {
    unlock(address as u64, pc);
    crate::real::omp_unset_lock(address);
}

unsafe extern "C" fn test_lock(address: *mut c_void, pc: u64) -> i32 {
    let taken = crate::real::omp_test_lock(address);
    tried(address, taken != 0, pc);
    taken
}

unsafe extern "C" fn set_nest_lock(address: *mut c_void, pc: u64) {
    waits(|| crate::real::omp_set_nest_lock(address));
    lock(address as u64, pc);
}

unsafe extern "C" fn unset_nest_lock(address: *mut c_void, pc: u64) {
    unlock(address as u64, pc);
    crate::real::omp_unset_nest_lock(address);
}

unsafe extern "C" fn test_nest_lock(address: *mut c_void, pc: u64) -> i32 {
    let taken = crate::real::omp_test_nest_lock(address);
    tried(address, taken != 0, pc);
    taken
}

trampoline!(weak, "omp_set_lock", 1, set_lock);
trampoline!(weak, "omp_unset_lock", 1, unset_lock);
trampoline!(weak, "omp_test_lock", 1, test_lock);
trampoline!(weak, "omp_set_nest_lock", 1, set_nest_lock);
trampoline!(weak, "omp_unset_nest_lock", 1, unset_nest_lock);
trampoline!(weak, "omp_test_nest_lock", 1, test_nest_lock);
