//! From runs to findings: each run's trace is analysed, and what the runs show
//! is put together, told apart by place and kind. Knows nothing of how findings
//! are printed.

mod collect;
mod identity;
mod observation;
mod story;
#[cfg(test)]
mod tests;

pub use collect::{CollectedFindings, RaceFinding, Tally, ViolationFinding};
pub use identity::Identity;
pub use observation::{KnownFindings, ViolationInstance, observe, signal_name};
pub use story::StepRole;
