//! Decides from the axioms alone whether a graph is a witness: well formed,
//! consistent in the memory model, and not sequentially consistent. Reads the whole
//! graph at once and shares nothing with the analysis that finds violations. Nothing
//! of a graph is left out to decide it: relations are walked by nearest neighbours
//! instead of listed pair by pair, so time and memory grow with the graph and not
//! with its square.
//!
//! The axioms are those of Ori Lahav, Viktor Vafeiadis, Jeehoon Kang, Chung-Kil
//! Hur and Derek Dreyer, *Repairing Sequential Consistency in C/C++11* (RC11),
//! PLDI 2017, <https://doi.org/10.1145/3062341.3062352>, with these deviations:
//! 1. An RMW is one event. A release sequence is C++20's (a write and the RMWs that
//!    read from it in a chain, nothing else) or C++17's (the writes that follow it
//!    directly in mo and are RMWs or of the same thread); RC11 as published has later
//!    stores of the same thread whatever stands between.
//! 2. The edges of thread creation, joins and locks are part of hb, and of what
//!    an interleaving has to respect.
//! 3. RC20's encoding of an SC fence, an RMW on a location that all of them
//!    share, is a total order on the SC fences that is part of both: the
//!    encoding's acquire fence, acq_rel RMW and release fence order exactly that.

mod axioms;
mod belongs;
mod edges;
mod past;
mod sc_order;
mod shape;
mod uses;

pub use belongs::{RunMismatch, belongs};
pub use shape::Defect;

use super::graph::{NodeId, Witness};
use crate::model::Model;

/// The largest graph that is decided, so that one takes a few seconds and some
/// hundred megabytes at most. A smaller one may be refused if a great many threads
/// synchronise with each other.
pub const MAX_NODES: usize = 1 << 19;

/// Why a graph is no witness.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refutation {
    /// It was not decided.
    #[error(
        "the graph has {nodes} nodes and is not decided: more than {MAX_NODES}, or too many threads"
    )]
    TooLarge {
        /// Its size.
        nodes: usize,
    },
    /// It is no execution graph at all.
    #[error("this is no execution graph: {0}")]
    IllFormed(#[from] Defect),
    /// A write is between an RMW and the write it reads from.
    #[error("{rmw:?} does not directly follow the write it reads from: {between:?} does")]
    Atomicity {
        /// The RMW.
        rmw: NodeId,
        /// What follows the write that it reads.
        between: NodeId,
    },
    /// hb = (po ∪ sw ∪ synchronisation)⁺ has a cycle.
    #[error("happens-before has a cycle: {cycle:?}")]
    HappensBefore {
        /// The nodes on it.
        cycle: Vec<NodeId>,
    },
    /// po ∪ rf has a cycle: a value out of thin air.
    #[error("program order and reads-from have a cycle: {cycle:?}")]
    ThinAir {
        /// The nodes on it.
        cycle: Vec<NodeId>,
    },
    /// hb; eco is reflexive: what happened before is seen as later.
    #[error("{earlier:?} happens before {later:?}, but their location has them the other way")]
    Coherence {
        /// First in hb.
        earlier: NodeId,
        /// First in eco = (rf ∪ mo ∪ fr)⁺.
        later: NodeId,
    },
    /// psc has a cycle: the SC events have no order.
    #[error("the SC events have no order: {cycle:?}")]
    ScOrder {
        /// The nodes on it.
        cycle: Vec<NodeId>,
    },
    /// The model allows it, and so does sequential consistency.
    #[error("the graph is sequentially consistent")]
    IsSequentiallyConsistent,
}

/// Whether the graph proves that the program is not robust.
///
/// # Errors
/// The first reason against it.
pub fn check(witness: &Witness, model: Model) -> Result<(), Refutation> {
    let nodes = witness.nodes.len();
    if nodes > MAX_NODES {
        return Err(Refutation::TooLarge { nodes });
    }
    shape::well_formed(witness, model)?;
    let edges = edges::Edges::of(witness, model);
    axioms::consistent(witness, &edges, model)?;
    axioms::not_sequential(&edges)
}
