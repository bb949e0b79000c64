//! Everything that is said about findings: as data for programs, as text and HTML
//! for people. The only module that writes prose; knows nothing of how findings
//! were made.

mod allocation_words;
mod assemble;
mod baseline_file;
mod baseline_words;
mod causes;
mod change_words;
mod dossier;
mod exchange;
mod failure_text;
mod failure_words;
mod fingerprint;
mod harm_words;
mod html;
mod limit_words;
mod litmus;
pub(crate) mod model;
mod notice_words;
mod object_words;
mod overview;
mod proof_words;
mod repair_words;
mod rerun;
mod sarif;
mod short_name;
mod start_words;
mod step_words;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub(crate) use assemble::{
    Judged, RelaxInputs, RepairInputs, ReportInputs, add_relaxation, assemble, names,
};
pub(crate) use baseline_file::BaselineFile;
pub(crate) use dossier::Dossier;
pub(crate) use exchange::{ExchangeSettings, gcc, github, gitlab, junit, rdjson, replacements};
pub(crate) use failure_words::{
    build_failure_output, build_failure_text, left_out_text, not_run_text,
};
pub(crate) use harm_words::run_end_text;
pub(crate) use html::{Page, html};
pub(crate) use limit_words::add_outside_note;
pub(crate) use litmus::{herd, litmus, plain};
pub(crate) use model::Verdict;
pub(crate) use sarif::sarif;
pub(crate) use text::{
    TextRenderer, TextStyle, group_text, relax_refusal_text, relaxation_text, repair_text,
};
