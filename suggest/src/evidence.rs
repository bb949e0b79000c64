//! What the runs of a program have shown: findings, the places they are about,
//! and recorded runs for the repair. Running and collecting are one loop, because
//! what is collected decides when to stop. Knows nothing of repairs and reports.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context;
use wmfix_analysis::Event;
use wmfix_analysis::explore::Assignment;
use wmfix_frontend::Vocabularies;

use crate::allow::{AllowRules, Allowances};
use crate::checked_runs::{CheckedRuns, is_failing};
use crate::cli::Races;
use crate::explore::{
    At, Exploration, ExplorePlan, ExploredPart, Obstacle, SavedExploration, SavedProgram, Start,
    explore, put_together,
};
use crate::findings::{CollectedFindings, KnownFindings, Observation, ObservationConfig, observe};
use crate::harm::{self, Criterion, Extent, FreePlan, FreeRuns, HarmPlan, Harms, Notice};
use crate::observe::{Places, Scope};
use crate::options::{RunOptions, Steps};
use crate::predictions;
use crate::progress::{Progress, Stage};
use crate::recorded_runs::{KeptRuns, RecordedRuns};
use crate::run::{
    Budget, Deadline, FinishedRun, FreshStart, Launch, Patience, RunEnd, RunFolders, RunLength,
    RunWorth, StopReason, Summary, Watchdog, interrupted, until_quiet,
};
use crate::runtime_archive::runtime_functions;
use crate::shards::{Notebook, Outcome, ProgramRecord, Selection};
use crate::subject::Subject;

/// The part of the time that is left which an exploration may take where a repair
/// follows, or is verified by it.
const EXPLORED_SHARE: f64 = 0.7;

/// Of longer runs the repair search gets only the plain accesses that add something to
/// what is found.
const MAX_EVENTS_IN_FULL: u64 = 100_000;

/// The part of the time after which the first runs of a program are ended if they have
/// not come to their end: what they have shown by then is better than nothing. As much
/// again is left for recording that.
const FIRST_RUN_SHARE: f64 = 0.5;

/// The part of the time that is left which that recording may take; the rest is for
/// its analysis, which takes longer.
const FIRST_RECORD_SHARE: f64 = 0.4;

/// How a subject is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunPlan<'a> {
    /// The options of the command.
    pub options: &'a RunOptions,
    /// The seed of the first run; the next ones count up from it.
    pub seed: u64,
    /// Whether traces are recorded, for a repair.
    pub record: bool,
    /// Whether races are predicted, and made to happen.
    pub predict: bool,
    /// What the runs are for.
    pub stage: Stage,
    /// How long they may take.
    pub limit: RunLimit,
    /// Which runs are made.
    pub selection: Selection<'a>,
    /// The exploration that is gone on with, if one is.
    pub resumed: Option<&'a SavedExploration>,
}

/// How long runs may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLimit {
    /// When everything has to be over.
    pub deadline: Deadline,
    /// Where something was found, the runs take this part of the time: the rest is
    /// for what is done about it.
    pub share: f64,
}

/// Why a subject could not be examined at all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NotRun {
    /// This program cannot be found or executed.
    NoProgram {
        /// As it was named.
        program: PathBuf,
        /// The programs that were built.
        built: Vec<String>,
    },
    /// No process left a trace: nothing was instrumented.
    NotInstrumented {
        /// The end of what the command printed, if it failed.
        output: Option<String>,
    },
    /// Every run was ended for its time before a process left a trace.
    TookTooLong {
        /// How long a run may take.
        seconds: f64,
    },
}

/// What the runs of a program have shown.
pub(crate) struct Evidence {
    allow_rules: AllowRules,
    places: Mutex<Places>,
    known: KnownFindings,
    collected: CollectedFindings,
    recorded: RecordedRuns,
    summary: Summary,
    not_run: Option<NotRun>,
    fresh_starts: BTreeSet<FreshStart>,
    /// Processes outlived their runs.
    left_behind: bool,
    exploration: Option<Exploration>,
    stopped: Option<Vec<SavedProgram>>,
    started: Instant,
    shard: Vec<ProgramRecord>,
}

impl Evidence {
    /// Nothing was run yet. The source is read with these vocabularies.
    pub(crate) fn new(vocabularies: &Vocabularies, scope: Scope, allow_rules: AllowRules) -> Self {
        Self {
            allow_rules,
            places: Mutex::new(Places::new(vocabularies.clone(), scope)),
            known: KnownFindings::default(),
            collected: CollectedFindings::default(),
            recorded: RecordedRuns::default(),
            summary: Summary {
                runs: 0,
                stopped: StopReason::Quiet,
            },
            not_run: None,
            fresh_starts: BTreeSet::new(),
            left_behind: false,
            exploration: None,
            stopped: None,
            started: Instant::now(),
            shard: Vec::new(),
        }
    }

