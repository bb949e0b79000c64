//! Build files of a copy that name the user's own folder: with them a build would write
//! there, and not into the copy. What a configured build has left in the tree does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names of files that build tools go by.
const NAMES: [&str; 7] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "meson.build",
    "config.status",
    "libtool",
];

/// Endings of such files.
const ENDINGS: [&str; 5] = ["mk", "mak", "make", "cmake", "ninja"];

/// A line of a build file that names the user's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForeignPath {
    /// The file, relative to the tree.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The folder that it names.
    pub folder: PathBuf,
}

/// The first one of these files of a `copy` of `tree`, none of them below `own`, where wmfix
/// keeps what it builds.
pub(super) fn first(
    files: &[PathBuf],
    copy: &Path,
    tree: &Path,
    own: &Path,
) -> io::Result<Option<ForeignPath>> {
    // Everything is below it.
    if tree.parent().is_none() {
        return Ok(None);
    }
    for file in files.iter().filter(|file| is_build_file(file)) {
        let text = match fs::read(copy.join(file)) {
            Ok(text) => text,
            // A link to nothing, or what configuring has taken away.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let mut lines = text.split(|&byte| byte == b'\n');
        if let Some(line) = lines.position(|line| names(line, tree, own)) {
            return Ok(Some(ForeignPath {
                file: file.clone(),
                line: line + 1,
                folder: tree.to_owned(),
            }));
        }
    }
    Ok(None)
}

fn is_build_file(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    let ending = file.extension().unwrap_or_default();
    NAMES.iter().any(|one| name == *one) || ENDINGS.iter().any(|one| ending == *one)
}

/// Whether a line, unless it is a comment, names the tree or what is in it.
fn names(line: &[u8], tree: &Path, own: &Path) -> bool {
    let (tree, own) = (
        tree.as_os_str().as_encoded_bytes(),
        own.as_os_str().as_encoded_bytes(),
    );
    if line.trim_ascii_start().starts_with(b"#") {
        return false;
    }
    (0..line.len()).any(|at| {
        let rest = &line[at..];
        let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.+~".contains(byte);
        rest.starts_with(tree)
            && !rest.get(tree.len()).is_some_and(goes_on)
            && !rest.starts_with(own)
            // Else it is the end of another path.
            && !at.checked_sub(1).is_some_and(|before| goes_on(&line[before]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_as_a_whole() {
        let (tree, own) = (Path::new("/home/me/p"), Path::new("/home/me/p/cache/wmfix"));
        let is_named = |line: &str| names(line.as_bytes(), tree, own);
        for line in [
            "cd /home/me/p && make",
            "TOP=/home/me/p",
            "-I\"/home/me/p/include\"",
        ] {
            assert!(is_named(line), "{line}");
        }
        for line in [
            "# /home/me/p",
            "/home/me/pq",
            "/mnt/home/me/p",
            "/home/me/p/cache/wmfix/projects/1",
        ] {
            assert!(!is_named(line), "{line}");
        }
    }
}
