//! How a command ends: the one place that knows the exit codes, which scripts
//! and hooks depend on, and the one error that stops a command.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::private_files::NotOurs;

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
    /// 4: a fault of wmfix, or of the machine that it runs on.
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
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

/// Stops a command: the status to end with, and what to say on stderr. Every
/// other error becomes one with [`ExitStatus::InternalError`].
#[derive(Debug)]
pub(crate) struct Stop {
    status: ExitStatus,
    /// What a tool printed, shown before the message; empty for nothing.
    output: String,
    /// Empty if there is nothing to say.
    message: String,
}

impl Stop {
    /// Stops with a message.
    pub(crate) fn new(status: ExitStatus, message: impl Display) -> Self {
        Self {
            status,
            output: String::new(),
            message: message.to_string(),
        }
    }

    /// The command line or the configuration is wrong.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(ExitStatus::Usage, message)
    }

    /// Shows what a tool printed before the message.
    pub(crate) fn with_output(mut self, output: String) -> Self {
        self.output = output;
        self
    }

    /// Says why on stderr, and gives the status to end with.
    pub(crate) fn report(self) -> ExitStatus {
        eprint!("{}", self.output);
        if !self.message.is_empty() {
            eprintln!("wmfix: {}", self.message);
        }
        self.status
    }
}

impl<E: Into<anyhow::Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        let error = error.into();
        let cause = error.downcast_ref().map(io::Error::kind);
        if cause == Some(io::ErrorKind::BrokenPipe) {
            // A reader that has seen enough, as `head` does, is no fault.
            return Self::new(ExitStatus::Clean, "");
        }
        let status = match error.downcast_ref() {
            // The user named it.
            Some(NotOurs::Link(_) | NotOurs::Special(_) | NotOurs::NoFolder(_)) => {
                ExitStatus::Usage
            }
            None => ExitStatus::InternalError,
        };
        Self::new(status, format_args!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn other_errors_are_internal_ones_but_for_a_reader_that_is_gone() {
        let stop = Stop::from(anyhow!("inner").context("outer"));
        assert_eq!(
            (stop.status, &*stop.message),
            (ExitStatus::InternalError, "outer: inner")
        );
        let stop = Stop::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((stop.status, &*stop.message), (ExitStatus::Clean, ""));
    }
}
