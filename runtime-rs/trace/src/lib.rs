//! The trace of an instrumented run: its records, how they are encoded, and a
//! reader that survives a cut or damaged file. Pure bytes, no I/O, and no
//! knowledge of what the events mean: the runtime writes, the tool reads. The
//! format is described in `docs/trace-format.md`.
//!
//! A trace is a header, records in the order of the turn, and an end record:
//!
//! ```
//! use wmfix_trace::{
//!     ContextId, End, Ending, Event, Header, LocationId, MAX_RECORD, Order, Reader, Record,
//!     RecordedOperation, StackId, Strategy, ThreadId, Volatile, encode_context, encode_end,
//!     encode_event, encode_header,
//! };
//!
//! let header = Header {
//!     pid: 1,
//!     parent: 0,
//!     started: 0,
//!     seed: 7,
//!     strategy: Strategy::Pct,
//!     volatile: Volatile::Ignore,
//!     races: true,
//!     forked: false,
//!     checked: false,
//!     command: Vec::new(),
//! };
//! let mut trace = encode_header(&header, b"./program\0");
//! let mut append = |encode: &dyn Fn(&mut [u8]) -> usize| {
//!     let mut record = [0; MAX_RECORD];
//!     let length = encode(&mut record);
//!     trace.extend_from_slice(&record[..length]);
//! };
//! let birth = RecordedOperation::Birth {
//!     location: LocationId(0),
//!     address: 0x7000,
//!     size: 4,
//!     value: 0,
//! };
//! let store = RecordedOperation::Store {
//!     location: LocationId(0),
//!     order: Order::Release,
//!     value: 1,
//! };
//! append(&|out| encode_context(out, StackId(0), 0x401000));
//! append(&|out| encode_event(out, ContextId(1), &birth));
//! append(&|out| encode_event(out, ContextId(1), &store));
//! append(&|out| encode_end(out, End::Exit { code: 0 }, 3));
//!
//! let mut reader = Reader::new(&trace)?;
//! assert_eq!(reader.header().command, ["./program"]);
//! let last = reader.by_ref().last();
//! assert_eq!(
//!     last,
//!     Some(Record::Event(Event {
//!         thread: ThreadId(0),
//!         context: ContextId(1),
//!         operation: store,
//!     }))
//! );
//! assert_eq!(reader.ending(), Some(Ending::Complete(End::Exit { code: 0 })));
//! # Ok::<(), wmfix_trace::HeaderError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bytes;
mod damage;
mod header;
mod loose_count;
mod read;
mod record;
mod serve;
mod stale;
mod sync;
mod write;

#[cfg(test)]
mod tests;

pub use damage::{BadDamage, LostOrder, UndoneStore};
pub use header::{
    HEADER_FIXED, Header, HeaderError, MAGIC, RECORDED_BESIDE, Strategy, UNFINISHED, VERSION,
    Volatile, encode_header,
};
pub use loose_count::LooseCount;
pub use read::{Corruption, Ending, Reader};
pub use record::{
    AccessName, Cause, CheckRecord, ContextId, Counts, End, Event, GiveUp, Limit, LocalSite,
    LocationId, LockMode, Misuse, MisuseKind, Module, Order, Record, RecordedOperation, RmwKind,
    StackId, StuckThread, SyncRecord, ThreadId, Turn, WaitsFor,
};
pub use serve::{
    CANNOT, INHERITED_VARIABLE, Obstacle, READY, RUN_VARIABLES, SERVER_SYMBOL, SERVER_VARIABLE,
};
pub use stale::{
    BadStaleTarget, StaleTarget, StaleTargets, TakenWrite, process_key, process_key_of,
};
pub use sync::SyncKind;
pub use write::{
    MAX_RECORD, encode_check, encode_context, encode_end, encode_event, encode_exec,
    encode_handed_back, encode_handed_out, encode_ignored, encode_limit, encode_misuse,
    encode_module, encode_quarantine, encode_stack, encode_stale, encode_stuck, encode_sync,
    encode_turn, encode_unseen, encode_volatile_spin, module_len, unseen_len,
};
