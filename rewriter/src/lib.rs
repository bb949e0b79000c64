//! Turns changes (raise this order, put a fence here) into edits that keep the
//! text's formatting, and edits into unified diffs. Knows nothing of why a
//! change is wanted.
//!
//! [`TextChange`]s at the sites of a file go through [`rewrite`], which gives an
//! [`EditSet`] and, for each change that cannot be made, a [`Refusal`].
//! [`EditSet::apply`] gives the new text, [`FileDiff`] shows the difference, and
//! [`write_files`] puts it in place.
//!
//! ```
//! use std::path::Path;
//!
//! use wmfix_frontend::{Language, MemoryOrder, ParsedFile, scan_parsed};
//! use wmfix_rewriter::{FileDiff, Project, TextChange, rewrite};
//!
//! let before = "\
//! #include <stdatomic.h>
//! atomic_int ready;
//!
//! void publish(void)
//! {
//!     int ticks = 0;
//!     (void)ticks;
//!     // The data is written.
//!     atomic_store_explicit(&ready, 1, memory_order_relaxed);
//! }
//! ";
//! let path = Path::new("publish.c");
//! let project = Project::default();
//! let file = ParsedFile::parse(path, before.as_bytes(), Language::C);
//! let sites = scan_parsed(&file, &project.vocabularies).sites;
//!
//! let change = TextChange::raise(sites[0].clone(), MemoryOrder::Release);
//! let result = rewrite(&file, &sites, &[change], &project);
//! assert!(result.refused.is_empty());
//! let after = result.edits.apply(before.as_bytes())?;
//!
//! let diff = FileDiff::between(path, before.as_bytes(), &after);
//! let [hunk] = &diff.hunks[..] else { panic!("one hunk") };
//! assert_eq!(hunk.function, b"void publish(void)");
//! assert_eq!(
//!     String::from_utf8_lossy(&diff.to_bytes()),
//!     "\
//! diff --git a/publish.c b/publish.c
//! --- a/publish.c
//! +++ b/publish.c
//! @@ -6,5 +6,5 @@ void publish(void)
//!      int ticks = 0;
//!      (void)ticks;
//!      // The data is written.
//! -    atomic_store_explicit(&ready, 1, memory_order_relaxed);
//! +    atomic_store_explicit(&ready, 1, memory_order_release);
//!  }
//! "
//! );
//! # Ok::<(), wmfix_rewriter::EditError>(())
//! ```
#![forbid(unsafe_code)]

mod assertion;
mod change;
mod diff;
mod draft;
mod edit;
mod evaluation;
mod explicit;
mod fence;
mod fence_definition;
mod fence_move;
mod fence_removal;
mod fence_spelling;
mod fence_wrapper;
mod guard;
mod include;
mod insertion_point;
mod journal;
mod layout;
mod operation_position;
mod order_words;
mod plain_access;
mod plan;
mod project;
mod raise;
mod refusal;
mod room;
mod spelling;
mod temporary;
mod view;
mod visible_orders;
mod write;

pub use change::{Side, TextChange, TextChangeKind};
pub use diff::{DiffLine, FileDiff, Hunk, LineKind, LineRange, unified_diff};
pub use edit::{ContentHash, Edit, EditError, EditSet};
pub use fence_move::statement_beside;
pub use guard::check_file;
pub use journal::{Interrupted, clean_up};
pub use plan::{FileRewriter, Rewrite, rewrite};
pub use project::{IncludedHeaders, Names, Project};
pub use refusal::Refusal;
pub use write::{WriteError, write_files};
