//! The stages of an examination in their order: run, observe, collect, report.
//! The only file that names them all.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context;
use wmfix_analysis::{AnalyzerConfig, Event, Model};
use wmfix_frontend::Vocabularies;

use crate::allow::{AllowRules, Allowances};
use crate::baseline;
use crate::cli::{MemoryModel, Switch};
use crate::findings::{CollectedFindings, KnownFindings, observe};
use crate::observe::Places;
use crate::options::RunOptions;
use crate::progress::Progress;
use crate::recorded_runs::RecordedRuns;
use crate::report::{Dossier, FindingNames, RepairInputs, ReportInputs, assemble, names};
use crate::run::{Budget, Launch, RunWorth, StopReason, Summary, Watchdog, until_quiet};
use crate::subject::Subject;

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
pub fn examine(
    subject: Subject,
    options: &RunOptions,
    vocabularies: &Vocabularies,
    allow_rules: AllowRules,
) -> anyhow::Result<Examined> {
    let mut session = Session::new(options, Keep::Findings, vocabularies, allow_rules);
    if let Some(instead) = session.run(&subject, options.seed)? {
        return Ok(instead);
    }
    Ok(Examined::Done(Box::new(session.dossier(subject, None)?)))
}

/// What is kept of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// What they showed.
    Findings,
    /// Also their traces, for a repair.
    Traces,
}

/// Runs of a program and all that is known from them.
pub struct Session<'o> {
    options: &'o RunOptions,
    keep: Keep,
    allow_rules: AllowRules,
    places: Mutex<Places>,
    known: KnownFindings,
    collected: CollectedFindings,
    recorded: RecordedRuns,
    total: Summary,
    started: Instant,
    stage: &'static str,
}

impl<'o> Session<'o> {
    /// Nothing is known yet. The source is read with these vocabularies.
    pub fn new(
        options: &'o RunOptions,
        keep: Keep,
        vocabularies: &Vocabularies,
        allow_rules: AllowRules,
    ) -> Self {
        Self {
            options,
            keep,
            allow_rules,
            places: Mutex::new(Places::new(vocabularies.clone())),
            known: KnownFindings::default(),
            collected: CollectedFindings::default(),
            recorded: RecordedRuns::default(),
            total: Summary {
                runs: 0,
                stopped: StopReason::Quiet,
            },
            started: Instant::now(),
            stage: "running",
        }
    }

    /// What the runs are for, in a word for people.
    pub fn for_stage(mut self, stage: &'static str) -> Self {
        self.stage = stage;
        self
    }

    /// How runs are analysed.
    pub fn config(&self) -> AnalyzerConfig {
        AnalyzerConfig {
            model: match self.options.model {
                MemoryModel::Rc11 => Model::Rc11,
                MemoryModel::Rc20 => Model::Rc20,
            },
            races: self.options.races == Switch::On,
            ..AnalyzerConfig::default()
        }
    }

    /// What was found.
    pub fn collected(&self) -> &CollectedFindings {
        &self.collected
    }

    /// What was run.
    pub fn summary(&self) -> Summary {
        self.total
    }

    /// The places of the runs.
    pub fn places(&mut self) -> &mut Places {
        self.places.get_mut().expect("no panic while locked")
    }

    /// What is allowed at the places of the runs.
    pub fn allowances(&mut self) -> Allowances {
        let places = self.places.get_mut().expect("no panic while locked");
        self.allow_rules.allowances(places, &[])
    }

    /// The names that the findings have in a report of now.
    pub fn names(&mut self) -> anyhow::Result<FindingNames> {
        let current = std::env::current_dir().context("no current folder")?;
        let allowances = self.allowances();
        let places = self.places.get_mut().expect("no panic while locked");
        Ok(names(&self.collected, places, &allowances, current))
    }

    /// The traces that were kept, to be taken back, and the places they name.
    pub fn lend_traces(&mut self) -> (Vec<Vec<Event>>, &mut Places) {
        let places = self.places.get_mut().expect("no panic while locked");
        (self.recorded.lend(), places)
    }

