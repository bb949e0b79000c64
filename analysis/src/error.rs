//! What can be wrong with a stream of events. The event is refused, the
//! analyzer is as it was before it and can be fed on.

use crate::event::{LocationId, LockId, ThreadId};
use crate::violation::EventIndex;

/// An event that cannot have happened at its position in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The thread was never created.
    #[error("thread {} acts but was never created", .0.0)]
    UnknownThread(ThreadId),
    /// The thread has had its last event.
    #[error("thread {} acts after its exit", .0.0)]
    AfterExit(ThreadId),
    /// The thread was created before.
    #[error("thread {} is created a second time", .0.0)]
    ThreadExists(ThreadId),
    /// More threads at once than a clock can hold.
    #[error("thread {} is one too many: end and join some first", .0.0)]
    TooManyThreads(ThreadId),
    /// The thread is waited for but has not ended.
    #[error("thread {} is joined before its exit", .0.0)]
    JoinBeforeExit(ThreadId),
    /// The thread was waited for before.
    #[error("thread {} is joined a second time", .0.0)]
    JoinedTwice(ThreadId),
    /// The lock is given back by a thread that does not have it.
    #[error("thread {} unlocks lock {:#x} without holding it", .1.0, .0.0)]
    NotHeld(LockId, ThreadId),
    /// The lock is taken while another thread has it.
    #[error("thread {} takes lock {:#x} while another thread holds it", .1.0, .0.0)]
    HeldByOther(LockId, ThreadId),
    /// The event's index is not above the one before it.
    #[error("event {} comes after event {}", .1.0, .0.0)]
    OutOfOrder(EventIndex, EventIndex),
    /// A range of bytes that is empty or wraps around the address space.
    #[error("{size} bytes at {address:#x} are no range of memory")]
    BadRange {
        /// Its first byte.
        address: u64,
        /// Its size.
        size: u64,
    },
    /// A compare-exchange says that it exchanged what it did not expect, or a
    /// strong one that it failed on what it did expect.
    #[error("a compare-exchange of location {} contradicts itself", .0.0)]
    ImpossibleCas(LocationId),
    /// A thread or a location has had more events than can be counted.
    #[error("thread {} has had more events than the analysis can count", .0.0)]
    TooLong(ThreadId),
}
