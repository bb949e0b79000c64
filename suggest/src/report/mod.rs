//! What is said about findings: as data for programs, as text for people. Knows
//! nothing of how they were found.

mod assemble;
mod baseline_words;
mod build_failure;
mod causes;
mod change_words;
mod dossier;
mod html;
pub mod model;
mod repair_words;
mod rerun;
mod sarif;
mod step_words;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use assemble::{RepairInputs, ReportInputs, assemble, names};
pub use build_failure::{build_failure_output, build_failure_text};
pub use dossier::Dossier;
pub use html::{Page, html};
pub use model::Verdict;
pub use sarif::sarif;
pub use text::{TextRenderer, group_text, repair_text};
