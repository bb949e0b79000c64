//! Litmus programs run on memory that shows old values: directed runs, which take
//! one stale choice that the analyzer found, and free runs, which take any that
//! the weak memory offers. Both are held against brute force.

mod directed;
mod free;
mod machines;

pub use directed::{Directed, directed};
pub use free::{Free, free, random_free_run};
pub use machines::{runs_out_of_order, runs_with_store_buffers};
