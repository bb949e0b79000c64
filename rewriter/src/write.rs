//! Writing changed files: all of them or none, never through two
//! symbolic links, never outside of the given tree, never over a file that
//! changed meanwhile. Knows edits and files; knows no C.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::edit::{EditError, EditSet};

/// Why a file was not written. It is untouched in every case.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file is not below the tree that may be changed.
    #[error("{} is outside of {}; nothing was written", path.display(), tree.display())]
    OutsideTree {
        /// The file, its link resolved.
        path: PathBuf,
        /// The tree.
        tree: PathBuf,
    },
    /// The path is a link to a link.
    #[error("{} is a link to a link; name the file itself", .0.display())]
    LinkToLink(PathBuf),
    /// The file's permissions forbid writing.
    #[error("{} is read-only; make it writable to change it", .0.display())]
    ReadOnly(PathBuf),
    /// The edits are for another text.
    #[error("{}: {source}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        source: EditError,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Applies edits to files below `tree`: to all of them, or, if one cannot be
/// written, to none. A new text takes the place of the old one in a single step,
/// with the same permissions.
pub fn write_files(tree: &Path, files: &[(&Path, &EditSet)]) -> Result<(), WriteError> {
    let mut ready = Vec::new();
    for (path, edits) in files.iter().filter(|(_, edits)| !edits.is_empty()) {
        ready.push(Replacement::prepare(tree, path, edits)?);
    }
    let mut replaced = Vec::new();
    for replacement in ready {
        match replacement.commit() {
            Ok(undo) => replaced.push(undo),
            Err(error) => {
                for undo in replaced {
                    undo.put_back()?;
                }
                return Err(error);
            }
        }
    }
    Ok(())
}

/// A file's new text, beside the file.
struct Replacement {
    target: PathBuf,
    before: Vec<u8>,
    temporary: NamedTempFile,
}

/// What a file held before it was replaced.
struct Undo {
    target: PathBuf,
    before: Vec<u8>,
}

impl Replacement {
    fn prepare(tree: &Path, path: &Path, edits: &EditSet) -> Result<Self, WriteError> {
        let io_error = |source| WriteError::Io {
            path: path.to_owned(),
            source,
        };
        let target = resolve(tree, path)?;
        let metadata = fs::metadata(&target).map_err(io_error)?;
        // The superuser could write it, but its permissions say not to.
        if metadata.permissions().readonly() {
            return Err(WriteError::ReadOnly(target));
        }
        let folder = target.parent().unwrap_or(Path::new("."));
        let mut temporary = tempfile::Builder::new()
            .prefix(".wmfix-")
            .tempfile_in(folder)
            .map_err(io_error)?;
        let before = fs::read(&target).map_err(io_error)?;
        let changed = edits.apply(&before).map_err(|source| WriteError::Edit {
            path: path.to_owned(),
            source,
        })?;
        temporary.write_all(&changed).map_err(io_error)?;
        temporary
            .as_file()
            .set_permissions(metadata.permissions())
            .map_err(io_error)?;
        // Whoever owns the file still does, whoever runs this.
        let made = temporary.as_file().metadata().map_err(io_error)?;
        if (made.uid(), made.gid()) != (metadata.uid(), metadata.gid()) {
            let (owner, group) = (Some(metadata.uid()), Some(metadata.gid()));
            fchown(temporary.as_file(), owner, group).map_err(io_error)?;
        }
        temporary.as_file().sync_all().map_err(io_error)?;
        Ok(Self {
            target,
            before,
            temporary,
        })
    }

    fn commit(self) -> Result<Undo, WriteError> {
        let target = self.target;
        let io_error = |source| WriteError::Io {
            path: target.clone(),
            source,
        };
        // The last look before the step that cannot be taken back.
        if fs::read(&target).map_err(io_error)? != self.before {
            return Err(WriteError::Edit {
                path: target,
                source: EditError::ContentChanged,
            });
        }
        self.temporary
            .persist(&target)
            .map_err(|error| io_error(error.error))?;
        let folder = target.parent().unwrap_or(Path::new("."));
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(io_error)?;
        Ok(Undo {
            target,
            before: self.before,
        })
    }
}

impl Undo {
    fn put_back(self) -> Result<(), WriteError> {
        fs::write(&self.target, self.before).map_err(|source| WriteError::Io {
            path: self.target,
            source,
        })
    }
}

/// The file that `path` means: a link is followed once.
fn resolve(tree: &Path, path: &Path) -> Result<PathBuf, WriteError> {
    let io_error = |source| WriteError::Io {
        path: path.to_owned(),
        source,
    };
    let mut named = path.to_owned();
    if is_link(path).map_err(io_error)? {
        let link = fs::read_link(path).map_err(io_error)?;
        named = path.parent().unwrap_or(Path::new(".")).join(link);
        if is_link(&named).map_err(io_error)? {
            return Err(WriteError::LinkToLink(path.to_owned()));
        }
    }
    let target = fs::canonicalize(&named).map_err(io_error)?;
    let tree = fs::canonicalize(tree).map_err(io_error)?;
    if !target.starts_with(&tree) {
        return Err(WriteError::OutsideTree { path: target, tree });
    }
    Ok(target)
}

