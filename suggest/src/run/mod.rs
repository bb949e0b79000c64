//! Runs the program under test again and again: processes, their limits,
//! and the loop that ends when nothing new is found. Knows nothing of what a
//! finding is but whether it is new.

mod deadline;
mod folders;
mod fork_server;
pub(crate) mod guard;
mod left_behind;
mod output_file;
mod padding;
mod patience;
mod process;
mod run_end;
mod run_length;
mod skip_rule;
mod start;
mod trace_folder;
mod until_quiet;
mod watchdog;

pub(crate) use deadline::Deadline;
pub(crate) use folders::RunFolders;
pub(crate) use patience::{Patience, QuietRuns};
pub(crate) use process::{FinishedRun, Launch};
pub(crate) use run_end::RunEnd;
pub(crate) use run_length::RunLength;
pub(crate) use skip_rule::SkipRule;
pub(crate) use start::FreshStart;
pub(crate) use until_quiet::{Budget, RunWorth, StopReason, Summary, until_quiet};
pub(crate) use watchdog::{Watchdog, interrupted, stop_on_interrupt};
