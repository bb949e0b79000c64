//! Everything that is said about findings: as data for programs, as text and HTML
//! for people. The only module that writes prose; knows nothing of how findings
//! were made.

mod assemble;
mod baseline_words;
mod causes;
mod change_words;
mod dossier;
mod failure_text;
mod failure_words;
mod harm_words;
mod html;
mod limit_words;
pub(crate) mod model;
mod repair_words;
mod rerun;
mod sarif;
mod start_words;
mod step_words;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub(crate) use assemble::{Judged, RepairInputs, ReportInputs, assemble, names};
pub(crate) use dossier::Dossier;
pub(crate) use failure_words::{build_failure_output, build_failure_text, not_run_text};
pub(crate) use harm_words::run_end_text;
pub(crate) use html::{Page, html};
pub(crate) use model::Verdict;
pub(crate) use sarif::sarif;
pub(crate) use text::{TextRenderer, group_text, repair_text};
