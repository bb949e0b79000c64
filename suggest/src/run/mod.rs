//! Running the program under test again and again: processes, their limits,
//! and the loop that ends when nothing new is found. Knows nothing of what a
//! finding is but whether it is new.

pub mod guard;
mod process;
mod until_quiet;
mod watchdog;

pub use process::{Ended, Finished, Launch};
pub use until_quiet::{Budget, Stopped, Summary, Taken, until_quiet};
pub use watchdog::{Watchdog, interrupted, stop_on_interrupt};
