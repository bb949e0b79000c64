//! Turns changes (raise this order, put a fence here) into edits that keep the
//! text's formatting, and edits into unified diffs. Knows nothing of why a
//! change is wanted.
#![forbid(unsafe_code)]

mod change;
mod diff;
mod edit;
mod refusal;
mod write;

pub use change::{Action, Change};
pub use diff::unified_diff;
pub use edit::{ContentHash, Edit, EditError, EditSet};
pub use refusal::Refusal;
pub use write::{WriteError, write_file};
