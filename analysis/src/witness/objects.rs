//! The locations of a run, each from one birth to the next, and their writes.

use std::collections::{BTreeMap, HashMap};

use super::graph::{Label, ObjectId};
use crate::event::{Bytes, LocationId};

/// All locations that a run ever had.
#[derive(Debug, Default)]
pub(super) struct Objects {
    all: Vec<Object>,
    live: HashMap<LocationId, usize>,
    /// Where the live locations lie: by first byte, the last byte and which.
    memory: BTreeMap<u64, (u64, LocationId)>,
    addresses: HashMap<LocationId, u64>,
    /// The size of the largest location, to know how far back to look.
    largest: u64,
    incarnations: HashMap<LocationId, u32>,
}

/// A location from a birth on.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) id: ObjectId,
    /// The first event that could know it.
    pub(super) born: usize,
    /// Its first value, if the run recorded it.
    pub(super) initial: Option<u64>,
    /// The nodes that wrote, oldest first; write number n is `writes[n - 1]`,
    /// and number 0 is the initial one.
    pub(super) writes: Vec<usize>,
    /// The nodes that read write number n.
    pub(super) readers: Vec<Vec<usize>>,
    /// The number of the last write without an event, or 0.
    pub(super) unrecorded: usize,
}

impl Objects {
    /// One of them.
    pub(super) fn get(&self, id: usize) -> &Object {
        &self.all[id]
    }

    /// The same, to add accesses.
    pub(super) fn get_mut(&mut self, id: usize) -> &mut Object {
        &mut self.all[id]
    }

    /// What an access to the location would access now.
    pub(super) fn live(&self, location: LocationId) -> Option<usize> {
        self.live.get(&location).copied()
    }

    /// A location begins in some bytes; what was there ends.
    pub(super) fn birth(&mut self, location: LocationId, bytes: Bytes, value: u64, event: usize) {
        self.death(bytes);
        self.remove(location);
        self.begin(location, Some(value), event);
        if bytes.size > 0 {
            let last = last_byte(bytes);
            self.memory.insert(bytes.address, (last, location));
            self.addresses.insert(location, bytes.address);
            self.largest = self.largest.max(bytes.size);
        }
    }

    /// What lies in these bytes ends.
    pub(super) fn death(&mut self, bytes: Bytes) {
        for location in self.overlapping(bytes) {
            self.remove(location);
        }
    }

    /// A plain write to these bytes: what lies there begins again, with a value
    /// that the event does not tell.
    pub(super) fn overwrite(&mut self, bytes: Bytes, event: usize) {
        for location in self.overlapping(bytes) {
            self.begin(location, None, event);
        }
    }

    /// A location begins, or begins again where it lies.
    pub(super) fn begin(
        &mut self,
        location: LocationId,
        initial: Option<u64>,
        event: usize,
    ) -> usize {
        let next = self.incarnations.entry(location).or_default();
        let incarnation = *next;
        *next += 1;
        self.all.push(Object {
            id: ObjectId {
                location,
                incarnation,
            },
            born: event,
            initial,
            writes: Vec::new(),
            readers: vec![Vec::new()],
            unrecorded: 0,
        });
        self.live.insert(location, self.all.len() - 1);
        self.all.len() - 1
    }

    fn remove(&mut self, location: LocationId) {
        self.live.remove(&location);
        if let Some(address) = self.addresses.remove(&location) {
            self.memory.remove(&address);
        }
    }

    fn overlapping(&self, bytes: Bytes) -> Vec<LocationId> {
        if bytes.size == 0 {
            return Vec::new();
        }
        let from = bytes.address.saturating_sub(self.largest);
        (self.memory.range(from..=last_byte(bytes)))
            .filter(|(_, (last, _))| *last >= bytes.address)
            .map(|(_, (_, location))| *location)
            .collect()
    }
}

impl Object {
    /// The node that made write number n; `None` for the initial one.
    pub(super) fn write(&self, number: usize) -> Option<usize> {
        number.checked_sub(1).map(|at| self.writes[at])
    }

    /// An access in the order of the run: it reads the newest write. Gives the
    /// number of the write that it read or made.
    pub(super) fn enter(&mut self, node: usize, label: &Label) -> usize {
        if label.reads() {
            self.readers[self.writes.len()].push(node);
        }
        if label.writes() {
            self.writes.push(node);
            self.readers.push(Vec::new());
        }
        self.writes.len()
    }
}

fn last_byte(bytes: Bytes) -> u64 {
    bytes.address.saturating_add(bytes.size.saturating_sub(1))
}
