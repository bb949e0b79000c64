//! What of a tree is copied for a build: not what the project's ignore files or
//! its wmfix.toml leave out, and not what earlier builds have made, because a
//! build tool would take it for its own.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use walkdir::DirEntry;

use super::walk::walk_deciding;
use crate::config::ProjectConfig;

/// Files that a configured build leaves in a source folder.
pub(super) const LEFT_BY_BUILDS: [&str; 5] = [
    "CMakeCache.txt",
    "CMakeFiles",
    "config.status",
    "config.cache",
    "config.log",
];

/// Files in a folder that say that all of it was made by a build tool.
const BUILD_FOLDERS: [&str; 2] = ["CMakeCache.txt", "meson-private"];

/// What is copied.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    excluded: Gitignore,
}

impl Rules {
    /// The rules of a project.
    pub(super) fn of(config: &ProjectConfig) -> anyhow::Result<Self> {
        let mut builder = GitignoreBuilder::new(&config.folder);
        for pattern in &config.exclude {
            let added = builder.add_line(config.file.clone(), pattern);
            added.with_context(|| format!("exclude: {pattern}"))?;
        }
        Ok(Self {
            excluded: builder.build().context("exclude")?,
        })
    }

    /// The files and folders of a tree that are copied, sorted.
    pub(super) fn walk<'t>(
        &'t self,
        root: &'t Path,
    ) -> impl Iterator<Item = walkdir::Result<DirEntry>> + 't {
        walk_deciding(root, |entry| {
            self.takes(entry.path(), entry.file_type().is_dir())
        })
    }

    /// Whether a file is named by a pattern with `!`: it is copied whatever it is.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        matches!(self.matched(path, false), Match::Whitelist(_))
    }

    /// Whether an entry is copied; `None` where the ignore files decide.
    fn takes(&self, path: &Path, is_folder: bool) -> Option<bool> {
        match self.matched(path, is_folder) {
            Match::Ignore(_) => return Some(false),
            Match::Whitelist(_) => return Some(true),
            Match::None => {}
        }
        let name = path.file_name().unwrap_or_default();
        if name == ".git" || LEFT_BY_BUILDS.iter().any(|left| name == *left) {
            return Some(false);
        }
        let is_build = is_folder && BUILD_FOLDERS.iter().any(|file| path.join(file).exists());
        is_build.then_some(false)
    }

    fn matched(&self, path: &Path, is_folder: bool) -> Match<&ignore::gitignore::Glob> {
        if path.starts_with(self.excluded.path()) {
            self.excluded.matched(path, is_folder)
        } else {
            Match::None
        }
    }
}

/// How many bytes of a file show what made it.
const START_BYTES: u64 = 256;

/// What files that CMake has written begin with.
const OF_CMAKE: [&str; 3] = [
    "# CMAKE generated file: DO NOT EDIT!",
    "# CMake generated Testfile",
    "# Install script for directory:",
];

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Whether a file is an object, a library or an executable, or was written by a
/// configured build.
pub(super) fn is_build_product(path: &Path) -> io::Result<bool> {
    const ELF: &[u8] = b"\x7fELF";
    const ARCHIVE: &[u8] = b"!<arch>\n";
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name == "Makefile" && path.with_file_name("Makefile.in").exists() {
        return Ok(path.with_file_name("config.status").exists());
    }
    if name.ends_with(".lo") || name.ends_with(".la") {
        return Ok(true);
    }
    let mut start = Vec::new();
    File::open(path)?
        .take(START_BYTES)
        .read_to_end(&mut start)?;
    let is_of_cmake = || {
        // A build folder's are all that it has: only among sources others take their place.
        let is_named = OF_CMAKE
            .iter()
            .any(|mark| contains(&start, mark.as_bytes()));
        is_named && path.with_file_name("CMakeLists.txt").exists()
    };
    Ok(start.starts_with(ELF) || start.starts_with(ARCHIVE) || is_of_cmake())
}
