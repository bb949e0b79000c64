//! How a command ends: the one place that knows the exit codes, which scripts
//! and hooks depend on.

use std::process::ExitCode;

/// How a command ended. The compiler wrappers are the exception: they end as
/// the compiler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// 0: nothing found.
    Clean,
    /// 1: there are findings.
    Findings,
    /// 2: bad usage or configuration.
    Usage,
    /// 3: the program could not be built, or crashed or hung in every run.
    Failed,
    /// 4: our own fault, or that of the machine we run on.
    InternalError,
}

impl ExitStatus {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Failed => 3,
            Self::InternalError => 4,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit.code())
    }
}
