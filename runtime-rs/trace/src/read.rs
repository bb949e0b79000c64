//! Bytes into records. Every number that names something is checked against
//! what the trace has introduced, so that a damaged file is noticed where the
//! damage starts to matter, and everything before it can still be used.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::bytes::{ByteError, Source};
use crate::header::{Header, HeaderError, decode_header};
use crate::record::{
    AccessName, Cause, CheckRecord, ContextId, Counts, End, Event, GiveUp, Limit, LocalSite,
    LocationId, LockMode, Misuse, MisuseKind, Module, Order, Record, RecordedOperation, RmwKind,
    StackId, StuckThread, SyncRecord, ThreadId, Turn, WaitsFor,
};
use crate::sync::SyncKind;
use crate::write::{NO_ORDER, tag};

/// Yields the records of a trace in the order of the turn. When it yields no
/// more, [`Reader::ending`] says why.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    header: Header,
    ending: Option<Ending>,
    records: u64,
    thread: ThreadId,
    threads: u32,
    stacks: u32,
    contexts: u32,
    locations: u32,
    unlisted: u32,
}

/// Why a trace has no more records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The run came to this end and the trace is whole.
    Complete(End),
    /// The trace is whole as far as it goes, but the process did not come to
    /// write its end: it was killed, or has become another program, or runs.
    Open,
    /// The file ends within a record: it was cut.
    Cut {
        /// Where the record begins.
        offset: usize,
    },
    /// The bytes are not those of a trace from here on.
    Corrupt {
        /// Where the record begins.
        offset: usize,
        /// What is wrong with it.
        what: Corruption,
    },
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corruption {
    /// There is no such kind of record.
    Kind(u8),
    /// A field holds what it may not.
    Field(&'static str),
    /// It names a thread, stack, context or location that does not exist.
    Unknown {
        /// What it names.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// The end says that there were this many records, and there were not.
    Count(u64),
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(End::Exit { code }) => write!(f, "the program exited with code {code}"),
            Self::Complete(End::Signal { number, thread, .. }) => {
                write!(f, "thread {} was killed by signal {number}", thread.0)
            }
            Self::Complete(End::Deadlock) => write!(f, "the program deadlocked"),
            Self::Complete(End::Livelock) => write!(f, "the program livelocked"),
            Self::Complete(End::NoSpace { errno }) => {
                write!(f, "the trace could not grow (errno {errno})")
            }
            Self::Complete(End::LimitReached) => write!(f, "the trace has reached its limit"),
            Self::Complete(End::StepLimit) => write!(f, "the run has reached its limit of steps"),
            Self::Open => write!(f, "the program was stopped before its end"),
            Self::Cut { offset } => write!(f, "the trace is cut at byte {offset}"),
            Self::Corrupt { offset, what } => {
                write!(f, "the trace is damaged at byte {offset}: {what}")
            }
        }
    }
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => write!(f, "unknown record kind {kind}"),
            Self::Field(what) => write!(f, "{what}"),
            Self::Unknown { what, number } => write!(f, "there is no {what} {number}"),
            Self::Count(count) => write!(f, "the end record counts {count} records before it"),
        }
    }
}

