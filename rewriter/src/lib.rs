//! Turns changes (raise this order, put a fence here) into edits that keep the
//! text's formatting, and edits into unified diffs. Knows nothing of why a
//! change is wanted.
//!
//! The way: [`TextChange`]s at the sites of a file go through [`rewrite`], which
//! gives an [`EditSet`] and, for each change that cannot be made, a [`Refusal`].
//! [`EditSet::apply`] gives the new text, [`unified_diff`] shows it, and
//! [`write_file`] puts it in place.
#![forbid(unsafe_code)]

mod change;
mod diff;
mod draft;
mod edit;
mod evaluation;
mod fence;
mod guard;
mod include;
mod insertion_point;
mod layout;
mod operation_position;
mod plan;
mod project;
mod raise;
mod refusal;
mod room;
mod spelling;
mod temporary;
mod view;
mod write;

pub use change::{TextChange, TextChangeKind};
pub use diff::{DiffLine, FileDiff, Hunk, LineKind, LineRange, unified_diff};
pub use edit::{ContentHash, Edit, EditError, EditSet};
pub use guard::{check_file, generated_marker};
pub use plan::{Rewrite, rewrite};
pub use project::{Names, Project};
pub use refusal::Refusal;
pub use write::{WriteError, write_file, write_files};
