//! Whether the trace says where memory comes from, and how much of that: reports name
//! objects without a name by the call that made them. A run that is only checked says
//! nothing of the sort; it is made again, recorded, when it shows something.

use core::sync::atomic::{AtomicBool, Ordering};

/// This many blocks are followed in a run. A program that makes more of them is not to
/// fill its trace with that.
const MOST_BLOCKS: u32 = 1 << 17;

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

/// How many blocks of the run may still be followed.
#[derive(Debug)]
pub(crate) struct BlockBudget {
    left: u32,
}

impl BlockBudget {
    pub(crate) fn new() -> Self {
        Self { left: MOST_BLOCKS }
    }

    /// Takes one block out of it; whether there was one left.
    #[cfg(not(test))]
    pub(crate) fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }
}
