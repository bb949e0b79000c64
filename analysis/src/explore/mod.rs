//! All runs of a program up to the order of independent steps, by running it again
//! and again: which schedules are left to run, given what the earlier runs did.
//! Knows nothing of memory orders: two steps are dependent if they access the same
//! object and one of them writes it.
//!
//! The algorithm is optimal dynamic partial order reduction (Abdulla, Aronis,
//! Jonsson, Sagonas, "Source Sets", JACM 2017): wakeup trees and sleep sets, so that
//! no class of runs is begun twice. Deviations:
//!
//! 1. Steps that wait (for a value, a lock, the end of a thread) can be disabled by
//!    others and enabled again. Such a step is tried before *every* conflicting step
//!    before which it could have gone on, not only before the last one; and so is one
//!    that still waits when the run ends.
//! 2. The tree is kept as a whole, so that several runs can be under way: the sleep
//!    set of a node is made of its earlier siblings, done or not.
//!
//! Not explored: that a weak compare-exchange may fail for no reason.

mod events;
mod frontier;
mod marks;
mod race;
mod step;
mod tree;

#[cfg(test)]
mod tests;

pub use events::{Blocked, Segment, run_of};
pub use frontier::Frontier;
pub use marks::{Mark, MarkKind};
pub use step::{Access, Actor, ORDERED, Run, Step};
pub use tree::{Assignment, Diverged, Explorer, LeafId, Progress, SavedNode, Totals};
