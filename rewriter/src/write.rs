//! Writing changed files: all of them or none, never through two
//! symbolic links, never outside of the given tree, never over a file that
//! changed meanwhile. Knows edits and files; knows no C.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::edit::{EditError, EditSet};
use crate::journal::Journal;

/// Why a file was not written. All are untouched but for one that cannot be put back.
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
    /// Another process is at it.
    #[error("another wmfix is changing files of {}", .0.display())]
    Busy(PathBuf),
    /// A file was changed, and cannot be put back.
    #[error("{} was changed and cannot be put back: {source}", path.display())]
    NotPutBack {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
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
/// written, to none. All new texts are there before the first takes its place, in a single
/// step and with the same permissions; a file with several names keeps them.
pub fn write_files(tree: &Path, files: &[(&Path, &EditSet)]) -> Result<(), WriteError> {
    let changed = files.iter().filter(|(_, edits)| !edits.is_empty());
    let mut targets = Vec::new();
    for (path, edits) in changed {
        targets.push((Target::find(tree, path)?, *edits));
    }
    if targets.is_empty() {
        return Ok(());
    }
    let paths: Vec<PathBuf> = targets.iter().map(|(at, _)| at.path.clone()).collect();
    let noted = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => WriteError::Busy(tree.to_owned()),
        _ => WriteError::Io {
            path: tree.to_owned(),
            source,
        },
    };
    let mut journal = Journal::begin(tree, &paths).map_err(noted)?;
    let mut ready = Vec::new();
    for ((target, edits), staged) in targets.into_iter().zip(&journal.staged) {
        ready.push(Replacement::prepare(target, edits, staged)?);
    }
    journal.is_staged().map_err(noted)?;
    let mut replaced = Vec::new();
    for replacement in ready {
        match replacement.commit() {
            Ok(undo) => replaced.push(undo),
            Err(error) => return Err(put_back(replaced).unwrap_or(error)),
        }
    }
    Ok(())
}

/// Puts all files back; the first error.
fn put_back(replaced: Vec<Undo>) -> Option<WriteError> {
    let mut first = None;
    for undo in replaced {
        let failed = undo.put_back().err();
        first = first.or(failed);
    }
    first
}

/// A file that is to be changed.
struct Target {
    path: PathBuf,
    metadata: Metadata,
}

/// A file's new text, beside the file.
struct Replacement {
    target: PathBuf,
    before: Vec<u8>,
    after: Vec<u8>,
    /// Whether the file has other names, which a new one in its place would not have.
    has_other_names: bool,
    temporary: NamedTempFile,
}

/// What a file held before it was replaced.
struct Undo {
    target: PathBuf,
    before: Vec<u8>,
}

impl Target {
    fn find(tree: &Path, path: &Path) -> Result<Self, WriteError> {
        let target = resolve(tree, path)?;
        let metadata = fs::metadata(&target).map_err(|source| WriteError::Io {
            path: path.to_owned(),
            source,
        })?;
        // The superuser could write it, but its permissions say not to.
        if metadata.permissions().readonly() {
            return Err(WriteError::ReadOnly(target));
        }
        Ok(Self {
            path: target,
            metadata,
        })
    }
}

impl Replacement {
    fn prepare(target: Target, edits: &EditSet, staged: &Path) -> Result<Self, WriteError> {
        let Target { path, metadata } = target;
        let io_error = |source| WriteError::Io {
            path: path.clone(),
            source,
        };
        let mut temporary = tempfile::Builder::new()
            .prefix(staged.file_name().unwrap_or_default())
            .rand_bytes(0)
            .tempfile_in(staged.parent().unwrap_or(Path::new(".")))
            .map_err(io_error)?;
        let before = fs::read(&path).map_err(io_error)?;
        let after = edits.apply(&before).map_err(|source| WriteError::Edit {
            path: path.clone(),
            source,
        })?;
        temporary.write_all(&after).map_err(io_error)?;
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
            target: path,
            before,
            after,
            has_other_names: metadata.nlink() > 1,
            temporary,
        })
    }

    fn commit(self) -> Result<Undo, WriteError> {
        let undo = Undo {
            target: self.target,
            before: self.before,
        };
        let target = &undo.target;
        let io_error = |source| WriteError::Io {
            path: target.clone(),
            source,
        };
        // The last look before the step that cannot be taken back.
        if fs::read(target).map_err(io_error)? != undo.before {
            return Err(WriteError::Edit {
                path: target.clone(),
                source: EditError::ContentChanged,
            });
        }
        if self.has_other_names {
            if let Err(source) = fs::write(target, self.after) {
                let error = io_error(source);
                return Err(undo.put_back().err().unwrap_or(error));
            }
            return Ok(undo);
        }
        self.temporary
            .persist(target)
            .map_err(|error| io_error(error.error))?;
        let folder = target.parent().unwrap_or(Path::new("."));
        // That the name is on the disk is not worth taking the change back.
        let _later = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(undo)
    }
}

impl Undo {
    fn put_back(self) -> Result<(), WriteError> {
        fs::write(&self.target, self.before).map_err(|source| WriteError::NotPutBack {
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
    fn a_file_with_two_names_keeps_both() {
        let tree = tree();
        let other = tree.folder.path().join("other.c");
        fs::hard_link(&tree.file, &other).unwrap();
        write_file(tree.folder.path(), &tree.file, &edits()).unwrap();
        assert_eq!(fs::read(&other).unwrap(), AFTER);
        assert_eq!(fs::metadata(&tree.file).unwrap().nlink(), 2);
        assert_eq!(fs::read_dir(tree.folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn files_that_were_replaced_are_put_back() {
        let tree = tree();
        let other = tree.folder.path().join("other.c");
        fs::copy(&tree.file, &other).unwrap();
        // The second file is the first one: once that is replaced, it has changed.
        let link = tree.folder.path().join("src/link.c");
        fs::hard_link(&other, &link).unwrap();
        let all = [
            (&*tree.file, &edits()),
            (&*other, &edits()),
            (&*link, &edits()),
        ];
        let error = write_files(tree.folder.path(), &all).unwrap_err();
        assert!(matches!(error, WriteError::Edit { .. }), "{error}");
        for path in [&tree.file, &other, &link] {
            assert_eq!(fs::read(path).unwrap(), BEFORE);
        }
        let left = fs::read_dir(tree.folder.path()).unwrap().count();
        assert_eq!(left, 2, "nothing else is left");
    }

    #[test]
    fn two_do_not_change_files_at_once() {
        let tree = tree();
        let root = tree.folder.path();
        let _other = Journal::begin(root, &[]).unwrap();
        let error = write_file(root, &tree.file, &edits()).unwrap_err();
        assert!(matches!(error, WriteError::Busy(_)), "{error}");
        assert_eq!(fs::read(&tree.file).unwrap(), BEFORE);
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
