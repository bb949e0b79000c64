//! The writes to one location in modification order, each with what an acquire
//! read of it gets, and how far each thread's accesses had come.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::analyzer::clock::{Clock, EventNumber, ThreadSlot};

/// A write by who made it; `None` for the first value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WriteName {
    pub(super) slot: Option<ThreadSlot>,
    pub(super) number: EventNumber,
}

/// A write that can still be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LoggedWrite {
    pub(super) name: WriteName,
    pub(super) value: u64,
    /// What the caller knows it by; `None` for the first value.
    pub(super) tag: Option<u64>,
    /// It is the write of a read-modify-write: nothing comes before it and after
    /// the write it read.
    pub(super) by_rmw: bool,
    /// What an acquire read of it gets.
    pub(super) message: Clock,
    /// The part of that which the write hands on itself, as the head of a release
    /// sequence. This and the next only where C++17's rule counts.
    pub(super) own: Clock,
    /// The release sequences that it is in, by the thread of their heads: what these
    /// hand on.
    pub(super) heads: Vec<(ThreadSlot, Clock)>,
}

impl LoggedWrite {
    /// By C++17's rule, the release sequences after a write with these: a store ends
    /// those of all other threads.
    fn heads_after(&self, before: &[(ThreadSlot, Clock)]) -> Vec<(ThreadSlot, Clock)> {
        let Some(own) = self.name.slot else {
            return Vec::new();
        };
        let before = before.iter();
        let mut heads: Vec<_> = before
            .filter(|(slot, _)| self.by_rmw || *slot == own)
            .cloned()
            .collect();
        match heads.iter_mut().find(|(slot, _)| *slot == own) {
            Some((_, known)) => known.join(&self.own),
            None => heads.push((own, self.own.clone())),
        }
        heads
    }
}

/// A write that an access can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its place among the writes that are remembered.
    pub position: usize,
    /// Its value.
    pub value: u64,
    /// What the caller knows it by; `None` for the first value.
    pub tag: Option<u64>,
    /// A read-modify-write has read it: a write cannot directly follow it.
    pub parts_rmw: bool,
}

/// A location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Log {
    writes: Vec<LoggedWrite>,
    /// For each thread its accesses, oldest first: their number and the newest
    /// write known then.
    accesses: BTreeMap<ThreadSlot, Vec<(EventNumber, WriteName)>>,
    /// Threads whose older accesses were forgotten.
    cut: Vec<ThreadSlot>,
}

impl Default for Log {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Log {
    /// A location that holds its first value.
    pub(super) fn new(value: u64) -> Self {
        let first = LoggedWrite {
            name: WriteName {
                slot: None,
                number: 0,
            },
            value,
            tag: None,
            by_rmw: false,
            message: Clock::default(),
            own: Clock::default(),
            heads: Vec::new(),
        };
        Self {
            writes: vec![first],
            accesses: BTreeMap::new(),
            cut: Vec::new(),
        }
    }

    /// How many writes are remembered; at least one.
    pub(super) fn len(&self) -> usize {
        self.writes.len()
    }

    /// The write at a position.
    pub(super) fn write(&self, position: usize) -> &LoggedWrite {
        &self.writes[position]
    }

    /// What an access may take that knows this much of every thread.
    pub(super) fn candidates(&self, known: impl Fn(ThreadSlot) -> EventNumber) -> Vec<Candidate> {
        (self.floor(known)..self.writes.len())
            .map(|position| Candidate {
                position,
                value: self.writes[position].value,
                tag: self.writes[position].tag,
                parts_rmw: (self.writes.get(position + 1)).is_some_and(|next| next.by_rmw),
            })
            .collect()
    }

    /// Puts a write into the modification order.
    pub(super) fn insert(&mut self, position: usize, write: LoggedWrite) {
        self.writes.insert(position, write);
    }

    /// Finds the release sequences of the write at a position, and of those behind it,
    /// by C++17's rule: a store in the middle parts what went on before.
    pub(super) fn follow_sequences(&mut self, from: usize) {
        for position in from..self.writes.len() {
            let before = position.checked_sub(1);
            let before = before.map_or(&[][..], |before| &self.writes[before].heads);
            let heads = self.writes[position].heads_after(before);
            let write = &mut self.writes[position];
            if position > from && heads == write.heads {
                return;
            }
            write.message = Clock::default();
            for (_, known) in &heads {
                write.message.join(known);
            }
            write.heads = heads;
        }
    }

    /// Remembers that a thread's access knew this write. Past the limit the older
    /// half is forgotten.
    pub(super) fn mark(
        &mut self,
        slot: ThreadSlot,
        number: EventNumber,
        seen: WriteName,
        limit: usize,
    ) {
        let accesses = self.accesses.entry(slot).or_default();
        accesses.push((number, seen));
        if accesses.len() > limit.max(2) {
            accesses.drain(..accesses.len() / 2);
            if !self.cut.contains(&slot) {
                self.cut.push(slot);
            }
        }
    }

    /// Forgets the writes that all of these have gone past, and then the oldest
    /// until no more than `limit` are left.
    pub(super) fn forget<'c>(&mut self, live: impl Iterator<Item = &'c Clock>, limit: usize) {
        let past = live
            .map(|clock| self.floor(|slot| clock.get(slot)))
            .min()
            .unwrap_or(0);
        let surplus = self.writes.len().saturating_sub(limit.max(1));
        self.writes.drain(..past.max(surplus));
    }

    /// The position of the newest write that nobody may go behind who knows this
    /// much of every thread. What was forgotten counts as the oldest that is left
    /// (writes) or as known (accesses): fewer choices, never a wrong one.
    fn floor(&self, known: impl Fn(ThreadSlot) -> EventNumber) -> usize {
        (self.accesses.iter())
            .filter_map(|(&slot, accesses)| {
                let within = known(slot);
                let at = accesses.partition_point(|&(number, _)| number <= within);
                match at.checked_sub(1) {
                    Some(at) => Some(accesses[at].1),
                    None if self.cut.contains(&slot) => Some(accesses[0].1),
                    None => None,
                }
            })
            .filter_map(|name| self.writes.iter().rposition(|write| write.name == name))
            .max()
            .unwrap_or(0)
    }
}
