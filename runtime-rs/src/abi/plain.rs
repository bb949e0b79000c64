//! Plain and volatile accesses: `__tsan_read*`, `__tsan_write*` and variants.
//! A plain access is no scheduling point. It is recorded only when races are
//! looked for; a plain write to an atomic makes a new object of it.

use wmfix_trace::{MAX_RECORD, RecordedOperation, Volatile, encode_volatile_spin};

use super::atomic::{flush_volatile, volatile_read, volatile_write};
use crate::filter::{self, plain};
use crate::locations::may_hold_atomic;
use crate::shared_memory::{first_part, has_aliases};
use crate::spin::Read;
use crate::stale_run;
use crate::strategy::Kind;
use crate::thread::PendingWrite;
use crate::thread::VolatileReads;
use crate::tls;
use crate::trampoline;
use crate::turn::{self, Held};
use crate::volatile;

/// A plain read of `size` bytes.
#[inline(always)]
pub(crate) fn read(address: u64, size: u64, pc: u64) {
    let mode = filter::plain_mode();
    if mode == plain::OFF || filter::needs_no_record(mode, address, size, false) {
        return;
    }
    if size != 0 {
        record(address, size, pc, false);
    }
}

/// A plain write of `size` bytes.
#[inline(always)]
pub(crate) fn write(address: u64, size: u64, pc: u64) {
    let mode = filter::plain_mode();
    let needless = mode == plain::OFF || filter::needs_no_record(mode, address, size, true);
    // A write that needs no record for itself may still end an atomic. Where
    // accesses are filtered or checked, that is known: such bytes are never covered.
    let is_known = mode == plain::CHECKED || mode == plain::FILTERED;
    if size == 0 || (needless && (is_known || !may_hold_atomic(address, size))) {
        return;
    }
    record(address, size, pc, true);
}

#[inline(never)]
fn record(address: u64, size: u64, pc: u64, is_write: bool) {
    if !has_aliases() {
        return record_known(address, address, size, pc, is_write);
    }
    // What the shadow says of the other addresses is never asked for: it is not kept.
    let end = address + size;
    let mut at = address;
    while at < end {
        let (known, len) = first_part(at, end - at);
        record_known(at, known, len, pc, is_write);
        at += len;
    }
}

/// Records an access to memory that is `known` by another address than the program
/// uses, or by the same.
#[inline(always)]
fn record_known(accessed: u64, known: u64, size: u64, pc: u64, is_write: bool) {
    let address = known;
    let Some(mut held) = turn::enter() else {
        return;
    };
    flush_volatile(&mut held);
    let mode = filter::plain_mode();
    if mode == plain::CHECKED || mode == plain::BEHIND {
        return held.check_plain(address, size, pc, is_write);
    }
    let (thread, state) = held.parts();
    let reborn = is_write && state.end_locations(address, size);
    if !state.plain_access(thread, address, size, is_write) && !reborn {
        return;
    }
    let context = held.context(pc);
    let operation = match is_write {
        false => RecordedOperation::Read { address, size },
        true if filter::plain_mode() == plain::OFF => RecordedOperation::Reclaim { address, size },
        true => RecordedOperation::Write { address, size },
    };
    held.record_plain(context, &operation);
    if is_write && stale_run::is_on() {
        held.thread().pending = after_write(&mut held, accessed, size);
    }
}

/// What there is to do in a run with stale choices once a write is made.
fn after_write(held: &mut Held, address: u64, size: u64) -> Option<PendingWrite> {
    let me = held.thread().id;
    let run = held.state().stale_run.as_mut()?;
    let mut before = [0; 16];
    if !run.undoes_plain(me) || size > before.len() as u64 {
        return None;
    }
    // SAFETY: the program is about to write there.
    unsafe {
        let old = address as *const u8;
        core::ptr::copy_nonoverlapping(old, before.as_mut_ptr(), size as usize);
    }
    Some(PendingWrite::Undone {
        address,
        size,
        before,
    })
}

