//! The records of a trace, as the reader yields them and the writer takes them.
//! Nothing here knows how they are laid out in bytes.

use alloc::string::String;
use alloc::vec::Vec;

/// A thread of the process; 0 is the one that ran `main`. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// An atomic location, from its birth to the end of the object that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

/// A program counter together with the call stack above it. 0 is "unknown".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(pub u32);

/// A call stack: a caller's stack and one more frame. 0 is the empty stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(pub u32);

/// An atomic access by who makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccessName {
    /// Who.
    pub thread: ThreadId,
    /// Its number among the recorded atomic accesses of the thread, from 1.
    pub number: u32,
}

/// One record of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A file mapped into the process that holds code.
    Module(Module),
    /// A call stack that later records name.
    Stack {
        /// Its number: one more than the last one's.
        stack: StackId,
        /// The stack of the caller.
        parent: StackId,
        /// The return address in the caller.
        pc: u64,
    },
    /// A context that later records name.
    Context {
        /// Its number: one more than the last one's.
        context: ContextId,
        /// The calls that led there.
        stack: StackId,
        /// The return address of the operation: the instruction *after* it.
        pc: u64,
    },
    /// The turn goes to another thread.
    Turn(Turn),
    /// Something that a thread did.
    Event(Event),
    /// A thread that could not go on when the run was ended.
    Stuck(StuckThread),
    /// The process is about to become another program. If records follow, it
    /// could not.
    Exec,
    /// The next event is an access that was made to take this write instead of the
    /// newest one; `None` for the location's first value. What it wrote, if it did,
    /// is older than what memory holds.
    Stale(Option<AccessName>),
    /// So many annotations of happens-before were ignored so far: written whenever the
    /// number has doubled.
    Ignored(u64),
    /// The memory that was given back last is kept from being handed out again:
    /// whoever touches it from now on uses freed memory.
    Quarantine {
        /// The first byte.
        address: u64,
        /// How many.
        size: u64,
    },
}

/// A file mapped into the process that holds code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// What to subtract from an address to get the file's own.
    pub bias: u64,
    /// The first address of its segments.
    pub first: u64,
    /// One past the last address of its segments.
    pub end: u64,
    /// The linker's build id; empty if it has none.
    pub build_id: Vec<u8>,
    /// Where the file was.
    pub path: String,
}

/// The turn goes to another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Who gets it.
    pub thread: ThreadId,
    /// How many choices were made since the turn last changed hands: what a
    /// replay counts. 0 throughout under `os`, where nobody chooses.
    pub choices: u64,
    /// Why it changed hands.
    pub cause: Cause,
}

/// Why the turn changed hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The strategy wanted it so.
    Choice,
    /// The thread before waits for something.
    Blocked,
    /// The thread before has ended.
    Ended,
    /// The thread before was stuck in a call that is not controlled. Depends
    /// on the clock: such a run may differ when it is repeated.
    Watchdog,
    /// The operating system schedules.
    System,
    /// Nobody did yet: this is how a schedule is to be followed. `choices` counts
    /// the operations of the thread before, instead of choices.
    Planned,
}

/// Something that a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub context: ContextId,
    /// What.
    pub operation: RecordedOperation,
}

/// A memory order as the source spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_consume`
    Consume,
    /// `memory_order_acquire`
    Acquire,
    /// `memory_order_release`
    Release,
    /// `memory_order_acq_rel`
    AcqRel,
    /// `memory_order_seq_cst`
    SeqCst,
}

impl Order {
    /// The name in C without `memory_order_`: what reports print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::Consume => "consume",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "seq_cst",
        }
    }
}