    /// The same with more recorded runs kept.
    pub(crate) fn keeping(mut self, runs: KeptRuns) -> Self {
        self.recorded = RecordedRuns::keeping(runs);
        self
    }

    /// Whether a recorded run was not kept that differs from all that are.
    pub(crate) fn has_dropped_runs(&self) -> bool {
        self.recorded.has_dropped()
    }

    /// Runs the subject until nothing new is found, and adds what that shows.
    pub(crate) fn gather(
        mut self,
        subject: &Subject,
        mut plan: RunPlan<'_>,
    ) -> anyhow::Result<Self> {
        let mut launches = subject.commands.iter().map(|command| &command.launch);
        let missing = launches.find_map(Launch::missing_program);
        self.not_run = missing.map(|program| NotRun::NoProgram {
            program,
            built: subject.built.clone(),
        });
        if self.not_run.is_some() {
            return Ok(self);
        }
        if let Some(copy) = subject.copy.clone().filter(|copy| !copy.patched) {
            self.places().symbols.copied(copy.folder, copy.original);
        }
        self.collected.must_pass = subject.must_pass;
        self.keep_sources(subject);
        let folders = RunFolders::new()?;
        let mut progress = Progress::new(plan.options, plan.stage);
        let before = self.summary.runs;
        let with_findings = plan.limit.deadline.share(plan.limit.share);
        self.summary.stopped = StopReason::Quiet;
        let mut explored = None;
        if plan.options.exhaustive {
            self.explore(subject, plan, &folders, &mut progress)?;
            if self.collected.is_empty() || interrupted() {
                self.fresh_starts.extend(folders.fresh_starts());
                self.left_behind |= folders.left_behind() > 0;
                self.note_silence(before, plan.options.timeout);
                return Ok(self);
            }
            // Runs by seeds show the same, and can be had again. They are not split.
            plan.selection = Selection::UntilQuiet;
            self.known = KnownFindings::default();
            explored = Some(std::mem::take(&mut self.collected));
            self.collected.must_pass = subject.must_pass;
        }
        let programs = subject.commands.len();
        let first_runs = (0..programs).map(|number| (number, 0));
        let cut_short = self.share_time(
            first_runs.collect(),
            subject,
            plan,
            with_findings,
            &folders,
            &mut progress,
        )?;
        // Tests without threads need next to nothing of their parts: what they leave goes to
        // those that had too little.
        let again = match self.summary.stopped {
            StopReason::TimeUp if plan.selection.is_until_quiet() => cut_short,
            _ => Vec::new(),
        };
        if !again.is_empty() {
            self.summary.stopped = StopReason::Quiet;
            self.share_time(again, subject, plan, with_findings, &folders, &mut progress)?;
        }
        self.fresh_starts.extend(folders.fresh_starts());
        self.left_behind |= folders.left_behind() > 0;
        if plan.predict {
            let deadline = self.deadline(plan.limit.deadline, with_findings);
            let shown = predictions::follow(
                &mut self.collected,
                &self.places,
                subject,
                plan.options,
                deadline,
            )?;
            if plan.record {
                for trace in shown {
                    self.recorded.offer(trace, true, true);
                }
            }
        }
        match explored {
            // There was no time for any other run.
            Some(explored) if self.collected.processes == 0 => self.collected = explored,
            Some(explored) => self.collected.add_unseen(explored),
            None => {}
        }
        self.note_silence(before, plan.options.timeout);
        Ok(self)
    }

