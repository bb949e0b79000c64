//! The cheapest repair of a corpus of recorded runs: which orders to raise and
//! where to put fences so that no run holds a violation or a race any more.
//! A repair is judged by analysing the same runs again with stronger labels, so
//! nothing here knows about source text, building or running: what may be
//! changed comes in as [`Place`]s, and what should be changed goes out as
//! [`Change`]s of those places.

mod cost;
mod error;
mod exempt;
mod explain;
mod hitting;
mod judge;
mod outcome;
mod place;
mod problem;
mod search;
mod selection;
mod slot;
mod stop;

pub use cost::{Profile, costs};
pub use error::RepairError;
pub use exempt::Exempt;
pub use outcome::{Ended, Finding, Needed, Outcome, Reasoned, Repair, Work};
pub use place::{Action, Change, Orders, Place};
pub use problem::{Options, Problem, Progress, Stage, repair, unneeded};
