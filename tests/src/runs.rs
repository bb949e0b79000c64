//! Programs of the runtime's corpus, built with the wrappers and run with the
//! runtime's own settings; what they came to and the traces they left.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wmfix_trace::{Ending, Event, Header, Reader, Record, RecordedOperation as Operation};

use crate::product::{CommandResult, World};

/// A hang is a failure: no run of the corpus takes nearly as long.
const HANG: Duration = Duration::from_secs(120);

/// A program of the corpus, built.
#[derive(Debug)]
pub struct Program {
    world: World,
    path: PathBuf,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Run {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
    /// The traces of its processes, in the order in which they started.
    pub traces: Vec<Trace>,
}

/// A trace, read.
#[derive(Debug)]
pub struct Trace {
    /// Its file.
    pub path: PathBuf,
    /// Its header.
    pub header: Header,
    /// All its records.
    pub records: Vec<Record>,
    /// Why there are no more.
    pub ending: Ending,
}

impl Program {
    /// Builds `tests/corpus/runtime/SOURCE` with `gcc` or `clang`, as C++ if its
    /// name says so.
    pub fn build(source: &str, compiler: &str, flags: &[&str]) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/runtime");
        Self::build_file(&folder.join(source), compiler, flags)
    }

    /// Builds any one file.
    pub fn build_file(source: &Path, compiler: &str, flags: &[&str]) -> Self {
        let world = World::new();
        let mut command = world.wmfix(compiler);
        if source
            .extension()
            .is_some_and(|extension| extension == "cpp")
        {
            let name = if compiler == "gcc" { "g++" } else { "clang++" };
            command.env("WMFIX_REAL_CXX", name).arg("c++");
        } else {
            command.arg("cc");
        }
        command
            .args(["-O1", "-o", "program"])
            .arg(source)
            .args(flags);
        CommandResult::well(&mut command);
        let path = world.path().join("program");
        Self { world, path }
    }

    /// Its folder, for what the test puts beside it.
    pub fn folder(&self) -> &Path {
        self.world.path()
    }

    /// A run under this strategy and seed.
    pub fn run(&self, strategy: &str, seed: u64) -> Run {
        self.run_with(&[("WMFIX_STRATEGY", strategy)], seed, &[])
    }

    /// A run with these settings and arguments.
    pub fn run_with(&self, settings: &[(&str, &str)], seed: u64, arguments: &[&str]) -> Run {
        self.run_within(HANG, settings, seed, arguments)
    }

    /// The same, of a program that is meant to run for long.
    pub fn run_within(
        &self,
        limit: Duration,
        settings: &[(&str, &str)],
        seed: u64,
        arguments: &[&str],
    ) -> Run {
        let mut command = Command::new(&self.path);
        command.args(arguments);
        self.run_command_within(limit, command, settings, seed)
    }

    /// A run by a command that comes to this program, found in `$PROGRAM`.
    pub fn run_command(&self, command: Command, settings: &[(&str, &str)], seed: u64) -> Run {
        self.run_command_within(HANG, command, settings, seed)
    }

    fn run_command_within(
        &self,
        limit: Duration,
        mut command: Command,
        settings: &[(&str, &str)],
        seed: u64,
    ) -> Run {
        let out = tempfile::Builder::new()
            .prefix("traces-")
            .tempdir_in(self.world.path())
            .expect("a folder for traces");
        command
            .current_dir(self.world.path())
            .env("PROGRAM", &self.path)
            .env("WMFIX_OUT", out.path())
            .env("WMFIX_SEED", seed.to_string())
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let started = Instant::now();
        // What these programs print fits into a pipe.
        while child.try_wait().expect("a child of ours").is_none() {
            if started.elapsed() > limit {
                let _ = child.kill();
                panic!("{command:?} with seed {seed} and {settings:?} hangs");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let output = child.wait_with_output().expect("it has ended");
        let kept = out.keep();
        let mut traces: Vec<Trace> = std::fs::read_dir(&kept)
            .expect("the folder of traces")
            .map(|entry| Trace::read(&entry.expect("an entry").path()))
            .collect();
        traces.sort_by_key(|trace| trace.header.started);
        Run {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            traces,
        }
    }
}

impl Run {
    /// The run must have ended well, with one whole trace.
    pub fn well(self, what: &str) -> Trace {
        assert_eq!(
            self.code,
            Some(0),
            "{what}: {} {}",
            self.stdout,
            self.stderr
        );
        self.only_trace()
    }

    /// Its one trace.
    pub fn only_trace(self) -> Trace {
        assert_eq!(self.traces.len(), 1, "{}", self.stderr);
        self.traces.into_iter().next().expect("one")
    }
}

impl Trace {
    /// Reads a file, which must be a trace at least.
    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("a readable trace");
        let mut reader = Reader::new(&bytes).expect("a trace");
        let records = reader.by_ref().collect();
        let ending = reader.ending().expect("an ending");
        let header = reader.header().clone();
        Self {
            path: path.to_owned(),
            header,
            records,
            ending,
        }
    }

    /// Its events.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.records.iter().filter_map(|record| match record {
            Record::Event(event) => Some(event),
            _ => None,
        })
    }

    /// How many events are of this kind.
    pub fn count(&self, kind: impl Fn(&Operation) -> bool) -> usize {
        self.events().filter(|event| kind(&event.operation)).count()
    }

    /// Its records in words, every address replaced by the order in which it
    /// first appears: what must be the same for the same seed.
    pub fn without_addresses(&self) -> Vec<String> {
        let mut names: HashMap<u64, usize> = HashMap::new();
        self.records
            .iter()
            .filter(|record| !matches!(record, Record::Module(_)))
            .map(|record| without_addresses(&format!("{record:?}"), &mut names))
            .collect()
    }
}

/// Numbers from 2³² on are addresses.
fn without_addresses(text: &str, names: &mut HashMap<u64, usize>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let len = rest[start..]
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len() - start);
        let (before, number) = (&rest[..start], &rest[start..start + len]);
        out.push_str(before);
        match number.parse::<u64>() {
            Ok(address) if address >> 32 != 0 => {
                let next = names.len();
                let name = *names.entry(address).or_insert(next);
                out.push_str(&format!("@{name}"));
            }
            _ => out.push_str(number),
        }
        rest = &rest[start + len..];
    }
    out + rest
}
