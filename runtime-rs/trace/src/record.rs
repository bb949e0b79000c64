//! The records of a trace, as the reader yields them and the writer takes them.
//! Nothing here knows how they are laid out in bytes.

use alloc::string::String;
use alloc::vec::Vec;

use crate::sync::SyncKind;

/// A thread of the process; 0 is the one that ran `main`. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

/// An atomic location, from its birth to the end of the object that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(pub u32);

/// A program counter together with the call stack above it. 0 is "unknown".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(pub u32);

/// A step's access to a synchronisation object. Written only in runs of an
/// exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncRecord {
    /// Where.
    pub context: ContextId,
    /// What it did.
    pub kind: SyncKind,
    /// The object: an address, or the number of a thread that waits.
    pub object: u64,
    /// What it found there, as a number; for [`SyncKind::Publish`] and
    /// [`SyncKind::Learn`] which of the object's rounds is meant.
    pub state: u64,
}

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
    /// A thread used a lock as it must not be used.
    Misuse(Misuse),
    /// The process is about to become another program. If records follow, it
    /// could not.
    Exec,
    /// The next event is an access that was made to take this write instead of the
    /// newest one; `None` for the location's first value. What it wrote, if it did,
    /// is older than what memory holds.
    Stale(Option<AccessName>),
    /// A thread spins on a volatile object, and volatile accesses are taken for plain
    /// ones: written once.
    VolatileSpin,
    /// Of a run of an exploration: what a step did with a synchronisation object.
    Sync(SyncRecord),
    /// Of a run of an exploration: a call whose accesses to memory nobody sees, made where
    /// another thread could notice them.
    Unseen {
        /// Where.
        context: ContextId,
        /// What was called, as the linker knows it. Empty: what the loader calls when the
        /// process ends.
        function: String,
    },
    /// The program does something that is not modelled to the end: written once of each
    /// kind.
    Limit(Limit),
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
    /// A block of memory was handed out, by a call in this context. Whatever was said
    /// about blocks that it overlaps is over.
    HandedOut {
        /// Where.
        context: ContextId,
        /// The first byte.
        address: u64,
        /// How many.
        size: u64,
    },
    /// The block at this address was given back. At address 0: from here on nothing is
    /// said about blocks, and nothing is known about any.
    HandedBack {
        /// The first byte.
        address: u64,
    },
    /// Of a run that is checked in the process: what that showed.
    Check(CheckRecord),
}

/// Something that a program does and the runtime does not see to the end. Where it can
/// make a finding wrong or hide one, whoever reads the report is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// It shares memory with a process that it was forked by or has forked.
    SharedMemory,
    /// It makes a thread or a process by `clone` that has the same memory.
    SharedAddressSpace,
    /// It maps memory at more addresses than can be told to be the same.
    ManyMappings,
    /// It has atomics of 3, 5, 6 or 7 bytes.
    OddAtomics,
    /// A thread appears that nobody was seen to start.
    UnknownThread,
    /// OpenMP's teams are within teams.
    NestedTeams,
    /// It accesses an atomic object in parts, or several as one.
    MixedSizes,
}

impl Limit {
    /// All of them, each at its number.
    pub const ALL: [Self; 7] = [
        Self::SharedMemory,
        Self::SharedAddressSpace,
        Self::ManyMappings,
        Self::OddAtomics,
        Self::UnknownThread,
        Self::NestedTeams,
        Self::MixedSizes,
    ];
}

/// A site, as a run that is checked in the process names it: a number of the table
/// that the run was given, or [`LocalSite::FIRST_UNLISTED`] and the number of the
/// operation among those that the table does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalSite(pub u32);

impl LocalSite {
    /// From here on the table does not have it.
    pub const FIRST_UNLISTED: u32 = 1 << 31;
}

/// What a run that is checked in the process has instead of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckRecord {
    /// An atomic operation of the table was executed.
    Reached(LocalSite),
    /// An operation that the table does not have. They are numbered from 0.
    Unlisted {
        /// Its context.
        context: ContextId,
        /// What it does, as a number that the host knows.
        kind: u8,
        /// Its memory order, if it has one.
        order: Option<Order>,
    },
    /// A violation.
    Violation {
        /// The access.
        access: LocalSite,
        /// The newer write; `None` for the location's first value.
        newer: Option<LocalSite>,
        /// What could go stale: 0 a read, 1 a write, 2 both.
        kind: u8,
    },
    /// A race.
    Race {
        /// The access that came first.
        first: LocalSite,
        /// The other one.
        second: LocalSite,
        /// Another order of the events shows it, and this one does not.
        predicted: bool,
    },
    /// How much the run has done so far. The last one counts.
    Counts(Counts),
    /// The rest of the run is not checked, or not as it was asked for.
    GaveUp(GiveUp),
}

/// How much a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events, but for relaxed fences and plain ones.
    pub events: u64,
    /// Plain accesses that were looked at, and ends of memory.
    pub plain_events: u64,
    /// Equal for equal schedules.
    pub schedule: u64,
    /// There was more than one thread.
    pub concurrent: bool,
}

/// Why a run is not checked any further while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GiveUp {
    /// A thread waited for so long that too many events had to wait with it.
    LongWait,
    /// A thread came back to a loop on a way that the text does not show.
    Contradiction,
    /// An event cannot have happened where it did.
    Refused,
    /// There is no memory for it.
    NoMemory,
    /// There are too many threads, critical sections or accesses for predictions; all
    /// else goes on.
    Prediction,
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
    /// The same, but the thread before may look more or less often than it did:
    /// `choices` is a [`crate::LooseCount`].
    PlannedLoosely,
    /// The thread before waits for something that an exploration of all runs does not
    /// control.
    Unexplored,
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
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Relaxed,
        Self::Consume,
        Self::Acquire,
        Self::Release,
        Self::AcqRel,
        Self::SeqCst,
    ];

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

/// A lock or barrier that was used as it must not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misuse {
    /// Who did it.
    pub thread: ThreadId,
    /// Where.
    pub context: ContextId,
    /// The lock's address.
    pub lock: u64,
    /// What was done.
    pub kind: MisuseKind,
}

/// How a lock was misused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MisuseKind {
    /// It was given back while nobody had it.
    UnlockedFree,
    /// It was given back by a thread that did not have it.
    UnlockedByOther,
    /// It was used after its end.
    UsedAfterEnd,
    /// It was ended while it was held, or waited for.
    EndedInUse,
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
    /// The run had taken as many steps as it may; the runtime ended the process.
    StepLimit,
}
