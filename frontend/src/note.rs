//! What a scan has to say beyond its sites: what it could not read, and what
//! instrumentation will not see.

use std::path::PathBuf;
use std::sync::Arc;

use crate::site::Position;

/// Something about a file that is not a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The file.
    pub file: Arc<PathBuf>,
    /// Where in it, if it is about one place.
    pub place: Option<Position>,
    /// What it is.
    pub kind: NoteKind,
    /// A few words more: the function's name, the error.
    pub detail: String,
}

/// The kinds of note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoteKind {
    /// The file could not be read.
    Unreadable,
    /// A part of the text could not be parsed; sites in it may be missing.
    NotParsed,
    /// Inline assembly: no instrumentation sees what it does.
    InlineAssembly,
    /// A function that is not instrumented.
    NoSanitize,
}

impl NoteKind {
    /// The kind as one word, as in machine-readable reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::NotParsed => "not-parsed",
            Self::InlineAssembly => "inline-assembly",
            Self::NoSanitize => "no-sanitize",
        }
    }
}
