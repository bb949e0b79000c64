//! The cells of all locations, by the location's number. Numbers are given one
//! after the other, so a table of pages finds a cell without hashing; a page whose
//! locations are all gone is given back, and a cell that is free is used again.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::location::Location;
use crate::event::LocationId;
use crate::hash::FxHashMap;

/// A location with what is known about its bytes.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) location: Location,
    /// Plain accesses to its bytes may be in the shadow.
    pub(super) mixed: bool,
}

/// All cells.
#[derive(Clone, Debug, Default)]
pub(super) struct LocationTable {
    pages: Vec<Option<Box<Page>>>,
    /// Pages of numbers past [`NEAR_PAGES`], which a run does not come to soon.
    far_pages: FxHashMap<usize, Box<Page>>,
    /// The cells, in chunks that never move; those of free places are empty.
    chunks: Vec<Vec<Option<Cell>>>,
    free: Vec<u32>,
}

/// The places of the cells of locations that are numbered in a row.
#[derive(Clone, Debug)]
struct Page {
    places: [u32; PAGE_LOCATIONS],
    used: u32,
}

const PAGE_LOCATIONS: usize = 1024;
const NO_CELL: u32 = u32::MAX;

/// So many pages are found without hashing.
const NEAR_PAGES: usize = 1 << 16;

/// How many cells are made room for at a time.
const CHUNK_CELLS: usize = {
    const CHUNK_BYTES: usize = 64 << 10;
    CHUNK_BYTES / size_of::<Option<Cell>>()
};

impl LocationTable {
    /// The cell of a location.
    #[inline]
    pub(super) fn get_mut(&mut self, id: LocationId) -> Option<&mut Cell> {
        let place = self.place(id)?;
        self.chunks[place / CHUNK_CELLS][place % CHUNK_CELLS].as_mut()
    }

    /// The cell of a location, made if it has none; and whether it was.
    #[inline]
    pub(super) fn get_or_insert_with(
        &mut self,
        id: LocationId,
        make: impl FnOnce() -> Cell,
    ) -> (&mut Cell, bool) {
        let (place, is_new) = match self.place(id) {
            Some(place) => (place, false),
            None => (self.insert(id, make()), true),
        };
        let cell = self.chunks[place / CHUNK_CELLS][place % CHUNK_CELLS].as_mut();
        (cell.expect("a place that is taken has a cell"), is_new)
    }

    /// Gives a location that has none a cell; its place.
    #[cold]
    pub(super) fn insert(&mut self, id: LocationId, cell: Cell) -> usize {
        let place = match self.free.pop() {
            Some(place) => {
                let place = place as usize;
                self.chunks[place / CHUNK_CELLS][place % CHUNK_CELLS] = Some(cell);
                place
            }
            None => self.append(cell),
        };
        let (number, at) = split(id);
        let page = if number < NEAR_PAGES {
            if number >= self.pages.len() {
                self.pages.resize_with(number + 1, || None);
            }
            self.pages[number].get_or_insert_with(Page::empty)
        } else {
            self.far_pages.entry(number).or_insert_with(Page::empty)
        };
        debug_assert_eq!(page.places[at], NO_CELL, "a location has one cell");
        page.places[at] = place as u32;
        page.used += 1;
        place
    }

    fn append(&mut self, cell: Cell) -> usize {
        if self
            .chunks
            .last()
            .is_none_or(|last| last.len() == CHUNK_CELLS)
        {
            self.chunks.push(Vec::with_capacity(CHUNK_CELLS));
        }
        let chunk = self.chunks.len() - 1;
        let cells = &mut self.chunks[chunk];
        cells.push(Some(cell));
        chunk * CHUNK_CELLS + cells.len() - 1
    }

    /// Takes the cell of a location away.
    pub(super) fn remove(&mut self, id: LocationId) -> Option<Cell> {
        let place = self.place(id)?;
        let (number, at) = split(id);
        let page = match number < NEAR_PAGES {
            true => self.pages[number].as_mut()?,
            false => self.far_pages.get_mut(&number)?,
        };
        page.places[at] = NO_CELL;
        page.used -= 1;
        if page.used == 0 {
            match number < NEAR_PAGES {
                true => self.pages[number] = None,
                false => drop(self.far_pages.remove(&number)),
            }
        }
        self.free.push(place as u32);
        self.chunks[place / CHUNK_CELLS][place % CHUNK_CELLS].take()
    }

    /// All cells, in no order that means anything.
    pub(super) fn cells_mut(&mut self) -> impl Iterator<Item = &mut Cell> {
        self.chunks.iter_mut().flatten().flatten()
    }

    #[inline]
    fn place(&self, id: LocationId) -> Option<usize> {
        let (number, at) = split(id);
        let page = match self.pages.get(number) {
            Some(page) => page.as_ref()?,
            None if number < NEAR_PAGES => return None,
            None => self.far_pages.get(&number)?,
        };
        let place = page.places[at];
        (place != NO_CELL).then_some(place as usize)
    }
}

impl Page {
    fn empty() -> Box<Self> {
        Box::new(Self {
            places: [NO_CELL; PAGE_LOCATIONS],
            used: 0,
        })
    }
}

#[inline]
fn split(id: LocationId) -> (usize, usize) {
    let number = id.0 as usize;
    (number / PAGE_LOCATIONS, number % PAGE_LOCATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(value: u64) -> Cell {
        Cell {
            location: Location::new(Some(value)),
            mixed: false,
        }
    }

    fn value(table: &mut LocationTable, id: u32) -> Option<u64> {
        let cell = table.get_mut(LocationId(id))?;
        cell.location.values.current().value()
    }

    #[test]
    fn places_and_pages_of_locations_that_are_gone_are_used_again() {
        let mut table = LocationTable::default();
        for id in 0..100_000u32 {
            table.insert(LocationId(id), cell(u64::from(id)));
            if let Some(gone) = id.checked_sub(10) {
                let removed = table.remove(LocationId(gone)).unwrap();
                assert_eq!(removed.location.values.current().value(), Some(gone.into()));
                assert!(table.remove(LocationId(gone)).is_none());
            }
        }
        assert_eq!(table.chunks.len(), 1);
        assert!(table.pages.iter().flatten().count() <= 2);
        assert_eq!(value(&mut table, 99_999), Some(99_999));
        assert_eq!(value(&mut table, 5), None);
        assert_eq!(table.cells_mut().count(), 10);
    }

    #[test]
    fn numbers_far_apart_are_told_apart() {
        let mut table = LocationTable::default();
        for id in [0, 1, 1023, 1024, 5_000_000, u32::MAX] {
            let (_, is_new) = table.get_or_insert_with(LocationId(id), || cell(u64::from(id)));
            assert!(is_new);
        }
        for id in [0, 1, 1023, 1024, 5_000_000, u32::MAX] {
            let (found, is_new) = table.get_or_insert_with(LocationId(id), || cell(7));
            let value = found.location.values.current().value();
            assert_eq!((value, is_new), (Some(id.into()), false));
        }
    }
}
