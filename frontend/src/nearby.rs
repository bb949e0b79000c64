//! One file of a project whose other files are not known: what it means depends on
//! the headers that it includes, which are looked for on disk. A header need not
//! include what it uses, so those beside it count, too, and what the files that
//! include it have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::declarations::Declarations;
use crate::declare;
use crate::exports::Exports;
use crate::includes::{MAX_HEADERS, includes};
use crate::outline::Outline;
use crate::project_tree::ProjectTree;
use crate::scan::{FileScan, scan_declared};
use crate::source::ParsedFile;
use crate::vocabulary::Vocabularies;

/// The headers on disk, and what they declare, remembered from one file that includes
/// them to the next.
#[derive(Debug, Default)]
pub struct Headers {
    /// `None` for those that declare nothing atomic.
    known: FxHashMap<PathBuf, Option<Arc<Declarations>>>,
    /// By a folder and what a file in it includes, the header.
    meant: FxHashMap<PathBuf, FxHashMap<String, Option<PathBuf>>>,
    /// What each header includes, as written.
    written: FxHashMap<PathBuf, Arc<[String]>>,
    /// The project's files, where it is known which they are.
    tree: Option<ProjectTree>,
}

/// Scans one file by this text of it, with what its headers declare. They are
/// looked for from the file's folder upwards, in the folders named `include`
/// on the way, and in the project's tree; `headers` remembers them.
pub fn scan_file(
    path: &Path,
    text: &[u8],
    headers: &mut Headers,
    vocabularies: &Vocabularies,
) -> FileScan {
    let exports = Exports::of(headers.declared_by(path, text, vocabularies));
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
    /// Those of a project whose files are in this folder.
    pub fn of_tree(root: &Path) -> Self {
        Self {
            tree: Some(ProjectTree::at(root)),
            ..Self::default()
        }
    }

    /// The headers that a file with this text includes, directly or through others, and
    /// if it is a header itself those that lie beside it, and those that it is read
    /// with; sorted.
    pub fn of(&mut self, path: &Path, text: &[u8]) -> Vec<PathBuf> {
        let own = canonical(path);
        let mut found = self.included(path, text);
        if is_header(&own) {
            found.extend(beside(&own).into_iter().take(MAX_HEADERS));
            let tree = self.tree.as_ref();
            found.extend(tree.into_iter().flat_map(|tree| tree.read_with(&own)));
            found.retain(|header| *header != own);
            found.sort();
            found.dedup();
        }
        found
    }

    /// The headers that a file with this text includes, directly or through others;
    /// sorted.
    pub fn included(&mut self, path: &Path, text: &[u8]) -> Vec<PathBuf> {
        let own = canonical(path);
        let mut found: FxHashSet<PathBuf> = FxHashSet::default();
        let mut queue: Vec<(PathBuf, Arc<[String]>)> = vec![(own.clone(), includes(text).into())];
        while let Some((from, written)) = queue.pop() {
            for include in written.iter() {
                let Some(header) = self.meant(&from, include) else {
                    continue;
                };
                if found.len() < MAX_HEADERS && found.insert(header.clone()) {
                    let written = self.written_in(&header);
                    queue.push((header, written));
                }
            }
        }
        found.remove(&own);
        let mut found: Vec<PathBuf> = found.into_iter().collect();
        found.sort();
        found
    }

    /// The file that an include means: what its folders tell, then the tree.
    fn meant(&mut self, from: &Path, include: &str) -> Option<PathBuf> {
        let folder = from.parent()?;
        if let Some(known) = self.meant.get(folder).and_then(|known| known.get(include)) {
            return known.clone();
        }
        let in_tree = || self.tree.as_ref()?.meant(include, from);
        let meant = near(from, include).or_else(in_tree);
        let known = self.meant.entry(folder.to_owned()).or_default();
        known.insert(include.to_owned(), meant.clone());
        meant
    }

    /// What a header includes, as written.
    fn written_in(&mut self, header: &Path) -> Arc<[String]> {
        if let Some(known) = self.written.get(header) {
            return known.clone();
        }
        // What cannot be read here could not be read by the compiler either.
        let text = std::fs::read(header).unwrap_or_default();
        let written: Arc<[String]> = includes(&text).into();
        self.written.insert(header.to_owned(), written.clone());
        written
    }

    /// What the headers of a file with this text declare.
    fn declared_by(
        &mut self,
        path: &Path,
        text: &[u8],
        vocabularies: &Vocabularies,
    ) -> Vec<Option<Arc<Declarations>>> {
        let headers = self.of(path, text);
        self.declared(&headers, vocabularies)
    }

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

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
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
