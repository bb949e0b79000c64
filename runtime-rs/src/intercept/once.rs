//! Things that are initialised once: `pthread_once`, and C++'s local statics.
//! One thread runs the initialiser, program code that may do anything; the
//! others wait in the scheduler.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LocationId, LockMode, Order, RecordedOperation, SyncKind, WaitsFor};

use crate::abi::{flush_volatile, stored};
use crate::initialisations::{DONE, Initialisation};
use crate::real;
use crate::strategy::Kind;
use crate::trampoline;
use crate::turn::{self, Held};

/// What an exploration is told of the state of an initialisation: under way, to be
/// begun, done.
mod progress {
    pub(super) const UNDER_WAY: u64 = 0;
    pub(super) const TO_BEGIN: u64 = 1;
    pub(super) const DONE: u64 = 2;
}

/// Waits until no other thread runs the initialiser; returns what `done` says.
fn wait_turn(held: &mut Held, address: u64, context: u32, done: impl Fn() -> bool) -> bool {
    loop {
        if done() {
            held.sync(context, SyncKind::Pass, address, progress::DONE);
            return true;
        }
        let me = held.thread().id;
        let state = held.state();
        let busy = state
            .initialisations
            .iter()
            .any(|other| other.address == address && other.thread != me && !other.abandoned());
        if !busy {
            held.sync(context, SyncKind::Take, address, progress::TO_BEGIN);
            return false;
        }
        held.wait(context, WaitsFor::Lock(address), None);
    }
}

fn begin(held: &mut Held, address: u64, by_control_word: bool) {
    let thread = held.thread().id;
    held.state().initialisations.push(Initialisation {
        address,
        thread,
        by_control_word,
    });
}

/// Whether it was under way.
fn end(held: &mut Held, context: u32, address: u64) -> bool {
    held.sync(context, SyncKind::Change, address, progress::UNDER_WAY);
    let initialisations = &mut held.state().initialisations;
    let before = initialisations.len();
    initialisations.retain(|other| other.address != address);
    let was = initialisations.len() < before;
    held.state().scheduler.wake_all(WaitsFor::Lock(address));
    held.has_changed();
    was
}

pub(super) unsafe extern "C" fn once(control: *mut c_int, routine: *mut c_void, pc: u64) -> c_int {
    let Some(mut held) = turn::enter() else {
        return real::pthread_once(control, routine);
    };
    flush_volatile(&mut held);
    let address = control as u64;
    // SAFETY: the program's own word, which is written with the turn held.
    let done = || unsafe { control.read_volatile() } == DONE;
    if held.controlled() {
        held.point(Kind::Operation);
        let context = held.context(pc);
        if !wait_turn(&mut held, address, context, done) {
            begin(&mut held, address, true);
        }
    }
    let first = !done();
    drop(held);
    let result = real::pthread_once(control, routine);
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        let (lock, mode) = (address, LockMode::Signal);
        if first {
            held.record(context, &RecordedOperation::Release { lock, mode });
            end(&mut held, context, address);
        }
        held.record(context, &RecordedOperation::Acquire { lock, mode });
    }
    result
}

trampoline!(weak, "pthread_once", 2, once);

unsafe extern "C" fn guard_acquire(guard: *mut u8, pc: u64) -> c_int {
    let Some(mut held) = turn::enter() else {
        return real::__cxa_guard_acquire(guard);
    };
    flush_volatile(&mut held);
    let (lock, mode) = (guard as u64, LockMode::Signal);
    if !held.controlled() {
        drop(held);
        let first = real::__cxa_guard_acquire(guard);
        if first == 0
            && let Some(mut held) = turn::enter()
        {
            let context = held.context(pc);
            held.record(context, &RecordedOperation::Acquire { lock, mode });
        }
        return first;
    }
    held.point(Kind::Operation);
    let context = held.context(pc);
    // SAFETY: the guard's first byte says that all is done.
    let done = || unsafe { guard.read_volatile() } != 0;
    if wait_turn(&mut held, guard as u64, context, done) {
        held.record(context, &RecordedOperation::Acquire { lock, mode });
        return 0;
    }
    begin(&mut held, guard as u64, false);
    1
}

unsafe extern "C" fn guard_release(guard: *mut u8, pc: u64) {
    let Some(mut held) = turn::enter() else {
        return real::__cxa_guard_release(guard);
    };
    flush_volatile(&mut held);
    let (lock, mode) = (guard as u64, LockMode::Signal);
    held.point(Kind::Operation);
    let context = held.context(pc);
    held.record(context, &RecordedOperation::Release { lock, mode });
    if !held.controlled() || !end(&mut held, context, lock) {
        drop(held);
        return real::__cxa_guard_release(guard);
    }
    // The compiler reads this byte as an atomic before it calls us, so it is
    // written as one.
    let location = held.state().location(context, lock, 1, 0);
    // SAFETY: as above; this thread is the one that initialises.
    unsafe { crate::memory::Word::store(guard, 1u8) };
    held.state().locations.set_value(location, 1);
    let store = RecordedOperation::Store {
        location: LocationId(location),
        order: Order::Release,
        value: 1,
    };
    if held.state().stale_run.is_some() && stored(&mut held, context, &store) {
        return;
    }
    held.record(context, &store);
}

unsafe extern "C" fn guard_abort(guard: *mut u8, pc: u64) {
    let Some(mut held) = turn::enter() else {
        return real::__cxa_guard_abort(guard);
    };
    let context = match held.explores() {
        true => held.context(pc),
        false => 0,
    };
    if !held.controlled() || !end(&mut held, context, guard as u64) {
        drop(held);
        real::__cxa_guard_abort(guard);
    }
}

trampoline!(weak, "__cxa_guard_acquire", 1, guard_acquire);
trampoline!(weak, "__cxa_guard_release", 1, guard_release);
trampoline!(weak, "__cxa_guard_abort", 1, guard_abort);
