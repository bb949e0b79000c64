//! Records into bytes. Nothing allocates: the runtime calls this from inside
//! the program under test, with the end of a mapped file as `out`.

use crate::bytes::Sink;
use crate::record::{
    AccessName, Cause, CheckRecord, ContextId, End, GiveUp, Limit, LocationId, LockMode, Misuse,
    MisuseKind, Module, Order, RecordedOperation, StackId, StuckThread, SyncRecord, ThreadId, Turn,
    WaitsFor,
};

/// No record but a module's is longer: `out` must have this much room.
pub const MAX_RECORD: usize = 96;

pub(crate) mod tag {
    pub(crate) const MODULE: u8 = 1;
    pub(crate) const STACK: u8 = 2;
    pub(crate) const CONTEXT: u8 = 3;
    pub(crate) const TURN: u8 = 4;
    pub(crate) const STUCK: u8 = 5;
    pub(crate) const EXEC: u8 = 6;
    pub(crate) const END: u8 = 7;
    pub(crate) const STALE: u8 = 8;
    pub(crate) const QUARANTINE: u8 = 9;
    pub(crate) const IGNORED: u8 = 10;
    pub(crate) const MISUSE: u8 = 13;
    pub(crate) const VOLATILE_SPIN: u8 = 14;
    pub(crate) const SYNC: u8 = 15;
    pub(crate) const LIMIT: u8 = 12;
    pub(crate) const LOAD: u8 = 16;
    pub(crate) const STORE: u8 = 17;
    pub(crate) const RMW: u8 = 18;
    pub(crate) const EXCHANGED: u8 = 19;
    pub(crate) const FAILED: u8 = 20;
    pub(crate) const FENCE: u8 = 21;
    pub(crate) const CREATE: u8 = 22;
    pub(crate) const JOIN: u8 = 23;
    pub(crate) const EXIT: u8 = 24;
    pub(crate) const ACQUIRE: u8 = 25;
    pub(crate) const RELEASE: u8 = 26;
    pub(crate) const BIRTH: u8 = 27;
    pub(crate) const FREE: u8 = 28;
    pub(crate) const READ: u8 = 29;
    pub(crate) const WRITE: u8 = 30;
    pub(crate) const RECLAIM: u8 = 31;
    pub(crate) const HANDED_OUT: u8 = 32;
    pub(crate) const HANDED_BACK: u8 = 33;
    pub(crate) const UNSEEN: u8 = 34;
    pub(crate) const REACHED: u8 = 48;
    pub(crate) const UNLISTED: u8 = 49;
    pub(crate) const VIOLATION: u8 = 50;
    pub(crate) const RACE: u8 = 51;
    pub(crate) const COUNTS: u8 = 52;
    pub(crate) const GAVE_UP: u8 = 53;
}

/// The room that a module's record needs.
pub fn module_len(module: &Module) -> usize {
    MAX_RECORD + module.build_id.len() + module.path.len()
}

/// Writes a module's record; the length is returned.
pub fn encode_module(out: &mut [u8], module: &Module) -> usize {
    let mut sink = Sink::new(out);
    sink.address(module.bias);
    sink.address(module.first);
    sink.address(module.end);
    for bytes in [&module.build_id, module.path.as_bytes()] {
        sink.number(bytes.len() as u64);
        sink.slice(bytes);
    }
    sink.commit(tag::MODULE)
}

/// Writes a stack's record; its number is one more than the last one's.
#[inline]
pub fn encode_stack(out: &mut [u8], parent: StackId, pc: u64) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(parent.0));
    sink.address(pc);
    sink.commit(tag::STACK)
}

/// Writes a context's record; its number is one more than the last one's.
#[inline]
pub fn encode_context(out: &mut [u8], stack: StackId, pc: u64) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(stack.0));
    sink.address(pc);
    sink.commit(tag::CONTEXT)
}

/// Writes that the turn changes hands.
#[inline]
pub fn encode_turn(out: &mut [u8], turn: Turn) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(turn.thread.0));
    sink.number(turn.choices);
    sink.byte(match turn.cause {
        Cause::Choice => 0,
        Cause::Blocked => 1,
        Cause::Ended => 2,
        Cause::Watchdog => 3,
        Cause::System => 4,
        Cause::Planned => 5,
        Cause::Unexplored => 6,
        Cause::PlannedLoosely => 7,
    });
    sink.commit(tag::TURN)
}

