//! What the tests of the examples share.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod example;
pub mod sketch;
pub mod truth;
pub mod undo;
