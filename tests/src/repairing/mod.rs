//! Litmus programs as problems of the repair search: their SC runs as a corpus
//! of traces, their instructions as points, a change applied to a program, and
//! the cheapest repair and the cheapest orders by trying them against brute force.

mod apply;
mod cheapest;
mod relaxing;
mod traces;

pub use apply::{apply, apply_at};
pub use cheapest::{Cheaper, Effort, cheaper_repair, is_repaired, is_stronger};
pub use relaxing::{all_sc, cheaper_orders};
pub use traces::{points, problem, traces};
