//! A repair as a unified diff that applies in the current folder. Knows nothing
//! of why files change.

use std::path::{Path, PathBuf};

use wmfix_rewriter::unified_diff;

use crate::subject::PatchedFile;

/// All changes of a repair as one diff.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch {
    /// The diff.
    pub text: Vec<u8>,
    /// Files that are not below the current folder: their part of the diff applies
    /// in the root folder.
    pub outside: Vec<PathBuf>,
}

/// The diff of patched files.
pub(crate) fn patch(files: &[PatchedFile]) -> anyhow::Result<Patch> {
    let mut patch = Patch::default();
    for file in files {
        let (path, is_below) = path_in_patch(&file.path)?;
        if !is_below {
            patch.outside.push(file.path.clone());
        }
        let diff = unified_diff(&path, &file.before, &file.after);
        patch.text.extend(diff);
    }
    Ok(patch)
}

/// A path as a patch has it, and whether it is below the current folder.
pub(crate) fn path_in_patch(path: &Path) -> anyhow::Result<(PathBuf, bool)> {
    let current = std::env::current_dir()?.canonicalize()?;
    let full = path.canonicalize()?;
    Ok(match full.strip_prefix(&current) {
        Ok(below) => (below.to_owned(), true),
        Err(_) => (full.strip_prefix("/").unwrap_or(&full).to_owned(), false),
    })
}
