//! Where memory without a name comes from: the block that an object of a finding lay
//! in, or that a value points to, and the line of the program that made it.

use std::sync::Mutex;

use crate::observe::{AllocationPlace, BlockId, DecodedTrace, Places};

/// A value that points into a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// The value.
    pub value: u128,
    /// Where the block was made.
    pub place: AllocationPlace,
    /// Which of those that were made there, from 1; `None` if it is the only one.
    pub number: Option<usize>,
    /// It points to the first byte.
    pub is_start: bool,
}

/// Finds the blocks of a run.
#[derive(Clone, Copy)]
pub(super) struct BlockFinder<'a> {
    /// The run.
    pub decoded: &'a DecodedTrace,
    /// Its places.
    pub places: &'a Mutex<Places>,
}

impl BlockFinder<'_> {
    /// Where the memory at an address was made that an event accesses.
    pub(super) fn place(&self, address: u64, event: usize) -> Option<AllocationPlace> {
        self.place_of(self.decoded.blocks.holding(address, event)?)
    }

    /// The same, where the memory may have been given back already.
    pub(super) fn place_or_freed(&self, address: u64, event: usize) -> Option<AllocationPlace> {
        self.place_of(self.decoded.blocks.holding_or_freed(address, event)?)
    }

    /// What a value of an object of this size points to, which an event reads or writes.
    pub(super) fn pointer(&self, value: u128, size: u8, event: usize) -> Option<Pointer> {
        let address = u64::try_from(value).ok().filter(|_| size == 8)?;
        let blocks = &self.decoded.blocks;
        let block = blocks.holding(address, event)?;
        let place = self.place_of(block)?;
        Some(Pointer {
            value,
            number: self.number(block, &place),
            place,
            is_start: blocks.offset(block, address) == 0,
        })
    }

    /// Which of the blocks that were made at a place one is.
    fn number(&self, block: BlockId, place: &AllocationPlace) -> Option<usize> {
        let mut places = self.places.lock().expect("no panic while locked");
        let blocks = &self.decoded.blocks;
        let alike = blocks
            .makers()
            .filter(|(_, chain)| places.allocation(chain).as_ref() == Some(place));
        let alike = alike.map(|(context, _)| context).collect();
        let (number, count) = blocks.number_among(block, &alike);
        (count > 1).then_some(number + 1)
    }

    fn place_of(&self, block: BlockId) -> Option<AllocationPlace> {
        let chain = self.decoded.blocks.chain(block)?;
        let mut places = self.places.lock().expect("no panic while locked");
        places.allocation(chain)
    }
}
