//! What is being done and how far it is, on stderr: a line that is kept up to date on a
//! terminal, and elsewhere a line now and then, so that a log shows that something goes on.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::explore::Exploration;
use crate::findings::CollectedFindings;
use crate::options::RunOptions;
use crate::run::{Budget, Deadline, Patience, QuietRuns, RunWorth};

/// How often there is a line where no terminal is.
const LINE_EVERY: Duration = Duration::from_secs(30);

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

/// Where it is shown, until it is dropped.
enum Shown {
    /// Nowhere.
    Nowhere,
    /// On a line of the terminal.
    Line(ProgressBar),
    /// On a line now and then.
    Log(ProgressLog),
}

impl Shown {
    fn set(&self, message: impl FnOnce() -> String) {
        match self {
            Self::Nowhere => {}
            Self::Line(line) => line.set_message(message()),
            Self::Log(log) => log.set(message()),
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Self::Line(line) = self {
            line.finish_and_clear();
        }
    }
}

/// Writes the last message again and again, as long as it is there.
struct ProgressLog {
    /// `None` when it is about to end.
    messages: Option<Sender<String>>,
    writer: Option<JoinHandle<()>>,
}

impl ProgressLog {
    /// Begins with a message, which is first written after `every`.
    fn start(first: String, every: Duration, mut out: impl Write + Send + 'static) -> Self {
        let (messages, receiver) = mpsc::channel();
        let writer = thread::spawn(move || {
            let began = Instant::now();
            let (mut message, mut due) = (first, began + every);
            loop {
                match receiver.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok(newer) => message = newer,
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if Instant::now() >= due {
                    let seconds = began.elapsed().as_secs();
                    // Nobody reads it any more: that is no reason to stop.
                    let _unread = writeln!(out, "wmfix: {message} [{seconds} s]");
                    due += every;
                }
            }
        });
        Self {
            messages: Some(messages),
            writer: Some(writer),
        }
    }

    fn set(&self, message: String) {
        if let Some(messages) = &self.messages {
            // It only ends with this.
            let _heard = messages.send(message);
        }
    }
}

impl Drop for ProgressLog {
    fn drop(&mut self) {
        self.messages = None;
        if let Some(writer) = self.writer.take() {
            // A message is lost if it has panicked.
            let _ended = writer.join();
        }
    }
}

/// What is shown of a stage until it is dropped.
pub(crate) struct Progress {
    shown: Shown,
    stage: Stage,
    /// The runs end after so many with nothing new.
    patience: Patience,
    quiet: QuietRuns,
    deadline: Deadline,
}

impl Progress {
    /// Starts to show a stage, if there is somebody to see it.
    pub(crate) fn new(options: &RunOptions, stage: Stage) -> Self {
        let shown = match options.quiet {
            true => Shown::Nowhere,
            false if io::stderr().is_terminal() => Shown::Line(terminal_line(stage)),
            false => {
                let first = stage.name().to_owned();
                Shown::Log(ProgressLog::start(first, LINE_EVERY, io::stderr()))
            }
        };
        Self {
            shown,
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
        self.shown
            .set(|| self.message(collected, self.deadline.left()));
    }

    /// How far an exploration of all runs is.
    pub(crate) fn explored(&self, so_far: &Exploration) {
        self.shown.set(|| {
            let of = so_far
                .estimate
                .map_or(String::new(), |all| format!(" of about {all} or more"));
            format!(
                "{}: {}{of} classes of runs explored, {} schedules open",
                self.stage.name(),
                so_far.classes,
                so_far.open
            )
        });
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

/// A line of the terminal that shows that something goes on.
fn terminal_line(stage: Stage) -> ProgressBar {
    let line = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
        line.set_style(style);
    }
    line.set_message(stage.name());
    line.enable_steady_tick(Duration::from_millis(120));
    line
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::config::ProjectConfig;

    /// What was written, and a sign for each line.
    struct Written(Sender<String>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.0.send(text).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_has_the_last_message_now_and_then_and_ends_at_once() {
        let (sender, lines) = mpsc::channel();
        let every = Duration::from_millis(20);
        let log = ProgressLog::start("building".to_owned(), every, Written(sender));
        let mut text = String::new();
        while !text.contains("wmfix: building [0 s]\nwmfix: building") {
            text += &lines.recv().expect("a line");
        }
        log.set("running: 3 runs".to_owned());
        while !text.contains("wmfix: running: 3 runs [") {
            text += &lines.recv().expect("a line");
        }
        drop(log);
        let (sender, lines) = mpsc::channel();
        let day = Duration::from_secs(24 * 3600);
        drop(ProgressLog::start("long".to_owned(), day, Written(sender)));
        assert!(lines.recv().is_err(), "nothing was written");
    }

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