    /// Runs commands of the subject, each after the number of runs that is beside it and
    /// for its part of the time; what it leaves of that goes to those after it. Gives those
    /// for which the time was not enough, with the runs that they had.
    fn share_time(
        &mut self,
        commands: Vec<(usize, u64)>,
        subject: &Subject,
        plan: RunPlan<'_>,
        with_findings: Deadline,
        folders: &RunFolders,
        progress: &mut Progress,
    ) -> anyhow::Result<Vec<(usize, u64)>> {
        let mut cut_short = Vec::new();
        let all = commands.len();
        for (done, (number, runs_before)) in commands.into_iter().enumerate() {
            let part = 1.0 / (all - done) as f64;
            let deadline = self.deadline(plan.limit.deadline, with_findings);
            if runs_before > 0 && deadline.is_over() {
                self.summary.stopped = StopReason::TimeUp;
                break;
            }
            let budget = Budget {
                patience: match plan.selection.is_until_quiet() {
                    true => Patience::of(plan.options),
                    false => Patience::Runs(u64::MAX),
                },
                deadline: deadline.share(part),
                deadline_with_findings: with_findings.share(part),
                jobs: plan.options.jobs(),
            };
            let launch = &subject.commands[number].launch;
            let which = (number, runs_before);
            let summary = self.run(which, launch, plan, budget, folders, progress)?;
            self.summary.runs += summary.runs;
            if summary.stopped != StopReason::Quiet {
                self.summary.stopped = summary.stopped;
            }
            match summary.stopped {
                StopReason::Interrupted => break,
                StopReason::TimeUp => cut_short.push((number, runs_before + summary.runs)),
                StopReason::Quiet => {}
            }
        }
        Ok(cut_short)
    }

    /// Notes that none of the runs since then has left a trace.
    fn note_silence(&mut self, before: u64, seconds: f64) {
        let silent = self.collected.processes == 0 && self.collected.problems.is_empty();
        if !silent || self.summary.runs == before {
            return;
        }
        let mut tallies = self.collected.tallies.values();
        self.not_run = Some(match tallies.all(|tally| tally.hung == tally.runs) {
            true => NotRun::TookTooLong { seconds },
            false => NotRun::NotInstrumented {
                output: self.collected.failed_output.clone(),
            },
        });
    }

    /// Runs all schedules of each command of the subject.
    fn explore(
        &mut self,
        subject: &Subject,
        plan: RunPlan<'_>,
        folders: &RunFolders,
        progress: &mut Progress,
    ) -> anyhow::Result<()> {
        let options = plan.options;
        let config = ObservationConfig {
            analyzer: options.analyzer_config(),
            predict: false,
            limits: options.read_limits(),
        };
        let timeout = Duration::from_secs_f64(options.timeout);
        let mut all = Exploration::default();
        let mut stopped = Vec::new();
        if options.races == Races::Off {
            all.obstacles.insert(Obstacle::RacesOff);
        }
        if options.shard.is_some() {
            all.obstacles.insert(Obstacle::OnePart);
        }
        for (number, command) in subject.commands.iter().enumerate() {
            let part = 1.0 / (subject.commands.len() - number) as f64;
            let deadline = match plan.record {
                // A repair is to be found, and verified; not of a part.
                true if plan.options.shard.is_none() => {
                    plan.limit.deadline.share(part * EXPLORED_SHARE)
                }
                _ => plan.limit.deadline.share(part),
            };
            let watchdog = Watchdog::new(timeout, deadline);
            let (places, known) = (&self.places, &self.known);
            let (collected, recorded) = (&mut self.collected, &mut self.recorded);
            let run = |assignment: &Assignment, at: At| {
                let folder = folders.take()?;
                let mut launch = command.launch.exploring(assignment);
                if at == At::Elsewhere {
                    launch = launch.elsewhere();
                }
                let finished = launch.once(plan.seed, &folder, &watchdog)?;
                observe(&finished, places, known, config, &|| watchdog.is_ending())
            };
            let take = |mut observation: Observation, so_far: &Exploration| {
                let known_before = collected.extent();
                let traces = std::mem::take(&mut observation.traces);
                let failing = !observation.violations.is_empty() || !observation.races.is_empty();
                let worth = collected.take(number, plan.seed, observation, known);
                let mut kept = false;
                if plan.record {
                    for trace in traces {
                        kept |= recorded.offer(trace, failing, worth == RunWorth::New);
                    }
                }
                progress.explored(so_far);
                // What a part keeps for a repair has to be made again by a merge.
                let is_part = matches!(plan.selection, Selection::Shard { .. });
                kept && is_part || collected.extent() != known_before
            };
            let jobs = options.jobs();
            let explored = ExplorePlan { deadline, jobs };
            let resumed = plan.resumed.and_then(|saved| saved.programs.get(number));
            let start = match (resumed, plan.selection) {
                (Some(saved), _) => Start::Stopped(saved),
                (None, Selection::Shard { shard, .. }) => Start::Part(shard),
                (None, Selection::UntilQuiet) => Start::Whole,
                (None, Selection::Merged(merged)) => {
                    let parts = (&merged.explored(number)[..], merged.settings.shards);
                    let merged = put_together(parts, explored, run, take)?;
                    self.summary.runs += merged.runs;
                    all.add(merged);
                    continue;
                }
            };
            let end_all = || watchdog.end_all();
            let (exploration, saved) = explore(explored, start, run, end_all, take)?;
            if options.shard.is_some() {
                let part = ExploredPart::of(&exploration, &saved);
                self.shard.push(ProgramRecord::of_exploration(part));
            }
            stopped.push(saved);
            self.summary.runs += exploration.runs;
            all.add(exploration);
        }
        let unseen = self.places().symbols.unseen_code(&runtime_functions()?);
        let unseen = unseen.into_iter().map(Obstacle::NotInstrumented);
        all.obstacles.extend(unseen);
        let can_go_on = all.is_stopped() && stopped.iter().all(SavedProgram::is_begun);
        self.stopped = can_go_on.then_some(stopped);
        self.exploration = Some(all);
        Ok(())
    }

