//! Memory that a program has mapped at several addresses: a file, or a segment of
//! System V, that one process sees twice. The runtime knows all of it by one address,
//! that of the mapping that came first, so that accesses through different mappings
//! are accesses to the same objects.
//!
//! An address that memory is known by stays taken as long as the memory is mapped
//! anywhere. Knows nothing of the program's calls and makes none itself: it answers
//! what is to be done.

use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedObject {
    File {
        device: u64,
        inode: u64,
    },
    Segment(u64),
    /// Memory without a name, which only `mremap` shows a second time.
    Nameless(u64),
}

/// A mapping of the program.
#[derive(Clone, Debug)]
struct Window {
    addresses: Range<u64>,
    object: SharedObject,
    /// Where in the object it begins.
    offset: u64,
}

/// A part of an object, and the address that it is known by.
#[derive(Clone, Debug)]
struct Extent {
    object: SharedObject,
    bytes: Range<u64>,
    address: u64,
}

impl Extent {
    fn addresses(&self) -> Range<u64> {
        self.address..self.address + (self.bytes.end - self.bytes.start)
    }
}

/// All shared memory of the process.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory {
    windows: Vec<Window>,
    extents: Vec<Extent>,
    /// Addresses that the program has given back, and that memory is known by.
    kept: Vec<Range<u64>>,
}

/// What is to be done when a program gives addresses back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unmapped {
    /// Nobody can reach this memory any more.
    pub(crate) ended: Vec<Range<u64>>,
    /// Nothing may be mapped here, as memory is known by these addresses.
    pub(crate) to_keep: Vec<Range<u64>>,
    /// These were kept, and need not be any longer.
    pub(crate) to_release: Vec<Range<u64>>,
}

impl SharedMemory {
    /// Whether the program has mapped anything that others may have, too.
    pub(crate) fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// What is mapped at an address, and which byte of it.
    pub(crate) fn object_at(&self, address: u64) -> Option<(SharedObject, u64)> {
        let mut windows = self.windows.iter();
        let window = windows.find(|window| window.addresses.contains(&address))?;
        let offset = window.offset + (address - window.addresses.start);
        Some((window.object, offset))
    }

    /// How long the mapping is that begins at an address.
    pub(crate) fn length_at(&self, address: u64) -> Option<u64> {
        let mut windows = self.windows.iter();
        let window = windows.find(|window| window.addresses.start == address)?;
        Some(window.addresses.end - window.addresses.start)
    }

    /// The program has mapped a part of an object. False if that cannot be told to be
    /// the same memory as elsewhere.
    pub(crate) fn map(&mut self, addresses: Range<u64>, object: SharedObject, offset: u64) -> bool {
        let end = offset + (addresses.end - addresses.start);
        let mut at = offset;
        while at < end {
            let known = |extent: &&Extent| extent.object == object && extent.bytes.end > at;
            let next = self.extents.iter().filter(known);
            match next.min_by_key(|extent| extent.bytes.start) {
                Some(extent) if extent.bytes.start <= at => at = extent.bytes.end,
                next => {
                    let until = next.map_or(end, |extent| extent.bytes.start.min(end));
                    self.extents.push(Extent {
                        object,
                        bytes: at..until,
                        address: addresses.start + (at - offset),
                    });
                    at = until;
                }
            }
        }
        self.windows.push(Window {
            addresses,
            object,
            offset,
        });
        self.publish()
    }

    /// The program has given these addresses back, or mapped something else there.
    pub(crate) fn unmap(&mut self, gone: &Range<u64>) -> Unmapped {
        let mut result = Unmapped::default();
        // What was not shared ends at once.
        let mut private = alloc::vec![gone.clone()];
        for window in &self.windows {
            private = private
                .iter()
                .flat_map(|range| without(range, &window.addresses))
                .collect();
        }
        result.ended = private;
        let windows = core::mem::take(&mut self.windows);
        for window in windows {
            for rest in without(&window.addresses, gone) {
                let offset = window.offset + (rest.start - window.addresses.start);
                self.windows.push(Window {
                    addresses: rest,
                    object: window.object,
                    offset,
                });
            }
        }
        self.kept.retain(|kept| !overlap(kept, gone));
        let windows = &self.windows;
        let is_mapped = |extent: &Extent| {
            windows.iter().any(|window| {
                let len = window.addresses.end - window.addresses.start;
                let bytes = window.offset..window.offset + len;
                window.object == extent.object && overlap(&bytes, &extent.bytes)
            })
        };
        let (alive, ended): (Vec<Extent>, Vec<Extent>) = core::mem::take(&mut self.extents)
            .into_iter()
            .partition(is_mapped);
        self.extents = alive;
        result.ended.extend(ended.iter().map(Extent::addresses));
        for extent in &self.extents {
            let both = intersection(&extent.addresses(), gone);
            if !both.is_empty() {
                self.kept.push(both.clone());
                result.to_keep.push(both);
            }
        }
        let extents = &self.extents;
        let needed = |kept: &Range<u64>| extents.iter().any(|e| overlap(&e.addresses(), kept));
        let (needed, released) = core::mem::take(&mut self.kept)
            .into_iter()
            .partition(needed);
        self.kept = needed;
        result.to_release = released;
        self.publish();
        result
    }

