//! Which atomic location an address is: a page table of numbers, so that the
//! look-up costs the same however many there are, and memory that is given back
//! ends all that lies in it.
//!
//! A location also remembers the value that the last operation left, because a
//! different one means that something we have not seen has made a new object of
//! it. Nothing here records; the caller is told what happened.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU8, Ordering};

const PAGE_BYTES: u64 = 4096;
const GRANULE_BYTES: u64 = 8;
const GRANULES_PER_PAGE: usize = (PAGE_BYTES / GRANULE_BYTES) as usize;
const NO_LOCATION: u32 = u32::MAX;

/// Pages that may hold an atomic, by the low bits of their number: what a plain
/// write asks first, without holding the turn.
static MAY_HOLD_ATOMIC: [AtomicU8; 1 << 14] = [const { AtomicU8::new(0) }; 1 << 14];

/// Whether a plain access of these bytes may touch an atomic.
#[inline(always)]
pub(crate) fn may_hold_atomic(address: u64, size: u64) -> bool {
    let (first, last) = (address / PAGE_BYTES, (address + size - 1) / PAGE_BYTES);
    first.abs_diff(last) > 1 || may(first) || (last != first && may(last))
}

#[inline(always)]
fn may(page: u64) -> bool {
    MAY_HOLD_ATOMIC[page as usize & (MAY_HOLD_ATOMIC.len() - 1)].load(Ordering::Relaxed) != 0
}

/// All locations of the process.
#[derive(Debug)]
pub(crate) struct Locations {
    entries: Vec<Entry>,
    /// The granules of all pages, one page after the other.
    granules: Vec<u32>,
    index: Vec<(u64, u32)>,
    last: (u64, u32),
    /// How many the trace has been told of.
    introduced: u32,
    /// Locations that have ended since [`Locations::take_ended`] was called.
    ended: Vec<u32>,
    /// Numbers that nobody needs any more, the oldest first.
    free: VecDeque<u32>,
    /// The last location that no granule holds, for it is not aligned.
    unplaced: Option<u32>,
    /// The location made last is memory of one of another extent, which held the
    /// same.
    is_other_size: bool,
}

/// So many numbers are free before one of them is used again: whoever remembers what
/// was read last must not take one location for another.
const MIN_FREE: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct Entry {
    address: u64,
    value: [u64; 2],
    /// The next location in the same granule.
    next: u32,
    /// Its number in the trace, if the trace knows it and what it holds.
    trace_number: u32,
    size: u8,
}

impl Entry {
    fn wide(&self) -> u128 {
        u128::from(self.value[0]) | u128::from(self.value[1]) << 64
    }
}

impl Locations {
    pub(crate) fn new() -> Self {
        Self {
            entries: Vec::new(),
            granules: Vec::new(),
            index: vec![(0, NO_LOCATION); 256],
            last: (u64::MAX, NO_LOCATION),
            introduced: 0,
            ended: Vec::new(),
            free: VecDeque::new(),
            unplaced: None,
            is_other_size: false,
        }
    }

    /// The location of `size` bytes at `address` that holds `value`, if it is
    /// the one that was there before.
    #[inline]
    pub(crate) fn find(&mut self, address: u64, size: u8, value: u128) -> Option<u32> {
        let page = self.page(address / PAGE_BYTES)?;
        let mut number = self.granules[cell_of(page, granule(address))];
        while number != NO_LOCATION {
            let entry = &self.entries[number as usize];
            if entry.address == address {
                let same = entry.size == size && entry.value == split(value);
                return same.then_some(number);
            }
            number = entry.next;
        }
        None
    }

    /// The location of `size` bytes at `address`, whatever it holds.
    pub(crate) fn at(&mut self, address: u64, size: u8) -> Option<u32> {
        let page = self.page(address / PAGE_BYTES)?;
        let mut number = self.granules[cell_of(page, granule(address))];
        while number != NO_LOCATION {
            let entry = &self.entries[number as usize];
            if entry.address == address && entry.size == size {
                return Some(number);
            }
            number = entry.next;
        }
        None
    }

