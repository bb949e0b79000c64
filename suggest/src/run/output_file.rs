//! The file that a run prints into. A program that prints without end must not fill the
//! disk: of a long output only its beginning and its end are ever looked at, and what
//! lies between is given back while the run goes on.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

/// This much of the beginning is kept: what outputs of runs are compared by.
const KEPT_FIRST: u64 = 1 << 20;

/// At least this much of the end is kept.
const KEPT_LAST: u64 = 1 << 20;

/// Something is given back whenever there is this much of it.
const STEP: u64 = 16 << 20;

/// The file that a run prints into.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    /// Up to where nothing is left but the beginning.
    given_back: u64,
}

impl OutputFile {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            given_back: KEPT_FIRST,
        }
    }

    /// Gives back what nobody will look at. Where the file system cannot, or the file is
    /// not one of ours any more, it stays.
    pub(super) fn keep_small(&mut self) {
        let Ok(meta) = std::fs::symlink_metadata(&self.path) else {
            return;
        };
        let until = meta.len().saturating_sub(KEPT_LAST);
        if !meta.is_file() || until < self.given_back + STEP {
            return;
        }
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let len = until - self.given_back;
        if let Ok(file) = OpenOptions::new().write(true).open(&self.path)
            && fallocate(&file, hole, self.given_back, len).is_ok()
        {
            self.given_back = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_long_output_takes_little_room_and_keeps_its_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        let mut printed = std::fs::File::create(&path).unwrap();
        let mut output = OutputFile::new(&path);
        for number in 0..48u8 {
            printed.write_all(&vec![number; 1 << 20]).unwrap();
            output.keep_small();
        }
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes[0], bytes[47 << 20]), (0, 47));
        assert_eq!(bytes.len(), 48 << 20);
        // What the file system is asked to give back it may keep.
        let kept = std::fs::metadata(&path).unwrap().blocks() * 512;
        assert!(kept < 24 << 20 || bytes[20 << 20] == 20, "{kept}");
    }
}
