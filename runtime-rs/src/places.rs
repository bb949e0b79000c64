//! Numbers for call stacks and for places: a table from (stack, pc) to the
//! number it was given. The recorder writes each pair once.

use alloc::vec;
use alloc::vec::Vec;

/// Open addressing; the number 0 marks a free slot.
#[derive(Debug)]
pub(crate) struct Interner {
    slots: Vec<Slot>,
    used: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    pc: u64,
    stack: u32,
    number: u32,
}

/// A number, and whether it was given just now.
pub(crate) enum Interned {
    Known(u32),
    New(u32),
}

impl Interner {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); 256],
            used: 0,
        }
    }

    #[inline]
    pub(crate) fn number(&mut self, stack: u32, pc: u64) -> Interned {
        let slot = self.slot(stack, pc);
        let found = self.slots[slot].number;
        if found != 0 {
            return Interned::Known(found);
        }
        self.insert(slot, stack, pc)
    }

    #[cold]
    fn insert(&mut self, slot: usize, stack: u32, pc: u64) -> Interned {
        self.used += 1;
        let number = self.used;
        self.slots[slot] = Slot { pc, stack, number };
        if self.used as usize * 2 > self.slots.len() {
            let larger = vec![Slot::default(); self.slots.len() * 2];
            for old in core::mem::replace(&mut self.slots, larger) {
                if old.number != 0 {
                    let slot = self.slot(old.stack, old.pc);
                    self.slots[slot] = old;
                }
            }
        }
        Interned::New(number)
    }

    #[inline]
    fn slot(&self, stack: u32, pc: u64) -> usize {
        let mask = self.slots.len() - 1;
        let hash = (pc ^ u64::from(stack) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut slot = (hash >> 32) as usize & mask;
        loop {
            let at = &self.slots[slot];
            if at.number == 0 || (at.pc == pc && at.stack == stack) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_keeps_its_number_while_the_table_grows() {
        let mut interner = Interner::new();
        for round in 0..2 {
            for pc in 0..1000u64 {
                for stack in 0..3u32 {
                    let number = pc as u32 * 3 + stack + 1;
                    match interner.number(stack, pc * 4096) {
                        Interned::New(given) => assert_eq!((round, given), (0, number)),
                        Interned::Known(given) => assert_eq!((round, given), (1, number)),
                    }
                }
            }
        }
    }
}
