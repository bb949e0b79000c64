//! Proves violations: builds the witness, has it checked, and explains it. One
//! pass over the run serves all of its violations.

use super::build::{self, BuildError, Taken};
use super::check::{Refutation, RunMismatch, belongs, check};
use super::explain::{self, Explanation};
use super::graph::Witness;
use super::run_graph::{PlainWrites, RunGraph};
use crate::event::Event;
use crate::model::Model;
use crate::violation::Violation;

/// A violation that is beyond doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A graph that the memory model allows and no interleaving has.
    pub witness: Witness,
    /// Why no interleaving has it.
    pub explanation: Explanation,
}

/// Why a violation is not proved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// It does not fit the events.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The axioms refute it, or the graph is too large to decide.
    #[error(transparent)]
    Refuted(#[from] Refutation),
    /// The graph is not one of this run.
    #[error(transparent)]
    RunMismatch(#[from] RunMismatch),
}

/// Proves violations of one run, in their order. `events` is the stream that was
/// analysed.
pub fn prove(
    events: &[Event],
    violations: &[Violation],
    model: Model,
) -> Vec<Result<Proof, ProofError>> {
    let mut by_access: Vec<usize> = (0..violations.len()).collect();
    by_access.sort_by_key(|&at| violations[at].access);
    let mut run = RunGraph::default();
    let mut read = 0;
    let mut proofs: Vec<_> = by_access
        .into_iter()
        .map(|at| {
            let violation = &violations[at];
            let mut attempt = |taken| {
                let proof = build::before_access(events, violation).and_then(|before| {
                    run.extend(read, &before[read..], PlainWrites::Restart);
                    read = before.len();
                    both(&run, events, violation, model, taken)
                });
                // Where plain writes race, the run has to be read once more.
                let proof = proof.or_else(|_| {
                    build::over_plain_writes(events, violation, |run| {
                        both(run, events, violation, model, taken)
                    })
                });
                (proof.map_err(ProofError::from)).and_then(|proof| checked(proof, events, model))
            };
            let proof = match attempt(Taken::OtherValue) {
                Err(ProofError::Refuted(Refutation::TooLarge { .. })) => attempt(Taken::Newest),
                proof => proof,
            };
            (at, proof)
        })
        .collect();
    proofs.sort_by_key(|(at, _)| *at);
    proofs.into_iter().map(|(_, proof)| proof).collect()
}

fn both(
    run: &RunGraph,
    events: &[Event],
    violation: &Violation,
    model: Model,
    taken: Taken,
) -> Result<Proof, BuildError> {
    let way = build::way(run, violation, model)?;
    Ok(Proof {
        witness: build::along(run, events, violation, model, &way, taken)?,
        explanation: explain::along(run, violation, &way)?,
    })
}

fn checked(proof: Proof, events: &[Event], model: Model) -> Result<Proof, ProofError> {
    check(&proof.witness, model)?;
    belongs(&proof.witness, events)?;
    Ok(proof)
}