    /// How far an exploration of all runs came, if there was one.
    pub(crate) fn exploration(&self) -> Option<&Exploration> {
        self.exploration.as_ref()
    }

    /// An exploration that was stopped, to be gone on with.
    pub(crate) fn take_stopped(&mut self) -> Option<Vec<SavedProgram>> {
        self.stopped.take()
    }

    /// The second deadline if anything was found, else the first.
    fn deadline(&self, without: Deadline, with: Deadline) -> Deadline {
        let found = !self.collected.violations.is_empty() || !self.collected.races.is_empty();
        if found { with } else { without }
    }

    /// Runs one command of the subject, which has had some runs before, until nothing new is
    /// found.
    fn run(
        &mut self,
        (number, runs_before): (usize, u64),
        launch: &Launch,
        plan: RunPlan<'_>,
        budget: Budget,
        folders: &RunFolders,
        progress: &mut Progress,
    ) -> anyhow::Result<Summary> {
        let options = plan.options;
        let config = ObservationConfig {
            analyzer: options.analyzer_config(),
            predict: plan.predict,
            limits: options.read_limits(),
        };
        let selection = plan.selection;
        progress.limit(budget);
        let timeout = Duration::from_secs_f64(options.timeout);
        let watchdog = Watchdog::new(timeout, budget.deadline);
        let (places, known) = (&self.places, &self.known);
        let (collected, recorded) = (&mut self.collected, &mut self.recorded);
        if selection.run_number(number, 0).is_none() {
            self.shard.push(ProgramRecord::default());
            return Ok(Summary {
                runs: 0,
                stopped: StopReason::Quiet,
            });
        }
        let length = RunLength::new(match options.replay {
            Some(_) => Steps::Never,
            None => options.steps,
        });
        let corpus = plan.record.then(|| recorded.room());
        let checked_runs =
            CheckedRuns::new(options, plan.predict, places, folders.shared(), corpus);
        let made = |launch: &Launch, seed: u64, is_first: bool| -> anyhow::Result<Observation> {
            let folder = folders.take()?;
            let once = |launch: &Launch, share: f64| {
                // Where there is time for `--timeout`, that finds out whether a run hangs.
                let left = budget.deadline.left();
                match is_first && left.is_some_and(|left| left <= timeout) {
                    true => {
                        let own = watchdog.of_first_run(budget.deadline.share(share));
                        launch.once(seed, &folder, &own)
                    }
                    false => launch.once(seed, &folder, &watchdog),
                }
            };
            let look = |finished: &FinishedRun| {
                observe(finished, places, known, config, &|| watchdog.is_ending())
            };
            let run_for = |launch: &Launch, share: f64| look(&once(launch, share)?);
            let run = |launch: &Launch| run_for(launch, FIRST_RUN_SHARE);
            // An access that adds nothing to a race may be what is to order it.
            let in_full = |mut recorded: Observation| {
                let is_wanted = plan.record && !recorded.races.is_empty();
                if is_wanted && checked_runs.records_in_full() {
                    let full = run(&launch.in_full(MAX_EVENTS_IN_FULL.min(options.event_limit)))?;
                    match full.is_cut_short() {
                        true => checked_runs.is_too_long(),
                        false if full.shows_all_of(&recorded) => recorded.traces = full.traces,
                        false => {}
                    }
                }
                anyhow::Ok(recorded)
            };
            let Some(to_check) = checked_runs.launch(launch)? else {
                return in_full(run(launch)?);
            };
            let finished = once(&to_check, FIRST_RUN_SHARE)?;
            let mut checked = look(&finished)?;
            if checked_runs.is_recorded_beside(&finished) {
                if !checked_runs.lacks_text(&checked) && !checked_runs.needs_record(&checked) {
                    return Ok(checked);
                }
                let mut recorded = look(&finished.recorded_beside())?;
                checked_runs.compare_beside(checked, &mut recorded, known);
                return Ok(recorded);
            }
            let is_out_of_time = |run: &Observation| run.ended == RunEnd::OutOfTime;
            if !is_out_of_time(&checked)
                && checked_runs.lacks_text(&checked)
                && let Some(launch) = checked_runs.launch(launch)?
            {
                checked = run(&launch)?;
            }
            if !checked_runs.needs_record(&checked) {
                return Ok(checked);
            }
            let share = match is_out_of_time(&checked) {
                true => FIRST_RECORD_SHARE,
                false => FIRST_RUN_SHARE,
            };
            let mut recorded = run_for(launch, share)?;
            checked_runs.compare(&checked, &mut recorded);
            in_full(recorded)
        };
        let run_and_observe = |count: u64| {
            // Past the last run nothing is looked at any more.
            let run = selection.run_number(number, runs_before + count);
            let run = run.unwrap_or(count);
            if let Selection::Merged(merged) = selection
                && let Some(shown) = merged.shown(number, run)
            {
                // How long the program is, the runs said that are not made again.
                length.tell(false, 0);
                return Ok(Outcome::Written(shown));
            }
            let is_first = count < budget.jobs as u64;
            let launch = match is_first {
                true => length.first(launch),
                false => length.later(launch, run, || watchdog.is_ending()),
            };
            let observation = made(&launch, plan.seed.wrapping_add(run), is_first);
            if count == 0 {
                let shown = observation.as_ref().ok();
                let was_ended = shown.is_some_and(Observation::was_ended_early);
                length.tell(was_ended, shown.map_or(0, |shown| shown.events));
            }
            Ok(Outcome::Made(Box::new(observation?)))
        };
        let mut notebook = Notebook::default();
        let summary = until_quiet(
            budget,
            run_and_observe,
            || watchdog.end_all(),
            |count, outcome| {
                let count = runs_before + count;
                let run = selection.run_number(number, count).unwrap_or(count);
                let last = selection.run_number(number, count + 1).is_none();
                let mut observation = match (outcome, selection) {
                    (Outcome::Written(shown), _) => notebook.read(shown).with_context(|| {
                        format!(
                            "the run with seed {} is not as its shard has it: is the program the same?",
                            plan.seed.wrapping_add(run)
                        )
                    })?,
                    (Outcome::Made(observation), Selection::UntilQuiet) => *observation,
                    (Outcome::Made(observation), Selection::Shard { .. }) => {
                        notebook.write(run, &observation);
                        *observation
                    }
                    (Outcome::Made(observation), Selection::Merged(_)) => {
                        notebook.remember(run, &observation);
                        *observation
                    }
                };
                let known_before = collected.extent();
                let traces = std::mem::take(&mut observation.traces);
                let (failing, schedule) = (is_failing(&observation), observation.schedule);
                let seed = plan.seed.wrapping_add(run);
                let worth = collected.take(number, seed, observation, known);
                let mut kept = false;
                if plan.record {
                    for trace in traces {
                        kept |= recorded.offer(trace, failing, worth == RunWorth::New);
                    }
                    checked_runs.taken(schedule, failing, recorded.room());
                }
                if kept || worth == RunWorth::New || collected.extent() != known_before {
                    notebook.last_was_new();
                }
                progress.run(collected, worth);
                // The schedule is given: another run would be the same again.
                Ok(match options.replay {
                    Some(_) => RunWorth::Enough,
                    None if last => RunWorth::Enough,
                    None => worth,
                })
            },
        )?;
        collected.tallies.entry(number).or_default().steps = length.usual();
        if !selection.is_until_quiet() {
            let cut_short = summary.stopped != StopReason::Quiet;
            self.shard.push(notebook.into_record(cut_short));
        }
        Ok(summary)
    }

