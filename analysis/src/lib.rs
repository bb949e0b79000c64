//! The memory model: events go in, violations of robustness and data races
//! come out, each with a witness. Knows nothing of C, processes or files.
//!
//! Two threads each store to one location and then load the other. In this run
//! the second thread reads 1 from `x`. Release and acquire also allow 0, which
//! no interleaving of the run does:
//!
//! ```
//! use wmfix_analysis::{
//!     Analyzer, AnalyzerConfig, Event, FenceOrder, Labels, LoadOrder, LocationId, Model, Operation,
//!     SiteId, StoreOrder, ThreadId, ViolationKind, witness,
//! };
//!
//! let (x, y) = (LocationId(0), LocationId(1));
//! let event = |thread, site, operation| Event {
//!     thread: ThreadId(thread),
//!     site: SiteId(site),
//!     operation,
//! };
//! let store = |location| Operation::Store { location, order: StoreOrder::Release, value: 1 };
//! let load = |location, value| Operation::Load {
//!     location,
//!     order: LoadOrder::Acquire,
//!     value,
//!     exit: None,
//! };
//! let run = [
//!     event(0, 0, Operation::Create { child: ThreadId(1) }),
//!     event(0, 1, store(x)),
//!     event(0, 2, load(y, 0)),
//!     event(1, 3, store(y)),
//!     event(1, 4, load(x, 1)),
//! ];
//!
//! let mut analyzer = Analyzer::new(AnalyzerConfig::default());
//! for event in &run {
//!     analyzer.feed(event)?;
//! }
//! let [found] = analyzer.violations() else { panic!("one violation") };
//! assert_eq!(found.violation.kind, ViolationKind::StaleRead);
//! assert_eq!(found.violation.site, SiteId(4));
//! assert_eq!(found.violation.stale[0].value, Some(0));
//!
//! // The violation has a witness, which is checked against the axioms.
//! let proofs = witness::prove(&run, &[found.violation.clone()], Model::RC11);
//! assert!(proofs[0].is_ok());
//!
//! // A full fence after each store removes it.
//! let mut labels = Labels::new();
//! labels.fence_after(SiteId(1), FenceOrder::SeqCst);
//! labels.fence_after(SiteId(3), FenceOrder::SeqCst);
//! let mut analyzer = Analyzer::new(AnalyzerConfig::default());
//! for event in labels.apply(&run) {
//!     analyzer.feed(&event)?;
//! }
//! assert!(analyzer.violations().is_empty());
//! # Ok::<(), wmfix_analysis::StreamError>(())
//! ```
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod analyzer;
mod error;
mod event;
pub mod explore;
mod hash;
mod joins;
mod labels;
mod model;
mod order;
pub mod predict;
mod race;
#[cfg(feature = "std")]
pub mod reordering;
mod violation;
pub mod weak;
#[cfg(feature = "std")]
pub mod witness;

pub use analyzer::{Analyzer, AnalyzerConfig, EventFindings, Limits, PlainFindings};

/// What is known about plain memory, in pieces of eight bytes, and where that is kept.
pub mod granule {
    pub use crate::analyzer::granule::{
        GRANULE_BYTES, Granule, GranuleStore, PAGE_GRANULES, covers,
    };
    pub use crate::analyzer::granule_map::GranuleMap;
}
pub use error::StreamError;
pub use event::{
    Bytes, CasOutcome, CasStrength, Comparison, Event, LocationId, LockId, LockMode, LoopExit,
    Operation, SiteId, ThreadId,
};
pub use joins::{JoinAhead, joins_ahead};
pub use labels::{LabelledRun, Labels, free_location};
pub use model::{Model, ReleaseSequences, SeqCst};
pub use order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
pub use race::{FoundRace, Race, RacingAccess};
pub use violation::{EventIndex, FoundViolation, Violation, ViolationKind, WriteRef};
