//! The `wmfix` binary for the product tests: the one that cargo built for the test
//! executable, called in a temporary folder with an environment of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

static BINARY: OnceLock<&'static str> = OnceLock::new();

/// Says which binary to test. Only the executable knows: cargo tells it alone,
/// as `env!("CARGO_BIN_EXE_wmfix")`.
pub fn use_binary(path: &'static str) {
    BINARY.set(path).expect("called once, first thing in main");
}

/// The binary, of the profile that the tests themselves were built with.
pub fn wmfix() -> &'static Path {
    Path::new(BINARY.get().expect("`use_binary` was called"))
}

/// A folder for one test, with a cache folder of its own in it.
#[derive(Debug)]
pub struct World {
    folder: tempfile::TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub struct CommandResult {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl World {
    /// An empty folder.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("wmfix-test-").tempdir();
        Self {
            folder: folder.expect("a folder for the test"),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file in the folder.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a folder in the test's folder");
        }
        std::fs::write(&path, text).expect("a file in the test's folder");
        path
    }

    /// A command in the folder.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path())
            .env("XDG_CACHE_HOME", shared_cache())
            // Tests that do not care take what shows most of a small program.
            .env("WMFIX_RUNS", "100")
            .env("PWD", self.path());
        for name in ["CC", "CXX", "WMFIX_REAL_CC", "WMFIX_REAL_CXX", "MAKEFLAGS"] {
            command.env_remove(name);
        }
        // Where the tests themselves are a shard, wmfix is not.
        for name in [
            "TEST_TOTAL_SHARDS",
            "CI_NODE_TOTAL",
            "CIRCLE_NODE_TOTAL",
            "SLURM_ARRAY_TASK_COUNT",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// `wmfix` in the folder, in front of this C compiler.
    pub fn wmfix(&self, compiler: &str) -> Command {
        let mut command = self.command(wmfix());
        command.env("WMFIX_REAL_CC", compiler);
        command
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl CommandResult {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        let output = command.output();
        Self::from(output.unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Runs a command that must end with code 0.
    pub fn well(command: &mut Command) -> Self {
        let ran = Self::of(command);
        assert_eq!(
            ran.code,
            Some(0),
            "{command:?}\n{}\n{}",
            ran.stdout,
            ran.stderr
        );
        ran
    }

    /// stdout as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }
}

impl From<Output> for CommandResult {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The runtime is unpacked once for all tests, not into anybody's home.
fn shared_cache() -> PathBuf {
    let target = wmfix().parent().expect("the binary lies in a folder");
    target.join("wmfix-test-cache")
}
