//! Free runs: every access may take any write that the memory model lets it. What
//! they come to that other runs do not is a finding, with the fewest stale choices
//! that still lead there.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use wmfix_trace::{StaleTarget, StaleTargets};

use super::directed_run::{Expectation, RunRecord, TakenOld, examine};
use super::judge::{HarmPlan, cannot_try, hangs_after};
use super::parallel::each;
use super::reduce::reduced;
use super::seen::SeenWithout;
use super::{Effect, FailedProcess, HarmVerdict, Harms, ShownBy, UntriedReason};
use crate::cli::WeakChoice;
use crate::findings::CollectedFindings;
use crate::observe::Places;
use crate::run::{Launch, RunEnd, RunFolders, Watchdog};
use crate::subject::Subject;

/// How many free runs there are if nobody says so.
const USUAL_RUNS: u64 = 100;

/// Of the ends that free runs come to, this many are looked into.
const MOST_FINDINGS: usize = 8;

/// What free runs have shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeRuns {
    /// How many there were.
    pub(crate) runs: u64,
    /// In how many an access took an old write.
    pub(crate) stale: u64,
    /// In how many there was a data race, whether other runs have it or not.
    pub(crate) racy: u64,
    /// How many came to an end that other runs do not come to.
    pub(crate) telling: u64,
    /// Ends of which the choices could not be made again.
    pub(crate) lost: u64,
    /// What they came to.
    pub(crate) findings: Vec<FreeFinding>,
    /// Why there were none.
    pub(crate) untried: Option<UntriedReason>,
}

/// Something that free runs come to.
#[derive(Clone, Debug)]
pub(crate) struct FreeFinding {
    /// Which of the programs.
    pub(crate) program: usize,
    /// How many free runs came to it.
    pub(crate) runs: u64,
    /// The seed of the run that was looked into.
    pub(crate) seed: u64,
    /// The choices that lead there. Without any one of them the run does not.
    pub(crate) choices: Vec<TakenOld>,
    /// What it comes to.
    pub(crate) effect: Effect,
    /// The process that failed, where that is it.
    pub(crate) failed: Option<FailedProcess>,
    /// The end of what the program printed.
    pub(crate) last_words: String,
}

impl FreeFinding {
    /// How bad it is.
    pub(crate) fn verdict(&self) -> HarmVerdict {
        self.effect.verdict()
    }

    /// The choices as the runtime takes them.
    pub(crate) fn targets(&self) -> StaleTargets {
        StaleTargets(self.choices.iter().map(|choice| choice.target).collect())
    }
}

/// Runs every program of the subject freely.
pub(crate) fn explore(
    collected: &CollectedFindings,
    places: &Mutex<Places>,
    subject: &Subject,
    plan: HarmPlan<'_>,
    how: WeakChoice,
) -> anyhow::Result<FreeRuns> {
    let mut all = FreeRuns::default();
    let folders = RunFolders::new()?;
    for (program, command) in subject.commands.iter().enumerate() {
        let tally = collected.tallies.get(&program);
        if tally.is_none_or(|tally| tally.concurrent == 0) {
            continue;
        }
        if let Some(reason) = cannot_try(plan) {
            all.untried = Some(reason);
            break;
        }
        let explorer = Explorer {
            program,
            launch: &command
                .launch
                .as_far_as(tally.and_then(|tally| tally.steps)),
            places,
            plan,
            folders: &folders,
        };
        let seen = SeenWithout::new(collected, program, places);
        explorer.explore(how, seen, &mut all)?;
    }
    Ok(all)
}

/// Gives what one choice leads to to the violation that it is a choice of, if that
/// is known and nothing as bad is known of it.
pub(crate) fn hand_over(
    free: FreeRuns,
    collected: &CollectedFindings,
    places: &Mutex<Places>,
    mut harms: Harms,
) -> (FreeRuns, Harms) {
    let FreeRuns { findings, .. } = free;
    let mut kept = Vec::new();
    for finding in findings {
        let [choice] = finding.choices[..] else {
            kept.push(finding);
            continue;
        };
        let site = {
            let places = places.lock().expect("no panic while locked");
            places.get(choice.site).reported_site
        };
        let of_program = |violation: &&crate::findings::ViolationFinding| {
            violation.program == finding.program && violation.key.0 == site
        };
        let Some(violation) = collected.violations.iter().find(of_program) else {
            kept.push(finding);
            continue;
        };
        let shown_by = ShownBy {
            seed: finding.seed,
            target: choice.target,
            effect: finding.effect,
            failed: finding.failed,
            last_words: finding.last_words,
        };
        harms.raise(violation.key, finding.effect.verdict(), shown_by);
    }
    let free = FreeRuns {
        findings: kept,
        ..free
    };
    (free, harms)
}

