//! OpenMP as gcc compiles it: its library is not instrumented and its threads
//! meet in calls of its own, so the order that these make is recorded here. The
//! waiting itself happens in the library, out of our control.

use core::ffi::{c_uint, c_void};

use wmfix_trace::{LockMode, RecordedOperation};

use crate::real;
use crate::trampoline;
use crate::turn;

/// What a team of threads is to run, and for us to know them by.
#[repr(C)]
struct Team {
    body: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    pc: u64,
}

impl Team {
    /// Where the members meet before and after.
    fn meetings(&self) -> (u64, u64) {
        let address = core::ptr::from_ref(self) as u64;
        (address, address + 8)
    }
}

fn record(pc: u64, operation: &RecordedOperation) {
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        held.record(context, operation);
        held.has_changed();
    }
}

fn acquire(lock: u64, mode: LockMode, pc: u64) {
    record(pc, &RecordedOperation::Acquire { lock, mode });
}

fn release(lock: u64, mode: LockMode, pc: u64) {
    record(pc, &RecordedOperation::Release { lock, mode });
}

unsafe extern "C" fn parallel(
    body: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
    pc: u64,
) {
    let team = Team { body, data, pc };
    let (start, end) = team.meetings();
    release(start, LockMode::Signal, pc);
    let argument = core::ptr::from_ref(&team).cast_mut().cast();
    real::GOMP_parallel(member as *mut c_void, argument, threads, flags);
    acquire(end, LockMode::Signal, pc);
}

/// A member of a team, which outlives it.
unsafe extern "C" fn member(team: *mut c_void) {
    // SAFETY: what `parallel` passed on; it returns after the last member.
    let team = unsafe { &*team.cast::<Team>() };
    let (start, end) = team.meetings();
    acquire(start, LockMode::Signal, team.pc);
    // SAFETY: the program's own function and argument.
    unsafe { (team.body)(team.data) };
    release(end, LockMode::Signal, team.pc);
}

/// One address for all barriers: a team has one, and teams within teams are
/// rare enough to be ordered more than they are.
static BARRIER: u8 = 0;
static CRITICAL: u8 = 0;
static ATOMIC: u8 = 0;

unsafe extern "C" fn barrier(pc: u64) {
    release(&raw const BARRIER as u64, LockMode::Signal, pc);
    real::GOMP_barrier();
    acquire(&raw const BARRIER as u64, LockMode::Signal, pc);
}

unsafe extern "C" fn critical_start(pc: u64) {
    real::GOMP_critical_start();
    acquire(&raw const CRITICAL as u64, LockMode::Exclusive, pc);
}

unsafe extern "C" fn critical_end(pc: u64) {
    release(&raw const CRITICAL as u64, LockMode::Exclusive, pc);
    real::GOMP_critical_end();
}

unsafe extern "C" fn critical_name_start(name: *mut c_void, pc: u64) {
    real::GOMP_critical_name_start(name);
    acquire(name as u64, LockMode::Exclusive, pc);
}

unsafe extern "C" fn critical_name_end(name: *mut c_void, pc: u64) {
    release(name as u64, LockMode::Exclusive, pc);
    real::GOMP_critical_name_end(name);
}

unsafe extern "C" fn atomic_start(pc: u64) {
    real::GOMP_atomic_start();
    acquire(&raw const ATOMIC as u64, LockMode::Exclusive, pc);
}

unsafe extern "C" fn atomic_end(pc: u64) {
    release(&raw const ATOMIC as u64, LockMode::Exclusive, pc);
    real::GOMP_atomic_end();
}

unsafe extern "C" fn set_lock(lock: *mut c_void, pc: u64) {
    real::omp_set_lock(lock);
    acquire(lock as u64, LockMode::Exclusive, pc);
}

unsafe extern "C" fn unset_lock(lock: *mut c_void, pc: u64) {
    release(lock as u64, LockMode::Exclusive, pc);
    real::omp_unset_lock(lock);
}

trampoline!(weak, "GOMP_parallel", 4, parallel);
trampoline!(weak, "GOMP_barrier", 0, barrier);
trampoline!(weak, "GOMP_critical_start", 0, critical_start);
trampoline!(weak, "GOMP_critical_end", 0, critical_end);
trampoline!(weak, "GOMP_critical_name_start", 1, critical_name_start);
trampoline!(weak, "GOMP_critical_name_end", 1, critical_name_end);
trampoline!(weak, "GOMP_atomic_start", 0, atomic_start);
trampoline!(weak, "GOMP_atomic_end", 0, atomic_end);
trampoline!(weak, "omp_set_lock", 1, set_lock);
trampoline!(weak, "omp_unset_lock", 1, unset_lock);
