//! Scans files and folders in parallel. A file that cannot be read becomes a note
//! and the scan goes on; ignore files are respected. Owns which files are looked
//! at; what is found in them is up to the group that they form.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::group::Group;
use crate::language::Language;
use crate::note::{Note, NoteKind};
use crate::scan::FileScan;
use crate::vocabulary::Vocabularies;
use crate::walk::walk;

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
    let group = Group::of(files, vocabularies);
    let scans: Vec<_> = (0..tree.seen)
        .into_par_iter()
        .map(|number| group.scan(number))
        .collect();
    for (path, scan) in group.paths().zip(scans) {
        match scan {
            Ok(Some(scan)) => {
                tree.parsed += 1;
                if !scan.sites.is_empty() || !scan.notes.is_empty() {
                    tree.files.push((path.to_path_buf(), scan));
                }
            }
            Ok(None) => {}
            Err(error) => {
                let note = unreadable(path.to_path_buf(), &error.to_string());
                tree.unreadable.push(note);
            }
        }
    }
    tree
}

fn list<P: AsRef<Path>>(paths: &[P], unreadable_notes: &mut Vec<Note>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        if path.is_file() {
            files.push(path.to_path_buf());
            continue;
        }
        walk(path, |found| match found {
            Ok(file) if Language::may_be(&file) => files.push(file),
            Ok(_) => {}
            Err(error) => {
                unreadable_notes.push(unreadable(path.to_path_buf(), &error.to_string()));
            }
        });
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
