//! The stages of an examination in their order: run, observe, collect, report.
//! The only file that names them all.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context;
use wmfix_analysis::{Config, Model};

use crate::cli::{MemoryModel, RunOptions, Switch};
use crate::findings::{Collected, Known, observe};
use crate::observe::Places;
use crate::progress::Progress;
use crate::report::{Again, Dossier, Setting, assemble};
use crate::run::{Budget, Launch, Stopped, Summary, Watchdog, until_quiet};

/// What is to be examined.
#[derive(Debug)]
pub struct Subject {
    /// What to run, one after the other.
    pub launches: Vec<(Launch, Again)>,
    /// Files whose sites are to be counted, absolute.
    pub files: Vec<PathBuf>,
}

/// What came of an examination.
#[derive(Debug)]
pub enum Examined {
    /// It was run.
    Done(Box<Dossier>),
    /// The command could not be started.
    NotStarted(String),
    /// No process left a trace: nothing was instrumented.
    NotInstrumented,
}

/// Runs the subject until nothing new is found, and reports.
pub fn examine(subject: Subject, options: &RunOptions) -> anyhow::Result<Examined> {
    let started = Instant::now();
    let places = Mutex::new(Places::default());
    let known = Known::default();
    let mut collected = Collected::default();
    let config = Config {
        model: match options.model {
            MemoryModel::Rc11 => Model::Rc11,
            MemoryModel::Rc20 => Model::Rc20,
        },
        races: options.races == Switch::On,
        ..Config::default()
    };
    let folders = Folders::new()?;
    let mut total = Summary {
        runs: 0,
        stopped: Stopped::Quiet,
    };
    let progress = Progress::new(options);
    let mut again = Vec::new();
    for (number, (launch, how)) in subject.launches.into_iter().enumerate() {
        again.push(how);
        if let Some(trouble) = cannot_start(&launch) {
            return Ok(Examined::NotStarted(trouble));
        }
        let time_left = options
            .time
            .map(|time| Duration::from_secs_f64(time).saturating_sub(started.elapsed()));
        let budget = Budget {
            quiet_runs: options.runs,
            time: time_left,
            jobs: jobs(options),
        };
        let watchdog = Watchdog::new(Duration::from_secs_f64(options.timeout));
        let run = |number: u64| {
            let folder = folders.take()?;
            let finished =
                launch.once(options.seed.wrapping_add(number), folder.path(), &watchdog)?;
            observe(&finished, &places, &known, config)
        };
        let summary = until_quiet(
            budget,
            run,
            || watchdog.end_all(),
            |run, observation| {
                let new =
                    collected.take(number, options.seed.wrapping_add(run), observation, &known);
                progress.run(&collected);
                Ok(new)
            },
        )?;
        total.runs += summary.runs;
        total.stopped = summary.stopped;
        if summary.stopped == Stopped::Interrupted {
            break;
        }
    }
    progress.end();
    if collected.processes == 0 && total.runs > 0 && collected.troubles.is_empty() {
        return Ok(Examined::NotInstrumented);
    }
    let setting = Setting {
        summary: total,
        seconds: started.elapsed().as_secs_f64(),
        files: subject.files,
        again,
        current_folder: std::env::current_dir().context("no current folder")?,
    };
    let mut places = places.into_inner().expect("no panic while locked");
    Ok(Examined::Done(Box::new(assemble(
        &collected,
        &mut places,
        setting,
    ))))
}

/// As many as asked for, or as there are processors.
fn jobs(options: &RunOptions) -> usize {
    let asked = options.jobs.and_then(|jobs| usize::try_from(jobs).ok());
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Says what is wrong with a command that cannot be started at all.
fn cannot_start(launch: &Launch) -> Option<String> {
    let program = Path::new(launch.command.first()?);
    let folder = launch.folder.as_deref().unwrap_or(Path::new(""));
    let exists = if program.components().count() > 1 {
        folder.join(program).is_file()
    } else {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    (!exists).then(|| format!("there is no program {}", program.display()))
}

/// Folders for runs, used again and again: to make and remove one costs more
/// than a short run.
struct Folders {
    all: tempfile::TempDir,
    free: Mutex<Vec<PathBuf>>,
}

struct Folder<'a> {
    folders: &'a Folders,
    path: PathBuf,
}

impl Folders {
    fn new() -> anyhow::Result<Self> {
        let all = tempfile::Builder::new().prefix("wmfix-").tempdir();
        Ok(Self {
            all: all.context("cannot make a folder for the runs")?,
            free: Mutex::default(),
        })
    }

    fn take(&self) -> anyhow::Result<Folder<'_>> {
        let mut free = self.free.lock().expect("no panic while locked");
        let path = match free.pop() {
            Some(path) => path,
            None => tempfile::Builder::new()
                .prefix("run-")
                .tempdir_in(&self.all)?
                .keep(),
        };
        Ok(Folder {
            folders: self,
            path,
        })
    }
}

impl Folder<'_> {
    fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder<'_> {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        self.folders
            .free
            .lock()
            .expect("no panic while locked")
            .push(path);
    }
}