    /// Lets [`address_of`] know. False if there are too many.
    fn publish(&self) -> bool {
        let mut used = 0;
        let mut all = true;
        for window in &self.windows {
            for extent in self.extents.iter().filter(|e| e.object == window.object) {
                let len = window.addresses.end - window.addresses.start;
                let bytes = intersection(&(window.offset..window.offset + len), &extent.bytes);
                let start = window.addresses.start + bytes.start.wrapping_sub(window.offset);
                let known = extent.address + bytes.start.wrapping_sub(extent.bytes.start);
                if bytes.is_empty() || start == known {
                    continue;
                }
                match ALIASES.get(used) {
                    Some(alias) => {
                        alias.start.store(start, Ordering::Relaxed);
                        alias.len.store(bytes.end - bytes.start, Ordering::Relaxed);
                        alias.known.store(known, Ordering::Relaxed);
                        used += 1;
                    }
                    None => all = false,
                }
            }
        }
        USED.store(used, Ordering::Release);
        all
    }
}

/// Addresses that are not those that their memory is known by.
struct Alias {
    start: AtomicU64,
    len: AtomicU64,
    known: AtomicU64,
}

const MAX_ALIASES: usize = 256;

static ALIASES: [Alias; MAX_ALIASES] = [const {
    Alias {
        start: AtomicU64::new(0),
        len: AtomicU64::new(0),
        known: AtomicU64::new(0),
    }
}; MAX_ALIASES];

static USED: AtomicUsize = AtomicUsize::new(0);

/// Whether some memory is mapped twice.
#[inline(always)]
pub(crate) fn has_aliases() -> bool {
    USED.load(Ordering::Relaxed) != 0
}

/// The address that the memory at an address is known by.
#[inline(always)]
pub(crate) fn address_of(address: u64) -> u64 {
    if has_aliases() {
        first_part(address, 1).0
    } else {
        address
    }
}

/// The address that the first bytes of a range are known by, and how many of them are
/// next to one another there, too.
#[cold]
pub(crate) fn first_part(address: u64, size: u64) -> (u64, u64) {
    let mut len = size;
    let used = USED.load(Ordering::Acquire).min(MAX_ALIASES);
    for alias in &ALIASES[..used] {
        let start = alias.start.load(Ordering::Relaxed);
        let end = start + alias.len.load(Ordering::Relaxed);
        if (start..end).contains(&address) {
            let known = alias.known.load(Ordering::Relaxed) + (address - start);
            return (known, size.min(end - address));
        }
        if start > address {
            len = len.min(start - address);
        }
    }
    (address, len)
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

fn intersection(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
}

/// What is left of a range.
fn without(range: &Range<u64>, gone: &Range<u64>) -> Vec<Range<u64>> {
    let before = range.start..range.end.min(gone.start);
    let after = range.start.max(gone.end)..range.end;
    let parts = [before, after];
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: SharedObject = SharedObject::File {
        device: 1,
        inode: 2,
    };
    const OTHER: SharedObject = SharedObject::Segment(2);

    /// One test, as what is published is the process's.
    #[test]
    fn memory_is_known_by_its_first_address() {
        let mut memory = SharedMemory::default();
        assert!(memory.is_empty());
        assert!(memory.map(0x1000..0x3000, FILE, 0));
        assert!(!has_aliases());
        assert!(memory.map(0x8000..0xb000, FILE, 0x1000));
        // The second page of the file was there before, the others were not.
        assert_eq!(first_part(0x8010, 0x2000), (0x2010, 0xff0));
        assert_eq!(first_part(0x9000, 8), (0x9000, 8));
        assert_eq!(first_part(0x7ff8, 16), (0x7ff8, 8));
        assert_eq!(address_of(0x1000), 0x1000);
        // A third one, of pages that are known by two others.
        assert!(memory.map(0x2_0000..0x2_4000, FILE, 0));
        assert_eq!(address_of(0x2_1008), 0x2008);
        assert_eq!(address_of(0x2_2008), 0x9008);
        assert!(memory.map(0x3_0000..0x3_1000, OTHER, 0));
        assert_eq!(address_of(0x3_0000), 0x3_0000);
        assert_eq!(memory.object_at(0x2_1008), Some((FILE, 0x1008)));
        assert_eq!(memory.length_at(0x3_0000), Some(0x1000));

        // The first goes: its addresses stay taken, and nothing has ended.
        let gone = memory.unmap(&(0x1000..0x3000));
        let one = |range| Vec::from_iter(core::iter::once(range));
        assert_eq!(gone.to_keep, one(0x1000..0x3000));
        assert_eq!((gone.ended, gone.to_release), (Vec::new(), Vec::new()));
        assert_eq!(address_of(0x2_1008), 0x2008);
        // Private memory beside it ends.
        let gone = memory.unmap(&(0x3_0000..0x3_2000));
        assert_eq!(gone.ended, [0x3_1000..0x3_2000, 0x3_0000..0x3_1000]);
        // The last ones go, and with them what they were known by.
        let gone = memory.unmap(&(0x8000..0xb000));
        assert_eq!(gone.to_keep, one(0x9000..0xb000));
        let gone = memory.unmap(&(0x2_0000..0x2_4000));
        assert_eq!(gone.ended, [0x1000..0x3000, 0x9000..0xb000]);
        assert_eq!(gone.to_release, [0x1000..0x3000, 0x9000..0xb000]);
        assert!(!has_aliases() && memory.is_empty());
        // Too many are too many.
        assert!(memory.map(0x1000..0x2000, FILE, 0));
        let all = (0..=MAX_ALIASES as u64).map(|n| {
            let start = 0x10_0000 + n * 0x1000;
            memory.map(start..start + 0x1000, FILE, 0)
        });
        assert_eq!(all.filter(|told| !told).count(), 1);
        memory.unmap(&(0..u64::MAX));
    }
}
