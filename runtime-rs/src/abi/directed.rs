//! Atomic operations of a run with stale choices. They are what `atomic` does, but
//! the run is asked about every access that will be recorded. One that takes an old
//! write leaves memory as it is, and the trace says which write was taken.

use wmfix_trace::{LocationId, Order, RecordedOperation, RmwKind, encode_stale};

use super::atomic::{CompareExchange, order_of, reading};
use crate::directed::Part;
use crate::free_run::{AccessEffect, AskedAccess};
use crate::memory::Word;
use crate::thread::PendingWrite;
use crate::turn::Held;

/// How an access of this kind is given another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The value comes from us.
    Ours,
    /// The program reads memory itself, before anybody else runs: memory has to hold
    /// the value for so long.
    Theirs,
}

pub(super) fn load<W: Word>(
    held: &mut Held,
    context: u32,
    address: *mut W,
    order: Order,
    reach: Reach,
) -> W {
    let order = left(held, context, order);
    // SAFETY: the program would do the same.
    let value = unsafe { W::load(address) };
    let location = (held.state()).location(context, address as u64, W::SIZE, value.wide());
    if held.looks(reading(context, location, value.wide(), order)) {
        return value;
    }
    let load = |value: W| RecordedOperation::Load {
        location: LocationId(location),
        order,
        value: value.wide(),
    };
    let asked = asked(held, context, location, order, AccessEffect::Reads, value);
    let asked = AskedAccess {
        can_take: asked.can_take && reach == Reach::Ours,
        ..asked
    };
    match part(held, &asked) {
        Part::Stale(stale) => {
            let stale = W::narrow(stale);
            record_stale(held, context, &load(stale));
            if reach == Reach::Theirs {
                lend(held, address, stale, value);
            }
            stale
        }
        _ => {
            let (thread, state) = held.parts();
            state.record(thread, context, &load(value));
            value
        }
    }
}

/// Lets memory hold an old value until the next hook of the calling thread.
fn lend<W: Word>(held: &mut Held, address: *mut W, stale: W, newest: W) {
    // SAFETY: another thread has written there before, and nobody else runs now.
    unsafe { W::store(address, stale) };
    held.thread().pending = Some(PendingWrite::Lent {
        address: address as u64,
        size: W::SIZE,
        lent: stale.wide() as u64,
        newest: newest.wide() as u64,
    });
}

pub(super) fn store<W: Word>(
    held: &mut Held,
    context: u32,
    address: *mut W,
    value: W,
    order: Order,
) {
    let order = left(held, context, order);
    // SAFETY: the program would do the same.
    let before = unsafe { W::load(address) };
    let location = (held.state()).location(context, address as u64, W::SIZE, before.wide());
    let operation = RecordedOperation::Store {
        location: LocationId(location),
        order,
        value: value.wide(),
    };
    let asked = asked(held, context, location, order, AccessEffect::Writes, before);
    match part(held, &asked) {
        Part::Stale(_) => record_stale(held, context, &operation),
        part => {
            // SAFETY: the program would do the same.
            unsafe { W::store(address, value) };
            wrote(held, location, value, part);
            held.record(context, &operation);
            held.has_written(location);
            undo_if_asked(held, address, before);
        }
    }
}

/// A write that has been made: a volatile one of the program's, or the runtime's own to
/// an object that the program reads as an atomic one. Says whether it takes effect too
/// early, and is recorded so.
pub(crate) fn stored(held: &mut Held, context: u32, operation: &RecordedOperation) -> bool {
    let RecordedOperation::Store {
        location: LocationId(location),
        value,
        ..
    } = *operation
    else {
        return false;
    };
    let asked = AskedAccess {
        thread: held.thread().id,
        location: held.state().locations.trace_number(location),
        context,
        is_sc: false,
        effect: AccessEffect::Writes,
        newest: value,
        can_take: false,
    };
    match part(held, &asked) {
        Part::Stale(_) => {
            record_stale(held, context, operation);
            return true;
        }
        Part::Source => {
            if let Some(stale_run) = &mut held.state().stale_run {
                stale_run.remember(value);
            }
        }
        Part::None | Part::Control => {}
    }
    false
}

pub(super) fn rmw<W: Word>(
    held: &mut Held,
    context: u32,
    address: *mut W,
    operand: W,
    order: Order,
    kind: RmwKind,
) -> W {
    let order = left(held, context, order);
    // SAFETY: the program would do the same.
    let current = unsafe { W::load(address) };
    let location = (held.state()).location(context, address as u64, W::SIZE, current.wide());
    let effect = AccessEffect::Writes;
    let asked = asked(held, context, location, order, effect, current);
    let part = part(held, &asked);
    let read = match part {
        Part::Stale(stale) => W::narrow(stale),
        _ => current,
    };
    let written = read.modified(kind, operand);
    let operation = RecordedOperation::Rmw {
        location: LocationId(location),
        order,
        kind,
        read: read.wide(),
        written: written.wide(),
    };
    if matches!(part, Part::Stale(_)) {
        record_stale(held, context, &operation);
        return read;
    }
    // SAFETY: the program would do the same.
    unsafe { W::store(address, written) };
    wrote(held, location, written, part);
    held.record(context, &operation);
    undo_if_asked(held, address, current);
    if read == written {
        held.state().scheduler.changes += 1;
        held.has_read(reading(context, location, read.wide(), order));
    } else {
        held.has_written(location);
    }
    read
}

