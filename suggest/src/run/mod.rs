//! RunningProcess the program under test again and again: processes, their limits,
//! and the loop that ends when nothing new is found. Knows nothing of what a
//! finding is but whether it is new.

mod folders;
pub mod guard;
mod process;
mod until_quiet;
mod watchdog;

pub use folders::RunFolders;
pub use process::{FinishedRun, Launch, RunEnd};
pub use until_quiet::{Budget, RunWorth, StopReason, Summary, until_quiet};
pub use watchdog::{Watchdog, interrupted, stop_on_interrupt};