    /// What is written down of the runs of each program, for the file of a shard.
    pub(crate) fn take_shard(&mut self) -> Vec<ProgramRecord> {
        std::mem::take(&mut self.shard)
    }

    /// What the violations do to the program, each made to happen. What is judged
    /// already is not judged again, and what is not judged at the deadline is
    /// untried.
    pub(crate) fn judge_harm(
        &self,
        subject: &Subject,
        options: &RunOptions,
        deadline: Deadline,
        known: Harms,
    ) -> anyhow::Result<Harms> {
        let plan = self.harm_plan(options, deadline);
        harm::judge(&self.collected, &self.places, subject, plan, known)
    }

    /// What the program does when any access may take an old write. What one known
    /// violation leads to is added to the verdict on that.
    pub(crate) fn run_freely(
        &self,
        subject: &Subject,
        options: &RunOptions,
        free: &FreePlan,
        deadline: Deadline,
        harms: Harms,
    ) -> anyhow::Result<(FreeRuns, Harms)> {
        let plan = self.harm_plan(options, deadline);
        let mut harms = harms;
        let free = harm::explore(
            &self.collected,
            &self.places,
            subject,
            plan,
            free,
            &mut harms,
        )?;
        Ok(harm::hand_over(free, &self.collected, &self.places, harms))
    }

