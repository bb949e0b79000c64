//! The folder that the processes of a run write their traces into. The runtime keeps
//! each trace below its limit; here all of them together are, whatever the number of
//! processes.

use std::path::{Path, PathBuf};

/// The folder is looked at every so many times that the run is.
const LOOKS: u32 = 4;

/// The folder of a run's traces.
#[derive(Clone, Debug)]
pub(super) struct TraceFolder {
    path: PathBuf,
    most_bytes: u64,
    looks: u32,
}

impl TraceFolder {
    /// A folder for at most this many bytes.
    pub(super) fn new(path: &Path, most_bytes: u64) -> Self {
        Self {
            path: path.to_owned(),
            most_bytes,
            looks: 0,
        }
    }

    /// Whether there is more in it than there may be, now and then.
    pub(super) fn is_seen_full(&mut self) -> bool {
        self.looks = (self.looks + 1) % LOOKS;
        self.looks == 0 && self.is_full()
    }

    /// Whether there is more in it than there may be.
    pub(super) fn is_full(&self) -> bool {
        // One that is gone has nothing in it.
        let entries = std::fs::read_dir(&self.path).into_iter().flatten();
        let sizes = entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()));
        sizes.fold(0, u64::saturating_add) > self.most_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_folder_count_together() {
        let folder = tempfile::tempdir().unwrap();
        let mut traces = TraceFolder::new(folder.path(), 10);
        for (name, full) in [("a", false), ("b", false), ("c", true)] {
            std::fs::write(folder.path().join(name), "12345").unwrap();
            assert_eq!(traces.is_full(), full, "{name}");
        }
        assert!((0..LOOKS).any(|_| traces.is_seen_full()));
        assert!(!TraceFolder::new(&folder.path().join("none"), 0).is_full());
    }
}
