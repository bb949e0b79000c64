//! The files of a project's tree, for headers that only the compiler's search paths
//! lead to, and for what a header is read with. The tree is walked when that is first
//! asked for, and its files are read when the second is; one that is too large for that
//! has none.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::includes::{FileNames, Includes, includes};
use crate::language::Language;
use crate::walk::walk_until;

/// Of a folder with more files it is not asked which they are: it is no project's.
const MAX_FILES: usize = 200_000;

/// More sources are not read to see what they include.
const MAX_READ: usize = 20_000;

/// Headers that are the compiler's and the system's, whatever a project has for systems
/// without them.
const STANDARD_HEADERS: [&str; 37] = [
    "assert.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fcntl.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "locale.h",
    "math.h",
    "pthread.h",
    "sched.h",
    "semaphore.h",
    "setjmp.h",
    "signal.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "stdnoreturn.h",
    "string.h",
    "sys/mman.h",
    "sys/time.h",
    "sys/types.h",
    "tgmath.h",
    "threads.h",
    "time.h",
    "uchar.h",
    "unistd.h",
    "wchar.h",
    "wctype.h",
];

/// The tree of a project.
#[derive(Debug)]
pub(crate) struct ProjectTree {
    root: PathBuf,
    files: OnceLock<Files>,
    includes: OnceLock<Includes>,
}

/// Its C and C++ files, sorted.
#[derive(Debug)]
struct Files {
    paths: Vec<PathBuf>,
    names: FileNames,
}

impl ProjectTree {
    /// The tree in this folder.
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.canonicalize().unwrap_or_else(|_| root.to_owned()),
            files: OnceLock::new(),
            includes: OnceLock::new(),
        }
    }

    /// The file that an include means, if no other one can be meant.
    pub(crate) fn meant(&self, include: &str, from: &Path) -> Option<PathBuf> {
        if STANDARD_HEADERS.contains(&include) || !Language::may_be(Path::new(include)) {
            return None;
        }
        let Files { paths, names } = self.files();
        let meant = names.meant(include, from, paths);
        let (first, others) = meant.split_first()?;
        let first = &paths[*first];
        let is_same = |other: &usize| {
            let texts = (std::fs::read(first), std::fs::read(&paths[*other]));
            matches!(texts, (Ok(one), Ok(other)) if one == other)
        };
        others.iter().all(is_same).then(|| first.clone())
    }

    /// The files that a header is read with: those that it includes, and those that
    /// include it, with what these include.
    pub(crate) fn read_with(&self, header: &Path) -> Vec<PathBuf> {
        let Files { paths, names } = self.files();
        let Ok(number) = paths.binary_search_by(|path| path.as_path().cmp(header)) else {
            return Vec::new();
        };
        if paths.len() > MAX_READ {
            return Vec::new();
        }
        let graph = self.includes.get_or_init(|| {
            let read = |path: &PathBuf| std::fs::read(path).unwrap_or_default();
            let written: Vec<Vec<String>> = (paths.par_iter())
                .map(|path| includes(&read(path)))
                .collect();
            Includes::of(paths, &written, names)
        });
        let files = graph.read_with(number).into_iter();
        files.map(|number| paths[number].clone()).collect()
    }

    fn files(&self) -> &Files {
        self.files.get_or_init(|| {
            let (mut paths, mut seen) = (Vec::new(), 0);
            walk_until(&self.root, |found| {
                seen += 1;
                paths.extend(found.ok().filter(|path| Language::may_be(path)));
                match seen {
                    0..=MAX_FILES => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            });
            if seen > MAX_FILES {
                // Which ones come first is up to the file system.
                paths.clear();
            }
            paths.sort();
            let names = FileNames::of(&paths);
            Files { paths, names }
        })
    }
}
