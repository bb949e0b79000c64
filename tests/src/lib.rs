//! What the tests share: the litmus corpus, brute-force truth, the harness of the
//! test executables, and the `wmfix` binary as the product tests call it.
#![forbid(unsafe_code)]

pub mod brute;
pub mod cases;
pub mod compare;
pub mod compiled;
pub mod examples;
pub mod exploring;
pub mod fuzzing;
pub mod harness;
pub mod litmus;
pub mod predict;
pub mod product;
pub mod program_fuzz;
pub mod project;
pub mod reference;
pub mod registry;
pub mod repairing;
pub mod rewriter;
pub mod rng;
pub mod runs;
pub mod sites;
pub mod streams;
pub mod tools;
pub mod wait_loops;
pub mod weak;
