//! Files that include each other, scanned together: what headers declare decides
//! what the files that include them mean. Headers are therefore read first. Which
//! files belong together is decided elsewhere.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::declarations::Declarations;
use crate::declare;
use crate::exports::Exports;
use crate::includes::{FileNames, Includes, includes};
use crate::outline::Outline;
use crate::scan::{FileScan, scan_declared};
use crate::source::ParsedFile;
use crate::vocabulary::Vocabularies;

/// How many bytes of text are kept together with their syntax trees, which are
/// about ten times as large, from the first look at a header to its scan.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// Files whose headers have been read.
pub(crate) struct Group<'v> {
    files: Vec<Member>,
    includes: Includes,
    exports: Exports,
    vocabularies: &'v Vocabularies,
}

struct Member {
    path: PathBuf,
    worth_parsing: bool,
    /// If another file includes it: what it declares by itself.
    declared: Option<Arc<Declarations>>,
    /// The file as it was parsed for that, where there was room to keep it.
    parsed: Option<ParsedFile>,
}

impl<'v> Group<'v> {
    /// Takes files, sorted by path. One that cannot be read says so when it is
    /// scanned.
    pub(crate) fn of(paths: Vec<PathBuf>, vocabularies: &'v Vocabularies) -> Self {
        let (written, worth_parsing): (Vec<Vec<String>>, Vec<bool>) = paths
            .par_iter()
            .map(|path| match std::fs::read(path) {
                Ok(text) => (includes(&text), vocabularies.worth_parsing(&text)),
                Err(_) => (Vec::new(), true),
            })
            .unzip();
        let includes = Includes::of(&paths, &written, &FileNames::of(&paths));
        let kept = AtomicUsize::new(0);
        let files: Vec<Member> = paths
            .into_par_iter()
            .zip(worth_parsing)
            .zip(includes.included())
            .map(|((path, worth_parsing), included)| {
                let mut member = Member {
                    path,
                    worth_parsing,
                    declared: None,
                    parsed: None,
                };
                if included && worth_parsing {
                    member.read_declarations(&kept, vocabularies);
                }
                member
            })
            .collect();
        let exports = Exports::of(files.iter().map(|file| file.declared.clone()).collect());
        Self {
            files,
            includes,
            exports,
            vocabularies,
        }
    }

    /// The files' paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// Scans a file, unless there can be nothing in it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn scan(&self, number: usize) -> io::Result<Option<FileScan>> {
        let file = &self.files[number];
        let headers = self.exports.among(&self.includes.read_with(number));
        if headers.is_empty() && !file.worth_parsing {
            return Ok(None);
        }
        if let Some(parsed) = &file.parsed {
            let headers = self.mentioned(parsed.text(), headers);
            let scan = self.scan_parsed(parsed, file.declared.as_ref(), &headers);
            return Ok(Some(scan));
        }
        let text = std::fs::read(&file.path)?;
        Ok(self.scan_text(&file.path, text, headers))
    }

    fn scan_text(&self, path: &Path, text: Vec<u8>, headers: Vec<usize>) -> Option<FileScan> {
        let headers = self.mentioned(&text, headers);
        if headers.is_empty() && !self.vocabularies.worth_parsing(&text) {
            return None;
        }
        Some(self.scan_parsed(&ParsedFile::read(path, text), None, &headers))
    }

    /// Scans a file. `alone` is what it declares if no header says more.
    fn scan_parsed(
        &self,
        parsed: &ParsedFile,
        alone: Option<&Arc<Declarations>>,
        headers: &[usize],
    ) -> FileScan {
        let outline = Outline::of(parsed);
        let declared = match alone.filter(|_| headers.is_empty()) {
            Some(alone) => alone.clone(),
            None => {
                let imports = self.exports.declared(headers);
                Arc::new(declare::declarations(
                    parsed,
                    &outline,
                    imports,
                    self.vocabularies,
                ))
            }
        };
        scan_declared(parsed, &outline, &declared, self.vocabularies)
    }

    /// The headers, if a text uses anything that one of them declares.
    fn mentioned(&self, text: &[u8], headers: Vec<usize>) -> Vec<usize> {
        if self.exports.are_mentioned(text, &headers) {
            headers
        } else {
            Vec::new()
        }
    }
}

impl Member {
    /// Reads what a header declares, and keeps the header if there is room.
    fn read_declarations(&mut self, kept: &AtomicUsize, vocabularies: &Vocabularies) {
        let Ok(text) = std::fs::read(&self.path) else {
            // The scan comes to it again, and says so.
            return;
        };
        let file = ParsedFile::read(&self.path, text);
        let declared = declare::declarations(&file, &Outline::of(&file), Vec::new(), vocabularies);
        self.declared = Some(Arc::new(declared));
        let size = file.text().len();
        let room = kept.fetch_add(size, Ordering::Relaxed) + size <= MAX_KEPT_BYTES;
        self.parsed = room.then_some(file);
    }
}
