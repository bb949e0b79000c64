//! Commands of a build: their output goes to a file, so that a failure can be shown
//! by its last lines, and an interrupt ends them with all their children.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use crate::printable::printable;
use crate::run::{Deadline, Watchdog};

/// This many lines of a failed command's output are shown.
const SHOWN_LINES: usize = 40;

/// And never more bytes than this.
const MAX_SHOWN_BYTES: u64 = 16 << 10;

/// Longer than any build takes.
pub(super) const MAX_BUILD_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// A command that is part of building.
#[derive(Clone, Debug)]
pub(crate) struct BuildCommand {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Whether the result depends on it: if not, only its effect counts.
    pub must_succeed: bool,
}

/// What came of a build command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandOutcome {
    /// It exited with 0.
    Succeeded,
    /// It failed; the end of what it printed.
    Failed(String),
    /// The program is not there.
    Missing(String),
    /// The user interrupted, or the time was up.
    Interrupted,
}

impl BuildCommand {
    /// A command that must succeed.
    pub(crate) fn new<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Self {
        Self {
            words: words.into_iter().map(Into::into).collect(),
            must_succeed: true,
        }
    }

    /// As one would type it.
    pub(crate) fn shown(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|w| w.to_string_lossy()).collect();
        words.join(" ")
    }

    /// Runs it in a folder; its output goes to `log`.
    pub(crate) fn run(
        &self,
        folder: &Path,
        environment: &[(OsString, OsString)],
        log: &Path,
        limit: Option<Duration>,
        deadline: Deadline,
    ) -> anyhow::Result<CommandOutcome> {
        let out = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .current_dir(folder)
            .env("PWD", folder)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .process_group(0);
        // What a make above us has said is not meant for this one.
        for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR"] {
            command.env_remove(name);
        }
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(CommandOutcome::Missing(
                    self.words[0].to_string_lossy().into_owned(),
                ));
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot run {}", self.shown()));
            }
        };
        let watchdog = Watchdog::new(limit.unwrap_or(MAX_BUILD_TIME), deadline);
        watchdog.watch(&child).until_ended()?;
        let status = child.wait()?;
        Ok(if deadline.is_over() {
            CommandOutcome::Interrupted
        } else if status.success() {
            CommandOutcome::Succeeded
        } else {
            CommandOutcome::Failed(last_lines(log)?)
        })
    }
}

/// The last lines of a file.
pub(super) fn last_lines(file: &Path) -> anyhow::Result<String> {
    let mut file = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_SHOWN_BYTES)))?;
    let mut end = Vec::new();
    file.take(MAX_SHOWN_BYTES).read_to_end(&mut end)?;
    let text = printable(&String::from_utf8_lossy(&end));
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(SHOWN_LINES);
    let mut shown = lines[from..].join("\n");
    if !shown.is_empty() {
        shown.push('\n');
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> CommandOutcome {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        BuildCommand::new(words)
            .run(folder.path(), &[], &log, None, Deadline::NEVER)
            .unwrap()
    }

    #[test]
    fn a_command_succeeds_or_fails_with_its_last_lines() {
        assert_eq!(run(&["true"]), CommandOutcome::Succeeded);
        let CommandOutcome::Failed(output) =
            run(&["sh", "-c", "seq 1 100000; echo why >&2; exit 7"])
        else {
            panic!("it failed");
        };
        assert!(output.ends_with("100000\nwhy\n"), "{output}");
        assert_eq!(output.lines().count(), SHOWN_LINES);
        let missing = run(&["no-such-program"]);
        assert_eq!(
            missing,
            CommandOutcome::Missing("no-such-program".to_owned())
        );
    }
}
