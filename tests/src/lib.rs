//! The litmus corpus and what the end-to-end tests share.
#![forbid(unsafe_code)]

pub mod brute;
pub mod compare;
pub mod compiled;
pub mod litmus;
pub mod product;
pub mod reference;
pub mod registry;
pub mod repairing;
pub mod rewriter;
pub mod runs;
pub mod sites;
pub mod streams;
pub mod tools;
