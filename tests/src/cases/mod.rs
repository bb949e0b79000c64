//! Bugs of memory ordering as real projects have had them, written anew as small
//! libraries with a test (`tests/corpus/cases`), and what wmfix makes of them
//! beside what the maintainers did.

mod case;
mod counts;
mod edits;
mod study;
mod table;
mod tokens;

pub use case::{Case, Description, Expected, Language, Layer};
pub use counts::Counts;
pub use edits::{Edit, Edits, Position};
pub use study::{Limits, PatchVerdict, RightLine, Study};
pub use table::markdown;
pub use tokens::{Operation, Order, Words};
