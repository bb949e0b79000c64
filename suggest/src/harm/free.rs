//! Free runs: every access may take any write that the memory model lets it. What
//! they come to that other runs do not is a finding, with the fewest stale choices
//! that still lead there.

use std::collections::BTreeSet;
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

/// How many free runs of a program there are if nobody says so.
pub(crate) const USUAL_RUNS: u64 = 100;

/// With fewer free runs of a program than this, stale values of it that do nothing one at
/// a time are not passed over.
pub(crate) const FEWEST_RUNS: u64 = 10;

/// The part of a program's time that its free runs take; the rest is for leaving out
/// choices of those that come to something.
const RUNS_SHARE: f64 = 0.7;

/// Of the ends that free runs come to, this many are looked into.
const MOST_FINDINGS: usize = 8;

/// Which free runs are made, and what of them counts.
#[derive(Clone, Debug)]
pub(crate) struct FreePlan {
    /// What accesses take.
    pub(crate) how: WeakChoice,
    /// The programs, if not all.
    pub(crate) programs: Option<BTreeSet<usize>>,
    /// How many of each.
    pub(crate) runs: u64,
    /// Whether another output than other runs have is a finding: not where more
    /// interleavings may print it.
    pub(crate) outputs_count: bool,
}

/// What free runs have shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeRuns {
    /// The user asked for them. Else they were made because stale values were found that
    /// do not count one at a time.
    pub(crate) were_asked_for: bool,
    /// There were enough of each program for stale values that do nothing one at a time to
    /// be passed over.
    pub(crate) are_enough: bool,
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
    /// How many printed what other runs have not printed, where that does not count.
    pub(crate) other_outputs: u64,
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
    /// The choices that lead there.
    pub(crate) choices: Vec<TakenOld>,
    /// Without any one of them the run does not. Else there was no time to find out.
    pub(crate) is_minimal: bool,
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

/// Runs programs of the subject freely.
pub(crate) fn explore(
    collected: &CollectedFindings,
    places: &Mutex<Places>,
    subject: &Subject,
    plan: HarmPlan<'_>,
    free: &FreePlan,
) -> anyhow::Result<FreeRuns> {
    let mut all = FreeRuns {
        were_asked_for: plan.options.weak.is_some(),
        are_enough: true,
        ..FreeRuns::default()
    };
    let folders = RunFolders::new()?;
    let is_concurrent = |program: &usize| {
        let tally = collected.tallies.get(program);
        tally.is_some_and(|tally| tally.concurrent > 0)
    };
    let programs: Vec<usize> = match &free.programs {
        Some(programs) => programs.iter().copied().collect(),
        None => (0..subject.commands.len()).filter(is_concurrent).collect(),
    };
    for (number, &program) in programs.iter().enumerate() {
        if let Some(reason) = cannot_try(plan) {
            all.untried = Some(reason);
            all.are_enough = false;
            break;
        }
        let tally = collected.tallies.get(&program);
        let launch = &subject.commands[program].launch;
        let part = 1.0 / (programs.len() - number) as f64;
        let explorer = Explorer {
            program,
            launch: &launch.as_far_as(tally.and_then(|tally| tally.steps)),
            places,
            plan: HarmPlan {
                deadline: plan.deadline.share(part),
                ..plan
            },
            free,
            folders: &folders,
        };
        let seen = SeenWithout::new(collected, program, places);
        explorer.explore(seen, &mut all)?;
    }
    Ok(all)
}

/// Gives what one choice leads to to the violation that it is a choice of, if that
/// is known and nothing as bad is known of it. What several lead to together makes each
/// of theirs count.
pub(crate) fn hand_over(
    free: FreeRuns,
    collected: &CollectedFindings,
    places: &Mutex<Places>,
    mut harms: Harms,
) -> (FreeRuns, Harms) {
    let FreeRuns { findings, .. } = free;
    let mut kept = Vec::new();
    for finding in findings {
        let of = |choice: &TakenOld| {
            let site = {
                let places = places.lock().expect("no panic while locked");
                places.get(choice.site).reported_site
            };
            let all = collected.violations.iter();
            all.filter(move |violation| violation.key.0 == site)
        };
        let [choice] = finding.choices[..] else {
            for violation in finding.choices.iter().flat_map(of) {
                harms.count(violation.key);
            }
            kept.push(finding);
            continue;
        };
        let Some(violation) = of(&choice).next() else {
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
    free: &'a FreePlan,
    folders: &'a RunFolders,
}

impl Explorer<'_> {
    fn explore(&self, mut seen: SeenWithout, all: &mut FreeRuns) -> anyhow::Result<()> {
        let options = self.plan.options;
        let longest = Duration::from_secs_f64(options.timeout);
        let started = Instant::now();
        seen.add(&self.run(&self.launch.unfiltered(), options.seed, longest)?);
        let limit = hangs_after(started.elapsed(), longest);
        let free = self.launch.free(self.free.how);
        let count = usize::try_from(self.free.runs).unwrap_or(usize::MAX);
        let deadline = self.plan.deadline.share(RUNS_SHARE);
        let mut records = each(options.jobs(), count, deadline, |number| {
            let seed = options.seed.wrapping_add(number as u64);
            self.run(&free, seed, limit)
        })?;
        records.retain(|(_, record)| record.ended != RunEnd::Interrupted);
        if records.len() < count {
            all.untried = Some(UntriedReason::TimeUp);
        }
        all.are_enough &= records.len() as u64 >= FEWEST_RUNS;
        let mut ends: Vec<(Effect, u64, u64, RunRecord)> = Vec::new();
        for (number, record) in records {
            all.runs += 1;
            all.stale += u64::from(!record.taken.is_empty());
            all.racy += u64::from(!record.races.is_empty());
            let Some(effect) = seen.difference(&record) else {
                continue;
            };
            if effect == Effect::Printed && !self.free.outputs_count {
                all.other_outputs += 1;
                continue;
            }
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
            let (record, is_minimal) = match reduced(&choices, attempt)? {
                Some(reduced) => (reduced.run, reduced.is_minimal),
                // That they were not made again says nothing.
                None if self.plan.deadline.is_over() => (record, false),
                None => {
                    all.lost += 1;
                    continue;
                }
            };
            if record.taken.is_empty() {
                // The schedule alone leads there.
                seen.add(&record);
                continue;
            }
            all.findings.push(FreeFinding {
                program: self.program,
                runs,
                seed,
                choices: record.taken,
                is_minimal: is_minimal && !self.plan.deadline.is_over(),
                effect,
                failed: record.failed.into_iter().find(
                    |failed| matches!(effect, Effect::Process(cause) if cause == failed.end.cause),
                ),
                last_words: record.last_words,
            });
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
