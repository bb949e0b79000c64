//! Free runs: every access may take any write that the memory model lets it. What
//! they come to that other runs do not is a finding, with the fewest stale choices
//! that still lead there.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use wmfix_trace::{StaleTarget, StaleTargets};

use super::directed_run::{RunRecord, TakenOld};
use super::interleavings::Interleavings;
use super::judge::{HarmPlan, cannot_try, hangs_after};
use super::nearest::FailingRun;
use super::parallel::each;
use super::reduce::reduced;
use super::runner::Runner;
use super::{Effect, FailedProcess, HarmVerdict, Harms, ShownBy, UntriedReason};
use crate::cli::WeakChoice;
use crate::findings::CollectedFindings;
use crate::observe::Places;
use crate::run::{Launch, RunEnd, RunFolders};
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
    /// How bad that is.
    pub(crate) verdict: HarmVerdict,
    /// The process that failed, where that is it.
    pub(crate) failed: Option<FailedProcess>,
    /// The end of what the program printed.
    pub(crate) last_words: String,
}

impl FreeFinding {
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
    harms: &mut Harms,
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
            is_explored: plan.is_explored,
            free,
            runner: Runner {
                options: plan.options,
                places,
                folders: &folders,
                deadline: plan.deadline.share(part),
                limit: Duration::from_secs_f64(plan.options.timeout),
            },
        };
        let mut seen = harms.interleavings(collected, program, places);
        explorer.explore(&mut seen, &mut all)?;
        harms.learn(program, &seen);
    }
    Ok(all)
}

/// Gives what choices lead to to the violations that they are choices of: a failing
/// execution that takes them is known. What is one known violation's alone is no finding of
/// its own.
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
        let shown_by = ShownBy {
            program: finding.program,
            seed: finding.seed,
            choices: finding.targets(),
            was_free: true,
            effect: finding.effect,
            failed: finding.failed.clone(),
            last_words: finding.last_words.clone(),
        };
        let is_alone = finding.choices.len() == 1;
        let mut is_known = false;
        for choice in &finding.choices {
            let mut violations: Vec<_> = of(choice).collect();
            if is_alone {
                // The one that was found first; it has one stale value.
                violations.truncate(1);
            }
            for violation in violations {
                is_known = true;
                harms.raise(violation.key, finding.verdict, shown_by.clone());
            }
        }
        if !(is_alone && is_known) {
            kept.push(finding);
        }
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
    is_explored: bool,
    free: &'a FreePlan,
    runner: Runner<'a>,
}

impl Explorer<'_> {
    fn explore(&self, seen: &mut Interleavings, all: &mut FreeRuns) -> anyhow::Result<()> {
        let options = self.runner.options;
        let started = Instant::now();
        seen.add(&self.runner.run(&self.launch.unfiltered(), options.seed)?);
        let runner = Runner {
            limit: hangs_after(started.elapsed(), self.runner.limit),
            ..self.runner
        };
        let free = self.launch.free(self.free.how);
        let count = usize::try_from(self.free.runs).unwrap_or(usize::MAX);
        let deadline = runner.deadline.share(RUNS_SHARE);
        let mut records = each(options.jobs(), count, deadline, |number| {
            runner.run(&free, options.seed.wrapping_add(number as u64))
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
            if effect == Effect::Printed && !self.is_explored && !all.were_asked_for {
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
        let verdict = |effect: Effect| effect.verdict(self.is_explored);
        ends.sort_by_key(|(effect, _, seed, _)| (std::cmp::Reverse(verdict(*effect)), *seed));
        for (effect, runs, seed, record) in ends.into_iter().take(MOST_FINDINGS) {
            let choices: Vec<StaleTarget> =
                record.taken.iter().map(|choice| choice.target).collect();
            let attempt = |choices: &[StaleTarget]| {
                let targets = StaleTargets(choices.to_vec());
                let record = runner.run(&self.launch.with_choices(&targets), seed)?;
                Ok((seen.difference(&record) == Some(effect)).then_some(record))
            };
            let (record, is_minimal) = match reduced(&choices, attempt)? {
                Some(reduced) => (reduced.run, reduced.is_minimal),
                // That they were not made again says nothing.
                None if runner.deadline.is_over() => (record, false),
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
            let taken = record.taken.iter().map(|choice| choice.target);
            let choices = StaleTargets(taken.collect());
            let failing = FailingRun {
                launch: self.launch,
                seed,
                choices: &choices,
                again: &self.launch.with_choices(&choices),
                record: &record,
                weak_runs: all.runs,
            };
            runner.run_nearest(&failing, seen)?;
            if seen.difference(&record) != Some(effect) {
                // An interleaving leads there.
                continue;
            }
            all.findings.push(FreeFinding {
                program: self.program,
                runs,
                seed,
                choices: record.taken,
                is_minimal: is_minimal && !runner.deadline.is_over(),
                effect,
                verdict: verdict(effect),
                failed: record.failed.into_iter().find(
                    |failed| matches!(effect, Effect::Process(cause) if cause == failed.end.cause),
                ),
                last_words: record.last_words,
            });
        }
        Ok(())
    }
}