/// Writes a thread that could not go on.
pub fn encode_stuck(out: &mut [u8], stuck: &StuckThread) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(stuck.thread.0));
    sink.number(u64::from(stuck.context.0));
    let (kind, address) = match stuck.waits_for {
        WaitsFor::Lock(address) => (0, address),
        WaitsFor::Condition(address) => (1, address),
        WaitsFor::Semaphore(address) => (2, address),
        WaitsFor::Barrier(address) => (3, address),
        WaitsFor::Futex(address) => (4, address),
        WaitsFor::Thread(ThreadId(number)) => (5, u64::from(number)),
        WaitsFor::Value(LocationId(number)) => (6, u64::from(number)),
        WaitsFor::Nothing => (7, 0),
        WaitsFor::Outside => (8, 0),
        WaitsFor::Time => (9, 0),
        WaitsFor::Descriptor(key) => (10, key),
    };
    sink.byte(kind);
    sink.address(address);
    sink.commit(tag::STUCK)
}

/// Writes that a lock was misused.
pub fn encode_misuse(out: &mut [u8], misuse: &Misuse) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(misuse.thread.0));
    sink.number(u64::from(misuse.context.0));
    sink.byte(match misuse.kind {
        MisuseKind::UnlockedFree => 0,
        MisuseKind::UnlockedByOther => 1,
        MisuseKind::UsedAfterEnd => 2,
        MisuseKind::EndedInUse => 3,
    });
    sink.address(misuse.lock);
    sink.commit(tag::MISUSE)
}

/// Writes that a thread spins on a volatile object.
pub fn encode_volatile_spin(out: &mut [u8]) -> usize {
    Sink::new(out).commit(tag::VOLATILE_SPIN)
}

/// Writes what a step of an exploration did with a synchronisation object.
pub fn encode_sync(out: &mut [u8], sync: &SyncRecord) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(sync.context.0));
    sink.byte(sync.kind.byte());
    sink.address(sync.object);
    sink.number(sync.state);
    sink.commit(tag::SYNC)
}

/// The room that the record of a call needs whose accesses nobody sees.
pub fn unseen_len(function: &[u8]) -> usize {
    MAX_RECORD + function.len()
}

/// Writes a call whose accesses nobody sees.
pub fn encode_unseen(out: &mut [u8], context: ContextId, function: &[u8]) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(context.0));
    sink.number(function.len() as u64);
    sink.slice(function);
    sink.commit(tag::UNSEEN)
}

/// Writes that the program does something that is not modelled to the end.
pub fn encode_limit(out: &mut [u8], limit: Limit) -> usize {
    let mut sink = Sink::new(out);
    sink.byte(limit as u8);
    sink.commit(tag::LIMIT)
}

/// Writes that the process is about to become another program.
pub fn encode_exec(out: &mut [u8]) -> usize {
    Sink::new(out).commit(tag::EXEC)
}

/// Writes which write the access of the next event takes.
pub fn encode_stale(out: &mut [u8], source: Option<AccessName>) -> usize {
    let mut sink = Sink::new(out);
    match source {
        None => sink.byte(0),
        Some(source) => {
            sink.byte(1);
            sink.number(u64::from(source.thread.0));
            sink.number(u64::from(source.number));
        }
    }
    sink.commit(tag::STALE)
}

/// Writes that memory given back is not handed out again.
pub fn encode_quarantine(out: &mut [u8], address: u64, size: u64) -> usize {
    let mut sink = Sink::new(out);
    sink.address(address);
    sink.number(size);
    sink.commit(tag::QUARANTINE)
}

/// Writes that a block of memory was handed out.
#[inline]
pub fn encode_handed_out(out: &mut [u8], context: ContextId, address: u64, size: u64) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(context.0));
    sink.address(address);
    sink.number(size);
    sink.commit(tag::HANDED_OUT)
}

/// Writes that a block of memory was given back.
#[inline]
pub fn encode_handed_back(out: &mut [u8], address: u64) -> usize {
    let mut sink = Sink::new(out);
    sink.address(address);
    sink.commit(tag::HANDED_BACK)
}

/// Writes how many annotations of happens-before were ignored so far.
pub fn encode_ignored(out: &mut [u8], count: u64) -> usize {
    let mut sink = Sink::new(out);
    sink.number(count);
    sink.commit(tag::IGNORED)
}

/// Writes what checking a run in its process showed.
pub fn encode_check(out: &mut [u8], record: &CheckRecord) -> usize {
    let mut sink = Sink::new(out);
    let tag = match *record {
        CheckRecord::Reached(site) => {
            sink.number(u64::from(site.0));
            tag::REACHED
        }
        CheckRecord::Unlisted {
            context,
            kind,
            order,
        } => {
            sink.number(u64::from(context.0));
            sink.byte(kind);
            sink.byte(order.map_or(NO_ORDER, order_byte));
            tag::UNLISTED
        }
        CheckRecord::Violation {
            access,
            newer,
            kind,
        } => {
            sink.byte(kind);
            sink.number(u64::from(access.0));
            sink.byte(u8::from(newer.is_some()));
            sink.number(newer.map_or(0, |newer| u64::from(newer.0)));
            tag::VIOLATION
        }
        CheckRecord::Race {
            first,
            second,
            predicted,
        } => {
            sink.byte(u8::from(predicted));
            sink.number(u64::from(first.0));
            sink.number(u64::from(second.0));
            tag::RACE
        }
        CheckRecord::Counts(counts) => {
            sink.number(counts.events);
            sink.number(counts.plain_events);
            sink.address(counts.schedule);
            sink.byte(u8::from(counts.concurrent));
            tag::COUNTS
        }
        CheckRecord::GaveUp(why) => {
            sink.byte(match why {
                GiveUp::LongWait => 0,
                GiveUp::Contradiction => 1,
                GiveUp::Refused => 2,
                GiveUp::NoMemory => 3,
                GiveUp::Prediction => 4,
            });
            tag::GAVE_UP
        }
    };
    sink.commit(tag)
}

