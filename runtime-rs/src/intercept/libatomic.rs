//! Atomic objects that the compiler leaves to libatomic, such as one of three bytes.
//! What does not fit into a machine word is under that library's locks, which are
//! mutexes like any other; the rest is without locks and ordered as it says.

use core::ffi::{c_int, c_void};

use wmfix_trace::{Limit, LockMode, RecordedOperation};

use crate::abi::flush_volatile;
use crate::passed_on;
use crate::real;
use crate::shared_memory::address_of;
use crate::strategy::Kind;
use crate::trampoline;
use crate::turn;

/// The largest object without locks.
const LARGEST_WORD: usize = 16;

/// The compilers' numbers for orders.
const CONSUME: c_int = 1;
const ACQUIRE: c_int = 2;
const RELEASE: c_int = 3;
const ACQ_REL: c_int = 4;

fn acquires(order: c_int) -> bool {
    matches!(order, CONSUME | ACQUIRE) || order >= ACQ_REL
}

fn releases(order: c_int) -> bool {
    order >= RELEASE
}

/// An operation on the object at an address: `call` makes it, and says whether what it
/// read counts, by the order that it then has.
fn operate<R>(
    object: *mut c_void,
    size: usize,
    (writes, order): (bool, c_int),
    pc: u64,
    call: impl FnOnce() -> (R, Option<c_int>),
) -> R {
    let (lock, mode) = (address_of(object as u64), LockMode::Signal);
    let counts = size <= LARGEST_WORD;
    if counts && let Some(mut held) = turn::enter() {
        flush_volatile(&mut held);
        held.state().meets(Limit::OddAtomics);
        held.point(Kind::Operation);
        if writes && releases(order) {
            let context = held.context(pc);
            held.record(context, &RecordedOperation::Release { lock, mode });
        }
    }
    let (result, read) = call();
    if counts && let Some(mut held) = turn::enter() {
        if read.is_some_and(acquires) {
            let context = held.context(pc);
            held.record(context, &RecordedOperation::Acquire { lock, mode });
        }
        if writes {
            held.has_changed();
        }
    }
    result
}

unsafe extern "C" fn load(
    size: usize,
    object: *mut c_void,
    into: *mut c_void,
    order: c_int,
    pc: u64,
) {
    operate(object, size, (false, order), pc, || {
        (real::__atomic_load(size, object, into, order), Some(order))
    });
}

unsafe extern "C" fn store(
    size: usize,
    object: *mut c_void,
    value: *mut c_void,
    order: c_int,
    pc: u64,
) {
    operate(object, size, (true, order), pc, || {
        (real::__atomic_store(size, object, value, order), None)
    });
}

unsafe extern "C" fn exchange(
    size: usize,
    object: *mut c_void,
    value: *mut c_void,
    into: *mut c_void,
    order: c_int,
    pc: u64,
) {
    operate(object, size, (true, order), pc, || {
        real::__atomic_exchange(size, object, value, into, order);
        ((), Some(order))
    });
}

unsafe extern "C" fn compare_exchange(
    size: usize,
    object: *mut c_void,
    expected: *mut c_void,
    desired: *mut c_void,
    success: c_int,
    failure: c_int,
) -> bool {
    operate(object, size, (true, success), 0, || {
        let done =
            real::__atomic_compare_exchange(size, object, expected, desired, success, failure);
        (done, Some(if done { success } else { failure }))
    })
}

trampoline!(weak, "__atomic_load", 4, load);
trampoline!(weak, "__atomic_store", 4, store);
trampoline!(weak, "__atomic_exchange", 5, exchange);
passed_on! { "__atomic_compare_exchange" compare_exchange; }
