//! Atomic operations and fences: `__tsan_atomic*`. Each one takes the turn,
//! touches memory and is recorded.

use core::ffi::c_int;

use wmfix_trace::{LocationId, Order, RecordedOperation, RmwKind, Volatile};

use super::directed::{self, Reach};
use crate::memory::{Word, full_fence};
use crate::shared_memory::address_of;
use crate::spin::Read;
use crate::strategy::Kind;
use crate::thread::PendingWrite;
use crate::trampoline;
use crate::turn::{self, Held};

/// Takes the turn for an operation that others can see. The operation comes
/// after the strategy has chosen; the number is that of its context.
#[inline(always)]
pub(crate) fn visible(pc: u64) -> Option<(Held, u32)> {
    visible_access(pc, None, false)
}

/// The same for an access to an object.
#[inline(always)]
fn accesses<W: Word>(address: *mut W, pc: u64, writes: bool) -> Option<(Held, u32)> {
    visible_access(pc, Some((address as u64, W::SIZE)), writes)
}

#[inline(always)]
fn visible_access(pc: u64, access: Option<(u64, u8)>, writes: bool) -> Option<(Held, u32)> {
    let mut held = turn::enter()?;
    flush_volatile(&mut held);
    held.point_before(Kind::Operation, access, writes);
    let context = held.context(pc);
    Some((held, context))
}

unsafe extern "C" fn load<W: Word>(address: *mut W, order: c_int, pc: u64) -> W {
    let Some((mut held, context)) = accesses(address, pc, false) else {
        return unrecorded(|| {
            // SAFETY: the program would do the same.
            unsafe { W::load(address) }
        });
    };
    record_load(&mut held, context, address, order_of(order), Reach::Ours)
}

fn record_load<W: Word>(
    held: &mut Held,
    context: u32,
    address: *mut W,
    order: Order,
    reach: Reach,
) -> W {
    if held.state().stale_run.is_some() {
        return directed::load(held, context, address, order, reach);
    }
    // SAFETY: the program would do the same.
    let value = unsafe { W::load(address) };
    let wide = value.wide();
    let state = held.state();
    let location = state.location(context, address as u64, W::SIZE, wide);
    let operation = RecordedOperation::Load {
        location: LocationId(location),
        order,
        value: wide,
    };
    held.record_read(reading(context, location, wide, order), &operation);
    value
}

unsafe extern "C" fn store<W: Word>(address: *mut W, value: W, order: c_int, pc: u64) {
    let Some((mut held, context)) = accesses(address, pc, true) else {
        return unrecorded(|| {
            // SAFETY: the program would do the same.
            unsafe { W::store(address, value) };
        });
    };
    if held.state().stale_run.is_some() {
        return directed::store(&mut held, context, address, value, order_of(order));
    }
    // SAFETY: the program would do the same.
    let before = unsafe { W::load(address) };
    let state = held.state();
    let location = state.location(context, address as u64, W::SIZE, before.wide());
    // SAFETY: the program would do the same.
    unsafe { W::store(address, value) };
    state.locations.set_value(location, value.wide());
    let operation = RecordedOperation::Store {
        location: LocationId(location),
        order: order_of(order),
        value: value.wide(),
    };
    held.record(context, &operation);
    held.has_written(location);
}

#[inline(always)]
fn rmw<W: Word>(address: *mut W, operand: W, order: c_int, pc: u64, kind: RmwKind) -> W {
    let Some((mut held, context)) = accesses(address, pc, true) else {
        return unrecorded(|| {
            // SAFETY: the program would do the same.
            unsafe { W::rmw(address, kind, operand) }
        });
    };
    if held.state().stale_run.is_some() {
        let order = order_of(order);
        return directed::rmw(&mut held, context, address, operand, order, kind);
    }
    // SAFETY: the program would do the same.
    let read = unsafe { W::rmw(address, kind, operand) };
    let written = read.modified(kind, operand);
    let state = held.state();
    let location = state.location(context, address as u64, W::SIZE, read.wide());
    state.locations.set_value(location, written.wide());
    let operation = RecordedOperation::Rmw {
        location: LocationId(location),
        order: order_of(order),
        kind,
        read: read.wide(),
        written: written.wide(),
    };
    held.record(context, &operation);
    if read == written {
        // Others see a new write all the same; only this thread gets nowhere.
        held.state().scheduler.changes += 1;
        held.has_read(reading(context, location, read.wide(), order_of(order)));
    } else {
        held.has_written(location);
    }
    read
}

