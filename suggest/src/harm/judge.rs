//! The verdict on each violation: which choices are tried with which schedules
//! after them, and what the runs come to. A run that looks bad is held against those
//! nearest to it that take nothing stale before anything is said.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use wmfix_trace::{StaleTarget, StaleTargets, TakenWrite};

use super::choices::{Candidate, candidates};
use super::directed_run::RunRecord;
use super::interleavings::Interleavings;
use super::nearest::FailingRun;
use super::parallel::each;
use super::runner::Runner;
use super::{Effect, Harm, HarmVerdict, Harms, ShownBy, UntriedReason};
use crate::cli::{MemoryModel, Strategy};
use crate::findings::{CollectedFindings, ViolationFinding};
use crate::observe::Places;
use crate::options::RunOptions;
use crate::run::{Deadline, Launch, RunEnd, RunFolders};
use crate::subject::Subject;

/// This many directed runs for each violation.
const RUNS_PER_VIOLATION: usize = 32;

/// Choices are taken from this many runs that showed the violation.
const MOST_SOURCES: usize = 8;

/// A run that prints something else is made again this often: it may print something
/// else each time, such as the time.
const RUNS_FOR_NOISE: usize = 3;

/// A longer trace is not worth the time that all of its directed runs would take.
const LONGEST_TRACE_BYTES: u64 = 64 << 20;

/// A directed run hangs if it takes this many times as long as one without a
/// stale choice, and this much longer at least.
const HANG_FACTOR: u32 = 20;
const HANG_MARGIN: Duration = Duration::from_secs(5);

/// When a run hangs, if one without a stale choice takes this long.
pub(super) fn hangs_after(taken: Duration, longest: Duration) -> Duration {
    (taken * HANG_FACTOR + HANG_MARGIN).min(longest)
}

/// What the verdicts are made with.
#[derive(Clone, Copy)]
pub(crate) struct HarmPlan<'a> {
    /// How programs are run.
    pub(crate) options: &'a RunOptions,
    /// When to stop; what is not judged by then is not tried.
    pub(crate) deadline: Deadline,
    /// All interleavings were made, so that another output is none of theirs.
    pub(crate) is_explored: bool,
}

/// Judges every violation that was found and is not judged yet.
pub(crate) fn judge(
    collected: &CollectedFindings,
    places: &Mutex<Places>,
    subject: &Subject,
    plan: HarmPlan<'_>,
    mut harms: Harms,
) -> anyhow::Result<Harms> {
    let folders = RunFolders::new()?;
    let open = collected.violations.iter();
    let open: Vec<&ViolationFinding> = open
        .filter(|finding| harms.get(&finding.key).is_none())
        .collect();
    in_turn(open, plan.deadline, |finding, deadline| {
        if let Some(reason) = cannot_try(plan) {
            if harms.get(&finding.key).is_none() {
                harms.insert(finding.key, Harm::untried(reason));
            }
            return Ok(true);
        }
        let tally = collected.tallies.get(&finding.program);
        let launch = &subject.commands[finding.program].launch;
        let judge = Judge {
            finding,
            launch: &launch.as_far_as(tally.and_then(|tally| tally.steps)),
            is_explored: plan.is_explored,
            deadline,
            runner: Runner {
                options: plan.options,
                places,
                folders: &folders,
                deadline: plan.deadline,
                limit: Duration::from_secs_f64(plan.options.timeout),
            },
        };
        let mut seen = harms.interleavings(collected, finding.program, places);
        let (harm, is_complete) = judge.verdict(&mut seen)?;
        let known = harms.get(&finding.key);
        if known.is_none_or(|known| is_complete || known.runs < harm.runs) {
            harms.insert(finding.key, harm);
        }
        // What is an interleaving's now may have been called weak before.
        harms.learn(finding.program, &seen);
        Ok(is_complete)
    })?;
    harms.count_blind(collected);
    Ok(harms)
}

/// Does something for each, in turn, with its part of the time that is left; then again,
/// with all of it, for those that say that it was not enough. The last would get nothing
/// otherwise where the first take long.
fn in_turn<T: Copy>(
    all: Vec<T>,
    deadline: Deadline,
    mut judge: impl FnMut(T, Deadline) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let mut cut_short = Vec::new();
    for (number, &one) in all.iter().enumerate() {
        let part = deadline.share(1.0 / (all.len() - number) as f64);
        if !judge(one, part)? {
            cut_short.push(one);
        }
    }
    for one in cut_short {
        judge(one, deadline)?;
    }
    Ok(())
}

/// Why no stale value can be taken now.
pub(super) fn cannot_try(plan: HarmPlan<'_>) -> Option<UntriedReason> {
    let late = plan.deadline.is_over();
    untried_by_command(plan.options).or(late.then_some(UntriedReason::TimeUp))
}