    /// Makes a new location; whatever overlaps with it ends.
    #[cold]
    pub(crate) fn add(&mut self, address: u64, size: u8, value: u128) -> u32 {
        let already_ended = self.ended.len();
        self.end(address..address + u64::from(size));
        self.is_other_size = self.ended[already_ended..].iter().any(|&ended| {
            let entry = &self.entries[ended as usize];
            (entry.address, entry.size) != (address, size)
                && agree(
                    (entry.address, entry.wide()),
                    entry.size,
                    (address, value),
                    size,
                )
        });
        self.ended.extend(self.unplaced.take());
        let entry = Entry {
            address,
            value: split(value),
            next: NO_LOCATION,
            trace_number: NO_LOCATION,
            size,
        };
        let number = match self.free.len() {
            0..MIN_FREE => None,
            _ => self.free.pop_front(),
        };
        let number = match number {
            Some(number) => {
                self.entries[number as usize] = entry;
                number
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        let page = match self.page(address / PAGE_BYTES) {
            Some(page) => page,
            None => self.add_page(address / PAGE_BYTES),
        };
        // Hardware has no unaligned atomics: such an object is a new location
        // at every access.
        if !address.is_multiple_of(u64::from(size)) {
            self.unplaced = Some(number);
            return number;
        }
        for part in granule(address)..=granule(address + u64::from(size) - 1) {
            let head = &mut self.granules[cell_of(page, part)];
            // Two locations share a granule only if both are smaller than it.
            if size < GRANULE_BYTES as u8 {
                self.entries[number as usize].next = *head;
            }
            *head = number;
        }
        number
    }

    /// Whether the location made last lies where one of another extent was that held
    /// the same: one object, accessed in different sizes.
    pub(crate) fn is_other_size(&self) -> bool {
        self.is_other_size
    }

    /// Remembers what an operation left.
    #[inline(always)]
    pub(crate) fn set_value(&mut self, number: u32, value: u128) {
        self.entries[number as usize].value = split(value);
    }

    /// A location's address and size.
    #[inline(always)]
    pub(crate) fn place(&self, number: u32) -> (u64, u8) {
        let entry = &self.entries[number as usize];
        (entry.address, entry.size)
    }

    /// The number of a location in the trace; none if the trace does not know it,
    /// or does not know what it holds.
    #[inline(always)]
    pub(crate) fn trace_number(&self, number: u32) -> Option<u32> {
        let found = self.entries.get(number as usize)?.trace_number;
        (found != NO_LOCATION).then_some(found)
    }

    /// Gives a location the next number of the trace; also its address and size.
    pub(crate) fn introduce(&mut self, number: u32) -> (u32, u64, u8) {
        let entry = &mut self.entries[number as usize];
        entry.trace_number = self.introduced;
        self.introduced += 1;
        (entry.trace_number, entry.address, entry.size)
    }

    /// The trace does not know any longer what a location holds.
    pub(crate) fn leave_trace(&mut self, number: u32) {
        self.entries[number as usize].trace_number = NO_LOCATION;
    }

    /// A location that has ended since the last call. Its number will be used again.
    pub(crate) fn take_ended(&mut self) -> Option<u32> {
        let ended = self.ended.pop()?;
        self.free.push_back(ended);
        Some(ended)
    }

    /// Ends the locations that overlap with the range; whether the trace knows
    /// one of them.
    pub(crate) fn end(&mut self, range: Range<u64>) -> bool {
        let mut any = false;
        let mut at = range.start;
        while at < range.end {
            let page_end = (at / PAGE_BYTES + 1).saturating_mul(PAGE_BYTES);
            let stop = range.end.min(page_end);
            if let Some(page) = self.page(at / PAGE_BYTES) {
                for part in granule(at)..=granule(stop - 1) {
                    any |= self.end_in(page, part, &range);
                }
            }
            at = stop;
        }
        any
    }

    fn end_in(&mut self, page: u32, part: usize, range: &Range<u64>) -> bool {
        let mut any = false;
        let mut kept = NO_LOCATION;
        let mut number = self.granules[cell_of(page, part)];
        while number != NO_LOCATION {
            let entry = self.entries[number as usize];
            let end = entry.address + u64::from(entry.size);
            if entry.address < range.end && range.start < end {
                any |= entry.trace_number != NO_LOCATION;
                self.ended.push(number);
                if entry.size == 16 {
                    // It occupies two granules and is removed from both.
                    let first = granule(entry.address);
                    self.granules[cell_of(page, first)] = NO_LOCATION;
                    self.granules[cell_of(page, first + 1)] = NO_LOCATION;
                }
            } else {
                self.entries[number as usize].next = kept;
                kept = number;
            }
            number = entry.next;
        }
        self.granules[cell_of(page, part)] = kept;
        any
    }

    #[inline]
    fn page(&mut self, page: u64) -> Option<u32> {
        if self.last.0 == page {
            return Some(self.last.1);
        }
        let (key, found) = self.index[self.find_index(page)];
        if found == NO_LOCATION {
            return None;
        }
        self.last = (key, found);
        Some(found)
    }

    fn add_page(&mut self, page: u64) -> u32 {
        let number = (self.granules.len() / GRANULES_PER_PAGE) as u32;
        self.granules
            .resize(self.granules.len() + GRANULES_PER_PAGE, NO_LOCATION);
        if number as usize * 2 > self.index.len() {
            let larger = vec![(0, NO_LOCATION); self.index.len() * 2];
            for (key, found) in core::mem::replace(&mut self.index, larger) {
                if found != NO_LOCATION {
                    let index = self.find_index(key);
                    self.index[index] = (key, found);
                }
            }
        }
        let index = self.find_index(page);
        self.index[index] = (page, number);
        MAY_HOLD_ATOMIC[page as usize & (MAY_HOLD_ATOMIC.len() - 1)].store(1, Ordering::Relaxed);
        number
    }

    #[inline]
    fn find_index(&self, page: u64) -> usize {
        let mask = self.index.len() - 1;
        let mut index = (page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        loop {
            let (key, found) = self.index[index];
            if found == NO_LOCATION || key == page {
                return index;
            }
            index = (index + 1) & mask;
        }
    }
}

#[inline(always)]
fn cell_of(page: u32, granule: usize) -> usize {
    page as usize * GRANULES_PER_PAGE + granule
}

#[inline(always)]
fn granule(address: u64) -> usize {
    (address % PAGE_BYTES / GRANULE_BYTES) as usize
}

/// Whether two objects, each at an address and of a value and a size, have the same
/// bytes where they overlap.
fn agree(one: (u64, u128), one_size: u8, other: (u64, u128), other_size: u8) -> bool {
    let from = one.0.max(other.0);
    let end = (one.0 + u64::from(one_size)).min(other.0 + u64::from(other_size));
    let byte =
        |(address, value): (u64, u128), at: u64| value.to_le_bytes()[(at - address) as usize];
    (from..end).all(|at| byte(one, at) == byte(other, at))
}

#[inline(always)]
fn split(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_locations_that_have_ended_are_used_again() {
        let mut locations = Locations::new();
        let mut last = 0;
        for round in 0..10 * MIN_FREE as u64 {
            last = locations.add(0x1000 + 16 * (round % 7), 8, 0).max(last);
            // One that is not aligned ends with the next.
            locations.add(0x9003, 4, 0);
            locations.end(0x1000..0x2000);
            while locations.take_ended().is_some() {}
        }
        assert!((last as usize) < 2 * MIN_FREE, "{last}");
    }

    #[test]
    fn an_address_keeps_its_location_while_its_value_is_the_one_left() {
        let mut locations = Locations::new();
        assert_eq!(locations.find(0x1000, 4, 0), None);
        let first = locations.add(0x1000, 4, 0);
        let second = locations.add(0x1004, 4, 9);
        assert_eq!(locations.find(0x1000, 4, 0), Some(first));
        assert_eq!(locations.find(0x1004, 4, 9), Some(second));
        locations.set_value(first, 1);
        assert_eq!(locations.find(0x1000, 4, 0), None);
        assert_eq!(locations.find(0x1000, 4, 1), Some(first));
    }

    #[test]
    fn memory_given_back_ends_what_lies_in_it_and_nothing_else() {
        let mut locations = Locations::new();
        let numbers: Vec<u32> = (0..3000)
            .map(|n| locations.add(0x7000 + n * 8, 8, 0))
            .collect();
        locations.introduce(numbers[1000]);
        assert!(locations.end(0x7000 + 8 * 10..0x7000 + 8 * 2000));
        assert!(!locations.end(0x7000 + 8 * 10..0x7000 + 8 * 2000));
        assert_eq!(core::iter::from_fn(|| locations.take_ended()).count(), 1990);
        for (n, number) in (0..).zip(numbers) {
            let alive = !(10..2000).contains(&n);
            let found = locations.find(0x7000 + n * 8, 8, 0);
            assert_eq!(found, alive.then_some(number));
        }
    }

    #[test]
    fn neighbours_in_a_granule_end_one_by_one() {
        let mut locations = Locations::new();
        let bytes: Vec<u32> = (0..8).map(|n| locations.add(0x2000 + n, 1, 0)).collect();
        assert!(!locations.end(0x2003..0x2004), "the trace knows none");
        assert_eq!(locations.take_ended(), Some(bytes[3]));
        for (n, number) in (0..).zip(bytes) {
            let found = locations.find(0x2000 + n, 1, 0);
            assert_eq!(found, (n != 3).then_some(number));
        }
    }

    #[test]
    fn another_size_at_the_address_is_another_object() {
        let mut locations = Locations::new();
        let wide = locations.add(0x3000, 16, 5);
        assert_eq!(locations.find(0x3000, 16, 5), Some(wide));
        assert_eq!(locations.find(0x3000, 8, 5), None);
        let narrow = locations.add(0x3008, 8, 0);
        assert_eq!(locations.find(0x3000, 16, 5), None);
        assert_eq!(locations.find(0x3008, 8, 0), Some(narrow));
    }

    #[test]
    fn one_object_in_two_sizes_is_told_from_memory_used_again() {
        let mut locations = Locations::new();
        locations.add(0x3000, 16, 7 << 64 | 5);
        locations.add(0x3008, 8, 7);
        assert!(locations.is_other_size());
        locations.add(0x3008, 8, 7);
        assert!(!locations.is_other_size(), "the same extent");
        locations.add(0x300c, 4, 9);
        assert!(!locations.is_other_size(), "it holds something else");
        locations.end(0x3000..0x3010);
        locations.add(0x3000, 8, 5);
        assert!(!locations.is_other_size(), "nothing is there any more");
    }

    #[test]
    fn plain_writes_elsewhere_are_sorted_out_early() {
        let mut locations = Locations::new();
        locations.add(0x5555_0123_4ff8, 8, 0);
        assert!(may_hold_atomic(0x5555_0123_4000, 1));
        assert!(may_hold_atomic(0x5555_0123_3ffc, 8));
        assert!(!may_hold_atomic(0x5555_0123_5000, 8));
    }
}
