//! Finds atomic operations in C and C++ source text. Owns [`Site`] and the
//! vocabularies that say how atomics are spelled; knows nothing of running
//! programs or of memory models.
#![forbid(unsafe_code)]

mod calls;
mod declared;
mod exports;
mod found;
mod group;
mod implicit;
mod includes;
mod learn;
mod lines;
mod literal;
mod loops;
mod macros;
mod matching;
mod nearby;
mod note;
mod notes;
mod order;
mod orders;
mod outline;
mod passing;
mod recover;
mod scan;
mod site;
mod source;
mod syntax;
mod tree;
mod vocabulary;
mod wrapping;

pub use learn::{Wrapper, vocabulary_text, wrappers};
pub use lines::LineIndex;
pub use matching::{Match, OperationKind, match_site};
pub use nearby::{Headers, scan_file};
pub use note::{Note, NoteKind};
pub use order::MemoryOrder;
pub use passing::{Passing, passing_of_call, passing_of_wait};
pub use scan::{FileScan, scan_parsed, scan_source};
pub use site::{
    Comparison, Joint, LoopExit, LoopRole, Operand, Operation, OrderPlace, OrderSpelling, Position,
    Site, Span,
};
pub use source::{Language, ParsedFile};
pub use tree::{TreeScan, scan_tree};
pub use vocabulary::{Vocabularies, Vocabulary, VocabularyError};
pub use wrapping::{call_as_site, is_whole_body};
