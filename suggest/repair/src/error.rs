//! What can go wrong in the search itself. A corpus that cannot be repaired is
//! no error but an outcome.

use wmfix_analysis::StreamError;

/// The search cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// A trace is not a run.
    #[error("event {event} of trace {trace} cannot have happened: {source}")]
    Trace {
        /// Which trace, by its index in the corpus.
        trace: usize,
        /// Which event of it.
        event: usize,
        /// Why.
        source: StreamError,
    },
    /// The solver of the hitting-set problem failed.
    #[error("the integer program cannot be solved: {0}")]
    Solver(String),
    /// A finding that the strongest repair removes came back with a weaker
    /// label raised: the analysis is not monotone on this trace.
    #[error("trace {0} fails with every change made, and did not before")]
    NotMonotone(usize),
}
