//! Whether the user's tree is as it was before a build: nothing is ever written there, and
//! a build that does so all the same is not silently gone on with. Only what builds make
//! counts: logs and what editors keep are written at any time.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;
use walkdir::WalkDir;
use wmfix_frontend::Language;

use super::rules::{LEFT_BY_BUILDS, is_build_product};

/// So many files are named.
const MOST_NAMED: usize = 5;

/// Endings of what compilers write that is no object.
const COMPILED: [&str; 6] = ["o", "d", "gcno", "gch", "pch", "su"];

/// More files than this are not looked at: the tree is not copied either.
const MOST_FILES: usize = 400_000;

/// A tree before a build.
pub(super) struct TreeWatch<'a> {
    tree: &'a Path,
    depth: usize,
    /// What lies in it and is wmfix's own.
    own: PathBuf,
    before: BTreeMap<PathBuf, FileLook>,
}

/// What shows that a file was written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileLook {
    size: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl<'a> TreeWatch<'a> {
    /// Looks at a tree so many folders deep, but not at what is in `own`.
    pub(super) fn of(tree: &'a Path, depth: usize, own: PathBuf) -> Self {
        let before = files(tree, depth, &own);
        Self {
            tree,
            depth,
            own,
            before,
        }
    }

    /// Fails if files were made or written since then.
    pub(super) fn require_unchanged(&self) -> anyhow::Result<()> {
        let after = files(self.tree, self.depth, &self.own);
        let written = after
            .iter()
            .filter(|(path, look)| self.before.get(*path) != Some(look))
            .filter(|(path, _)| is_built(path, !self.before.contains_key(*path)));
        let written: Vec<&PathBuf> = written.map(|(path, _)| path).collect();
        if written.is_empty() {
            return Ok(());
        }
        let named = written.iter().take(MOST_NAMED);
        let mut named: Vec<String> = named
            .map(|path| path.strip_prefix(self.tree).unwrap_or(path))
            .map(|path| path.display().to_string())
            .collect();
        if written.len() > MOST_NAMED {
            named.push(format!("{} more", written.len() - MOST_NAMED));
        }
        bail!(
            "while the project was built, files in {} were written: {}. wmfix builds in a copy, \
             but the build may name that folder by its absolute path; remove what an earlier \
             configuration has left there (make distclean), or leave it out with `exclude` in \
             wmfix.toml. If you have changed these files yourself meanwhile, start again",
            self.tree.display(),
            named.join(", ")
        )
    }
}

/// Whether a build makes such files: what a compiler or a configuration leaves, and sources
/// that are new.
fn is_built(path: &Path, is_new: bool) -> bool {
    let name = path.file_name().unwrap_or_default();
    let ending = path.extension().unwrap_or_default();
    LEFT_BY_BUILDS.iter().any(|left| name == *left)
        || COMPILED.iter().any(|one| ending == *one)
        || is_new && Language::may_be(path)
        || is_build_product(path).unwrap_or(false)
}

/// The files of a tree, without hidden ones.
fn files(tree: &Path, depth: usize, own: &Path) -> BTreeMap<PathBuf, FileLook> {
    let entries = WalkDir::new(tree).max_depth(depth).into_iter();
    let entries = entries.filter_entry(|entry| {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        entry.depth() == 0 || !is_hidden && entry.path() != own
    });
    let files = entries.filter_map(Result::ok).filter_map(|entry| {
        let look = FileLook::of(&entry.metadata().ok()?);
        (!entry.file_type().is_dir()).then(|| (entry.into_path(), look))
    });
    files.take(MOST_FILES).collect()
}

impl FileLook {
    fn of(meta: &Metadata) -> Self {
        Self {
            size: meta.len(),
            modified: meta.modified().ok(),
            inode: meta.ino(),
        }
    }
}
