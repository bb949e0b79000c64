//! One file of a project whose other files are not known: what it means depends on
//! the headers that it includes, which are looked for on disk. A header need not
//! include what it uses, so those beside it count, too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::declarations::Declarations;
use crate::declare;
use crate::exports::Exports;
use crate::includes::{MAX_HEADERS, includes};
use crate::outline::Outline;
use crate::scan::{FileScan, scan_declared};
use crate::source::ParsedFile;
use crate::vocabulary::Vocabularies;

/// What headers declare, remembered from one file that includes them to the next.
#[derive(Debug, Default)]
pub struct Headers {
    /// `None` for those that declare nothing atomic.
    known: FxHashMap<PathBuf, Option<Arc<Declarations>>>,
}

/// Scans one file by this text of it, with what its headers declare. They are
/// looked for from the file's folder upwards, and in the folders named `include`
/// on the way; `headers` remembers them.
pub fn scan_file(
    path: &Path,
    text: &[u8],
    headers: &mut Headers,
    vocabularies: &Vocabularies,
) -> FileScan {
    let exports = Exports::of(headers.declared(&headers_of(path, text), vocabularies));
    let all: Vec<usize> = exports.all();
    let mentioned = exports.are_mentioned(text, &all);
    if !mentioned && !vocabularies.worth_parsing(text) {
        return FileScan::empty(path, text);
    }
    let file = ParsedFile::read(path, text.to_vec());
    let outline = Outline::of(&file);
    let imports = exports.declared(if mentioned { &all } else { &[] });
    let declared = declare::declarations(&file, &outline, imports, vocabularies);
    scan_declared(&file, &outline, &declared, vocabularies)
}

impl Headers {
    /// What these headers declare, each where it declares something atomic.
    fn declared(
        &mut self,
        paths: &[PathBuf],
        vocabularies: &Vocabularies,
    ) -> Vec<Option<Arc<Declarations>>> {
        let unknown: Vec<&PathBuf> = paths
            .iter()
            .filter(|path| !self.known.contains_key(*path))
            .collect();
        let read: Vec<_> = unknown
            .into_par_iter()
            .map(|path| (path.clone(), declarations(path, vocabularies)))
            .collect();
        self.known.extend(read);
        paths
            .iter()
            .map(|path| self.known.get(path).cloned().flatten())
            .collect()
    }
}

fn declarations(path: &Path, vocabularies: &Vocabularies) -> Option<Arc<Declarations>> {
    // What cannot be read here could not be read by the compiler either.
    let text = std::fs::read(path).ok()?;
    if !vocabularies.worth_parsing(&text) {
        return declare::uses_only(&text).map(Arc::new);
    }
    let file = ParsedFile::read(path, text);
    let declared = declare::declarations(&file, &Outline::of(&file), Vec::new(), vocabularies);
    Some(Arc::new(declared))
}

/// The headers on disk that a file with this text includes, directly or through
/// others, and those that lie beside it if it is a header itself; sorted.
pub fn headers_of(path: &Path, text: &[u8]) -> Vec<PathBuf> {
    let own = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mut found = included_headers(path, text);
    if is_header(&own) {
        found.extend(beside(&own).into_iter().take(MAX_HEADERS));
        found.retain(|header| *header != own);
        found.sort();
        found.dedup();
    }
    found
}

/// The headers on disk that a file with this text includes, directly or through
/// others; sorted.
pub fn included_headers(path: &Path, text: &[u8]) -> Vec<PathBuf> {
    let own = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mut found: FxHashSet<PathBuf> = FxHashSet::default();
    let mut queue: Vec<(PathBuf, Vec<String>)> = vec![(own.clone(), includes(text))];
    while let Some((from, written)) = queue.pop() {
        for include in written {
            let Some(header) = near(&from, &include) else {
                continue;
            };
            if found.len() < MAX_HEADERS
                && found.insert(header.clone())
                && let Ok(text) = std::fs::read(&header)
            {
                queue.push((header, includes(&text)));
            }
        }
    }
    found.remove(&own);
    let mut found: Vec<PathBuf> = found.into_iter().collect();
    found.sort();
    found
}

/// The file that an include means, as far as its folders tell.
fn near(from: &Path, include: &str) -> Option<PathBuf> {
    let folders = from.ancestors().skip(1);
    let mut candidates =
        folders.flat_map(|folder| [folder.join(include), folder.join("include").join(include)]);
    let header = candidates.find(|header| header.is_file())?;
    header.canonicalize().ok()
}

fn beside(path: &Path) -> Vec<PathBuf> {
    let entries = path.parent().and_then(|folder| folder.read_dir().ok());
    let mut headers: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_header(path) && path.is_file())
        .collect();
    headers.sort();
    headers
}

fn is_header(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extension.starts_with(['h', 'H']))
}
