//! Finds atomic operations in C and C++ source text. Owns [`Site`] and the
//! vocabularies that say how atomics are spelled; knows nothing of running
//! programs or of memory models.
#![forbid(unsafe_code)]

mod order;
mod site;

pub use order::MemoryOrder;
pub use site::{
    Exit, LoopRole, Operand, Operation, OrderPlace, OrderSpelling, Position, Relation, Site, Span,
};
