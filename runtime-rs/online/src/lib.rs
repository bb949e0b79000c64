//! What the operations of a run mean to the analysis: the events that it takes,
//! which reads belong to loops that wait, and a [`Checker`] that has all of a run
//! analysed while it goes on. The runtime and the tool share it, so that a run
//! that is checked in the process and one that is recorded show the same.
//!
//! Knows the trace's operations and the analysis' events; nothing of source text
//! (what it says about waiting comes in a [`SiteTable`]), files or processes.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod checker;
mod convert;
mod key;
mod kind;
mod operands;
mod orders;
mod schedule;
mod table;
mod waits;

pub use checker::{CheckConfig, Checker, PlainOutcome, is_plain, violation_kind};
pub use convert::{add_waits, narrow, of_operation, round_of, write_of_free};
pub use key::{ContextKey, ModuleKey};
pub use kind::EventKind;
pub use operands::{Decision, OperandTracker, Round, TextId, WaitLoop};
pub use orders::of_fence;
pub use schedule::ScheduleHash;
pub use table::{BadTable, SiteRole, SiteTable};
pub use waits::{OpenExit, TextExit, WaitRole};