pub(super) fn reading(context: u32, location: u32, value: u128, order: Order) -> Read {
    Read {
        context,
        location,
        value: value as u64,
        order: order as u8,
    }
}

/// A compare-exchange, as the program has it.
pub(super) struct CompareExchange<W> {
    pub(super) expected: W,
    pub(super) value: W,
    pub(super) success: c_int,
    pub(super) failure: c_int,
    pub(super) weak: bool,
}

#[inline(always)]
fn swap<W: Word>(address: *mut W, swap: &CompareExchange<W>, pc: u64) -> W {
    let &CompareExchange {
        expected, value, ..
    } = swap;
    let Some((mut held, context)) = accesses(address, pc, true) else {
        return unrecorded(|| {
            // SAFETY: the program would do the same.
            unsafe { W::compare_exchange(address, expected, value) }
        });
    };
    if held.state().stale_run.is_some() {
        return directed::swap(&mut held, context, address, swap);
    }
    // SAFETY: the program would do the same.
    let read = unsafe { W::compare_exchange(address, expected, value) };
    let exchanged = read == expected;
    let state = held.state();
    let location = state.location(context, address as u64, W::SIZE, read.wide());
    if exchanged {
        state.locations.set_value(location, value.wide());
    }
    let operation = RecordedOperation::CompareExchange {
        location: LocationId(location),
        success: order_of(swap.success),
        failure: order_of(swap.failure),
        weak: swap.weak,
        expected: expected.wide(),
        read: read.wide(),
        written: exchanged.then_some(value.wide()),
    };
    let looks = reading(context, location, read.wide(), order_of(swap.failure));
    match exchanged {
        true if read != value => {
            held.record(context, &operation);
            held.has_written(location);
        }
        true => {
            held.record(context, &operation);
            held.state().scheduler.changes += 1;
            held.has_read(looks);
        }
        false => held.record_read(looks, &operation),
    }
    read
}

unsafe extern "C" fn swap_strong<W: Word>(
    address: *mut W,
    expected: *mut W,
    value: W,
    success: c_int,
    failure: c_int,
    pc: u64,
) -> bool {
    // SAFETY: the program's own variable, which holds what it expects.
    unsafe { swap_by_pointer(address, expected, value, (success, failure), false, pc) }
}

unsafe extern "C" fn swap_weak<W: Word>(
    address: *mut W,
    expected: *mut W,
    value: W,
    success: c_int,
    failure: c_int,
    pc: u64,
) -> bool {
    // SAFETY: the program's own variable, which holds what it expects.
    unsafe { swap_by_pointer(address, expected, value, (success, failure), true, pc) }
}

#[inline(always)]
unsafe fn swap_by_pointer<W: Word>(
    address: *mut W,
    expected: *mut W,
    value: W,
    (success, failure): (c_int, c_int),
    weak: bool,
    pc: u64,
) -> bool {
    let wanted = CompareExchange {
        // SAFETY: as promised by the caller.
        expected: unsafe { expected.read_unaligned() },
        value,
        success,
        failure,
        weak,
    };
    let read = swap(address, &wanted, pc);
    if read == wanted.expected {
        return true;
    }
    // SAFETY: as promised by the caller.
    unsafe { expected.write_unaligned(read) };
    false
}

unsafe extern "C" fn swap_value<W: Word>(
    address: *mut W,
    expected: W,
    value: W,
    success: c_int,
    failure: c_int,
    pc: u64,
) -> W {
    let wanted = CompareExchange {
        expected,
        value,
        success,
        failure,
        weak: false,
    };
    swap(address, &wanted, pc)
}

unsafe extern "C" fn thread_fence(order: c_int, pc: u64) {
    let order = order_of(order);
    let Some((mut held, context)) = visible(pc) else {
        return full_fence();
    };
    full_fence();
    let order = directed::left(&mut held, context, order);
    // A relaxed fence is none.
    if order != Order::Relaxed {
        held.record(context, &RecordedOperation::Fence { order });
    }
}

/// Between a thread and its own signal handlers: the compiler has kept to it
/// already, and no other thread sees it.
unsafe extern "C" fn signal_fence(_order: c_int, _pc: u64) {}

