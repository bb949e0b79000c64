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

/// An exit condition before the width of the object is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextExit {
    /// The bits of the value that count; all, if not given.
    pub mask: Option<i128>,
    /// How the value compares.
    pub comparison: Comparison,
    /// What it is compared with.
    pub operand: i128,
}

impl OpenExit {
    /// Whether it is a value that stays in the loop that tells the operand.
    pub fn is_told_by_staying(self) -> bool {
        self.comparison == Comparison::NotEqual
    }

    /// The condition on an object of `size` bytes, once a value has told the operand:
    /// one that stayed in the loop where that tells it, else the one that left.
    ///
    /// Where values are compared by size, the one that left only bounds the operand.
    /// It is taken for the operand, so that a value beyond it is known to leave: one
    /// between the two is taken to stay, and a violation may be missed for it.
    pub fn closed(self, told: u64, size: u8) -> LoopExit {
        let exit = TextExit {
            mask: self.mask,
            comparison: match self.comparison {
                Comparison::Less => Comparison::LessOrEqual,
                Comparison::Greater => Comparison::GreaterOrEqual,
                other => other,
            },
            operand: told.into(),
        };
        let mut exit = exit.at_width(size);
        exit.operand &= exit.mask;
        exit
    }
}

impl TextExit {
    /// The condition on an object of `size` bytes. Whether the source compares
    /// as signed numbers the text does not tell; for a comparison by size it is
    /// taken to, as `int` is what people count with.
    pub fn at_width(self, size: u8) -> LoopExit {
        let bits = 8 * size.clamp(1, 8);
        let all = u64::MAX >> (64 - u32::from(bits));
        let by_size = !matches!(self.comparison, Comparison::Equal | Comparison::NotEqual);
        LoopExit {
            mask: self.mask.map_or(all, |mask| mask as u64 & all),
            comparison: self.comparison,
            operand: self.operand as u64 & all,
            signed: (by_size && self.mask.is_none()).then_some(bits),
        }
    }
}
