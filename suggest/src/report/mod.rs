//! What is said about findings: as data for programs, as text for people. Knows
//! nothing of how they were found.

mod assemble;
mod causes;
mod change_words;
mod dossier;
mod html;
pub mod model;
mod rerun;
mod sarif;
mod step_words;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use assemble::{FindingNames, RepairInputs, ReportInputs, assemble, names};
pub use dossier::Dossier;
pub use html::{Page, html};
pub use model::Verdict;
pub use rerun::with_seed;
pub use sarif::sarif;
pub use text::{TextRenderer, group_text, repair_text};
pub use words::signal_name;
