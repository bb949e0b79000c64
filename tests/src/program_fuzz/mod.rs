//! A differential fuzzer for programs: random small C programs are run by wmfix in all
//! its ways, by TSan and natively, and what they say is held against each other and
//! against brute force. A contradiction is shrunk on the program's tree.
//!
//! `program` is the tree, `generate` draws one, `spell` writes it as C, `steps` flattens
//! it; `machine` and `core` know the truth about it; `lab` runs it; `oracles` judge.

mod clocks;
mod core;
mod generate;
mod lab;
mod machine;
mod oracles;
mod program;
mod running;
mod session;
mod shrink;
mod spell;
mod steps;
mod truth;

pub use generate::Weights;
pub use session::{Found, Session, Tally};
