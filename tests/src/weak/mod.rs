//! Litmus programs run on memory that shows old values: directed runs, which take
//! one stale choice that the analyzer found, and free runs, which take any that
//! the weak memory offers. Both are held against brute force.

mod directed;
mod free;

pub use directed::{Directed, directed};
pub use free::{Free, free, random_free_run};
