//! Race prediction by brute force: every correct reordering of a short run that
//! keeps the order of synchronisation, one step at a time, and random runs to
//! hold the predictor against it.

mod brute;
mod notation;
mod programs;
mod traces;

pub use brute::{ConflictingPair, SyncOrder, predictable_races};
pub use notation::{TraceNotationError, trace};
pub use programs::{Confirmation, confirm};
pub use traces::{TraceShape, random_trace};
