//! What the tests of the examples share.
pub mod example;
pub mod sketch;
pub mod truth;
pub mod undo;
