//! Folders inside of a folder that are projects by themselves: where to go when the
//! folder that was named has nothing to build or to test.

use std::path::{Path, PathBuf};

use super::system::has_build_file;
use super::walk::walk_own;
use crate::config::repository;

/// Files of Bazel, by which it knows the folder that it builds.
const BAZEL: [&str; 4] = ["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", "REPO.bazel"];

/// Folders below this depth are not what a person means.
const MAX_DEPTH: usize = 4;

/// Parts of the names of folders whose build files make something else of a project than
/// tests.
const ASIDE: [&str; 7] = [
    "debian", "dist", "doc", "docker", "example", "packag", "rpm",
];

/// This many files and folders are looked at.
const MAX_ENTRIES: usize = 20_000;

/// The folders below one that have a build file, the outermost, relative to it: those that
/// are named after tests first, packages and the like last.
pub(super) fn projects_below(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in walk_own(folder, |_| true).take(MAX_ENTRIES) {
        // What cannot be read is nobody's project.
        let Ok(entry) = entry else { continue };
        let inside = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let is_candidate = entry.file_type().is_dir() && (1..=MAX_DEPTH).contains(&entry.depth());
        let is_part = found.iter().any(|outer| inside.starts_with(outer));
        if is_candidate && !is_part && has_build_file(entry.path()) {
            found.push(inside.to_owned());
        }
    }
    let is_named_after_tests = |path: &PathBuf| path.to_string_lossy().contains("test");
    found.sort_by_key(|path| (!is_named_after_tests(path), is_aside(path), path.clone()));
    found
}

/// The folder of Bazel's workspace that a folder is in, within its repository, if any.
pub(super) fn bazel_workspace(folder: &Path) -> Option<PathBuf> {
    let top = repository(folder);
    let within = |at: &&Path| match &top {
        Some(top) => at.starts_with(top),
        None => *at == folder,
    };
    let mut above = folder.ancestors().take_while(within);
    let found = above.find(|at| BAZEL.iter().any(|file| at.join(file).is_file()));
    found.map(Path::to_owned)
}

/// Whether a folder is named after something else than a project or its tests.
pub(super) fn is_aside(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    ASIDE.iter().any(|part| name.contains(part)) && !name.contains("test")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_outermost_with_a_build_file_are_named_tests_first() {
        let top = tempfile::tempdir().unwrap();
        for file in [
            "bench/makefile",
            "a/packaging/Makefile",
            "src/Makefile",
            "src/deep/Makefile",
            "tests/unit/CMakeLists.txt",
            "third_party/x/Makefile",
            "docs/index.md",
        ] {
            let path = top.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = projects_below(top.path());
        let expected = ["tests/unit", "bench", "src", "a/packaging"].map(PathBuf::from);
        assert_eq!(found, expected);
    }
}
