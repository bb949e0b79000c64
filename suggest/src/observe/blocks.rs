//! The blocks of memory of a run: which one an address lay in when something happened,
//! and the calls that made it. Knows nothing of what was done with them.

use std::collections::{HashMap, HashSet};

use wmfix_trace::ContextId;

use super::call_chain::CallChain;

/// What is known about the blocks of a run.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    changes: Vec<BlockChange>,
    /// The calls that made blocks, by context.
    chains: HashMap<ContextId, CallChain>,
}

/// A block that is handed out, or given back.
#[derive(Clone, Copy, Debug)]
struct BlockChange {
    /// The number of events before it.
    events_before: usize,
    address: u64,
    /// The size and the place of one that is handed out.
    made: Option<(u64, ContextId)>,
}

/// A block by its number in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockId(usize);

impl Blocks {
    pub(super) fn hand_out(&mut self, events: usize, address: u64, size: u64, by: ContextId) {
        self.changes.push(BlockChange {
            events_before: events,
            address,
            made: Some((size, by)),
        });
    }

    pub(super) fn hand_back(&mut self, events: usize, address: u64) {
        self.changes.push(BlockChange {
            events_before: events,
            address,
            made: None,
        });
    }

    /// Keeps the calls that made the blocks.
    pub(super) fn add_chains(&mut self, chain: impl Fn(ContextId) -> CallChain) {
        for (_, context) in self.changes.iter().filter_map(|change| change.made) {
            self.chains.entry(context).or_insert_with(|| chain(context));
        }
    }

    /// The block that an address lay in when the event of this number happened.
    pub(crate) fn holding(&self, address: u64, event: usize) -> Option<BlockId> {
        let (block, is_alive) = self.last_holding(address, event)?;
        is_alive.then_some(block)
    }

    /// The same, or the one that the address lay in last if it was given back by then
    /// and nothing else has been made there.
    pub(crate) fn holding_or_freed(&self, address: u64, event: usize) -> Option<BlockId> {
        Some(self.last_holding(address, event)?.0)
    }

    /// The last block that held an address, and whether it had not been given back.
    fn last_holding(&self, address: u64, event: usize) -> Option<(BlockId, bool)> {
        let by_then = |change: &BlockChange| change.events_before <= event;
        let changes = &self.changes[..self.changes.partition_point(by_then)];
        let holds = |change: &BlockChange| {
            change.made.is_some() && overlaps(change, (address, 1)) || change.is_end()
        };
        let number = changes.iter().rposition(holds)?;
        let (size, _) = changes[number].made?;
        let block = (changes[number].address, size);
        let later = &changes[number + 1..];
        if later.iter().any(|change| overlaps(change, block)) {
            return None;
        }
        let ends = |change: &BlockChange| change.made.is_none() && change.address == block.0;
        Some((BlockId(number), !later.iter().any(ends)))
    }

    /// How far into a block an address is.
    pub(crate) fn offset(&self, block: BlockId, address: u64) -> u64 {
        address - self.changes[block.0].address
    }

    /// The calls that made a block.
    pub(crate) fn chain(&self, block: BlockId) -> Option<&CallChain> {
        let (_, context) = self.changes[block.0].made?;
        self.chains.get(&context)
    }

    /// The calls that made blocks, by context.
    pub(crate) fn makers(&self) -> impl Iterator<Item = (ContextId, &CallChain)> {
        self.chains.iter().map(|(&context, chain)| (context, chain))
    }

    /// Of the blocks that were made in some contexts, which one this is, from 0, and how
    /// many there are.
    pub(crate) fn number_among(
        &self,
        block: BlockId,
        contexts: &HashSet<ContextId>,
    ) -> (usize, usize) {
        let is_among = |change: &BlockChange| {
            let made = change.made;
            made.is_some_and(|(_, context)| contexts.contains(&context))
        };
        let (before, rest) = self.changes.split_at(block.0);
        let count = |changes: &[BlockChange]| changes.iter().filter(|one| is_among(one)).count();
        let number = count(before);
        (number, number + count(rest))
    }
}

impl BlockChange {
    /// Nothing is known from here on.
    fn is_end(&self) -> bool {
        self.made.is_none() && self.address == 0
    }
}

/// Whether a block that is handed out has bytes in a range.
fn overlaps(change: &BlockChange, (address, size): (u64, u64)) -> bool {
    let end = |address: u64, size: u64| address.saturating_add(size);
    change.made.is_some_and(|(made, _)| {
        change.address < end(address, size) && address < end(change.address, made)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks() -> Blocks {
        let mut blocks = Blocks::default();
        blocks.hand_out(0, 0x1000, 16, ContextId(1));
        blocks.hand_out(5, 0x2000, 64, ContextId(2));
        blocks.hand_back(10, 0x1000);
        blocks.hand_out(20, 0x1000, 8, ContextId(3));
        blocks
    }

    #[test]
    fn an_address_lies_in_the_block_of_its_time() {
        let blocks = blocks();
        let maker = |address, event| {
            let block = blocks.holding(address, event)?;
            Some(blocks.changes[block.0].made?.1.0)
        };
        assert_eq!(maker(0x1008, 0), Some(1));
        assert_eq!(maker(0x1008, 9), Some(1));
        assert_eq!(maker(0x1008, 12), None, "given back");
        assert_eq!(maker(0x1000, 25), Some(3), "handed out again");
        assert_eq!(maker(0x1008, 25), None, "beyond the new block");
        assert_eq!(maker(0x2000, 4), None, "not there yet");
        assert_eq!(maker(0x203f, 5), Some(2));
        assert_eq!(maker(0x2040, 5), None);
    }

    #[test]
    fn what_was_given_back_is_known_until_something_else_is_there() {
        let blocks = blocks();
        assert_eq!(blocks.holding_or_freed(0x1008, 12), Some(BlockId(0)));
        assert_eq!(blocks.holding_or_freed(0x1008, 25), None);
    }

    #[test]
    fn after_the_last_record_nothing_is_known() {
        let mut blocks = blocks();
        blocks.hand_back(30, 0);
        assert_eq!(blocks.holding(0x2000, 29), Some(BlockId(1)));
        assert_eq!(blocks.holding(0x2000, 30), None);
        assert_eq!(blocks.holding_or_freed(0x2000, 31), None);
    }
}
