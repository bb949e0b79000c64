//! Commands with a limit of time: none outlives it, nor does what it started.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Not, and it was killed.
    TooLate,
}

/// A command that has been run.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    /// How it ended.
    pub(super) ended: Ended,
    /// What it wrote.
    pub(super) stdout: String,
    /// What it wrote to stderr.
    pub(super) stderr: String,
}

/// Runs a command; what it writes goes through files in the folder.
pub(super) fn run(mut command: Command, folder: &Path, limit: Duration) -> Ran {
    let [out, err] = ["stdout", "stderr"].map(|name| folder.join(name));
    let file = |path| Stdio::from(File::create(path).expect("a file in the test's folder"));
    command
        .stdin(Stdio::null())
        .stdout(file(&out))
        .stderr(file(&err))
        .process_group(0);
    let started = Instant::now();
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            break Some(status);
        }
        if started.elapsed() > limit {
            // Its whole group.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    let ended = match status {
        None => Ended::TooLate,
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        },
    };
    let read =
        |path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    Ran {
        ended,
        stdout: read(&out),
        stderr: read(&err),
    }
}
