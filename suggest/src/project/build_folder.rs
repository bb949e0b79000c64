//! The folder of the user's cache in which a project is built, so that the next run
//! finds what this one has built. One process holds it at a time; another one that
//! works on the same project meanwhile takes another folder.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;

use crate::private_files::make_private_folder;
use crate::runtime_archive::cache_folder;

/// A build folder that was not used for this long is removed.
const MAX_UNUSED_TIME: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Never more build folders than this: the least recently used one goes first.
const MAX_FOLDERS: usize = 64;

/// A build folder that this process holds until it is dropped.
#[derive(Debug)]
pub(super) struct BuildFolder {
    folder: PathBuf,
    _lock: File,
}

impl BuildFolder {
    /// A build folder for what is at this path.
    pub(super) fn of(path: &Path) -> anyhow::Result<Self> {
        let all = cache_folder()?.join("projects");
        let made = make_private_folder(&all);
        made.with_context(|| format!("cannot make {}", all.display()))?;
        Self::in_folder(&all.canonicalize()?, path)
    }

    fn in_folder(all: &Path, path: &Path) -> anyhow::Result<Self> {
        let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        for number in 1.. {
            let name = format!("{}-{number}", &hash[..24]);
            if let Some(lock) = locked(&all.join(format!("{name}.lock")))? {
                let folder = all.join(name);
                fs::create_dir_all(&folder)
                    .with_context(|| format!("cannot make {}", folder.display()))?;
                lock.set_modified(SystemTime::now())?;
                remove_unused(all);
                return Ok(Self {
                    folder,
                    _lock: lock,
                });
            }
        }
        unreachable!("some build folder is free")
    }

    /// The folder, absolute and without links.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Locks a file that is made if need be; `None` if somebody else has it.
fn locked(path: &Path) -> anyhow::Result<Option<File>> {
    loop {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        // It may have been removed between the two steps.
        let here = fs::metadata(path).ok().map(|meta| meta.ino());
        if here == Some(file.metadata()?.ino()) {
            return Ok(Some(file));
        }
    }
}

/// Removes build folders that were not used for long, and the oldest of too many.
/// What cannot be removed now is left for the next time.
fn remove_unused(all: &Path) {
    let Ok(entries) = fs::read_dir(all) else {
        return;
    };
    let mut folders: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_lock = path.extension().is_some_and(|ending| ending == "lock");
            let used = fs::metadata(&path).ok()?.modified().ok()?;
            is_lock.then_some((used, path))
        })
        .collect();
    folders.sort();
    let too_many = folders.len().saturating_sub(MAX_FOLDERS);
    for (number, (used, lock)) in folders.into_iter().enumerate() {
        let old = used.elapsed().is_ok_and(|age| age > MAX_UNUSED_TIME);
        if (old || number < too_many)
            && let Ok(Some(_held)) = locked(&lock)
            && remove(&lock.with_extension("")).is_ok()
        {
            let _next_time = fs::remove_file(&lock);
        }
    }
}

/// Removes a folder with all that is in it, if it is there.
pub(super) fn remove(folder: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_at_once_do_not_share_a_folder_and_one_after_the_other_do() {
        let all = tempfile::tempdir().unwrap();
        let project = Path::new("/some/project");
        let first = BuildFolder::in_folder(all.path(), project).unwrap();
        let second = BuildFolder::in_folder(all.path(), project).unwrap();
        assert_ne!(first.folder(), second.folder());
        let folder = first.folder().to_owned();
        drop(first);
        let third = BuildFolder::in_folder(all.path(), project).unwrap();
        assert_eq!(third.folder(), folder);
        let other = BuildFolder::in_folder(all.path(), Path::new("/another")).unwrap();
        assert_ne!(other.folder(), folder);
    }

    #[test]
    fn old_folders_and_too_many_are_removed_but_none_in_use() {
        let all = tempfile::tempdir().unwrap();
        let age = |lease: &BuildFolder, days: u64| {
            let lock = lease.folder().with_extension("lock");
            let then = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
            File::options()
                .write(true)
                .open(lock)
                .unwrap()
                .set_modified(then)
                .unwrap();
        };
        let used = BuildFolder::in_folder(all.path(), Path::new("/used")).unwrap();
        let unused = BuildFolder::in_folder(all.path(), Path::new("/unused")).unwrap();
        age(&used, 15);
        age(&unused, 15);
        let gone = unused.folder().to_owned();
        drop(unused);
        for number in 0..=MAX_FOLDERS {
            let lease =
                BuildFolder::in_folder(all.path(), Path::new(&format!("/{number}"))).unwrap();
            age(&lease, 1);
        }
        assert!(used.folder().exists());
        assert!(!gone.exists());
        let folders = fs::read_dir(all.path()).unwrap().count() / 2;
        assert!(folders <= MAX_FOLDERS + 1, "{folders}");
    }
}
