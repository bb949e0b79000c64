//! Plain memory of a run: the pieces that accesses to it are told apart by, and who
//! reads them after some point of the run.

use std::collections::BTreeMap;

use wmfix_analysis::{Bytes, ThreadId};

/// Larger plain accesses are not looked at piece by piece.
pub(super) const MOST_BYTES: u64 = 1 << 20;

/// The size of what plain accesses are told apart by.
pub(super) const GRANULE: u64 = 8;

/// What bytes are told apart by.
pub(super) fn granules(bytes: Bytes) -> impl Iterator<Item = u64> {
    let last = bytes.address + bytes.size.saturating_sub(1);
    bytes.address / GRANULE..=last / GRANULE
}

/// Who reads memory later, before it is given back.
#[derive(Debug, Default)]
pub(super) struct LaterReaders {
    /// By granule: the thread, or none if there are several.
    by_granule: BTreeMap<u64, Option<ThreadId>>,
    /// Somebody reads more than is looked at.
    of_much: bool,
}

impl LaterReaders {
    /// This thread reads these bytes.
    pub(super) fn add(&mut self, bytes: Bytes, thread: ThreadId) {
        if bytes.size > MOST_BYTES {
            self.of_much = true;
            return;
        }
        for granule in granules(bytes) {
            let reader = self.by_granule.entry(granule).or_insert(Some(thread));
            *reader = reader.filter(|reader| *reader == thread);
        }
    }

    /// Whether another thread does.
    pub(super) fn has_other(&self, bytes: Bytes, thread: ThreadId) -> bool {
        let last = bytes.address + bytes.size.saturating_sub(1);
        let range = bytes.address / GRANULE..=last / GRANULE;
        let mut readers = self.by_granule.range(range);
        self.of_much || readers.any(|(_, reader)| *reader != Some(thread))
    }

    /// The bytes are handed out here, or given back before.
    pub(super) fn forget(&mut self, bytes: Bytes) {
        let last = bytes.address + bytes.size.saturating_sub(1);
        let range = bytes.address / GRANULE..=last / GRANULE;
        let known: Vec<u64> = self.by_granule.range(range).map(|(&one, _)| one).collect();
        for granule in known {
            self.by_granule.remove(&granule);
        }
    }
}