/// Explores one program.
struct Explorer<'a> {
    program: usize,
    launch: &'a Launch,
    places: &'a Mutex<Places>,
    plan: HarmPlan<'a>,
    folders: &'a RunFolders,
}

impl Explorer<'_> {
    fn explore(
        &self,
        how: WeakChoice,
        mut seen: SeenWithout,
        all: &mut FreeRuns,
    ) -> anyhow::Result<()> {
        let options = self.plan.options;
        let longest = Duration::from_secs_f64(options.timeout);
        let started = Instant::now();
        seen.add(&self.run(&self.launch.unfiltered(), options.seed, longest)?);
        let limit = hangs_after(started.elapsed(), longest);
        let free = self.launch.free(how);
        let count = options.runs.unwrap_or(USUAL_RUNS);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let deadline = self.plan.deadline;
        let mut records = each(options.jobs(), count, deadline, |number| {
            let seed = options.seed.wrapping_add(number as u64);
            self.run(&free, seed, limit)
        })?;
        records.retain(|(_, record)| record.ended != RunEnd::Interrupted);
        if records.len() < count {
            all.untried = Some(UntriedReason::TimeUp);
        }
        let mut ends: Vec<(Effect, u64, u64, RunRecord)> = Vec::new();
        for (number, record) in records {
            all.runs += 1;
            all.stale += u64::from(!record.taken.is_empty());
            all.racy += u64::from(!record.races.is_empty());
            let Some(effect) = seen.difference(&record) else {
                continue;
            };
            all.telling += 1;
            let seed = options.seed.wrapping_add(number as u64);
            match ends.iter_mut().find(|(known, ..)| *known == effect) {
                Some((_, runs, kept_seed, kept)) => {
                    *runs += 1;
                    // The one with the fewest choices has the least to be left out.
                    if record.taken.len() < kept.taken.len() {
                        (*kept_seed, *kept) = (seed, record);
                    }
                }
                None => ends.push((effect, 1, seed, record)),
            }
        }
        ends.sort_by_key(|(effect, _, seed, _)| (std::cmp::Reverse(effect.verdict()), *seed));
        for (effect, runs, seed, record) in ends.into_iter().take(MOST_FINDINGS) {
            let choices: Vec<StaleTarget> =
                record.taken.iter().map(|choice| choice.target).collect();
            let attempt = |choices: &[StaleTarget]| {
                let targets = StaleTargets(choices.to_vec());
                let record = self.run(&self.launch.with_choices(&targets), seed, limit)?;
                Ok((seen.difference(&record) == Some(effect)).then_some(record))
            };
            match reduced(&choices, attempt)? {
                Some(record) if record.taken.is_empty() => {
                    // The schedule alone leads there.
                    seen.add(&record);
                }
                Some(record) => all.findings.push(FreeFinding {
                    program: self.program,
                    runs,
                    seed,
                    choices: record.taken,
                    effect,
                    failed: record.failed.into_iter().find(|failed| {
                        matches!(effect, Effect::Process(cause) if cause == failed.end.cause)
                    }),
                    last_words: record.last_words,
                }),
                None => all.lost += 1,
            }
        }
        Ok(())
    }

    fn run(&self, launch: &Launch, seed: u64, limit: Duration) -> anyhow::Result<RunRecord> {
        let watchdog = Watchdog::new(limit, self.plan.deadline);
        let folder = self.folders.take()?;
        let finished = launch.once(seed, &folder, &watchdog)?;
        let config = self.plan.options.analyzer_config();
        examine(&finished, Expectation::None, self.places, config)
    }
}
