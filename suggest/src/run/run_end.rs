//! How a run ended, as its exit status says it, or we do, who ended it.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::watchdog::KillReason;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum RunEnd {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It took too long and was killed.
    TimedOut,
    /// Its traces together became larger than they may be, and it was killed.
    TooLarge,
    /// It was among the first of its program, and was killed to leave time for what it showed.
    OutOfTime,
    /// The user stopped everything, or the time for everything was up.
    Interrupted,
}

impl RunEnd {
    pub(super) fn of(status: ExitStatus, killed: Option<KillReason>) -> Self {
        match (killed, status.code(), status.signal()) {
            (Some(KillReason::TooLong), ..) => Self::TimedOut,
            (Some(KillReason::TooLarge), ..) => Self::TooLarge,
            (Some(KillReason::OutOfTime), ..) => Self::OutOfTime,
            (Some(KillReason::Interrupted), ..) => Self::Interrupted,
            (None, Some(code), _) => Self::Exited(code),
            (None, None, signal) => Self::Signalled(signal.unwrap_or(0)),
        }
    }
}
