//! The trace that an instrumented run leaves behind: its records, how they are
//! put into bytes, and a reader that survives a cut or damaged file. Pure
//! bytes, no I/O, and no idea of what the events mean: the runtime writes, the
//! tool reads. The format is described in `docs/trace-format.md`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bytes;
mod header;
mod read;
mod record;
mod write;

#[cfg(test)]
mod tests;

pub use header::{
    HEADER_FIXED, Header, HeaderError, MAGIC, Strategy, VERSION, Volatile, encode_header,
};
pub use read::{Corruption, Ending, Reader};
pub use record::{
    Cause, End, Event, LocationId, LockMode, Module, Operation, Order, PlaceId, Record, RmwKind,
    StackId, Stuck, ThreadId, Turn, WaitsFor,
};
pub use write::{
    MAX_RECORD, encode_end, encode_event, encode_exec, encode_module, encode_place, encode_stack,
    encode_stuck, encode_turn, module_len,
};
