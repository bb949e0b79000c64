//! Folders for runs, used again and again, each with the fork server that was last
//! started for it: to make and remove either costs more than a short run.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;

use super::left_behind;
use super::start::{FreshStart, KnownPrograms, ServedProgram};

/// What the folder of a process is called, before a part that no other has.
const PREFIX: &str = "wmfix-runs-";

/// The file in it that the process holds locked as long as it lives.
const LOCK: &str = "lock";

/// A folder without a lock is this young if its process has not come to lock it yet.
const MAX_UNLOCKED: Duration = Duration::from_secs(60);

/// Folders for runs, removed together in the end.
pub(crate) struct RunFolders {
    // Before the folders: servers end before what they write to is removed.
    free: Mutex<Vec<FreeFolder>>,
    programs: KnownPrograms,
    /// Processes that outlived their runs, and were ended.
    left_behind: AtomicU64,
    all: tempfile::TempDir,
    /// Held: nobody takes the folder for a leftover.
    _lock: File,
}

/// A folder that no run uses, and its server.
type FreeFolder = (PathBuf, Option<ServedProgram>);

/// A folder that no other run uses until it is dropped.
pub(crate) struct RunFolder<'a> {
    folders: &'a RunFolders,
    path: PathBuf,
    server: Mutex<Option<ServedProgram>>,
}

impl RunFolders {
    /// None is in use yet.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let context = "cannot create a folder for the runs";
        remove_leftovers(&std::env::temp_dir());
        left_behind::adopt();
        // Traces and outputs are nobody else's to read.
        let all = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir();
        let all = all.context(context)?;
        let lock = File::create(all.path().join(LOCK)).context(context)?;
        lock.lock().context(context)?;
        Ok(Self {
            free: Mutex::default(),
            programs: KnownPrograms::default(),
            left_behind: AtomicU64::new(0),
            all,
            _lock: lock,
        })
    }

    /// The folder around them, for files that runs share.
    pub(crate) fn shared(&self) -> &Path {
        self.all.path()
    }

    /// A folder for one run.
    pub(crate) fn take(&self) -> anyhow::Result<RunFolder<'_>> {
        let mut free = self.free.lock().expect("no panic while locked");
        let (path, server) = match free.pop() {
            Some(folder) => folder,
            None => {
                let made = tempfile::Builder::new()
                    .prefix("run-")
                    .tempdir_in(&self.all)?;
                (made.keep(), None)
            }
        };
        Ok(RunFolder {
            folders: self,
            path,
            server: Mutex::new(server),
        })
    }

    /// How many processes outlived their runs and were ended.
    pub(crate) fn left_behind(&self) -> u64 {
        self.left_behind.load(Ordering::Relaxed)
    }

    /// Why programs were started anew for every run, where they were.
    pub(crate) fn fresh_starts(&self) -> BTreeSet<FreshStart> {
        self.programs.fresh_starts()
    }
}

/// Removes the folders of processes that were killed, in the folder for temporary
/// files: those that nobody holds. What cannot be removed now, or is somebody
/// else's, is left alone.
fn remove_leftovers(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        let is_own = meta.is_dir() && meta.uid() == rustix::process::getuid().as_raw();
        let is_young = meta
            .modified()
            .is_ok_and(|made| made.elapsed().is_ok_and(|age| age < MAX_UNLOCKED));
        if !name.starts_with(PREFIX) || !is_own || is_young {
            continue;
        }
        let lock = File::open(path.join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _next_time = fs::remove_dir_all(&path);
        }
    }
}

impl RunFolder<'_> {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The run here is over: ends the processes that it has left behind.
    pub(super) fn end_left_behind(&self) {
        let ended = left_behind::end_all(&self.path);
        self.folders.left_behind.fetch_add(ended, Ordering::Relaxed);
    }

    /// What is known about the programs.
    pub(super) fn programs(&self) -> &KnownPrograms {
        &self.folders.programs
    }

    /// The server of the last run here.
    pub(super) fn server(&self) -> &Mutex<Option<ServedProgram>> {
        &self.server
    }
}

impl Drop for RunFolder<'_> {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        let server = self.server.lock().expect("no panic while locked").take();
        let mut free = self.folders.free.lock().expect("no panic while locked");
        free.push((path, server));
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn others_cannot_look_into_them() {
        let folders = RunFolders::new().unwrap();
        let mode = fs::metadata(folders.shared()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn folders_of_killed_processes_are_removed_and_no_others() {
        let temporary = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let folder = temporary.path().join(name);
            fs::create_dir(&folder).unwrap();
            let lock = File::create(folder.join(LOCK)).unwrap();
            let old = SystemTime::now() - 2 * MAX_UNLOCKED;
            File::open(&folder).unwrap().set_modified(old).unwrap();
            (folder, lock)
        };
        let (killed, _) = make("wmfix-runs-killed");
        let (alive, lock) = make("wmfix-runs-alive");
        let (other, _) = make("wmfix-test-other");
        lock.lock().unwrap();
        remove_leftovers(temporary.path());
        assert!(!killed.exists() && alive.exists() && other.exists());
    }
}
