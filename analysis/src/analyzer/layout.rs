//! Where in memory the atomic locations lie, to find those that a plain access
//! or the end of an object touches.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::event::{Bytes, LocationId};
use crate::hash::FxHashMap;

/// The bytes of every location that has an address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    by_address: BTreeMap<u64, (u64, LocationId)>,
    by_location: FxHashMap<LocationId, Bytes>,
    /// The longest location so far, which bounds the search to the left.
    longest: u64,
}

impl Layout {
    /// The bytes of a location.
    pub(crate) fn bytes(&self, location: LocationId) -> Option<Bytes> {
        self.by_location.get(&location).copied()
    }

    /// Puts a location into some bytes.
    pub(crate) fn place(&mut self, location: LocationId, bytes: Bytes) {
        self.remove(location);
        if bytes.size > 0 {
            self.by_address
                .insert(bytes.address, (bytes.size, location));
            self.by_location.insert(location, bytes);
            self.longest = self.longest.max(bytes.size);
        }
    }

    /// Takes a location out.
    pub(crate) fn remove(&mut self, location: LocationId) {
        if let Some(bytes) = self.by_location.remove(&location) {
            self.by_address.remove(&bytes.address);
        }
    }

    /// The locations that share a byte with a range.
    pub(crate) fn overlapping(&self, bytes: Bytes) -> Vec<LocationId> {
        if bytes.size == 0 || self.by_address.is_empty() {
            return Vec::new();
        }
        let from = bytes.address.saturating_sub(self.longest);
        let end = bytes.address.saturating_add(bytes.size);
        self.by_address
            .range(from..end)
            .filter(|&(&address, &(size, _))| address + size > bytes.address)
            .map(|(_, &(_, location))| location)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_locations_that_share_a_byte_overlap() {
        let mut layout = Layout::default();
        layout.place(
            LocationId(1),
            Bytes {
                address: 100,
                size: 4,
            },
        );
        layout.place(
            LocationId(2),
            Bytes {
                address: 104,
                size: 8,
            },
        );
        let at = |address, size| layout.overlapping(Bytes { address, size });
        assert_eq!(at(96, 4), []);
        assert_eq!(at(96, 5), [LocationId(1)]);
        assert_eq!(at(103, 2), [LocationId(1), LocationId(2)]);
        assert_eq!(at(111, 1), [LocationId(2)]);
        assert_eq!(at(112, 8), []);
    }

    #[test]
    fn a_location_that_moves_leaves_its_old_bytes() {
        let mut layout = Layout::default();
        layout.place(
            LocationId(1),
            Bytes {
                address: 100,
                size: 4,
            },
        );
        layout.place(
            LocationId(1),
            Bytes {
                address: 200,
                size: 4,
            },
        );
        assert_eq!(
            layout.overlapping(Bytes {
                address: 100,
                size: 4
            }),
            []
        );
        assert_eq!(
            layout.bytes(LocationId(1)),
            Some(Bytes {
                address: 200,
                size: 4
            })
        );
    }
}
