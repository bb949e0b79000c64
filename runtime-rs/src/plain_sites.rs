//! The sites of plain accesses that are made again and again: a small table in which
//! contexts that meet take each other's place. Finding a site through the numbers of
//! its context takes longer than everything else about such an access.

use alloc::vec;
use alloc::vec::Vec;

use wmfix_analysis::SiteId;

const ENTRIES: usize = 1 << 10;

/// Sites by call stack, program counter, and whether the access writes.
#[derive(Debug)]
pub(crate) struct PlainSites {
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// 0: free.
    pc: u64,
    /// The stack, twice, and 1 for a write.
    stack: u64,
    site: u32,
}

impl PlainSites {
    pub(crate) fn new() -> Self {
        Self {
            entries: vec![Entry::default(); ENTRIES],
        }
    }

    /// The site of accesses at `pc`, if it is known and the stack has a number.
    #[inline(always)]
    pub(crate) fn get(&self, stack: Option<u32>, pc: u64, writes: bool) -> Option<SiteId> {
        let stack = key(stack?, writes);
        let entry = &self.entries[position(stack, pc)];
        (entry.pc == pc && entry.stack == stack && pc != 0).then_some(SiteId(entry.site))
    }

    pub(crate) fn insert(&mut self, stack: Option<u32>, pc: u64, writes: bool, site: SiteId) {
        if let Some(stack) = stack {
            let stack = key(stack, writes);
            let site = site.0;
            self.entries[position(stack, pc)] = Entry { pc, stack, site };
        }
    }
}

#[inline(always)]
fn key(stack: u32, writes: bool) -> u64 {
    u64::from(stack) << 1 | u64::from(writes)
}

#[inline(always)]
fn position(stack: u64, pc: u64) -> usize {
    let hash = (pc ^ stack << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 32) as usize % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_told_apart_and_take_each_others_place() {
        let mut sites = PlainSites::new();
        assert_eq!(sites.get(Some(0), 0, false), None, "nothing is known");
        sites.insert(None, 64, true, SiteId(9));
        for number in 0..3_000u32 {
            let (stack, pc) = (number % 7, u64::from(number) * 4 + 4);
            sites.insert(Some(stack), pc, number % 2 == 0, SiteId(number));
            assert_eq!(
                sites.get(Some(stack), pc, number % 2 == 0),
                Some(SiteId(number))
            );
            assert_eq!(sites.get(Some(stack), pc, number % 2 != 0), None);
            assert_eq!(sites.get(Some(stack + 7), pc, number % 2 == 0), None);
            assert_eq!(sites.get(None, pc, number % 2 == 0), None);
        }
        assert_eq!(sites.entries.len(), ENTRIES);
    }
}