/// Does an operation where the runtime is not in charge.
fn unrecorded<R>(operation: impl FnOnce() -> R) -> R {
    full_fence();
    let result = operation();
    full_fence();
    result
}

/// The ABI's integer for a memory order; its upper bits are hints.
pub(super) fn order_of(order: c_int) -> Order {
    match order & 0x7fff {
        0 => Order::Relaxed,
        1 => Order::Consume,
        2 => Order::Acquire,
        3 => Order::Release,
        4 => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// A volatile read, where volatile means atomic. The program reads the value
/// itself afterwards; until its next hook nobody else runs, so it is this one, or the
/// old one that memory holds until then.
pub(crate) fn volatile_read<W: Word>(address: *mut W, pc: u64, meaning: Volatile) {
    let order = match meaning {
        Volatile::AcqRel => Order::Acquire,
        _ => Order::Relaxed,
    };
    if let Some((mut held, context)) = accesses(address, pc, false) {
        record_load(&mut held, context, address, order, Reach::Theirs);
    }
}

/// A volatile write, where volatile means atomic. The program makes it
/// afterwards: it is recorded at the thread's next hook, before which nobody
/// else runs.
pub(crate) fn volatile_write<W: Word>(address: *mut W, pc: u64) {
    let Some((mut held, context)) = accesses(address, pc, true) else {
        return;
    };
    // SAFETY: the program is about to write there.
    let before = unsafe { W::load(address) };
    let state = held.state();
    state.location(context, address as u64, W::SIZE, before.wide());
    held.thread().pending = Some(PendingWrite::Volatile {
        address: address as u64,
        size: W::SIZE,
        pc,
        before: before.wide() as u64,
    });
}

/// Records the volatile write that this thread has made since its last hook, or what
/// a plain one stored, if it has made one.
#[inline(always)]
pub(crate) fn flush_volatile(held: &mut Held) {
    if let Some(pending) = held.thread().pending.take() {
        record_pending(held, pending);
    }
}

#[cold]
fn record_pending(held: &mut Held, pending: PendingWrite) {
    match pending {
        PendingWrite::Volatile {
            address,
            size,
            pc,
            before,
        } => record_volatile_write(held, address, size, pc, before),
        PendingWrite::Lent {
            address,
            size,
            lent,
            newest,
        } => {
            // What else stands there is the program's own doing.
            // SAFETY: the program has just read there.
            unsafe {
                if read_word(address, size) == lent {
                    write_word(address, size, newest);
                }
            }
        }
        PendingWrite::Undone {
            address,
            size,
            before,
        } => {
            // SAFETY: the program has just written there.
            unsafe {
                let bytes = address as *mut u8;
                core::ptr::copy_nonoverlapping(before.as_ptr(), bytes, size as usize);
            }
        }
    }
}

/// # Safety
/// A word of this size lies there.
unsafe fn read_word(address: u64, size: u8) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe {
        match size {
            1 => u64::from(u8::load(address as *mut u8)),
            2 => u64::from(u16::load(address as *mut u16)),
            4 => u64::from(u32::load(address as *mut u32)),
            _ => u64::load(address as *mut u64),
        }
    }
}

/// # Safety
/// A word of this size lies there, and may be written.
unsafe fn write_word(address: u64, size: u8, value: u64) {
    // SAFETY: as promised by the caller.
    unsafe {
        match size {
            1 => u8::store(address as *mut u8, value as u8),
            2 => u16::store(address as *mut u16, value as u16),
            4 => u32::store(address as *mut u32, value as u32),
            _ => u64::store(address as *mut u64, value),
        }
    }
}

fn record_volatile_write(held: &mut Held, address: u64, size: u8, pc: u64, before: u64) {
    // SAFETY: the program has just written there.
    let value = u128::from(unsafe { read_word(address, size) });
    let context = held.context(pc);
    let state = held.state();
    let order = match state.config.volatile {
        Volatile::AcqRel => Order::Release,
        _ => Order::Relaxed,
    };
    let known = address_of(address);
    let location = state.locations.at(known, size);
    let location = match location {
        Some(location) => location,
        None => state.new_location(context, known, size, value),
    };
    let operation = RecordedOperation::Store {
        location: LocationId(location),
        order,
        value,
    };
    if state.stale_run.is_some() && directed::stored(held, context, &operation) {
        // It takes effect before the write that memory had the value of.
        // SAFETY: the program has just written there.
        unsafe { write_word(address, size, before) };
        return;
    }
    held.state().locations.set_value(location, value);
    held.record(context, &operation);
    held.has_written(location);
}

macro_rules! fetch {
    ($($name:ident $kind:ident),*) => { $(
        unsafe extern "C" fn $name<W: Word>(
            address: *mut W,
            operand: W,
            order: c_int,
            pc: u64,
        ) -> W {
            rmw(address, operand, order, pc, RmwKind::$kind)
        }
    )* };
}

fetch!(
    exchange Exchange, fetch_add Add, fetch_sub Sub, fetch_and And,
    fetch_or Or, fetch_xor Xor, fetch_nand Nand
);

macro_rules! export {
    ($bits:literal, $type:ty, $modify:tt) => {
        export!(@ $bits, $type, 2, "load" load);
        export!(@ $bits, $type, $modify, "store" store, "exchange" exchange,
            "fetch_add" fetch_add, "fetch_sub" fetch_sub, "fetch_and" fetch_and,
            "fetch_or" fetch_or, "fetch_xor" fetch_xor, "fetch_nand" fetch_nand);
    };
    (@ $bits:literal, $type:ty, $count:tt, $($name:literal $function:ident),*) => { $(
        trampoline!(
            globl,
            concat!("__tsan_atomic", $bits, "_", $name),
            $count,
            $function::<$type>
        );
    )* };
    (swap $bits:literal, $type:ty) => {
        export!(@ $bits, $type, 5, "compare_exchange_strong" swap_strong,
            "compare_exchange_weak" swap_weak, "compare_exchange_val" swap_value);
    };
}

export!("8", u8, 3);
export!("16", u16, 3);
export!("32", u32, 3);
export!("64", u64, 3);
export!(swap "8", u8);
export!(swap "16", u16);
export!(swap "32", u32);
export!(swap "64", u64);

// 16 bytes are two registers, on aarch64 from an even one on.
#[cfg(target_arch = "x86_64")]
export!("128", u128, 4);
#[cfg(target_arch = "aarch64")]
export!("128", u128, 5);
#[cfg(target_arch = "aarch64")]
export!(@ "128", u128, 6, "compare_exchange_strong" swap_strong,
    "compare_exchange_weak" swap_weak);

/// Where the registers do not suffice, the return address goes onto the stack,
/// behind what is there already.
#[cfg(target_arch = "x86_64")]
macro_rules! export_wide_swap {
    ($name:literal, $function:path) => {
        core::arch::global_asm!(
            ".text",
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "push qword ptr [rsp]",
            ".cfi_adjust_cfa_offset 8",
            "call {function}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    };
}

#[cfg(target_arch = "x86_64")]
export_wide_swap!(
    "__tsan_atomic128_compare_exchange_strong",
    swap_strong::<u128>
);
#[cfg(target_arch = "x86_64")]
export_wide_swap!("__tsan_atomic128_compare_exchange_weak", swap_weak::<u128>);

// The failure order is on the stack.
#[cfg(target_arch = "x86_64")]
crate::stack_trampoline!(
    globl,
    "__tsan_atomic128_compare_exchange_val",
    swap_value::<u128>
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".text",
    ".balign 4",
    ".globl __tsan_atomic128_compare_exchange_val",
    ".type __tsan_atomic128_compare_exchange_val, %function",
    "__tsan_atomic128_compare_exchange_val:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-16]!",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset 30, -8",
    ".cfi_offset 29, -16",
    "sub sp, sp, #16",
    ".cfi_def_cfa_offset 32",
    "str x30, [sp]",
    "bl {function}",
    "add sp, sp, #16",
    ".cfi_def_cfa_offset 16",
    "ldp x29, x30, [sp], #16",
    ".cfi_def_cfa_offset 0",
    "ret",
    ".cfi_endproc",
    ".size __tsan_atomic128_compare_exchange_val, . - __tsan_atomic128_compare_exchange_val",
    function = sym swap_value::<u128>,
);

trampoline!(globl, "__tsan_atomic_thread_fence", 1, thread_fence);
trampoline!(globl, "__tsan_atomic_signal_fence", 1, signal_fence);
