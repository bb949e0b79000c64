//! Barriers. Where the runtime schedules, it counts the arrivals itself.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LockMode, RecordedOperation, SyncKind, WaitsFor};

use crate::abi::flush_volatile;
use crate::barriers::Barrier;
use crate::misuse;
use crate::real;
use crate::shared_memory::address_of;
use crate::strategy::Kind;
use crate::trampoline;
use crate::turn::{self, Held};

unsafe extern "C" fn init(
    barrier: *mut c_void,
    attributes: *const c_void,
    count: u32,
    _pc: u64,
) -> c_int {
    let result = real::pthread_barrier_init(barrier, attributes, count);
    if result == 0
        && !is_shared(attributes)
        && let Some(mut held) = turn::enter()
    {
        let address = address_of(barrier as u64);
        let barriers = &mut held.state().barriers;
        barriers.retain(|known| known.address != address);
        barriers.push(Barrier {
            address,
            count,
            arrived: 0,
            round: 0,
        });
    }
    result
}

unsafe extern "C" fn wait(barrier: *mut c_void, pc: u64) -> c_int {
    let Some(mut held) = turn::enter() else {
        return real::pthread_barrier_wait(barrier);
    };
    flush_volatile(&mut held);
    held.point(Kind::Operation);
    let context = held.context(pc);
    let address = address_of(barrier as u64);
    let (lock, mode) = (address, LockMode::Signal);
    held.record(context, &RecordedOperation::Release { lock, mode });
    let controlled = held.controlled();
    let barriers = &mut held.state().barriers;
    let known = barriers.iter_mut().find(|known| known.address == address);
    let Some(known) = known.filter(|_| controlled) else {
        // The system schedules, or another process made the barrier.
        if controlled {
            held.unexplored(context);
            held.go_away();
        } else {
            drop(held);
        }
        let result = real::pthread_barrier_wait(barrier);
        if let Some(mut held) = turn::enter() {
            let context = held.context(pc);
            held.record(context, &RecordedOperation::Acquire { lock, mode });
        }
        return result;
    };
    known.arrived += 1;
    let last = known.arrived == known.count;
    let round = known.round;
    if last {
        known.arrived = 0;
        known.round = round.wrapping_add(1);
    }
    held.sync(context, SyncKind::Change, address, 0);
    if last {
        held.sync(context, SyncKind::Publish, address, u64::from(round));
        held.state().scheduler.wake_all(WaitsFor::Barrier(address));
        held.has_changed();
    } else {
        while is_in_round(&mut held, address, round) {
            held.wait(context, WaitsFor::Barrier(address), None);
        }
        held.sync(context, SyncKind::Learn, address, u64::from(round));
    }
    held.record(context, &RecordedOperation::Acquire { lock, mode });
    if last {
        libc::PTHREAD_BARRIER_SERIAL_THREAD
    } else {
        0
    }
}

/// Whether a barrier has not been passed since this round began.
fn is_in_round(held: &mut Held, address: u64, round: u32) -> bool {
    let mut barriers = held.state().barriers.iter();
    barriers.any(|known| known.address == address && known.round == round)
}

/// Whether a barrier with these attributes is for several processes.
fn is_shared(attributes: *const c_void) -> bool {
    // SAFETY: the program's own attributes, which are one number, or none.
    let attributes = unsafe { attributes.cast::<c_int>().as_ref() };
    attributes.is_some_and(|&shared| shared == libc::PTHREAD_PROCESS_SHARED)
}

/// A barrier that is destroyed must not be waited at.
unsafe extern "C" fn destroy(barrier: *mut c_void, pc: u64) -> c_int {
    let address = address_of(barrier as u64);
    if let Some(mut held) = turn::enter() {
        let context = held.context(pc);
        let waiting = held.state().scheduler.waiting(WaitsFor::Barrier(address));
        if !waiting.is_empty() {
            misuse::ends(&mut held, context, address, true);
            // The library would wait for those who are there.
            return 0;
        }
        held.state()
            .barriers
            .retain(|known| known.address != address);
    }
    real::pthread_barrier_destroy(barrier)
}

trampoline!(weak, "pthread_barrier_destroy", 1, destroy);
trampoline!(weak, "pthread_barrier_init", 3, init);
trampoline!(weak, "pthread_barrier_wait", 1, wait);