/// What a thread did. Values are raw bits, zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedOperation {
    /// An atomic load.
    Load {
        /// The location.
        location: LocationId,
        /// Its order.
        order: Order,
        /// What it read.
        value: u128,
    },
    /// An atomic store.
    Store {
        /// The location.
        location: LocationId,
        /// Its order.
        order: Order,
        /// What it wrote.
        value: u128,
    },
    /// A read-modify-write that always writes.
    Rmw {
        /// The location.
        location: LocationId,
        /// Its order.
        order: Order,
        /// Which.
        kind: RmwKind,
        /// What it read.
        read: u128,
        /// What it wrote.
        written: u128,
    },
    /// A compare-exchange.
    CompareExchange {
        /// The location.
        location: LocationId,
        /// The order if it succeeds.
        success: Order,
        /// The order if it fails.
        failure: Order,
        /// Whether it may fail for no reason.
        weak: bool,
        /// What it expected.
        expected: u128,
        /// What it read.
        read: u128,
        /// What it wrote, if it did.
        written: Option<u128>,
    },
    /// A thread fence.
    Fence {
        /// Its order.
        order: Order,
    },
    /// The thread starts another one.
    Create {
        /// The new thread.
        child: ThreadId,
        /// The function it runs.
        start: u64,
    },
    /// The thread has waited for the end of another one.
    Join {
        /// The ended thread.
        child: ThreadId,
    },
    /// The thread's last event.
    Exit,
    /// The thread has taken a lock, or learnt from a signal.
    Acquire {
        /// The lock's address.
        lock: u64,
        /// How.
        mode: LockMode,
    },
    /// The thread gives a lock back, or sends a signal.
    Release {
        /// The lock's address.
        lock: u64,
        /// How it was held.
        mode: LockMode,
    },
    /// The thread touches an atomic object for the first time, or finds it
    /// changed by something that is not an atomic operation: from here on the
    /// location is a fresh one.
    Birth {
        /// The location: one more than the last one's number.
        location: LocationId,
        /// Its first byte.
        address: u64,
        /// Its size: 1, 2, 4, 8 or 16.
        size: u8,
        /// What it held.
        value: u128,
    },
    /// Memory ends with the call or the thread that it belonged to, or is used for
    /// something else: what lies there ends.
    Reclaim {
        /// The first byte.
        address: u64,
        /// How many.
        size: u64,
    },
    /// The program gives memory back: what lies there ends. Counts as a write to all
    /// of it.
    Free {
        /// The first byte.
        address: u64,
        /// How many.
        size: u64,
    },
    /// A plain read. Recorded only when races are looked for.
    Read {
        /// The first byte.
        address: u64,
        /// How many.
        size: u64,
    },
    /// A plain write. Recorded only when races are looked for.
    Write {
        /// The first byte.
        address: u64,
        /// How many.
        size: u64,
    },
}

impl RecordedOperation {
    /// Whether this is about plain memory: no operation on an atomic, a lock or a
    /// thread, and so nothing that a schedule counts.
    #[inline]
    pub fn is_plain(&self) -> bool {
        matches!(
            self,
            Self::Birth { .. }
                | Self::Reclaim { .. }
                | Self::Free { .. }
                | Self::Read { .. }
                | Self::Write { .. }
        )
    }
}

/// Which read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwKind {
    /// Exchange.
    Exchange,
    /// Fetch-and-add.
    Add,
    /// Fetch-and-sub.
    Sub,
    /// Fetch-and-and.
    And,
    /// Fetch-and-or.
    Or,
    /// Fetch-and-xor.
    Xor,
    /// Fetch-and-nand.
    Nand,
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// A mutex, or the write side of an rwlock.
    Exclusive,
    /// The read side of an rwlock.
    Shared,
    /// Not held: a condition, barrier, semaphore, futex or annotation.
    Signal,
}

/// A thread that could not go on when the run was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StuckThread {
    /// Who.
    pub thread: ThreadId,
    /// Where.
    pub context: ContextId,
    /// On what.
    pub waits_for: WaitsFor,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// A mutex, rwlock or spin lock, by address.
    Lock(u64),
    /// A condition variable, by address.
    Condition(u64),
    /// A semaphore, by address.
    Semaphore(u64),
    /// A barrier, by address.
    Barrier(u64),
    /// A futex, by address: this is also what `std::atomic::wait` is.
    Futex(u64),
    /// The end of another thread.
    Thread(ThreadId),
    /// A value that never changes: the thread reads it again and again.
    Value(LocationId),
    /// Nothing: it could run.
    Nothing,
    /// A call that is not controlled.
    Outside,
    /// A time that has not come.
    Time,
    /// A message through a descriptor, by the number of what it stands for.
    Descriptor(u64),
}

/// How the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The process left with this code.
    Exit {
        /// The code.
        code: i32,
    },
    /// A signal that kills was about to.
    Signal {
        /// Its number.
        number: i32,
        /// Who got it.
        thread: ThreadId,
        /// The instruction it was at.
        pc: u64,
        /// The calls that led there, and the last instruction of instrumented code
        /// among them.
        context: ContextId,
    },
    /// No thread could go on; the runtime ended the process.
    Deadlock,
    /// Every thread spun and nothing changed; the runtime ended the process.
    Livelock,
    /// The trace could not grow. The program ran on, unrecorded.
    NoSpace {
        /// The `errno` that said so.
        errno: i32,
    },
    /// The trace was as large as it may be. The program ran on, unrecorded.
    LimitReached,
}