macro_rules! accesses {
    ($($size:literal $read:ident $write:ident $read_pc:ident $write_pc:ident
       $volatile_read:ident $volatile_write:ident;)*) => { $(
        unsafe extern "C" fn $read(address: u64, pc: u64) {
            read(address, $size, pc);
        }
        unsafe extern "C" fn $write(address: u64, pc: u64) {
            write(address, $size, pc);
        }
        unsafe extern "C" fn $volatile_read(address: u64, pc: u64) {
            volatile(address, $size, pc, false);
        }
        unsafe extern "C" fn $volatile_write(address: u64, pc: u64) {
            volatile(address, $size, pc, true);
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $read_pc(address: u64, pc: u64) {
            read(address, $size, pc);
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $write_pc(address: u64, pc: u64) {
            write(address, $size, pc);
        }
        trampoline!(globl, concat!("__tsan_read", $size), 1, $read);
        trampoline!(globl, concat!("__tsan_write", $size), 1, $write);
        trampoline!(globl, concat!("__tsan_unaligned_read", $size), 1, $read);
        trampoline!(globl, concat!("__tsan_unaligned_write", $size), 1, $write);
        trampoline!(globl, concat!("__tsan_volatile_read", $size), 1, $volatile_read);
        trampoline!(globl, concat!("__tsan_volatile_write", $size), 1, $volatile_write);
        trampoline!(globl, concat!("__tsan_unaligned_volatile_read", $size), 1, $read);
        trampoline!(globl, concat!("__tsan_unaligned_volatile_write", $size), 1, $write);
    )* };
}

accesses! {
    1 read1 write1 __tsan_read1_pc __tsan_write1_pc volatile_read1 volatile_write1;
    2 read2 write2 __tsan_read2_pc __tsan_write2_pc volatile_read2 volatile_write2;
    4 read4 write4 __tsan_read4_pc __tsan_write4_pc volatile_read4 volatile_write4;
    8 read8 write8 __tsan_read8_pc __tsan_write8_pc volatile_read8 volatile_write8;
    16 read16 write16 __tsan_read16_pc __tsan_write16_pc volatile_read16 volatile_write16;
}

/// Compound assignments, in one call: a read and a write of the same bytes.
macro_rules! compound {
    ($($size:literal $function:ident;)*) => { $(
        unsafe extern "C" fn $function(address: u64, pc: u64) {
            read(address, $size, pc);
            write(address, $size, pc);
        }
        trampoline!(globl, concat!("__tsan_read_write", $size), 1, $function);
        trampoline!(globl, concat!("__tsan_unaligned_read_write", $size), 1, $function);
    )* };
}

compound! { 1 read_write1; 2 read_write2; 4 read_write4; 8 read_write8; 16 read_write16; }

#[inline(always)]
fn volatile(address: u64, size: u64, pc: u64, is_write: bool) {
    let meaning = volatile::meaning();
    let plain = meaning == Volatile::Ignore || size == 16 || !address.is_multiple_of(size);
    match (plain, is_write) {
        (true, false) => {
            read(address, size, pc);
            spins(address, size, pc);
        }
        (true, true) => write(address, size, pc),
        (false, false) => match size {
            1 => volatile_read(address as *mut u8, pc, meaning),
            2 => volatile_read(address as *mut u16, pc, meaning),
            4 => volatile_read(address as *mut u32, pc, meaning),
            _ => volatile_read(address as *mut u64, pc, meaning),
        },
        (false, true) => match size {
            1 => volatile_write(address as *mut u8, pc),
            2 => volatile_write(address as *mut u16, pc),
            4 => volatile_write(address as *mut u32, pc),
            _ => volatile_write(address as *mut u64, pc),
        },
    }
}

/// Reads of one volatile object in one place after which a thread spins.
const SPINS: u32 = 64;

/// A thread that reads the same volatile object again and again waits for another one,
/// and loses its turn as if the object were atomic.
#[inline]
fn spins(address: u64, size: u64, pc: u64) {
    let thread = tls::current();
    if thread.is_null() {
        return;
    }
    // SAFETY: the thread's own record, which only it uses this part of.
    let last = unsafe { &mut (*thread).volatile_reads };
    if (last.address, last.pc) != (address, pc) {
        *last = VolatileReads {
            address,
            pc,
            times: 0,
        };
        return;
    }
    last.times += 1;
    if last.times >= SPINS {
        lose_turn(address, size, pc);
    }
}

#[cold]
fn lose_turn(address: u64, size: u64, pc: u64) {
    let Some(mut held) = turn::enter() else {
        return;
    };
    let context = held.context(pc);
    // SAFETY: the program is about to read there.
    let value = unsafe {
        match size {
            1 => u64::from((address as *const u8).read_volatile()),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            _ => (address as *const u64).read_unaligned(),
        }
    };
    let state = held.state();
    if !state.volatile_spin {
        state.volatile_spin = true;
        state.recorder.write(MAX_RECORD, encode_volatile_spin);
    }
    held.has_read(Read {
        context,
        location: u32::MAX,
        value: value ^ address,
        order: 0,
    });
    held.point(Kind::Operation);
}

unsafe extern "C" fn read_range(address: u64, size: u64, pc: u64) {
    read(address, size, pc);
}

unsafe extern "C" fn write_range(address: u64, size: u64, pc: u64) {
    write(address, size, pc);
}

trampoline!(globl, "__tsan_read_range", 2, read_range);
trampoline!(globl, "__tsan_write_range", 2, write_range);

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_read_range_pc(address: u64, size: u64, pc: u64) {
    read(address, size, pc);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_write_range_pc(address: u64, size: u64, pc: u64) {
    write(address, size, pc);
}

/// A virtual table pointer is written: a write only if it changes.
unsafe extern "C" fn vptr_update(pointer: *const u64, new: u64, pc: u64) {
    // SAFETY: the program is about to write there.
    if unsafe { pointer.read() } != new {
        write(pointer as u64, 8, pc);
    }
}

unsafe extern "C" fn vptr_read(pointer: u64, pc: u64) {
    read(pointer, 8, pc);
}

trampoline!(globl, "__tsan_vptr_update", 2, vptr_update);
trampoline!(globl, "__tsan_vptr_read", 1, vptr_read);
