//! Witnesses: for a violation, a part of the run's execution graph with the
//! access in its stale place, and an independent decision from the axioms that
//! the memory model allows this graph and no interleaving has it. Must not know
//! the clocks that find violations.

mod build;
pub mod check;
mod digraph;
mod emit;
pub mod explain;
pub mod graph;
mod machines;
mod objects;
mod operation;
mod part;
mod prove;
mod run_graph;
mod search;
mod stale;
#[cfg(test)]
mod tests;

pub use build::BuildError;
pub use check::{Defect, Refutation, RunMismatch, belongs, check};
pub use graph::{Guard, Label, Node, NodeId, ObjectId, Start, Witness};
pub use machines::{Machine, machines};
pub use prove::{Proof, ProofError, prove};
pub use search::Edge;
