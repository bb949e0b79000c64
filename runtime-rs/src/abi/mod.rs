//! What the compilers' thread-sanitizer pass calls: `__tsan_*`. Each entry is a
//! trampoline that adds the return address and a shim that converts, calls and
//! returns. The meaning of the operations is elsewhere.

mod annotate;
mod atomic;
mod directed;
mod function;
mod plain;
mod trampoline;

pub(crate) use atomic::flush_volatile;
pub(crate) use directed::stored;
pub(crate) use plain::{read, write};
