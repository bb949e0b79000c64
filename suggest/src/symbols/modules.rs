//! The files that programs were made of, with the debug information of those that were
//! asked about last. A thousand test programs are a thousand files, and what is read
//! of each stays in memory as long as it is open.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use addr2line::Loader;

use super::standards::cpp20_files;
use super::variables::Variables;

/// So many files are open at a time.
const MAX_OPEN: usize = 32;

/// All files seen so far, by number.
#[derive(Default)]
pub(super) struct Modules {
    all: Vec<Module>,
    by_path: HashMap<PathBuf, usize>,
    /// Those that are open, the one used last at the end.
    open: VecDeque<usize>,
}

struct Module {
    path: PathBuf,
    /// `None` for what is not there, or is no regular file.
    first_seen: Option<Version>,
    open: Option<OpenModule>,
}

/// What is read of a file.
pub(super) struct OpenModule {
    /// `None` if it is gone, or another file.
    path: Option<PathBuf>,
    /// `None` where the file has no debug information or is gone: an outcome,
    /// said in a note, not an error.
    pub loader: Option<Loader>,
    variables: Option<Variables>,
}

/// Differs for files of different content.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Version {
    inode: (u64, u64),
    len: u64,
    modified: (i64, i64),
}

impl Version {
    fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self {
            inode: (meta.dev(), meta.ino()),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
        })
    }
}

impl Modules {
    /// The number of a file.
    pub(super) fn number(&mut self, path: &Path) -> usize {
        if let Some(&known) = self.by_path.get(path) {
            return known;
        }
        let number = self.all.len();
        self.all.push(Module {
            path: path.to_owned(),
            first_seen: Version::of(path),
            open: None,
        });
        self.by_path.insert(path.to_owned(), number);
        // Now, while it is what the program was made of.
        self.get(number);
        number
    }

    /// A file's path.
    pub(super) fn path(&self, number: usize) -> &Path {
        &self.all[number].path
    }

    /// A file, opened again if it was closed and is still the same.
    pub(super) fn get(&mut self, number: usize) -> &mut OpenModule {
        if self.open.back() != Some(&number) {
            self.open.retain(|&other| other != number);
            self.open.push_back(number);
            if self.open.len() > MAX_OPEN
                && let Some(oldest) = self.open.pop_front()
            {
                self.all[oldest].open = None;
            }
        }
        let Module {
            path,
            first_seen,
            open,
        } = &mut self.all[number];
        open.get_or_insert_with(|| {
            let is_same = first_seen.is_some() && Version::of(path) == *first_seen;
            let path = is_same.then(|| path.clone());
            OpenModule {
                loader: path.as_ref().and_then(|path| Loader::new(path).ok()),
                path,
                variables: None,
            }
        })
    }
}

impl Modules {
    /// The files of all modules that are there.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let there = self.all.iter().filter(|module| module.first_seen.is_some());
        there.map(|module| &*module.path)
    }

    /// The sources of all files that are still the same, each with whether it is C++20 or
    /// later there.
    pub(super) fn cpp20_files(&self) -> Vec<(PathBuf, bool)> {
        let is_same = |module: &&Module| {
            let seen = module.first_seen;
            seen.is_some() && Version::of(&module.path) == seen
        };
        let same = self.all.iter().filter(is_same);
        same.flat_map(|module| cpp20_files(&module.path)).collect()
    }
}

impl OpenModule {
    /// The file's variables.
    pub(super) fn variables(&mut self) -> &mut Variables {
        let path = self.path.as_deref();
        self.variables
            .get_or_insert_with(|| path.map(Variables::of_file).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_many_files_are_open_and_a_changed_one_is_not_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let program = Path::new("/bin/sh").canonicalize().unwrap();
        let path = |number: usize| folder.path().join(number.to_string());
        let mut modules = Modules::default();
        for number in 0..3 * MAX_OPEN {
            fs::hard_link(&program, path(number))
                .or_else(|_| fs::copy(&program, path(number)).map(drop))
                .unwrap();
            assert_eq!(modules.number(&path(number)), number);
            // Something that all programs use stays open.
            assert!(modules.get(0).loader.is_some());
        }
        let open = |modules: &Modules| modules.all.iter().filter(|one| one.open.is_some()).count();
        assert_eq!(open(&modules), MAX_OPEN);
        assert!(modules.get(1).loader.is_some());
        fs::remove_file(path(2)).unwrap();
        fs::write(path(2), "another").unwrap();
        assert!(modules.get(2).loader.is_none());
        assert_eq!(open(&modules), MAX_OPEN);
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let mut modules = Modules::default();
        for path in ["/dev/zero", "/", "/nonexistent"] {
            let number = modules.number(Path::new(path));
            assert!(modules.get(number).loader.is_none(), "{path}");
        }
    }
}
