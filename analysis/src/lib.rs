//! The memory model: events go in, violations of robustness and data races
//! come out, each with a witness. Knows nothing of C, processes or files.
#![forbid(unsafe_code)]

mod analyzer;
mod error;
mod event;
mod labels;
mod model;
mod order;
mod race;
mod violation;
pub mod witness;

pub use analyzer::{Analyzer, AnalyzerConfig, EventFindings, Limits};
pub use error::StreamError;
pub use event::{
    Bytes, CasOutcome, CasStrength, Comparison, Event, LocationId, LockId, LockMode, LoopExit,
    Operation, SiteId, ThreadId,
};
pub use labels::Labels;
pub use model::Model;
pub use order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
pub use race::{FoundRace, Race, RacingAccess};
pub use violation::{EventIndex, FoundViolation, Violation, ViolationKind, WriteRef};
