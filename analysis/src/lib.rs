//! The memory model: events go in, violations of robustness and data races
//! come out, each with a witness. Knows nothing of C, processes or files.
#![forbid(unsafe_code)]

mod event;
mod model;
mod order;
mod violation;

pub use event::{
    Bytes, CasOutcome, CasStrength, Event, Exit, LocationId, LockId, LockMode, Operation, Relation,
    SiteId, ThreadId,
};
pub use model::Model;
pub use order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
pub use violation::{EventIndex, Violation, ViolationKind, WriteRef};
