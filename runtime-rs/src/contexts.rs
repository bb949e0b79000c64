//! Numbers for call stacks and for contexts: a table from (stack, pc) to the
//! number it was given. The recorder writes each pair once.

use alloc::vec;
use alloc::vec::Vec;

/// Open addressing; the number 0 marks a free entry.
#[derive(Debug)]
pub(crate) struct Interner {
    entries: Vec<Entry>,
    used: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    pc: u64,
    stack: u32,
    number: u32,
}

/// A number, and whether it was given just now.
pub(crate) enum ContextNumber {
    Known(u32),
    New(u32),
}

impl Interner {
    pub(crate) fn new() -> Self {
        Self {
            entries: vec![Entry::default(); 256],
            used: 0,
        }
    }

    #[inline]
    pub(crate) fn number(&mut self, stack: u32, pc: u64) -> ContextNumber {
        let at = self.find(stack, pc);
        let found = self.entries[at].number;
        if found != 0 {
            return ContextNumber::Known(found);
        }
        self.insert(at, stack, pc)
    }

    /// How many there are.
    #[cfg(not(test))]
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.used)
    }

    #[cold]
    fn insert(&mut self, at: usize, stack: u32, pc: u64) -> ContextNumber {
        self.used += 1;
        let number = self.used;
        self.entries[at] = Entry { pc, stack, number };
        if self.used as usize * 2 > self.entries.len() {
            let larger = vec![Entry::default(); self.entries.len() * 2];
            for old in core::mem::replace(&mut self.entries, larger) {
                if old.number != 0 {
                    let at = self.find(old.stack, old.pc);
                    self.entries[at] = old;
                }
            }
        }
        ContextNumber::New(number)
    }

    #[inline]
    fn find(&self, stack: u32, pc: u64) -> usize {
        let mask = self.entries.len() - 1;
        let hash = (pc ^ u64::from(stack) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let entry = &self.entries[at];
            if entry.number == 0 || (entry.pc == pc && entry.stack == stack) {
                return at;
            }
            at = (at + 1) & mask;
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
                        ContextNumber::New(given) => assert_eq!((round, given), (0, number)),
                        ContextNumber::Known(given) => assert_eq!((round, given), (1, number)),
                    }
                }
            }
        }
    }
}
