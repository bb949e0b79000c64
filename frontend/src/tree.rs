//! Scans files and folders in parallel. A file that cannot be read becomes a note
//! and the scan goes on; ignore files are respected. Two passes: what headers of
//! the tree declare decides what the files that include them mean.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::WalkBuilder;
use rayon::prelude::*;

use crate::declared::Declared;
use crate::includes::{Headers, includes};
use crate::note::{Note, NoteKind};
use crate::scan::{FileScan, scan_declared};
use crate::source::{Language, ParsedFile};
use crate::vocabulary::Vocabularies;

/// What a scan of a tree found.
#[derive(Debug, Default)]
pub struct TreeScan {
    /// Every file in which there is a site or something to note, by path.
    pub files: Vec<(PathBuf, FileScan)>,
    /// How many C and C++ files there are.
    pub seen: usize,
    /// How many of them had to be parsed.
    pub parsed: usize,
    /// What could not be read at all.
    pub unreadable: Vec<Note>,
}

impl TreeScan {
    /// The scan of one file, by the path it was found at.
    pub fn file(&self, path: &Path) -> Option<&FileScan> {
        let at = self
            .files
            .binary_search_by(|(known, _)| known.as_path().cmp(path));
        at.ok().map(|at| &self.files[at].1)
    }
}

/// Scans files and folders. A file is scanned whatever its name; of a folder the
/// C and C++ files that no ignore file excludes.
pub fn scan_tree<P: AsRef<Path>>(paths: &[P], vocabularies: &Vocabularies) -> TreeScan {
    let mut tree = TreeScan::default();
    let files = list(paths, &mut tree.unreadable);
    tree.seen = files.len();
    let first: Vec<First> = files
        .into_par_iter()
        .map(|path| First::of(path, vocabularies))
        .collect();
    let headers = Headers::of(first.iter().map(|file| {
        let declared = file.declared.as_ref();
        (file.path.as_path(), file.includes.as_slice(), declared)
    }));
    let scans: Vec<(PathBuf, Option<FileScan>, bool)> = first
        .into_par_iter()
        .map(|file| file.finish(&headers, vocabularies))
        .collect();
    for (path, scan, parsed) in scans {
        tree.parsed += usize::from(parsed);
        match scan {
            Some(scan) if scan.sites.is_empty() && scan.notes.is_empty() => {}
            Some(scan) => match scan.notes.first() {
                Some(note) if note.kind == NoteKind::Unreadable => {
                    tree.unreadable.push(note.clone());
                }
                _ => tree.files.push((path, scan)),
            },
            None => {}
        }
    }
    tree
}

/// A file after the first pass.
struct First {
    path: PathBuf,
    includes: Vec<String>,
    declared: Option<Arc<Declared>>,
    scan: Option<FileScan>,
}

impl First {
    fn of(path: PathBuf, vocabularies: &Vocabularies) -> Self {
        let mut file = Self {
            path,
            includes: Vec::new(),
            declared: None,
            scan: None,
        };
        let text = match std::fs::read(&file.path) {
            Ok(text) => text,
            Err(error) => {
                file.scan = Some(FileScan {
                    sites: Vec::new(),
                    notes: vec![unreadable(file.path.clone(), &error.to_string())],
                    language: Language::C,
                });
                return file;
            }
        };
        file.includes = includes(&text);
        if vocabularies.worth_parsing(&text) {
            let parsed = parse(&file.path, text);
            let mut declared = Declared::of(&parsed, vocabularies);
            declared.learn_macros(&parsed, vocabularies);
            file.scan = Some(scan_declared(&parsed, &declared, vocabularies));
            file.declared = Some(Arc::new(declared));
        }
        file
    }

    /// Scans again what its headers shed new light on.
    fn finish(
        self,
        headers: &Headers,
        vocabularies: &Vocabularies,
    ) -> (PathBuf, Option<FileScan>, bool) {
        let parsed_before = self.declared.is_some();
        let imports = headers.imports(&self.path);
        if imports.is_empty() {
            return (self.path, self.scan, parsed_before);
        }
        let Ok(text) = std::fs::read(&self.path) else {
            return (self.path, self.scan, parsed_before);
        };
        if !headers.mentions(&text, &imports) {
            return (self.path, self.scan, parsed_before);
        }
        let parsed = parse(&self.path, text);
        let mut declared = Declared::of_importing(&parsed, imports, vocabularies);
        declared.learn_macros(&parsed, vocabularies);
        let scan = scan_declared(&parsed, &declared, vocabularies);
        (self.path, Some(scan), true)
    }
}

fn parse(path: &Path, text: Vec<u8>) -> ParsedFile {
    let language = Language::of(path, &text).unwrap_or(Language::Cpp);
    ParsedFile::parse(path, text, language)
}

fn list<P: AsRef<Path>>(paths: &[P], unreadable_notes: &mut Vec<Note>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        if path.is_file() {
            files.push(path.to_path_buf());
            continue;
        }
        for entry in WalkBuilder::new(path).require_git(false).build() {
            match entry {
                Ok(entry) => {
                    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                    if is_file && Language::may_be(entry.path()) {
                        files.push(entry.into_path());
                    }
                }
                Err(error) => {
                    unreadable_notes.push(unreadable(path.to_path_buf(), &error.to_string()));
                }
            }
        }
    }
    files.sort();
    files.dedup();
    files
}

fn unreadable(path: PathBuf, error: &str) -> Note {
    Note {
        file: Arc::new(path),
        place: None,
        kind: NoteKind::Unreadable,
        detail: error.to_owned(),
    }
}
