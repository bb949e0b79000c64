//! What a process that was killed while it changed files has left behind: a note in the
//! tree says what was to be changed, so that the next one can clean up and tell.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The note, in the root of the tree.
const NOTE: &str = ".wmfix-apply";

/// What the names of new texts begin with.
const PREFIX: &str = ".wmfix-";

/// The end of a note once all new texts are there: from then on one that is not has taken
/// the place of its file.
const STAGED: &[u8] = b"staged";

/// Nobody has written a longer note.
const MAX_NOTE_BYTES: u64 = 1 << 24;

/// A note that is there for as long as files are being changed.
pub(crate) struct Journal {
    path: PathBuf,
    /// Held locked: nobody takes the note for one that was left behind.
    file: File,
    /// Where the new text of each file is to be before it takes its place.
    pub(crate) staged: Vec<PathBuf>,
}

impl Journal {
    /// Notes which files are to be changed.
    pub(crate) fn begin(tree: &Path, targets: &[PathBuf]) -> io::Result<Self> {
        let path = tree.join(NOTE);
        let file = File::options().write(true).create_new(true).open(&path)?;
        let mut journal = Self {
            path,
            file,
            staged: Vec::new(),
        };
        journal.file.lock()?;
        let mut text = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            let name = format!("{PREFIX}{}-{number}", std::process::id());
            let staged = target.with_file_name(name);
            for path in [&staged, target] {
                text.extend(path.as_os_str().as_bytes());
                text.push(0);
            }
            journal.staged.push(staged);
        }
        journal.file.write_all(&text)?;
        journal.file.sync_all()?;
        Ok(journal)
    }

    /// Notes that all new texts are there.
    pub(crate) fn is_staged(&mut self) -> io::Result<()> {
        self.file.write_all(STAGED)?;
        self.file.sync_all()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // One that stays is removed by the next process.
        let _next_time = fs::remove_file(&self.path);
    }
}

/// What a process that was killed had done to the files that it was to change.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Interrupted {
    /// They have their new text.
    pub changed: Vec<PathBuf>,
    /// They have their old text.
    pub unchanged: Vec<PathBuf>,
}

/// Removes what a process has left behind that was killed while it changed files of this
/// tree, and says what it had done. `None` if there is nothing.
pub fn clean_up(tree: &Path) -> io::Result<Option<Interrupted>> {
    let path = tree.join(NOTE);
    let is_note = |meta: fs::Metadata| meta.is_file() && meta.len() <= MAX_NOTE_BYTES;
    if !fs::symlink_metadata(&path).is_ok_and(is_note) {
        return Ok(None);
    }
    let file = File::open(&path)?;
    if file.try_lock().is_err() {
        // Its process is alive.
        return Ok(None);
    }
    let text = fs::read(&path)?;
    let tree = tree.canonicalize()?;
    let parts: Vec<&[u8]> = text.split(|&byte| byte == 0).collect();
    let was_staged = parts.last() == Some(&STAGED);
    let mut found = Interrupted::default();
    for pair in parts.chunks_exact(2) {
        let [staged, target] = [pair[0], pair[1]].map(|path| Path::new(OsStr::from_bytes(path)));
        if !may_be_staged(staged, target, &tree) {
            continue;
        }
        let is_there = fs::symlink_metadata(staged).is_ok();
        if is_there {
            fs::remove_file(staged)?;
        }
        match was_staged && !is_there {
            true => found.changed.push(target.to_owned()),
            false => found.unchanged.push(target.to_owned()),
        }
    }
    fs::remove_file(&path)?;
    Ok(Some(found))
}

/// Whether a file that a note names is one of ours: anybody may have written the note.
fn may_be_staged(staged: &Path, target: &Path, tree: &Path) -> bool {
    let name = staged.file_name().unwrap_or_default();
    let folder = staged
        .parent()
        .and_then(|folder| folder.canonicalize().ok());
    name.as_bytes().starts_with(PREFIX.as_bytes())
        && staged.parent() == target.parent()
        && folder.is_some_and(|folder| folder.starts_with(tree))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two files that are to be changed, and what is left of that by a process that was
    /// killed after these steps: what each staged, and how many took their places.
    fn killed(staged: usize, all_staged: bool, moved: usize) -> (tempfile::TempDir, Interrupted) {
        let tree = tempfile::tempdir().unwrap();
        let root = tree.path().canonicalize().unwrap();
        let targets: Vec<PathBuf> = ["a.c", "b.c"].iter().map(|name| root.join(name)).collect();
        for target in &targets {
            fs::write(target, "old").unwrap();
        }
        let mut journal = Journal::begin(&root, &targets).unwrap();
        assert_eq!(clean_up(&root).unwrap(), None, "its process is alive");
        for path in &journal.staged[..staged] {
            fs::write(path, "new").unwrap();
        }
        if all_staged {
            journal.is_staged().unwrap();
        }
        for (path, target) in journal.staged.iter().zip(&targets).take(moved) {
            fs::rename(path, target).unwrap();
        }
        let text = fs::read(root.join(NOTE)).unwrap();
        drop(journal);
        fs::write(root.join(NOTE), text).unwrap();
        let found = clean_up(&root).unwrap().expect("there was a note");
        let names = fs::read_dir(&root).unwrap().count();
        assert_eq!(names, 2, "nothing is left");
        assert_eq!(clean_up(&root).unwrap(), None);
        (tree, found)
    }

    fn names(paths: &[PathBuf]) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        paths.iter().map(name).collect()
    }

    #[test]
    fn what_was_left_behind_is_removed_and_told() {
        for (staged, all_staged, moved, changed) in [
            (0, false, 0, vec![]),
            (1, false, 0, vec![]),
            (2, true, 0, vec![]),
            (2, true, 1, vec!["a.c"]),
            (2, true, 2, vec!["a.c", "b.c"]),
        ] {
            let (_tree, found) = killed(staged, all_staged, moved);
            assert_eq!(names(&found.changed), changed);
            assert_eq!(found.changed.len() + found.unchanged.len(), 2);
        }
    }

    #[test]
    fn a_note_of_somebody_else_removes_nothing_of_the_users() {
        let (tree, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mine = tree.path().join("mine.c");
        let outside = other.path().join(".wmfix-outside");
        for path in [&mine, &outside] {
            fs::write(path, "text").unwrap();
        }
        let mut text = Vec::new();
        for path in [&mine, &mine, &outside, &other.path().join("a.c")] {
            text.extend(path.as_os_str().as_bytes());
            text.push(0);
        }
        text.extend(STAGED);
        fs::write(tree.path().join(NOTE), text).unwrap();
        let found = clean_up(tree.path()).unwrap();
        assert_eq!(found, Some(Interrupted::default()));
        assert!(mine.exists() && outside.exists());
        assert!(!tree.path().join(NOTE).exists());
    }
}