/// Why no stale value can be taken with these options, whatever time there is.
pub(crate) fn untried_by_command(options: &RunOptions) -> Option<UntriedReason> {
    if !options.harm {
        return Some(UntriedReason::NotAsked);
    }
    if options.strategy == Strategy::Os && options.replay.is_none() {
        return Some(UntriedReason::NotControlled);
    }
    (options.model != MemoryModel::Rc11).then_some(UntriedReason::OtherModel)
}

/// The judge of one violation.
struct Judge<'a> {
    finding: &'a ViolationFinding,
    launch: &'a Launch,
    is_explored: bool,
    /// When to stop with this one.
    deadline: Deadline,
    runner: Runner<'a>,
}

impl Judge<'_> {
    /// The verdict, and whether there was time for all runs.
    fn verdict(&self, seen: &mut Interleavings) -> anyhow::Result<(Harm, bool)> {
        let late = || (Harm::untried(UntriedReason::TimeUp), false);
        let candidates = match self.candidates()? {
            Ok(candidates) => candidates,
            Err(UntriedReason::TimeUp) => return Ok(late()),
            Err(reason) => return Ok((Harm::untried(reason), true)),
        };
        // The first run also tells how long one takes.
        let started = Instant::now();
        let first = &candidates[0];
        let control = self.launch.with_stale(&first.control(None));
        seen.add(&self.runner.run(&control, first.seed)?);
        let taken = started.elapsed();
        let runner = Runner {
            limit: hangs_after(taken, self.runner.limit),
            ..self.runner
        };
        if runner.deadline.is_over() {
            return Ok(late());
        }
        let plans = plans(&candidates, runs_worth_making(taken));
        let records = self.run_all(runner, &plans)?;
        let mut is_complete = records.len() == plans.len();
        let mut harm = Harm::untried(match records.is_empty() {
            true => UntriedReason::TimeUp,
            false => UntriedReason::WentElsewhere,
        });
        harm.machine = candidates.iter().map(|candidate| candidate.machine).min();
        for (number, record) in records {
            let candidate = &plans[number];
            if record.is_as_planned != Some(true) {
                continue;
            }
            harm.runs += 1;
            let effect = self.effect(runner, candidate, &record, seen, harm.runs)?;
            let verdict = effect.verdict(self.is_explored);
            if harm.untried.take().is_some() || verdict > harm.verdict {
                harm.verdict = verdict;
                harm.shown_by = Some(ShownBy {
                    program: self.finding.program,
                    seed: candidate.seed,
                    choices: StaleTargets(vec![candidate.target]),
                    was_free: false,
                    effect,
                    failed: record.failed.into_iter().find(|failed| {
                        matches!(effect, Effect::Process(cause) if cause == failed.end.cause)
                    }),
                    last_words: record.last_words,
                });
            }
            if verdict == HarmVerdict::Harmful {
                is_complete = true;
                break;
            }
        }
        Ok((harm, is_complete))
    }

    /// What a run came to, of which it is the `weak_runs`th. What looks bad is held
    /// against the runs nearest to it that take nothing stale.
    fn effect(
        &self,
        runner: Runner<'_>,
        candidate: &Candidate,
        record: &RunRecord,
        seen: &mut Interleavings,
        weak_runs: u64,
    ) -> anyhow::Result<Effect> {
        if seen.difference(record).is_none() {
            return Ok(Effect::Nothing);
        }
        let control = candidate.control(candidate.target.seed);
        let control = runner.run(&self.launch.with_stale(&control), candidate.seed)?;
        if control.ended == RunEnd::Interrupted {
            // Without it nothing can be said.
            return Ok(Effect::Nothing);
        }
        seen.add(&control);
        match seen.difference(record) {
            None => return Ok(Effect::Nothing),
            Some(Effect::Printed) => {
                return Ok(match self.prints_it_again(runner, candidate, record)? {
                    true => Effect::Printed,
                    false => Effect::Nothing,
                });
            }
            Some(_) => {}
        }
        let failing = FailingRun {
            launch: self.launch,
            seed: candidate.seed,
            choices: &StaleTargets(vec![candidate.target]),
            again: &self.launch.with_stale(&candidate.target),
            record,
            weak_runs,
        };
        runner.run_nearest(&failing, seen)?;
        Ok(seen.difference(record).unwrap_or(Effect::Nothing))
    }

    /// Whether a run prints the same whenever it is made.
    fn prints_it_again(
        &self,
        runner: Runner<'_>,
        candidate: &Candidate,
        record: &RunRecord,
    ) -> anyhow::Result<bool> {
        let launch = self.launch.with_stale(&candidate.target);
        for _ in 0..RUNS_FOR_NOISE {
            let again = runner.run(&launch, candidate.seed)?;
            if again.printed != record.printed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The choices of a few runs that showed the violation, in turn.
    fn candidates(&self) -> anyhow::Result<Result<Vec<Candidate>, UntriedReason>> {
        let launch = self.launch.unfiltered();
        let config = self.runner.options.analyzer_config();
        let mut by_run = Vec::new();
        for &seed in self.finding.seeds.iter().take(MOST_SOURCES) {
            // One is needed for any verdict.
            if self.runner.deadline.is_over() || self.deadline.is_over() && !by_run.is_empty() {
                break;
            }
            let (_, processes) = self.runner.run_with_traces(&launch, seed)?;
            let is_long = |trace: &Vec<u8>| trace.len() as u64 > LONGEST_TRACE_BYTES;
            if processes.iter().any(|(trace, _)| is_long(trace)) {
                return Ok(Err(UntriedReason::NoTrace));
            }
            let key = self.finding.key;
            let found = processes.iter().flat_map(|(_, decoded)| {
                candidates(key, seed, decoded, self.runner.places, config)
            });
            by_run.push(found.collect::<Vec<_>>().into_iter());
        }
        let mut candidates = Vec::new();
        while candidates.len() < RUNS_PER_VIOLATION {
            let before = candidates.len();
            candidates.extend(by_run.iter_mut().filter_map(Iterator::next));
            if candidates.len() == before {
                break;
            }
        }
        Ok(match candidates.is_empty() {
            true if self.runner.deadline.is_over() => Err(UntriedReason::TimeUp),
            true => Err(UntriedReason::NoChoice),
            false => Ok(candidates),
        })
    }

    /// Runs all of them, several at a time; what comes of them does not depend on
    /// how many. Gives the records of those that ended before the deadline, by the
    /// number of the plan.
    fn run_all(
        &self,
        runner: Runner<'_>,
        plans: &[Candidate],
    ) -> anyhow::Result<Vec<(usize, RunRecord)>> {
        let run = |number: usize| {
            let candidate: &Candidate = &plans[number];
            let launch = self.launch.with_stale(&candidate.target);
            runner.run_to_choice(&launch, candidate.seed, candidate.prefix)
        };
        let jobs = runner.options.jobs();
        // A verdict needs some, whatever part of the time it has.
        let needed = jobs.min(plans.len());
        let mut records = each(jobs, needed, runner.deadline, run)?;
        let rest = each(jobs, plans.len() - needed, self.deadline, |number| {
            run(needed + number)
        })?;
        let rest = rest.into_iter();
        records.extend(rest.map(|(number, record)| (needed + number, record)));
        records.retain(|(_, record)| record.ended != RunEnd::Interrupted);
        Ok(records)
    }
}

impl Candidate {
    /// The same run without anything stale, with the schedule drawn anew at the
    /// same moment.
    fn control(&self, seed: Option<u64>) -> StaleTarget {
        StaleTarget {
            source: TakenWrite::Newest,
            seed,
            ..self.target
        }
    }
}

/// The runs to be made: every choice with the schedule that it was found with, then
/// again and again with other schedules.
fn plans(candidates: &[Candidate], runs: usize) -> Vec<Candidate> {
    let rounds = (0..).flat_map(|round: u64| {
        candidates.iter().map(move |candidate| Candidate {
            target: StaleTarget {
                seed: (round > 0).then_some(round),
                ..candidate.target
            },
            ..*candidate
        })
    });
    rounds.take(runs).collect()
}

/// How many directed runs are made if one takes this long.
fn runs_worth_making(taken: Duration) -> usize {
    match taken.as_millis() {
        0..500 => RUNS_PER_VIOLATION,
        500..2_000 => RUNS_PER_VIOLATION / 2,
        2_000..10_000 => RUNS_PER_VIOLATION / 4,
        _ => RUNS_PER_VIOLATION / 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gets_its_part_of_the_time_before_any_gets_more() {
        let deadline = Deadline::after(Duration::from_secs(1000));
        let mut calls = Vec::new();
        in_turn(vec!['a', 'b', 'c', 'd'], deadline, |one, part| {
            let left = part.left().expect("there is a limit").as_secs();
            calls.push((one, left.div_ceil(10)));
            Ok(one != 'b')
        })
        .unwrap();
        // Nobody needs any time here: there is more for those that come later.
        assert_eq!(calls.len(), 5);
        let names: String = calls.iter().map(|call| call.0).collect();
        assert_eq!(names, "abcdb");
        let limits = [25, 34, 50, 100, 100];
        assert!(calls.iter().zip(limits).all(|(call, most)| call.1 <= most));
        assert!(calls[0].1 < calls[4].1);
    }
}