pub(super) fn swap<W: Word>(
    held: &mut Held,
    context: u32,
    address: *mut W,
    swap: &CompareExchange<W>,
) -> W {
    let (expected, value) = (swap.expected, swap.value);
    let success = left(held, context, order_of(swap.success));
    let failure = left_on_failure(held, context, order_of(swap.failure));
    // SAFETY: the program would do the same.
    let current = unsafe { W::load(address) };
    let location = (held.state()).location(context, address as u64, W::SIZE, current.wide());
    let looks = reading(context, location, current.wide(), failure);
    if current != expected && held.looks(looks) {
        return current;
    }
    let operation = |read: W| RecordedOperation::CompareExchange {
        location: LocationId(location),
        success,
        failure,
        weak: swap.weak,
        expected: expected.wide(),
        read: read.wide(),
        written: (read == expected).then_some(value.wide()),
    };
    let order = match failure {
        Order::SeqCst => failure,
        _ => success,
    };
    let effect = AccessEffect::Exchanges(expected.wide());
    let asked = asked(held, context, location, order, effect, current);
    let part = part(held, &asked);
    if let Part::Stale(stale) = part {
        let stale = W::narrow(stale);
        record_stale(held, context, &operation(stale));
        return stale;
    }
    if current != expected {
        let (thread, state) = held.parts();
        state.record(thread, context, &operation(current));
        return current;
    }
    // SAFETY: the program would do the same.
    unsafe { W::store(address, value) };
    wrote(held, location, value, part);
    held.record(context, &operation(current));
    undo_if_asked(held, address, current);
    if current == value {
        held.state().scheduler.changes += 1;
        held.has_read(looks);
    } else {
        held.has_written(location);
    }
    current
}

/// Has the thread's next hook take back what it has just stored, if that is asked for.
fn undo_if_asked<W: Word>(held: &mut Held, address: *mut W, before: W) {
    let me = held.thread().id;
    let run = held.state().stale_run.as_mut();
    if run.is_some_and(|run| run.undoes_access(me)) {
        held.thread().pending = Some(PendingWrite::Undone {
            address: address as u64,
            size: W::SIZE.into(),
            before: before.wide().to_le_bytes(),
        });
    }
}

/// What the run leaves of an operation's order.
pub(super) fn left(held: &mut Held, context: u32, order: Order) -> Order {
    let run = held.state().stale_run.as_ref();
    let lost = run.and_then(|run| run.lost.as_ref());
    lost.map_or(order, |lost| lost.left(context, order))
}

fn left_on_failure(held: &mut Held, context: u32, order: Order) -> Order {
    let run = held.state().stale_run.as_ref();
    let lost = run.and_then(|run| run.lost.as_ref());
    lost.map_or(order, |lost| lost.left_on_failure(context, order))
}

/// An access of the calling thread, as the run is asked about it.
fn asked<W: Word>(
    held: &mut Held,
    context: u32,
    location: u32,
    order: Order,
    effect: AccessEffect,
    newest: W,
) -> AskedAccess {
    AskedAccess {
        thread: held.thread().id,
        location: held.state().locations.trace_number(location),
        context,
        is_sc: order == Order::SeqCst,
        effect,
        newest: newest.wide(),
        can_take: W::SIZE <= 8,
    }
}

/// What the run says about an access that will be recorded next.
fn part(held: &mut Held, asked: &AskedAccess) -> Part {
    let state = held.state();
    let Some(stale_run) = &mut state.stale_run else {
        return Part::None;
    };
    let part = stale_run.access(asked);
    if part == Part::Control
        && let Some(seed) = stale_run.seed()
    {
        state.scheduler.draw_anew(seed);
    }
    part
}

fn wrote<W: Word>(held: &mut Held, location: u32, value: W, part: Part) {
    let state = held.state();
    state.locations.set_value(location, value.wide());
    if part == Part::Source
        && let Some(stale_run) = &mut state.stale_run
    {
        stale_run.remember(value.wide());
    }
}

/// Where a debugger stops: the calling thread is about to take an old write.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __wmfix_stale_access() {
    // A call to an empty function would be left out.
    core::hint::black_box(());
}

/// Writes the access that took an old write. From here on the schedule is drawn
/// anew, if that was asked for.
fn record_stale(held: &mut Held, context: u32, operation: &RecordedOperation) {
    __wmfix_stale_access();
    let me = held.thread().id;
    let state = held.state();
    let (source, seed) = match &state.stale_run {
        Some(stale_run) => (stale_run.source(), stale_run.seed()),
        None => (None, None),
    };
    (state.recorder).write(wmfix_trace::MAX_RECORD, |out| encode_stale(out, source));
    let (thread, state) = held.parts();
    state.record(thread, context, operation);
    // What it read is not what memory holds: its next look is news.
    let detector = state.scheduler.detector(me);
    detector.progress();
    detector.other();
    if let Some(seed) = seed {
        state.scheduler.draw_anew(seed);
    }
}
