//! Things that are initialised once: `pthread_once`, and C++'s local statics.
//! One thread runs the initialiser, program code that may do anything; the
//! others wait in the scheduler.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LocationId, LockMode, Operation, Order, WaitsFor};

use crate::abi::flush_volatile;
use crate::behind;
use crate::state::State;
use crate::strategy::Kind;
use crate::trampoline;
use crate::turn::{self, Held};

/// An initialisation under way.
#[derive(Debug)]
pub(crate) struct Initialising {
    address: u64,
    thread: u32,
    /// Whether it is that of a `pthread_once`: such a one may end by an
    /// exception, of which only the control word tells.
    by_control_word: bool,
}

/// The bit of a control word that the library sets while a routine runs.
const RUNNING: c_int = 1;
/// The value that it leaves when all is done.
const DONE: c_int = 2;

impl Initialising {
    /// Whether an exception has ended it.
    fn abandoned(&self) -> bool {
        // SAFETY: the control word of an initialisation that somebody waits for.
        self.by_control_word
            && unsafe { (self.address as *const c_int).read_volatile() } & RUNNING == 0
    }
}

/// Wakes those who wait for an initialisation that an exception has ended; true
/// if there was one.
pub(crate) fn end_abandoned(state: &mut State) -> bool {
    let before = state.initialising.len();
    let scheduler = &mut state.scheduler;
    state.initialising.retain(|one| {
        if one.abandoned() {
            scheduler.wake_all(WaitsFor::Lock(one.address));
        }
        !one.abandoned()
    });
    state.initialising.len() < before
}

/// Waits until nobody else is at it. Whether `done` says so then.
fn wait_turn(held: &mut Held, address: u64, place: u32, done: impl Fn() -> bool) -> bool {
    loop {
        if done() {
            return true;
        }
        let me = held.thread().id;
        let state = held.state();
        let busy = state
            .initialising
            .iter()
            .any(|other| other.address == address && other.thread != me && !other.abandoned());
        if !busy {
            return false;
        }
        held.wait(place, WaitsFor::Lock(address), None);
    }
}

fn begin(held: &mut Held, address: u64, by_control_word: bool) {
    let thread = held.thread().id;
    held.state().initialising.push(Initialising {
        address,
        thread,
        by_control_word,
    });
}

/// Whether it was under way.
fn end(held: &mut Held, address: u64) -> bool {
    let initialising = &mut held.state().initialising;
    let before = initialising.len();
    initialising.retain(|other| other.address != address);
    let was = initialising.len() < before;
    held.state().scheduler.wake_all(WaitsFor::Lock(address));
    held.has_changed();
    was
}

pub(super) unsafe extern "C" fn once(control: *mut c_int, routine: *mut c_void, pc: u64) -> c_int {
    let Some(mut held) = turn::enter() else {
        return behind::pthread_once(control, routine);
    };
    flush_volatile(&mut held);
    let address = control as u64;
    // SAFETY: the program's own word, which is written with the turn held.
    let done = || unsafe { control.read_volatile() } == DONE;
    if held.controlled() {
        held.point(Kind::Operation);
        let place = held.place(pc);
        if !wait_turn(&mut held, address, place, done) {
            begin(&mut held, address, true);
        }
    }
    let first = !done();
    drop(held);
    let result = behind::pthread_once(control, routine);
    if let Some(mut held) = turn::enter() {
        let place = held.place(pc);
        let (lock, mode) = (address, LockMode::Signal);
        if first {
            held.record(place, &Operation::Release { lock, mode });
            end(&mut held, address);
        }
        held.record(place, &Operation::Acquire { lock, mode });
    }
    result
}

trampoline!(weak, "pthread_once", 2, once);

unsafe extern "C" fn guard_acquire(guard: *mut u8, pc: u64) -> c_int {
    let Some(mut held) = turn::enter() else {
        return behind::__cxa_guard_acquire(guard);
    };
    flush_volatile(&mut held);
    let (lock, mode) = (guard as u64, LockMode::Signal);
    if !held.controlled() {
        drop(held);
        let first = behind::__cxa_guard_acquire(guard);
        if first == 0
            && let Some(mut held) = turn::enter()
        {
            let place = held.place(pc);
            held.record(place, &Operation::Acquire { lock, mode });
        }
        return first;
    }
    held.point(Kind::Operation);
    let place = held.place(pc);
    // SAFETY: the guard's first byte says that all is done.
    let done = || unsafe { guard.read_volatile() } != 0;
    if wait_turn(&mut held, guard as u64, place, done) {
        held.record(place, &Operation::Acquire { lock, mode });
        return 0;
    }
    begin(&mut held, guard as u64, false);
    1
}

unsafe extern "C" fn guard_release(guard: *mut u8, pc: u64) {
    let Some(mut held) = turn::enter() else {
        return behind::__cxa_guard_release(guard);
    };
    flush_volatile(&mut held);
    let (lock, mode) = (guard as u64, LockMode::Signal);
    held.point(Kind::Operation);
    let place = held.place(pc);
    held.record(place, &Operation::Release { lock, mode });
    if !held.controlled() || !end(&mut held, lock) {
        drop(held);
        return behind::__cxa_guard_release(guard);
    }
    // The compiler reads this byte as an atomic before it calls us, so it is
    // written as one.
    let location = held.state().location(place, lock, 1, 0);
    // SAFETY: as above; this thread is the one that initialises.
    unsafe { crate::memory::Word::store(guard, 1u8) };
    held.state().locations.set_value(location, 1);
    let store = Operation::Store {
        location: LocationId(location),
        order: Order::Release,
        value: 1,
    };
    held.record(place, &store);
}

unsafe extern "C" fn guard_abort(guard: *mut u8, _pc: u64) {
    let Some(mut held) = turn::enter() else {
        return behind::__cxa_guard_abort(guard);
    };
    if !held.controlled() || !end(&mut held, guard as u64) {
        drop(held);
        behind::__cxa_guard_abort(guard);
    }
}

trampoline!(weak, "__cxa_guard_acquire", 1, guard_acquire);
trampoline!(weak, "__cxa_guard_release", 1, guard_release);
trampoline!(weak, "__cxa_guard_abort", 1, guard_abort);
