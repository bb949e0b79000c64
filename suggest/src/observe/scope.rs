//! Whose code a file is: the project's own, its tests', or a library's of the
//! system. Decides by paths alone; never reads a file.

use std::path::{Path, PathBuf};

use crate::config::Glob;

/// Whose code files are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// The folder that paths are relative to.
    pub folder: PathBuf,
    /// Files that are not changed.
    pub exclude: Vec<Glob>,
    /// Files that may be changed; all that are not excluded, if it is empty.
    pub include: Vec<Glob>,
    /// What is done in system headers is reported as if it were the project's.
    pub system_headers: bool,
}

/// Whether a file may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Editing {
    /// It may.
    Allowed,
    /// It looks like a test: only if the project has nothing else.
    Test,
    /// The project says that it may not.
    Excluded,
}

impl Scope {
    /// The same for a copy of the sources.
    pub(crate) fn in_copy(&self, original: &Path, copy: &Path) -> Self {
        let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let below = full(&self.folder);
        let below = below.strip_prefix(full(original)).unwrap_or(Path::new(""));
        Self {
            folder: copy.join(below),
            ..self.clone()
        }
    }

    /// Whether a file may be changed.
    pub(crate) fn editing(&self, file: &Path) -> Editing {
        let Some(inside) = self.inside(file) else {
            return Editing::Allowed;
        };
        let fits = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(&inside));
        if fits(&self.include) {
            return Editing::Allowed;
        }
        if fits(&self.exclude) || !self.include.is_empty() {
            return Editing::Excluded;
        }
        match looks_like_test(&inside) {
            true => Editing::Test,
            false => Editing::Allowed,
        }
    }

    /// Whether a file belongs to a library of the system, and is not to be shown.
    pub(crate) fn is_system(&self, file: &Path) -> bool {
        const FOLDERS: [&str; 2] = ["/usr/include/", "/usr/local/include/"];
        let path = file.to_string_lossy();
        !self.system_headers
            && FOLDERS.iter().any(|folder| path.starts_with(folder))
            && self.inside(file).is_none()
    }

    fn inside(&self, file: &Path) -> Option<PathBuf> {
        let inside = file.strip_prefix(&self.folder).map(Path::to_owned).ok();
        inside.or_else(|| {
            let full = file.canonicalize().ok()?;
            let folder = self.folder.canonicalize().ok()?;
            full.strip_prefix(folder).map(Path::to_owned).ok()
        })
    }
}

/// Whether a path, relative to its project, reads like that of a test.
fn looks_like_test(path: &Path) -> bool {
    let is_word = |word: &str| {
        let word = word.to_ascii_lowercase();
        matches!(
            word.as_str(),
            "test" | "tests" | "testing" | "unittest" | "unittests" | "testsuite"
        )
    };
    let name = |part: &std::ffi::OsStr| part.to_string_lossy().into_owned();
    let folders = path.parent().into_iter().flat_map(Path::iter);
    let mut folders = folders.map(name);
    let stem = path.file_stem().map(name).unwrap_or_default();
    let mut words = stem.split(['_', '-', '.']);
    folders.any(|folder| folder.split(['_', '-']).any(is_word))
        || words.clone().next().is_some_and(is_word)
        || words.next_back().is_some_and(is_word)
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_from_what_they_test() {
        for path in [
            "tests/stress.c",
            "src/queue_test.cc",
            "test.c",
            "test-stress.c",
            "unit-tests/a.cpp",
            "QueueTest.cpp",
        ] {
            assert!(looks_like_test(Path::new(path)), "{path}");
        }
        for path in ["src/queue.c", "attest.c", "latest/a.c", "include/contest.h"] {
            assert!(!looks_like_test(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn system_headers_are_those_of_the_system() {
        let scope = Scope {
            folder: "/home/me/project".into(),
            ..Scope::default()
        };
        assert!(scope.is_system(Path::new("/usr/include/urcu/list.h")));
        assert!(!scope.is_system(Path::new("/home/me/project/usr/include/a.h")));
        let shown = Scope {
            system_headers: true,
            ..scope
        };
        assert!(!shown.is_system(Path::new("/usr/include/urcu/list.h")));
    }
}
