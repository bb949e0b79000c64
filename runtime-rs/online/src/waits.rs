//! What the text says about waiting, as the analysis takes it: the exit
//! condition of a spin loop, and compare-exchanges that only wait.

use wmfix_analysis::{Comparison, LoopExit};

/// The part a site plays in a loop that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitRole {
    /// The loop is left on this condition on the value read.
    pub exit: Option<TextExit>,
    /// The same, but what the value is compared with only the run tells.
    pub open: Option<OpenExit>,
    /// A compare-exchange that only waits for its expected value.
    pub blocking: bool,
}

/// An exit condition whose operand the text does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenExit {
    /// The bits of the value that count; all, if not given.
    pub mask: Option<i128>,
    /// How the value compares with the operand when the loop is left.
    pub comparison: Comparison,
    /// No other condition has a say in when the loop is left.
    pub sole: bool,
}

/// An exit condition that the text decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextExit {
    /// The bits of the value that count; all, if not given.
    pub mask: Option<i128>,
    /// How the value compares.
    pub comparison: Comparison,
    /// What it is compared with.
    pub operand: i128,
    /// The value is compared as a signed number.
    pub signed: bool,
    /// The size of the object, in bytes, for which the text was read, where that matters.
    pub size: Option<u8>,
}

impl OpenExit {
    /// Whether it is a value that stays in the loop that tells the operand.
    pub fn is_told_by_staying(self) -> bool {
        self.comparison == Comparison::NotEqual
    }

    /// The condition on an object of `size` bytes, once a value has told the operand:
    /// one that stayed in the loop where that tells it, else the one that left.
    pub fn closed(self, told: u64, size: u8) -> LoopExit {
        let mask = self.mask.map_or(all_bits(size), |mask| mask as u64) & all_bits(size);
        LoopExit {
            mask,
            comparison: self.comparison,
            operand: told & mask,
            signed: None,
        }
    }
}

fn all_bits(size: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(size.clamp(1, 8)))
}

impl TextExit {
    /// The condition on an object of `size` bytes; none if the text was read for one of
    /// another size.
    pub fn at_width(self, size: u8) -> Option<LoopExit> {
        if self.size.is_some_and(|read_for| read_for != size) {
            return None;
        }
        let all = all_bits(size);
        Some(LoopExit {
            mask: self.mask.map_or(all, |mask| mask as u64 & all),
            comparison: self.comparison,
            operand: self.operand as u64 & all,
            signed: self.signed.then_some(8 * size.clamp(1, 8)),
        })
    }

    /// The condition on a read-modify-write of `size` bytes that wrote this: rounds that
    /// read just that changed nothing. None if such a round ends the wait.
    pub fn of_write(self, written: u64, size: u8) -> Option<LoopExit> {
        let stays = !self.at_width(size)?.leaves(written);
        stays.then_some(LoopExit {
            mask: all_bits(size),
            comparison: Comparison::NotEqual,
            operand: written & all_bits(size),
            signed: None,
        })
    }
}
