//! The text behind the places: files are scanned for atomic operations when an
//! event first points into them. Explains events; never decides what is one.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wmfix_frontend::{FileScan, Match, OperationKind, Site, Vocabularies, match_site, scan_source};

use super::places::Action;
use crate::symbols::SourcePoint;

/// Source files and their sites.
pub struct Sources {
    vocabularies: Vocabularies,
    files: HashMap<PathBuf, Option<Arc<SourceFile>>>,
}

/// A source file that could be read.
#[derive(Debug)]
pub struct SourceFile {
    /// Its text.
    pub text: Vec<u8>,
    /// Its sites and notes.
    pub scan: FileScan,
}

impl Sources {
    /// Files are read with these vocabularies.
    pub fn new(vocabularies: Vocabularies) -> Self {
        Self {
            vocabularies,
            files: HashMap::new(),
        }
    }

    /// How atomics are spelled in them.
    pub fn vocabularies(&self) -> &Vocabularies {
        &self.vocabularies
    }

    /// A file, if it can be read.
    pub fn file(&mut self, path: &Path) -> Option<Arc<SourceFile>> {
        if let Some(known) = self.files.get(path) {
            return known.clone();
        }
        let read = std::fs::read(path).ok().map(|text| {
            let scan = scan_source(path, &text, &self.vocabularies);
            Arc::new(SourceFile { text, scan })
        });
        self.files.insert(path.to_owned(), read.clone());
        read
    }

    /// The site that an event at this point is an execution of, if the text has
    /// exactly one that fits.
    pub fn site(&mut self, point: &SourcePoint, action: Action) -> Option<Site> {
        let kind = match action {
            Action::Load => OperationKind::Load,
            Action::Store => OperationKind::Store,
            Action::Rmw => OperationKind::Rmw,
            Action::CompareExchange => OperationKind::CompareExchange,
            Action::Fence => OperationKind::Fence,
            Action::Read | Action::Write | Action::Other => return None,
        };
        let file = self.file(&point.file)?;
        match match_site(&file.scan, point.line, point.column, kind) {
            Match::Site(site) => Some(site.clone()),
            Match::Ambiguous(_) | Match::None => None,
        }
    }

    /// The text of a range of a file.
    pub fn text(&mut self, path: &Path, range: &Range<usize>) -> Option<String> {
        let file = self.file(path)?;
        let bytes = file.text.get(range.clone())?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}
