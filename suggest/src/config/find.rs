//! Where a project's wmfix.toml is: in the folder that a command is about, or
//! above it, as far as its repository goes.

use std::path::{Path, PathBuf};

/// The name of the file.
pub(crate) const FILE_NAME: &str = "wmfix.toml";

/// The nearest wmfix.toml at or above a path. It is looked for up to the root of
/// the repository; where there is none, up to the current folder if that is
/// above, and else in the path's own folder only.
pub(crate) fn find(path: &Path) -> Option<PathBuf> {
    let folder = folder_of(path);
    let last = repository(&folder)
        .or_else(|| {
            let current = std::env::current_dir().ok()?;
            folder.starts_with(&current).then_some(current)
        })
        .unwrap_or_else(|| folder.clone());
    let folders = folder.ancestors().take_while(|above| {
        // The last one counts too.
        above.starts_with(&last)
    });
    folders
        .map(|folder| folder.join(FILE_NAME))
        .find(|file| file.is_file())
}

/// The root of the repository that a folder belongs to.
pub(crate) fn repository(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .find(|above| above.join(".git").exists())
        .map(Path::to_owned)
}

/// A path's folder, absolute: itself, or the one that a file is in.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    let full = path
        .canonicalize()
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned());
    if full.is_dir() {
        return full;
    }
    full.parent().map_or(full.clone(), Path::to_owned)
}
