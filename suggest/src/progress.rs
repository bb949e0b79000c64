//! How far the runs are, on stderr when that is a terminal, and only then.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::findings::Collected;
use crate::options::RunOptions;

/// A line that is kept up to date.
pub struct Progress {
    line: Option<ProgressBar>,
}

impl Progress {
    /// Starts the line, if there is somebody to see it.
    pub fn new(options: &RunOptions) -> Self {
        let seen = !options.quiet && std::io::stderr().is_terminal();
        let line = seen.then(|| {
            let line = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
                line.set_style(style);
            }
            line.enable_steady_tick(Duration::from_millis(120));
            line
        });
        Self { line }
    }

    /// A run has been looked at.
    pub fn run(&self, collected: &Collected) {
        if let Some(line) = &self.line {
            let runs: u64 = collected.ended.values().sum();
            let findings = collected.violations.len() + collected.races.len();
            line.set_message(format!("{runs} runs, {findings} findings"));
        }
    }

    /// Takes the line away.
    pub fn end(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}
