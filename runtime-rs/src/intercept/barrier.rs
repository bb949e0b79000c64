//! Barriers. Where the runtime schedules, it counts the arrivals itself.

use core::ffi::{c_int, c_void};

use wmfix_trace::{LockMode, RecordedOperation, WaitsFor};

use crate::abi::flush_volatile;
use crate::barriers::Barrier;
use crate::real;
use crate::strategy::Kind;
use crate::trampoline;
use crate::turn;

unsafe extern "C" fn init(
    barrier: *mut c_void,
    attributes: *const c_void,
    count: u32,
    _pc: u64,
) -> c_int {
    let result = real::pthread_barrier_init(barrier, attributes, count);
    if result == 0
        && let Some(mut held) = turn::enter()
    {
        let address = barrier as u64;
        let barriers = &mut held.state().barriers;
        barriers.retain(|known| known.address != address);
        barriers.push(Barrier {
            address,
            count,
            arrived: 0,
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
    let address = barrier as u64;
    let (lock, mode) = (address, LockMode::Signal);
    held.record(context, &RecordedOperation::Release { lock, mode });
    let controlled = held.controlled();
    let barriers = &mut held.state().barriers;
    let known = barriers.iter_mut().find(|known| known.address == address);
    let Some(known) = known.filter(|_| controlled) else {
        // The system schedules, or another process made the barrier.
        drop(held);
        let result = real::pthread_barrier_wait(barrier);
        if let Some(mut held) = turn::enter() {
            let context = held.context(pc);
            held.record(context, &RecordedOperation::Acquire { lock, mode });
        }
        return result;
    };
    known.arrived += 1;
    let last = known.arrived == known.count;
    if last {
        known.arrived = 0;
        held.state().scheduler.wake_all(WaitsFor::Barrier(address));
        held.has_changed();
    } else {
        held.wait(context, WaitsFor::Barrier(address), None);
    }
    held.record(context, &RecordedOperation::Acquire { lock, mode });
    if last {
        libc::PTHREAD_BARRIER_SERIAL_THREAD
    } else {
        0
    }
}

trampoline!(weak, "pthread_barrier_init", 3, init);
trampoline!(weak, "pthread_barrier_wait", 1, wait);
