//! Holds analyses of runs against the brute-force truth: how all interleavings of
//! a program are fed to one, and how the analyzer's answers are read. The only
//! place that knows both sides.

mod analyzer;
mod lockstep;
mod online;
mod races;
mod witness;

pub use analyzer::{WatchedAnalyzer, assert_agrees, axioms_of};
pub use lockstep::{Disagreement, Effort, Subject, Tally, compare, compare_along};
pub use races::compare_races;
pub use witness::candidate;
