//! Which runs are checked in their process, and which are recorded: those that show
//! something new, and those that the repair search looks at. Also what a checked run
//! is told about the program, which is what the runs before it have shown.
//!
//! A run that the system schedules cannot be made again, and neither can one whose threads
//! meet in a library for OpenMP: its processes record what they do besides, and that is
//! looked at where another run would be made again.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::cli::Strategy;
use crate::findings::{KnownFindings, Observation, RecordNeed, TraceProblem};
use crate::observe::Places;
use crate::options::RunOptions;
use crate::recorded_runs::CorpusRoom;
use crate::run::{FinishedRun, Launch, RunEnd};

/// The table of sites is written anew when it has grown by one in this many.
const GROWTH: usize = 16;

/// Decides for the runs of one command.
pub(crate) struct CheckedRuns<'a> {
    options: &'a RunOptions,
    predict: bool,
    places: &'a Mutex<Places>,
    folder: &'a Path,
    table: Mutex<TableFile>,
    /// Every run is recorded from now on.
    records_all: AtomicBool,
    /// A run has more plain accesses than are looked at.
    is_too_long: AtomicBool,
    corpus: Mutex<Option<Corpus>>,
}

/// The last table of sites that was written.
#[derive(Default)]
struct TableFile {
    path: Option<PathBuf>,
    sites: usize,
    files: usize,
    /// A run lacked something of it.
    is_old: bool,
}

/// What the repair search has room for.
struct Corpus {
    room: CorpusRoom,
    /// Schedules that it has seen.
    schedules: HashSet<u64>,
    failing: usize,
    runs: usize,
}

impl<'a> CheckedRuns<'a> {
    /// For one command. `folder` is for the tables; `corpus` says what the repair
    /// search has room for, if there is to be one.
    pub(crate) fn new(
        options: &'a RunOptions,
        predict: bool,
        places: &'a Mutex<Places>,
        folder: &'a Path,
        corpus: Option<CorpusRoom>,
    ) -> Self {
        Self {
            options,
            predict,
            places,
            folder,
            table: Mutex::default(),
            records_all: AtomicBool::new(options.record),
            is_too_long: AtomicBool::new(false),
            corpus: Mutex::new(corpus.map(|room| Corpus {
                room,
                schedules: HashSet::new(),
                failing: 0,
                runs: 0,
            })),
        }
    }

    /// How to start the next run so that it is checked in its process; `None` if it
    /// is to be recorded.
    pub(crate) fn launch(&self, launch: &Launch) -> anyhow::Result<Option<Launch>> {
        if self.records_all.load(Ordering::Relaxed) || self.corpus_wants_all() {
            return Ok(None);
        }
        let model = self.options.model;
        Ok(Some(launch.checked(&self.table()?, model, self.predict)))
    }

    /// Whether this run is looked at by the recording that it has beside the check: its
    /// like cannot be had again.
    pub(crate) fn is_recorded_beside(&self, finished: &FinishedRun) -> bool {
        let by_system = self.options.strategy == Strategy::Os && self.options.replay.is_none();
        by_system || finished.has_recording_beside()
    }

    /// Whether a run that was checked is to be made again, checked with what is known
    /// about the program by now.
    pub(crate) fn lacks_text(&self, checked: &Observation) -> bool {
        let gave_up = matches!(checked.needs_record, Some(RecordNeed::GaveUp(_)));
        if gave_up || !checked.lacks_text {
            return false;
        }
        self.table.lock().expect("no panic while locked").is_old = true;
        true
    }

    /// Whether a run that was checked is to be made again, recorded.
    pub(crate) fn needs_record(&self, checked: &Observation) -> bool {
        if checked.ended == RunEnd::Interrupted {
            return false;
        }
        // There is not the time to make it again for anything else.
        if checked.ended == RunEnd::OutOfTime {
            return checked.needs_record.is_some();
        }
        let corpus = self.corpus.lock().expect("no panic while locked");
        let is_wanted = corpus.as_ref().is_some_and(|corpus| {
            let room = match is_failing(checked) {
                true => corpus.room.failing,
                false => corpus.room.clean,
            };
            room && !corpus.schedules.contains(&checked.schedule)
        });
        checked.needs_record.is_some() || checked.lacks_text || is_wanted
    }