    /// What the tests of programs notice.
    pub(crate) fn notice(
        &self,
        subject: &Subject,
        options: &RunOptions,
        deadline: Deadline,
        what: (&BTreeSet<usize>, Extent),
    ) -> anyhow::Result<Vec<Notice>> {
        let plan = self.harm_plan(options, deadline);
        harm::notice(&self.collected, &self.places, subject, plan, what)
    }

    /// Has violations count by this.
    pub(crate) fn count_by(&self, harms: &mut Harms, criterion: Criterion) {
        harms.count_by(criterion, &self.collected);
    }

    fn harm_plan<'a>(&self, options: &'a RunOptions, deadline: Deadline) -> HarmPlan<'a> {
        let exploration = self.exploration();
        HarmPlan {
            options,
            deadline,
            is_explored: exploration.is_some_and(Exploration::is_complete),
        }
    }

    /// Why the last subject could not be examined.
    pub(crate) fn not_run(&self) -> Option<&NotRun> {
        self.not_run.as_ref()
    }

    /// What was found.
    pub(crate) fn collected(&self) -> &CollectedFindings {
        &self.collected
    }

    /// What was run.
    pub(crate) fn summary(&self) -> Summary {
        self.summary
    }

    /// Why programs were started anew for every run, where they were.
    pub(crate) fn fresh_starts(&self) -> &BTreeSet<FreshStart> {
        &self.fresh_starts
    }

    /// Whether processes outlived the runs that started them, and were ended.
    pub(crate) fn has_left_behind(&self) -> bool {
        self.left_behind
    }

    /// Reports are about what was built, not about what the user's editor makes of it
    /// meanwhile.
    fn keep_sources(&self, subject: &Subject) {
        let mut places = self.places.lock().expect("no panic while locked");
        match &subject.copy {
            // Its files are those that are named.
            Some(copy) if copy.patched => places.sources.are_in_tree(&copy.folder),
            Some(copy) => {
                places.sources.were_built_in(&copy.folder, &copy.original);
                places.sources.are_in_tree(&copy.original);
            }
            None => places.sources.were_built_in_place(&subject.files),
        }
    }

    /// How long this has taken so far.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The places of the runs.
    pub(crate) fn places(&mut self) -> &mut Places {
        self.places.get_mut().expect("no panic while locked")
    }

    /// What was found, with its places.
    pub(crate) fn findings(&mut self) -> (&CollectedFindings, &mut Places) {
        let places = self.places.get_mut().expect("no panic while locked");
        (&self.collected, places)
    }

    /// What is allowed at the places of the runs. Comments are also looked for in
    /// these files.
    pub(crate) fn allowances(&mut self, files: &[PathBuf]) -> Allowances {
        let places = self.places.get_mut().expect("no panic while locked");
        self.allow_rules.allowances(places, files)
    }

    /// The recorded runs, to be taken back, and the places that they name.
    pub(crate) fn lend_traces(&mut self) -> (Vec<Vec<Event>>, &mut Places) {
        let places = self.places.get_mut().expect("no panic while locked");
        (self.recorded.lend(), places)
    }

    /// Takes back what was lent, before the next run.
    pub(crate) fn take_back(&mut self, traces: Vec<Vec<Event>>) -> &mut Places {
        self.recorded.take_back(traces);
        self.places()
    }

    /// Adds runs of a patched program that were mapped back to this one. Says how
    /// many of them are new.
    pub(crate) fn add_traces(&mut self, traces: Vec<Vec<Event>>) -> usize {
        let offered = traces.into_iter();
        let kept = offered.map(|trace| self.recorded.offer(trace, true, true));
        kept.filter(|&kept| kept).count()
    }
}