fn is_link(path: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.file_type().is_symlink())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::edit::Edit;

    fn write_file(tree: &Path, path: &Path, edits: &EditSet) -> Result<(), WriteError> {
        write_files(tree, &[(path, edits)])
    }

    const BEFORE: &[u8] = b"int x;\n";
    const AFTER: &[u8] = b"long x;\n";

    struct Tree {
        folder: tempfile::TempDir,
        file: PathBuf,
    }

    fn tree() -> Tree {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        let file = folder.path().join("src/a.c");
        fs::write(&file, BEFORE).unwrap();
        Tree { folder, file }
    }

    fn edits() -> EditSet {
        let edit = Edit {
            span: 0..3,
            text: b"long".to_vec(),
        };
        EditSet::new(BEFORE, vec![edit]).unwrap()
    }

    #[test]
    fn the_text_changes_and_the_permissions_stay() {
        let tree = tree();
        fs::set_permissions(&tree.file, fs::Permissions::from_mode(0o754)).unwrap();
        write_file(tree.folder.path(), &tree.file, &edits()).unwrap();
        assert_eq!(fs::read(&tree.file).unwrap(), AFTER);
        let mode = fs::metadata(&tree.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o754);
        let names = fs::read_dir(tree.folder.path().join("src"))
            .unwrap()
            .count();
        assert_eq!(names, 1, "nothing else is left in the folder");
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_left_alone() {
        let tree = tree();
        fs::write(&tree.file, b"int y;\n").unwrap();
        let error = write_file(tree.folder.path(), &tree.file, &edits()).unwrap_err();
        assert!(matches!(
            error,
            WriteError::Edit {
                source: EditError::ContentChanged,
                ..
            }
        ));
        assert_eq!(fs::read(&tree.file).unwrap(), b"int y;\n");
    }

    #[test]
    fn one_file_that_cannot_be_written_keeps_the_others_from_being_written() {
        let tree = tree();
        let other = tree.folder.path().join("other.c");
        fs::copy(&tree.file, &other).unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o444)).unwrap();
        let before = fs::read(&tree.file).unwrap();
        let both = [(&*tree.file, &edits()), (&*other, &edits())];
        let error = write_files(tree.folder.path(), &both).unwrap_err();
        assert!(matches!(error, WriteError::ReadOnly(_)), "{error}");
        assert_eq!(fs::read(&tree.file).unwrap(), before);
        fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).unwrap();
        write_files(tree.folder.path(), &both).unwrap();
        assert_ne!(fs::read(&tree.file).unwrap(), before);
        assert_eq!(fs::read(&tree.file).unwrap(), fs::read(&other).unwrap());
    }

    #[test]
    fn a_read_only_file_is_left_alone() {
        let tree = tree();
        fs::set_permissions(&tree.file, fs::Permissions::from_mode(0o444)).unwrap();
        let error = write_file(tree.folder.path(), &tree.file, &edits()).unwrap_err();
        assert!(matches!(error, WriteError::ReadOnly(_)));
        assert_eq!(fs::read(&tree.file).unwrap(), BEFORE);
    }

    #[test]
    fn a_link_is_followed_once_and_stays_a_link() {
        let tree = tree();
        let link = tree.folder.path().join("link.c");
        symlink("src/a.c", &link).unwrap();
        write_file(tree.folder.path(), &link, &edits()).unwrap();
        assert!(is_link(&link).unwrap());
        assert_eq!(fs::read(&tree.file).unwrap(), AFTER);

        let second = tree.folder.path().join("second.c");
        symlink("link.c", &second).unwrap();
        let error = write_file(tree.folder.path(), &second, &edits()).unwrap_err();
        assert!(matches!(error, WriteError::LinkToLink(_)));
    }

    #[test]
    fn nothing_outside_of_the_tree_is_written() {
        let (inside, outside) = (tree(), tree());
        let error = write_file(inside.folder.path(), &outside.file, &edits()).unwrap_err();
        assert!(matches!(error, WriteError::OutsideTree { .. }));
        let link = inside.folder.path().join("out.c");
        symlink(&outside.file, &link).unwrap();
        let error = write_file(inside.folder.path(), &link, &edits()).unwrap_err();
        assert!(matches!(error, WriteError::OutsideTree { .. }));
        let dotted = inside.folder.path().join("src/../../").join(
            outside
                .file
                .strip_prefix(outside.folder.path().parent().unwrap())
                .unwrap(),
        );
        let error = write_file(inside.folder.path(), &dotted, &edits()).unwrap_err();
        assert!(matches!(error, WriteError::OutsideTree { .. }));
        assert_eq!(fs::read(&outside.file).unwrap(), BEFORE);
    }
}
