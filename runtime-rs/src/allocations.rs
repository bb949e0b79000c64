//! Whether the trace says where memory comes from, and how much of that: reports name
//! objects without a name by the call that made them. A run that is only checked says
//! nothing of the sort; it is made again, recorded, when it shows something.

use core::sync::atomic::{AtomicBool, Ordering};

/// This many blocks are followed in a run. A program that makes more of them is not to
/// fill its trace with that.
const MOST_BLOCKS: u32 = 1 << 17;

/// Of so many of them that a library made, as `operator new` does, the call of the library
/// is looked for: the unwinder takes some microseconds for each.
const MOST_UNWOUND: u32 = 1 << 11;

static ARE_RECORDED: AtomicBool = AtomicBool::new(false);

/// Whether a block that is handed out, or given back, is worth a look.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn are_recorded() -> bool {
    ARE_RECORDED.load(Ordering::Relaxed)
}

/// From now on blocks are recorded, or not.
pub(crate) fn set_recorded(recorded: bool) {
    ARE_RECORDED.store(recorded, Ordering::Relaxed);
}

/// How many blocks of the run may still be followed, and to the call of a library.
#[derive(Debug)]
#[cfg_attr(test, expect(dead_code))]
pub(crate) struct BlockBudget {
    left: u32,
    unwound: u32,
}

impl BlockBudget {
    pub(crate) fn new() -> Self {
        Self {
            left: MOST_BLOCKS,
            unwound: MOST_UNWOUND,
        }
    }

    /// Takes one out of it whose call of a library is looked for; whether there was one.
    #[cfg(not(test))]
    pub(crate) fn take_unwound(&mut self) -> bool {
        self.unwound = self.unwound.saturating_sub(1);
        self.unwound > 0
    }

    /// Takes one block out of it; whether there was one left.
    #[cfg(not(test))]
    pub(crate) fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}
