//! How much of the locations is remembered: what no thread can need goes, exactly;
//! past the limits the oldest goes, and then fewer violations are reported.

use super::clock::ThreadSlot;
use super::history::{History, Timestamp};
use super::location::Location;
use super::thread::Threads;

/// How much to remember. Where threads never synchronise, nothing old can be
/// forgotten exactly; past these limits the oldest is forgotten all the same,
/// and then fewer violations are reported, never false ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Accesses of one thread to one location.
    pub history: usize,
    /// Values of one location.
    pub values: usize,
    /// Accesses and values of all locations together.
    pub total: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            history: 64,
            values: 256,
            total: 1 << 21,
        }
    }
}

/// Forgets what no thread needs of one location, when there is enough of it.
/// Returns how much that was.
#[inline]
pub(crate) fn trim(
    location: &mut Location,
    threads: &Threads,
    slot: ThreadSlot,
    limits: Limits,
) -> usize {
    let mut forgotten = 0;
    let history = location.history_mut(slot);
    if history.wants_pruning() || history.len() > limits.history {
        let before = history.len();
        history.prune(threads.known_by_all(slot));
        history.cap(limits.history);
        forgotten += before - history.len();
    }
    if location.values.wants_pruning() || location.values.len() > limits.values {
        let before = location.values.len();
        let known = known_by_all(location, threads);
        location.values.prune(known);
        location.values.cap(limits.values);
        forgotten += before - location.values.len();
    }
    forgotten
}

/// Forgets what no thread needs of one location, and what the limits do not allow.
pub(crate) fn trim_all(location: &mut Location, threads: &Threads, limits: Limits) {
    for history in location.histories_mut() {
        history.prune(threads.known_by_all(history.slot));
        history.cap(limits.history);
        history.shrink();
    }
    let known = known_by_all(location, threads);
    location.values.prune(known);
    location.values.cap(limits.values);
    location.values.shrink();
}

/// The newest write that every live thread knows of, or will when it next does
/// something.
fn known_by_all(location: &Location, threads: &Threads) -> Timestamp {
    threads
        .live()
        .filter_map(|(_, thread)| thread.will_know())
        .map(|known| location.seen_within(|slot| known.get(slot)))
        .min()
        .unwrap_or(0)
}

/// How many marks and values of one location are remembered.
pub(crate) fn remembered(location: &Location) -> usize {
    location.histories().iter().map(History::len).sum::<usize>() + location.values.len()
}