/// In place of an order, where an operation has none.
pub(crate) const NO_ORDER: u8 = 15;

/// Writes how the run ended. `records` counts all records before this one.
pub fn encode_end(out: &mut [u8], end: End, records: u64) -> usize {
    let mut sink = Sink::new(out);
    sink.number(records);
    match end {
        End::Exit { code } => {
            sink.byte(0);
            sink.number(u64::from(code as u32));
        }
        End::Signal {
            number,
            thread,
            pc,
            context,
        } => {
            sink.byte(1);
            sink.number(u64::from(number as u32));
            sink.number(u64::from(thread.0));
            sink.address(pc);
            sink.number(u64::from(context.0));
        }
        End::Deadlock => sink.byte(2),
        End::Livelock => sink.byte(3),
        End::NoSpace { errno } => {
            sink.byte(4);
            sink.number(u64::from(errno as u32));
        }
        End::LimitReached => sink.byte(5),
        End::StepLimit => sink.byte(6),
    }
    sink.commit(tag::END)
}

/// Writes what the thread that has the turn did.
#[inline(always)]
pub fn encode_event(out: &mut [u8], context: ContextId, operation: &RecordedOperation) -> usize {
    let mut sink = Sink::new(out);
    sink.number(u64::from(context.0));
    let tag = match *operation {
        RecordedOperation::Load {
            location,
            order,
            value,
        } => {
            sink.byte(order_byte(order));
            sink.number(u64::from(location.0));
            sink.wide(value);
            tag::LOAD
        }
        RecordedOperation::Store {
            location,
            order,
            value,
        } => {
            sink.byte(order_byte(order));
            sink.number(u64::from(location.0));
            sink.wide(value);
            tag::STORE
        }
        RecordedOperation::Rmw {
            location,
            order,
            kind,
            read,
            written,
        } => {
            sink.byte(order_byte(order) | (kind as u8) << 4);
            sink.number(u64::from(location.0));
            sink.wide(read);
            sink.wide(written);
            tag::RMW
        }
        RecordedOperation::CompareExchange {
            location,
            success,
            failure,
            weak,
            expected,
            read,
            written,
        } => {
            sink.byte(order_byte(success) | order_byte(failure) << 3 | u8::from(weak) << 6);
            sink.number(u64::from(location.0));
            sink.wide(expected);
            match written {
                Some(written) => {
                    sink.wide(written);
                    tag::EXCHANGED
                }
                None => {
                    sink.wide(read);
                    tag::FAILED
                }
            }
        }
        RecordedOperation::Fence { order } => {
            sink.byte(order_byte(order));
            tag::FENCE
        }
        RecordedOperation::Create { child, start } => {
            sink.number(u64::from(child.0));
            sink.address(start);
            tag::CREATE
        }
        RecordedOperation::Join { child } => {
            sink.number(u64::from(child.0));
            tag::JOIN
        }
        RecordedOperation::Exit => tag::EXIT,
        RecordedOperation::Acquire { lock, mode } => {
            sink.byte(mode_byte(mode));
            sink.address(lock);
            tag::ACQUIRE
        }
        RecordedOperation::Release { lock, mode } => {
            sink.byte(mode_byte(mode));
            sink.address(lock);
            tag::RELEASE
        }
        RecordedOperation::Birth {
            location: _,
            address,
            size,
            value,
        } => {
            sink.byte(size);
            sink.address(address);
            sink.wide(value);
            tag::BIRTH
        }
        RecordedOperation::Free { address, size } => {
            sink.address(address);
            sink.number(size);
            tag::FREE
        }
        RecordedOperation::Reclaim { address, size } => {
            sink.address(address);
            sink.number(size);
            tag::RECLAIM
        }
        RecordedOperation::Read { address, size } => {
            sink.address(address);
            sink.number(size);
            tag::READ
        }
        RecordedOperation::Write { address, size } => {
            sink.address(address);
            sink.number(size);
            tag::WRITE
        }
    };
    sink.commit(tag)
}

fn order_byte(order: Order) -> u8 {
    order as u8
}

fn mode_byte(mode: LockMode) -> u8 {
    mode as u8
}
