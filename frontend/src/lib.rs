//! Finds atomic operations in C and C++ source text. Owns [`Site`] and the
//! vocabularies that say how atomics are spelled; knows nothing of running
//! programs or of memory models.
//!
//! ```
//! use std::path::Path;
//!
//! use wmfix_frontend::{
//!     LoopRole, MemoryOrder, OrderForm, SiteOperation, Vocabularies, scan_source,
//! };
//!
//! let text = "\
//! #include <stdatomic.h>
//! atomic_int ready;
//! void wait(void) {
//!     while (!atomic_load_explicit(&ready, memory_order_acquire)) {}
//! }
//! ";
//! let scan = scan_source(Path::new("wait.c"), text.as_bytes(), &Vocabularies::builtin());
//!
//! let [site] = &scan.sites[..] else { panic!("one site") };
//! assert_eq!(site.operation, SiteOperation::Load);
//! assert_eq!(site.order.order, Some(MemoryOrder::Acquire));
//! assert_eq!(site.start.line, 4);
//! assert!(matches!(site.role, LoopRole::Spin(_)));
//!
//! // The order is a literal: the rewriter can replace it.
//! let OrderForm::Literal(span) = &site.order.form else { panic!("a literal") };
//! assert_eq!(&text[span.clone()], "memory_order_acquire");
//! ```
#![forbid(unsafe_code)]

mod accessors;
mod allocation;
mod attribute_macros;
mod calls;
mod compiler_barrier;
mod condition_text;
mod conditional;
mod context;
mod declarations;
mod declare;
mod exports;
mod forwarding;
mod found_site;
mod generated;
mod group;
mod implicit;
mod includes;
mod language;
mod learn;
mod lines;
mod literal;
mod loops;
mod macro_block;
mod macro_definition;
mod macros;
mod matching;
mod nearby;
mod note;
mod notes;
mod object;
mod order;
mod order_constants;
mod orders;
mod outline;
mod pasting;
mod plain;
mod plain_form;
mod project_tree;
mod recognise;
mod record;
mod recover;
mod repetition;
mod reread;
mod scalar;
mod scan;
mod site;
mod site_lines;
mod source;
mod syntax;
mod tokens;
mod tree;
mod typeof_types;
mod vocabulary;
mod walk;
mod wrapper_function;
mod wrapping;
mod written_type;

pub use accessors::{Accessor, Accessors, VolatileOrders};
pub use allocation::{AllocationText, allocation_at};
pub use compiler_barrier::is_empty_assembly;
pub use conditional::{Presence, presence};
pub use forwarding::{Forwarder, forwards_call, forwards_site};
pub use language::Language;
pub use learn::{Wrapper, is_named_relaxed, vocabulary_text, wrappers};
pub use lines::LineIndex;
pub use matching::{SiteMatch, match_site};
pub use nearby::{Headers, scan_file};
pub use note::{Note, NoteKind};
pub use object::object_at;
pub use order::MemoryOrder;
pub use order_constants::{OrderFamily, order_families};
pub use plain::{object_name, plain_access, plain_accesses};
pub use record::{NamedRecord, Record, RecordsElsewhere, declares_bit_field, record_named};
pub use repetition::{Repetition, repetition_of_call, repetition_of_wait};
pub use scan::{FileScan, scan_parsed, scan_source};
pub use site::{
    Comparison, Joint, LoopExit, LoopRole, Operand, OperationKind, OrderForm, OrderSpelling,
    Position, Site, SiteOperation, Span,
};
pub use source::ParsedFile;
pub use syntax::is_outside_of_functions;
pub use tree::{TreeScan, scan_tree};
pub use vocabulary::{Vocabularies, Vocabulary, VocabularyError};
pub use wrapping::{CallForm, call_as_site, is_whole_body};
