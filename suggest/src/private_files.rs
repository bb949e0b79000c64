//! Files that wmfix writes: each is complete once it has its name, and none is
//! written through a link that lies where the file is to be. Folders of its own are
//! nobody else's to read.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use thiserror::Error;

/// The permissions of a new file, before the user's mask.
const FILE_MODE: u32 = 0o666;

/// What is not ours to write to.
#[derive(Debug, Error)]
pub(crate) enum NotOurs {
    /// A link: what it points to is not what was asked for.
    #[error(
        "{} is a symbolic link: wmfix does not write through links; remove it or name another file",
        .0.display()
    )]
    Link(PathBuf),
    /// A folder, a device, a pipe.
    #[error("{} is not a regular file: name another one", .0.display())]
    Special(PathBuf),
    /// A folder that is none, or a link to nowhere.
    #[error("{} is not a folder: name another one", .0.display())]
    NoFolder(PathBuf),
}

/// Writes a file as a whole, through a temporary one beside it. What is there is
/// replaced if it is a regular file; anything else (a link, a folder, a device) is
/// not ours to write to.
pub(crate) fn write_file(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    let shown = path.display();
    let mode = match fs::symlink_metadata(path) {
        Ok(there) if there.is_symlink() => return Err(NotOurs::Link(path.to_owned()).into()),
        Ok(there) if !there.is_file() => return Err(NotOurs::Special(path.to_owned()).into()),
        Ok(there) => Some(there.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(|| format!("cannot write {shown}")),
    };
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let write = || -> io::Result<()> {
        let mut temporary = tempfile::Builder::new()
            .prefix(".wmfix-")
            .permissions(fs::Permissions::from_mode(FILE_MODE))
            .tempfile_in(folder)?;
        temporary.write_all(text)?;
        if let Some(mode) = mode {
            temporary.as_file().set_permissions(mode)?;
        }
        temporary
            .persist(path)
            .map(drop)
            .map_err(|error| error.error)
    };
    write().with_context(|| format!("cannot write {shown}"))
}

/// Makes a folder that files are to be written into, and those above it.
pub(crate) fn make_folder(folder: &Path) -> anyhow::Result<()> {
    match fs::create_dir_all(folder) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(NotOurs::NoFolder(folder.to_owned()).into())
        }
        made => made.with_context(|| format!("cannot make {}", folder.display())),
    }
}

/// Makes a folder, and those above it, that only its owner can look into.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    if !folder.is_dir() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let handle = File::open(folder)?;
    let mode = handle.metadata()?.permissions().mode();
    if mode & 0o077 != 0 {
        // One that an earlier version made.
        handle.set_permissions(fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write_file(&at("page"), b"one").unwrap();
        fs::set_permissions(at("page"), fs::Permissions::from_mode(0o600)).unwrap();
        write_file(&at("page"), b"two").unwrap();
        assert_eq!(fs::read(at("page")).unwrap(), b"two");
        let mode = fs::metadata(at("page")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        symlink(at("page"), at("link")).unwrap();
        let error = write_file(&at("link"), b"three").unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
        assert!(write_file(folder.path(), b"").is_err());
        assert_eq!(fs::read(at("page")).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn folders_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        make_private_folder(&inner).unwrap();
        for made in [&inner, &folder.path().join("a")] {
            let mode = fs::metadata(made).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }
}