    /// Whether the repair search gets all plain accesses of a run with a race, also
    /// those that add nothing to what is found.
    pub(crate) fn records_in_full(&self) -> bool {
        !self.is_too_long.load(Ordering::Relaxed)
    }

    /// A run has too many of them: no other one is tried.
    pub(crate) fn is_too_long(&self) {
        self.is_too_long.store(true, Ordering::Relaxed);
    }

    /// Says in the recorded run what became of the checked one that it repeats.
    pub(crate) fn compare(&self, checked: &Observation, recorded: &mut Observation) {
        if !matches!(checked.needs_record, Some(RecordNeed::GaveUp(_))) {
            recorded.count_as(checked);
        }
        if let Some(RecordNeed::GaveUp(why)) = checked.needs_record {
            recorded.problems.push(TraceProblem::NotChecked(why));
            // The next run would not come further.
            self.records_all.store(true, Ordering::Relaxed);
        } else if checked.needs_record == Some(RecordNeed::Finding)
            && !checked.lacks_text
            && !recorded.shows_all_of(checked)
        {
            recorded.problems.push(TraceProblem::NotRepeated);
            if !recorded.is_cut_short() && recorded.ended != RunEnd::OutOfTime {
                self.records_all.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Says in what the recording of a run shows what the check of the same run did.
    pub(crate) fn compare_beside(
        &self,
        checked: Observation,
        recorded: &mut Observation,
        known: &KnownFindings,
    ) {
        let has_recording = recorded.needs_record.is_none() && !recorded.lacks_text;
        let is_whole = has_recording && !recorded.is_cut_short();
        match checked.needs_record {
            Some(RecordNeed::GaveUp(why)) => {
                recorded.problems.push(TraceProblem::NotChecked(why));
                // The next run would not come further.
                self.records_all.store(true, Ordering::Relaxed);
            }
            _ if is_whole => {
                let is_comparable = !checked.lacks_text && !checked.was_interrupted();
                if is_comparable && !recorded.shows_all_of(&checked) {
                    recorded.problems.push(TraceProblem::NotConfirmed);
                }
            }
            _ => {
                if !recorded.shows_all_of(&checked) || !has_recording {
                    recorded.problems.push(TraceProblem::NotRecorded);
                }
                // The check saw how the run went on.
                recorded.goes_on_as(checked);
            }
        }
        recorded.drop_unshown(known);
    }

    /// A run was looked at, and what the repair search has room for now.
    pub(crate) fn taken(&self, schedule: u64, failing: bool, room: CorpusRoom) {
        let mut corpus = self.corpus.lock().expect("no panic while locked");
        if let Some(corpus) = corpus.as_mut() {
            corpus.room = room;
            corpus.schedules.insert(schedule);
            corpus.failing += usize::from(failing);
            corpus.runs += 1;
        }
    }

    /// Whether the repair search will most likely want to see the next run.
    fn corpus_wants_all(&self) -> bool {
        let corpus = self.corpus.lock().expect("no panic while locked");
        corpus.as_ref().is_some_and(|corpus| {
            let mostly_failing = 2 * corpus.failing > corpus.runs;
            corpus.room.failing && (corpus.room.clean || mostly_failing)
        })
    }

    /// The table of sites, written anew if much has come to it.
    fn table(&self) -> anyhow::Result<PathBuf> {
        let mut table = self.table.lock().expect("no panic while locked");
        let places = self.places.lock().expect("no panic while locked");
        let sites = places.listed.len();
        let has_grown = sites > table.sites + table.sites / GROWTH;
        let has_grown = has_grown || table.is_old && sites > table.sites;
        if let Some(path) = table.path.as_ref().filter(|_| !has_grown) {
            return Ok(path.clone());
        }
        let bytes = places.listed.encode();
        drop(places);
        let path = self.folder.join(format!("sites.{}", table.files));
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        table.files += 1;
        table.sites = sites;
        table.is_old = false;
        table.path = Some(path.clone());
        Ok(path)
    }
}

/// Whether a run shows anything.
pub(crate) fn is_failing(run: &Observation) -> bool {
    !run.violations.is_empty() || !run.races.is_empty()
}
