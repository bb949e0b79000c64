//! Whether an access that a thread is about to make can come next to an earlier
//! one of another thread: whether what both need leaves the earlier one out.

use alloc::vec::Vec;

use super::Predictor;
use super::cut::{Cut, Reach};
use super::locks::Locks;
use super::memory::{AccessClass, AccessList, Entry, granules, selected};
use super::ordered;
use super::threads::Threads;
use crate::event::{Bytes, SiteId};
use crate::violation::EventIndex;

/// An earlier access that races.
pub(super) struct Candidate {
    pub(super) thread: usize,
    pub(super) site: SiteId,
    pub(super) event: EventIndex,
    pub(super) class: AccessClass,
    /// Bytes that both touch.
    pub(super) bytes: Bytes,
    /// What both need.
    pub(super) cut: Cut,
}

/// How many accesses of a list are looked at after one that races: other sites
/// may race too, but a list of racing accesses is not walked for each access.
const LOOK_AHEAD: usize = 4;

/// The earlier accesses that race with the one that `thread` is about to make.
pub(super) fn candidates(
    predictor: &mut Predictor,
    thread: usize,
    bytes: Bytes,
    class: AccessClass,
    site: SiteId,
) -> Vec<Candidate> {
    let Predictor {
        config,
        threads,
        locks,
        memory,
        known,
        ..
    } = predictor;
    let mut found: Vec<Candidate> = Vec::new();
    for (number, mask) in granules(bytes) {
        let Some(lists) = memory.lists_mut(number) else {
            continue;
        };
        for list in lists {
            if !list.conflicts(thread, mask, class) {
                continue;
            }
            let mut search = ListSearch {
                threads,
                locks,
                thread,
                look_ahead: LOOK_AHEAD,
            };
            if config.every_pair {
                search.look_ahead = usize::MAX;
            }
            let is_known =
                |first: SiteId| !config.every_pair && known.contains_key(&ordered(first, site));
            let bytes = selected(number, mask & list.mask);
            search.walk(list, is_known, |entry, class, of, cut| {
                // A range meets the same access in each of its granules.
                if found.iter().all(|other| other.event != entry.event)
                    && (config.every_pair || found.iter().all(|other| other.site != entry.site))
                {
                    found.push(Candidate {
                        thread: of,
                        site: entry.site,
                        event: entry.event,
                        class,
                        bytes,
                        cut,
                    });
                }
            });
        }
    }
    found
}

struct ListSearch<'a> {
    threads: &'a Threads,
    locks: &'a Locks,
    thread: usize,
    look_ahead: usize,
}

impl ListSearch<'_> {
    /// Goes through the accesses of a list that may still race. Those at its
    /// front that no longer can are not looked at again.
    fn walk(
        &mut self,
        list: &mut AccessList,
        is_known: impl Fn(SiteId) -> bool,
        mut races: impl FnMut(&Entry, AccessClass, usize, Cut),
    ) {
        if list.done.len() <= self.thread {
            list.done.resize(self.thread + 1, 0);
        }
        let mut at = list.done[self.thread].saturating_sub(list.forgotten) as usize;
        let mut only_dead_before = true;
        let mut looked = 0;
        while let Some(entry) = list.entries.get(at) {
            at += 1;
            if is_known(entry.site) {
                only_dead_before = false;
                looked += 1;
            } else if let Some(cut) = self.meet(list.thread, entry) {
                races(entry, list.class, list.thread, cut);
                only_dead_before = false;
                looked += 1;
            } else if only_dead_before {
                list.done[self.thread] = list.forgotten + at as u32;
            } else {
                looked += 1;
            }
            if looked > self.look_ahead {
                break;
            }
        }
    }

    /// What the thread's next access and the entry need, unless that includes
    /// the entry itself.
    fn meet(&self, of: usize, entry: &Entry) -> Option<Cut> {
        let own = &self.threads.at(self.thread).cut;
        if own.get(of).events() > entry.before || entry.stretch.is_dead(self.thread, entry.before) {
            return None;
        }
        let mut cut = own.clone();
        cut.join(&entry.stretch.cut);
        cut.raise(of, Reach::new(entry.before, entry.stretch.holds));
        let stays_out = self
            .locks
            .close(self.threads, &mut cut, Some((of, entry.before)));
        if stays_out {
            return Some(cut);
        }
        entry.stretch.bury(self.thread, cut.get(of).events());
        None
    }
}