impl<'a> Reader<'a> {
    /// Reads the header. `bytes` is the whole file.
    pub fn new(bytes: &'a [u8]) -> Result<Self, HeaderError> {
        let (header, at) = decode_header(bytes)?;
        Ok(Self {
            bytes,
            at,
            header,
            ending: None,
            records: 0,
            thread: ThreadId(0),
            threads: 1,
            stacks: 0,
            contexts: 0,
            locations: 0,
            unlisted: 0,
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Why there are no more records; `None` while there may be.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    fn record(&mut self, source: &mut Source<'_>) -> Result<Option<Record>, Fault> {
        let kind = source.byte()?;
        let record = match kind {
            tag::MODULE => Record::Module(self.module(source)?),
            tag::STACK => {
                let parent = self.stack(source)?;
                let pc = source.address()?;
                self.stacks += 1;
                let stack = StackId(self.stacks);
                Record::Stack { stack, parent, pc }
            }
            tag::CONTEXT => {
                let stack = self.stack(source)?;
                let pc = source.address()?;
                self.contexts += 1;
                let context = ContextId(self.contexts);
                Record::Context { context, stack, pc }
            }
            tag::TURN => {
                let thread = self.known_thread(source)?;
                let choices = source.number()?;
                let cause = match source.byte()? {
                    0 => Cause::Choice,
                    1 => Cause::Blocked,
                    2 => Cause::Ended,
                    3 => Cause::Watchdog,
                    4 => Cause::System,
                    5 => Cause::Planned,
                    6 => Cause::Unexplored,
                    7 => Cause::PlannedLoosely,
                    _ => return Err(Fault::field("an unknown cause of a turn")),
                };
                self.thread = thread;
                Record::Turn(Turn {
                    thread,
                    choices,
                    cause,
                })
            }
            tag::STUCK => Record::Stuck(self.stuck(source)?),
            tag::MISUSE => Record::Misuse(self.misuse(source)?),
            tag::VOLATILE_SPIN => Record::VolatileSpin,
            tag::SYNC => Record::Sync(SyncRecord {
                context: self.context(source)?,
                kind: SyncKind::from_byte(source.byte()?)
                    .ok_or(Fault::field("an unknown use of a synchronisation object"))?,
                object: source.address()?,
                state: source.number()?,
            }),
            tag::UNSEEN => {
                let context = self.context(source)?;
                let len = source.small()? as usize;
                let function = String::from_utf8_lossy(source.slice(len)?).into_owned();
                Record::Unseen { context, function }
            }
            tag::LIMIT => {
                let limit = Limit::ALL.get(usize::from(source.byte()?));
                Record::Limit(*limit.ok_or(Fault::field("an unknown limit"))?)
            }
            tag::EXEC => Record::Exec,
            tag::STALE => match source.byte()? {
                0 => Record::Stale(None),
                1 => Record::Stale(Some(AccessName {
                    thread: self.known_thread(source)?,
                    number: source.small()?,
                })),
                _ => return Err(Fault::field("an unknown stale write")),
            },
            tag::IGNORED => Record::Ignored(source.number()?),
            tag::QUARANTINE => Record::Quarantine {
                address: source.address()?,
                size: source.number()?,
            },
            tag::HANDED_OUT => Record::HandedOut {
                context: self.context(source)?,
                address: source.address()?,
                size: source.number()?,
            },
            tag::HANDED_BACK => Record::HandedBack {
                address: source.address()?,
            },
            tag::REACHED..=tag::GAVE_UP => Record::Check(self.check(kind, source)?),
            tag::END => {
                self.end(source)?;
                return Ok(None);
            }
            _ => {
                if !(tag::LOAD..=tag::RECLAIM).contains(&kind) {
                    return Err(Fault::Corrupt(Corruption::Kind(kind)));
                }
                let context = self.context(source)?;
                let operation = self.operation(kind, source)?;
                Record::Event(Event {
                    thread: self.thread,
                    context,
                    operation,
                })
            }
        };
        Ok(Some(record))
    }

    fn check(&mut self, kind: u8, source: &mut Source<'_>) -> Result<CheckRecord, Fault> {
        Ok(match kind {
            tag::REACHED => CheckRecord::Reached(self.site(source)?),
            tag::UNLISTED => {
                let context = self.context(source)?;
                let kind = source.byte()?;
                let order = match source.byte()? {
                    NO_ORDER => None,
                    byte => Some(order(byte)?),
                };
                self.unlisted += 1;
                CheckRecord::Unlisted {
                    context,
                    kind,
                    order,
                }
            }
            tag::VIOLATION => {
                let kind = source.byte()?;
                let access = self.site(source)?;
                let has_newer = flag(source.byte()?)?;
                let newer = self.site(source)?;
                CheckRecord::Violation {
                    access,
                    newer: has_newer.then_some(newer),
                    kind,
                }
            }
            tag::RACE => CheckRecord::Race {
                predicted: flag(source.byte()?)?,
                first: self.site(source)?,
                second: self.site(source)?,
            },
            tag::COUNTS => CheckRecord::Counts(Counts {
                events: source.number()?,
                plain_events: source.number()?,
                schedule: source.address()?,
                concurrent: flag(source.byte()?)?,
            }),
            _ => CheckRecord::GaveUp(match source.byte()? {
                0 => GiveUp::LongWait,
                1 => GiveUp::Contradiction,
                2 => GiveUp::Refused,
                3 => GiveUp::NoMemory,
                4 => GiveUp::Prediction,
                _ => return Err(Fault::field("an unknown reason to give up")),
            }),
        })
    }

    fn site(&self, source: &mut Source<'_>) -> Result<LocalSite, Fault> {
        let number = source.small()?;
        match number.checked_sub(LocalSite::FIRST_UNLISTED) {
            Some(unlisted) if unlisted >= self.unlisted => {
                Err(Fault::unknown("unlisted operation", unlisted))
            }
            _ => Ok(LocalSite(number)),
        }
    }

    fn operation(&mut self, kind: u8, source: &mut Source<'_>) -> Result<RecordedOperation, Fault> {
        Ok(match kind {
            tag::LOAD => RecordedOperation::Load {
                order: order(source.byte()?)?,
                location: self.location(source)?,
                value: source.wide()?,
            },
            tag::STORE => RecordedOperation::Store {
                order: order(source.byte()?)?,
                location: self.location(source)?,
                value: source.wide()?,
            },
            tag::RMW => {
                let byte = source.byte()?;
                RecordedOperation::Rmw {
                    order: order(byte & 15)?,
                    kind: rmw_kind(byte >> 4)?,
                    location: self.location(source)?,
                    read: source.wide()?,
                    written: source.wide()?,
                }
            }
            tag::EXCHANGED | tag::FAILED => {
                let byte = source.byte()?;
                let location = self.location(source)?;
                let expected = source.wide()?;
                let value = source.wide()?;
                let exchanged = kind == tag::EXCHANGED;
                RecordedOperation::CompareExchange {
                    location,
                    success: order(byte & 7)?,
                    failure: order(byte >> 3 & 7)?,
                    weak: byte >> 6 == 1,
                    expected,
                    read: if exchanged { expected } else { value },
                    written: exchanged.then_some(value),
                }
            }
            tag::FENCE => RecordedOperation::Fence {
                order: order(source.byte()?)?,
            },
            tag::CREATE => {
                let child = source.small()?;
                if child != self.threads {
                    return Err(Fault::unknown("next thread", child));
                }
                self.threads += 1;
                RecordedOperation::Create {
                    child: ThreadId(child),
                    start: source.address()?,
                }
            }
            tag::JOIN => RecordedOperation::Join {
                child: self.known_thread(source)?,
            },
            tag::EXIT => RecordedOperation::Exit,
            tag::ACQUIRE => RecordedOperation::Acquire {
                mode: mode(source.byte()?)?,
                lock: source.address()?,
            },
            tag::RELEASE => RecordedOperation::Release {
                mode: mode(source.byte()?)?,
                lock: source.address()?,
            },
            tag::BIRTH => {
                let size = source.byte()?;
                if !matches!(size, 1 | 2 | 4 | 8 | 16) {
                    return Err(Fault::field("a location of a size that does not exist"));
                }
                let address = source.address()?;
                let value = source.wide()?;
                self.locations += 1;
                RecordedOperation::Birth {
                    location: LocationId(self.locations - 1),
                    address,
                    size,
                    value,
                }
            }
            tag::FREE => RecordedOperation::Free {
                address: source.address()?,
                size: source.number()?,
            },
            tag::RECLAIM => RecordedOperation::Reclaim {
                address: source.address()?,
                size: source.number()?,
            },
            tag::READ => RecordedOperation::Read {
                address: source.address()?,
                size: source.number()?,
            },
            _ => RecordedOperation::Write {
                address: source.address()?,
                size: source.number()?,
            },
        })
    }

    fn module(&self, source: &mut Source<'_>) -> Result<Module, Fault> {
        let (bias, first, end) = (source.address()?, source.address()?, source.address()?);
        let len = source.small()? as usize;
        let build_id = Vec::from(source.slice(len)?);
        let len = source.small()? as usize;
        let path = String::from_utf8_lossy(source.slice(len)?).into_owned();
        Ok(Module {
            bias,
            first,
            end,
            build_id,
            path,
        })
    }

    fn stuck(&self, source: &mut Source<'_>) -> Result<StuckThread, Fault> {
        let thread = self.known_thread(source)?;
        let context = self.context(source)?;
        let kind = source.byte()?;
        let address = source.address()?;
        let waits_for = match kind {
            0 => WaitsFor::Lock(address),
            1 => WaitsFor::Condition(address),
            2 => WaitsFor::Semaphore(address),
            3 => WaitsFor::Barrier(address),
            4 => WaitsFor::Futex(address),
            5 => WaitsFor::Thread(ThreadId(address as u32)),
            6 => WaitsFor::Value(LocationId(address as u32)),
            7 => WaitsFor::Nothing,
            8 => WaitsFor::Outside,
            9 => WaitsFor::Time,
            10 => WaitsFor::Descriptor(address),
            _ => return Err(Fault::field("an unknown thing to wait for")),
        };
        Ok(StuckThread {
            thread,
            context,
            waits_for,
        })
    }

    fn misuse(&self, source: &mut Source<'_>) -> Result<Misuse, Fault> {
        Ok(Misuse {
            thread: self.known_thread(source)?,
            context: self.context(source)?,
            kind: match source.byte()? {
                0 => MisuseKind::UnlockedFree,
                1 => MisuseKind::UnlockedByOther,
                2 => MisuseKind::UsedAfterEnd,
                3 => MisuseKind::EndedInUse,
                _ => return Err(Fault::field("an unknown misuse of a lock")),
            },
            lock: source.address()?,
        })
    }

    fn end(&mut self, source: &mut Source<'_>) -> Result<(), Fault> {
        let count = source.number()?;
        let end = match source.byte()? {
            0 => End::Exit {
                code: source.small()? as i32,
            },
            1 => End::Signal {
                number: source.small()? as i32,
                thread: self.known_thread(source)?,
                pc: source.address()?,
                context: self.context(source)?,
            },
            2 => End::Deadlock,
            3 => End::Livelock,
            4 => End::NoSpace {
                errno: source.small()? as i32,
            },
            5 => End::LimitReached,
            6 => End::StepLimit,
            _ => return Err(Fault::field("an unknown end")),
        };
        if count != self.records {
            return Err(Fault::Corrupt(Corruption::Count(count)));
        }
        self.ending = Some(Ending::Complete(end));
        Ok(())
    }

    fn known_thread(&self, source: &mut Source<'_>) -> Result<ThreadId, Fault> {
        let number = source.small()?;
        // A run that is checked in the process does not introduce its threads.
        if number < self.threads || self.header.checked {
            Ok(ThreadId(number))
        } else {
            Err(Fault::unknown("thread", number))
        }
    }

    fn stack(&self, source: &mut Source<'_>) -> Result<StackId, Fault> {
        let number = source.small()?;
        if number <= self.stacks {
            Ok(StackId(number))
        } else {
            Err(Fault::unknown("stack", number))
        }
    }

    fn context(&self, source: &mut Source<'_>) -> Result<ContextId, Fault> {
        let number = source.small()?;
        if number <= self.contexts {
            Ok(ContextId(number))
        } else {
            Err(Fault::unknown("context", number))
        }
    }

    fn location(&self, source: &mut Source<'_>) -> Result<LocationId, Fault> {
        let number = source.small()?;
        if number < self.locations {
            Ok(LocationId(number))
        } else {
            Err(Fault::unknown("location", number))
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.ending.is_some() {
            return None;
        }
        let offset = self.at;
        // A file whose process was killed ends in the zeros it was grown with.
        if self.bytes.get(offset).is_none_or(|&tag| tag == 0) {
            self.ending = Some(Ending::Open);
            return None;
        }
        let mut source = Source::new(self.bytes, offset);
        match self.record(&mut source) {
            Ok(record) => {
                self.at = source.at();
                self.records += 1;
                record
            }
            Err(Fault::Short) => {
                self.ending = Some(Ending::Cut { offset });
                None
            }
            Err(Fault::Corrupt(what)) => {
                self.ending = Some(Ending::Corrupt { offset, what });
                None
            }
        }
    }
}

enum Fault {
    Short,
    Corrupt(Corruption),
}

impl Fault {
    fn field(what: &'static str) -> Self {
        Self::Corrupt(Corruption::Field(what))
    }

    fn unknown(what: &'static str, number: u32) -> Self {
        Self::Corrupt(Corruption::Unknown { what, number })
    }
}

impl From<ByteError> for Fault {
    fn from(bad: ByteError) -> Self {
        match bad {
            ByteError::Short => Self::Short,
            ByteError::Value(what) => Self::field(what),
        }
    }
}

fn flag(byte: u8) -> Result<bool, Fault> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Fault::field("a flag that is neither 0 nor 1")),
    }
}

fn order(byte: u8) -> Result<Order, Fault> {
    Ok(match byte {
        0 => Order::Relaxed,
        1 => Order::Consume,
        2 => Order::Acquire,
        3 => Order::Release,
        4 => Order::AcqRel,
        5 => Order::SeqCst,
        _ => return Err(Fault::field("an unknown memory order")),
    })
}

fn rmw_kind(byte: u8) -> Result<RmwKind, Fault> {
    Ok(match byte {
        0 => RmwKind::Exchange,
        1 => RmwKind::Add,
        2 => RmwKind::Sub,
        3 => RmwKind::And,
        4 => RmwKind::Or,
        5 => RmwKind::Xor,
        6 => RmwKind::Nand,
        _ => return Err(Fault::field("an unknown read-modify-write")),
    })
}

fn mode(byte: u8) -> Result<LockMode, Fault> {
    Ok(match byte {
        0 => LockMode::Exclusive,
        1 => LockMode::Shared,
        2 => LockMode::Signal,
        _ => return Err(Fault::field("an unknown lock mode")),
    })
}
