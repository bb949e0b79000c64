//! What the runs of a program have shown: findings, the places they are about,
//! and recorded runs for the repair. Running and collecting are one loop, because
//! what is collected decides when to stop. Knows nothing of repairs and reports.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use wmfix_analysis::Event;
use wmfix_frontend::Vocabularies;

use crate::allow::{AllowRules, Allowances};
use crate::cli::WeakChoice;
use crate::findings::{CollectedFindings, KnownFindings, ObservationConfig, observe};
use crate::harm::{self, FreeRuns, HarmPlan, Harms};
use crate::observe::{Places, Scope};
use crate::options::RunOptions;
use crate::predictions;
use crate::progress::{Progress, Stage};
use crate::recorded_runs::RecordedRuns;
use crate::run::{
    Budget, Deadline, FreshStart, Launch, Patience, RunFolders, RunWorth, StopReason, Summary,
    Watchdog, until_quiet,
};
use crate::subject::Subject;

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    started: Instant,
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
            started: Instant::now(),
        }
    }

    /// Runs the subject until nothing new is found, and adds what that shows.
    pub(crate) fn gather(mut self, subject: &Subject, plan: RunPlan<'_>) -> anyhow::Result<Self> {
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
        let folders = RunFolders::new()?;
        let mut progress = Progress::new(plan.options, plan.stage);
        let before = self.summary.runs;
        let with_findings = plan.limit.deadline.share(plan.limit.share);
        self.summary.stopped = StopReason::Quiet;
        let programs = subject.commands.len();
        for (number, command) in subject.commands.iter().enumerate() {
            // What a program leaves of its part of the time goes to the others.
            let part = 1.0 / (programs - number) as f64;
            let budget = Budget {
                patience: Patience::of(plan.options),
                deadline: self
                    .deadline(plan.limit.deadline, with_findings)
                    .share(part),
                deadline_with_findings: with_findings.share(part),
                jobs: plan.options.jobs(),
            };
            let summary = self.run(
                number,
                &command.launch,
                plan,
                budget,
                &folders,
                &mut progress,
            )?;
            self.summary.runs += summary.runs;
            if summary.stopped != StopReason::Quiet {
                self.summary.stopped = summary.stopped;
            }
            if summary.stopped == StopReason::Interrupted {
                break;
            }
        }
        self.fresh_starts.extend(folders.fresh_starts());
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
        let silent = self.collected.processes == 0 && self.collected.problems.is_empty();
        if silent && self.summary.runs > before {
            self.not_run = Some(NotRun::NotInstrumented {
                output: self.collected.failed_output.clone(),
            });
        }
        Ok(self)
    }

    /// The second deadline if anything was found, else the first.
    fn deadline(&self, without: Deadline, with: Deadline) -> Deadline {
        let found = !self.collected.violations.is_empty() || !self.collected.races.is_empty();
        if found { with } else { without }
    }

    /// Runs one command of the subject until nothing new is found.
    fn run(
        &mut self,
        number: usize,
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
        };
        progress.limit(budget);
        let timeout = Duration::from_secs_f64(options.timeout);
        let watchdog = Watchdog::new(timeout, budget.deadline);
        let (places, known) = (&self.places, &self.known);
        let (collected, recorded) = (&mut self.collected, &mut self.recorded);
        let run_and_observe = |number: u64| {
            let folder = folders.take()?;
            let seed = plan.seed.wrapping_add(number);
            let finished = launch.once(seed, &folder, &watchdog)?;
            observe(&finished, places, known, config, &|| watchdog.is_ending())
        };
        until_quiet(
            budget,
            run_and_observe,
            || watchdog.end_all(),
            |run, mut observation| {
                let traces = std::mem::take(&mut observation.traces);
                let failing = !observation.violations.is_empty() || !observation.races.is_empty();
                let seed = plan.seed.wrapping_add(run);
                let worth = collected.take(number, seed, observation, known);
                if plan.record {
                    for trace in traces {
                        recorded.offer(trace, failing, worth == RunWorth::New);
                    }
                }
                progress.run(collected, worth);
                // The schedule is given: another run would be the same again.
                Ok(match options.replay {
                    Some(_) => RunWorth::Enough,
                    None => worth,
                })
            },
        )
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
        let plan = HarmPlan { options, deadline };
        harm::judge(&self.collected, &self.places, subject, plan, known)
    }

    /// What the program does when any access may take an old write. What one known
    /// violation leads to is added to the verdict on that.
    pub(crate) fn run_freely(
        &self,
        subject: &Subject,
        options: &RunOptions,
        how: WeakChoice,
        deadline: Deadline,
        harms: Harms,
    ) -> anyhow::Result<(FreeRuns, Harms)> {
        let plan = HarmPlan { options, deadline };
        let free = harm::explore(&self.collected, &self.places, subject, plan, how)?;
        Ok(harm::hand_over(free, &self.collected, &self.places, harms))
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
