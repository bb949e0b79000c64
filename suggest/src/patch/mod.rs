//! Between the repair search and the text: which runs the search looks at, what
//! may be changed where, and what the chosen changes make of the files. Knows
//! nothing of how a repair is found.

mod back;
mod corpus;
mod menu;

pub use back::Back;
pub use corpus::Corpus;
pub use menu::{Menu, PatchedFile};