    /// Takes back what was lent, before the next run.
    pub fn take_back(&mut self, traces: Vec<Vec<Event>>) -> &mut Places {
        self.recorded.take_back(traces);
        self.places()
    }

    /// Adds runs of a patched program that were brought back to this one. Says how
    /// many of them are new.
    pub fn add_traces(&mut self, traces: Vec<Vec<Event>>) -> usize {
        let offered = traces.into_iter();
        let kept = offered.map(|trace| self.recorded.offer(trace, true, true));
        kept.filter(|&kept| kept).count()
    }

    /// Runs the subject from a seed on until nothing new is found. Gives what
    /// there is instead of an examination, if it could not be run.
    pub fn run(&mut self, subject: &Subject, seed: u64) -> anyhow::Result<Option<Examined>> {
        let (options, config, keep) = (self.options, self.config(), self.keep);
        let folders = Folders::new()?;
        if let Some(copied) = subject.copy.clone().filter(|copied| !copied.patched) {
            let symbols = &mut self.places().symbols;
            symbols.copied(copied.folder, copied.original);
        }
        self.collected.must_pass = subject.must_pass;
        let mut progress = Progress::new(options, self.stage);
        let mut runs = 0;
        for (number, command) in subject.commands.iter().enumerate() {
            let launch = &command.launch;
            if let Some(trouble) = cannot_start(launch) {
                return Ok(Some(Examined::NotStarted(trouble)));
            }
            let time_left = options
                .time
                .map(|time| Duration::from_secs_f64(time).saturating_sub(self.started.elapsed()));
            let budget = Budget {
                quiet_runs: options.runs,
                time: time_left,
                jobs: jobs(options),
            };
            progress.limit(time_left);
            let watchdog = Watchdog::new(Duration::from_secs_f64(options.timeout));
            let (places, known) = (&self.places, &self.known);
            let (collected, recorded) = (&mut self.collected, &mut self.recorded);
            let run = |number: u64| {
                let folder = folders.take()?;
                let finished = launch.once(seed.wrapping_add(number), folder.path(), &watchdog)?;
                observe(&finished, places, known, config)
            };
            let summary = until_quiet(
                budget,
                run,
                || watchdog.end_all(),
                |run, mut observation| {
                    let traces = std::mem::take(&mut observation.traces);
                    let failing =
                        !observation.violations.is_empty() || !observation.races.is_empty();
                    let taken = collected.take(number, seed.wrapping_add(run), observation, known);
                    if keep == Keep::Traces {
                        for trace in traces {
                            recorded.offer(trace, failing, taken == RunWorth::New);
                        }
                    }
                    progress.run(collected, taken);
                    // The schedule is given: another run would be the same again.
                    Ok(match options.replay {
                        Some(_) => RunWorth::Enough,
                        None => taken,
                    })
                },
            )?;
            runs += summary.runs;
            self.total.stopped = summary.stopped;
            if summary.stopped == StopReason::Interrupted {
                break;
            }
        }
        self.total.runs += runs;
        let silent = self.collected.processes == 0 && self.collected.problems.is_empty();
        Ok((silent && runs > 0).then_some(Examined::NotInstrumented))
    }

    /// The report on all runs.
    pub fn dossier(
        &mut self,
        subject: Subject,
        repaired: Option<RepairInputs<'_>>,
    ) -> anyhow::Result<Dossier> {
        let notes = baseline::notes(&self.collected, &subject, self.options);
        let setting = ReportInputs {
            summary: self.total,
            seconds: self.started.elapsed().as_secs_f64(),
            files: subject.files,
            rerun: subject
                .commands
                .into_iter()
                .map(|command| command.rerun)
                .collect(),
            current_folder: std::env::current_dir().context("no current folder")?,
        };
        let places = self.places.get_mut().expect("no panic while locked");
        let allowances = self.allow_rules.allowances(places, &setting.files);
        let mut dossier = assemble(&self.collected, places, &allowances, setting, repaired);
        dossier.report.notes.extend(notes);
        Ok(dossier)
    }
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
