//! What is said about findings: as data for programs, as text for people. Knows
//! nothing of how they were found.

mod assemble;
mod causes;
mod change_words;
mod dossier;
pub mod model;
mod sarif;
mod text;
mod words;

pub use assemble::{Repaired, Setting, assemble};
pub use dossier::{Again, Dossier};
pub use model::Verdict;
pub use sarif::sarif;
pub use text::{Text, repair_text};
