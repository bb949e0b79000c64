//! The inventory of atomic sites that `wmfix scan` prints, in each of its formats.
//! Knows nothing of running programs.

mod json;
mod learn;
mod sarif;
mod text;

use std::path::PathBuf;

use wmfix_frontend::{Vocabularies, scan_tree};

use crate::cli::ScanFormat;

pub(crate) use learn::propose as propose_vocabulary;

/// The sites at some paths, in a format. `quiet` leaves only the numbers of the
/// text.
pub(crate) fn inventory(
    paths: &[PathBuf],
    vocabularies: &Vocabularies,
    format: ScanFormat,
    quiet: bool,
) -> anyhow::Result<String> {
    let scan = scan_tree(paths, vocabularies);
    match format {
        ScanFormat::Text => Ok(text::render(&scan, quiet)),
        ScanFormat::Json => json::render(&scan),
        ScanFormat::Sarif => sarif::render(&scan),
    }
}
