//! What is being done and how far it is, on stderr when that is a terminal, and
//! only then.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::explore::Exploration;
use crate::findings::CollectedFindings;
use crate::options::RunOptions;
use crate::run::{Budget, Deadline, Patience, QuietRuns, RunWorth};

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Building the program.
    Building,
    /// Running it.
    Running,
    /// Searching for a repair.
    Searching,
    /// Building the patched program.
    BuildingPatch,
    /// Running that.
    Verifying,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Building => "building",
            Self::Running => "running",
            Self::Searching => "searching for the cheapest repair",
            Self::BuildingPatch => "building the patched program",
            Self::Verifying => "verifying the patch",
        }
    }
}

/// A line that is kept up to date until it is dropped.
pub(crate) struct Progress {
    line: Option<ProgressBar>,
    stage: Stage,
    /// The runs end after so many with nothing new.
    patience: Patience,
    quiet: QuietRuns,
    deadline: Deadline,
}

impl Progress {
    /// Starts the line for a stage, if there is somebody to see it.
    pub(crate) fn new(options: &RunOptions, stage: Stage) -> Self {
        let seen = !options.quiet && std::io::stderr().is_terminal();
        let line = seen.then(|| {
            let line = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
                line.set_style(style);
            }
            line.set_message(stage.name());
            line.enable_steady_tick(Duration::from_millis(120));
            line
        });
        Self {
            line,
            stage,
            patience: Patience::of(options),
            quiet: QuietRuns::default(),
            deadline: Deadline::NEVER,
        }
    }

    /// When the runs end.
    pub(crate) fn limit(&mut self, budget: Budget) {
        self.patience = budget.patience;
        self.deadline = budget.deadline;
        self.quiet = QuietRuns::default();
    }

    /// A run has been looked at.
    pub(crate) fn run(&mut self, collected: &CollectedFindings, taken: RunWorth) {
        match taken {
            RunWorth::New => self.quiet = QuietRuns::default(),
            RunWorth::Nothing { events } => self.quiet.add(events),
            RunWorth::Enough => {}
        }
        if let Some(line) = &self.line {
            line.set_message(self.message(collected, self.deadline.left()));
        }
    }

    /// How far an exploration of all runs is.
    pub(crate) fn explored(&self, so_far: &Exploration) {
        if let Some(line) = &self.line {
            let of = so_far
                .estimate
                .map_or(String::new(), |all| format!(" of about {all} or more"));
            line.set_message(format!(
                "{}: {}{of} classes of runs explored, {} schedules open",
                self.stage.name(),
                so_far.classes,
                so_far.open
            ));
        }
    }

    fn message(&self, collected: &CollectedFindings, left: Option<Duration>) -> String {
        let runs: u64 = collected.ended.values().sum();
        let findings = collected.violations.len() + collected.races.len();
        let mut message = format!(
            "{}: {runs} runs, {findings} findings, nothing new in {} of {} runs",
            self.stage.name(),
            self.quiet.runs,
            self.patience.wanted(self.quiet)
        );
        if let Some(left) = left {
            message += &format!(", at most {} s left", left.as_secs());
        }
        message
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::ProjectConfig;

    #[test]
    fn it_says_the_stage_the_runs_the_findings_and_the_time_left() {
        let Command::Check(arguments) = Cli::parse_from(["wmfix", "check"]).command else {
            panic!("check");
        };
        let config = ProjectConfig::none(Path::new("."));
        let options = RunOptions::new(arguments.how, arguments.model, &config);
        let mut progress = Progress::new(&options, Stage::Running);
        let collected = CollectedFindings::default();
        progress.run(&collected, RunWorth::Nothing { events: 9_000 });
        assert_eq!(
            progress.message(&collected, Some(Duration::from_millis(7_900))),
            "running: 0 runs, 0 findings, nothing new in 1 of 200 runs, at most 7 s left"
        );
    }
}
