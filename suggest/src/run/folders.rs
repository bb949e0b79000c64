//! Folders for runs, used again and again: to make and remove one costs more than
//! a short run.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Context;

/// Folders for runs, removed together in the end.
pub(crate) struct RunFolders {
    all: tempfile::TempDir,
    free: Mutex<Vec<PathBuf>>,
}

/// A folder that no other run uses until it is dropped.
pub(crate) struct RunFolder<'a> {
    folders: &'a RunFolders,
    path: PathBuf,
}

impl RunFolders {
    /// None is in use yet.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let all = tempfile::Builder::new().prefix("wmfix-").tempdir();
        Ok(Self {
            all: all.context("cannot create a folder for the runs")?,
            free: Mutex::default(),
        })
    }

    /// A folder for one run.
    pub(crate) fn take(&self) -> anyhow::Result<RunFolder<'_>> {
        let mut free = self.free.lock().expect("no panic while locked");
        let path = match free.pop() {
            Some(path) => path,
            None => tempfile::Builder::new()
                .prefix("run-")
                .tempdir_in(&self.all)?
                .keep(),
        };
        Ok(RunFolder {
            folders: self,
            path,
        })
    }
}

impl RunFolder<'_> {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunFolder<'_> {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        let mut free = self.folders.free.lock().expect("no panic while locked");
        free.push(path);
    }
}
