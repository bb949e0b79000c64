//! The verdict on each violation: which choices are tried with which schedules
//! after them, and what the runs come to. A run that looks bad is held against one
//! that is the same but for the stale value before anything is said.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use wmfix_analysis::AnalyzerConfig;
use wmfix_trace::{StaleTarget, TakenWrite};

use super::choices::{Candidate, candidates};
use super::conduct::Moment;
use super::directed_run::{Expectation, RunRecord, examine};
use super::noise::Noise;
use super::parallel::each;
use super::seen::SeenWithout;
use super::{Effect, Harm, HarmVerdict, Harms, ShownBy, UntriedReason};
use crate::cli::{MemoryModel, Strategy};
use crate::findings::{CollectedFindings, ViolationFinding};
use crate::observe::Places;
use crate::options::RunOptions;
use crate::run::{Deadline, Launch, RunEnd, RunFolders, Watchdog};
use crate::subject::Subject;

/// This many directed runs for each violation.
const RUNS_PER_VIOLATION: usize = 32;

/// Choices are taken from this many runs that showed the violation.
const MOST_SOURCES: usize = 8;

/// A run is made again this often to find out what of it is noise: a clock may show
/// the same time twice.
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
    /// When to stop; what is not judged by then is untried.
    pub(crate) deadline: Deadline,
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
        let known = harms.get(&finding.key);
        if let Some(reason) = cannot_try(plan) {
            if known.is_none() {
                harms.insert(finding.key, Harm::untried(reason));
            }
            return Ok(true);
        }
        let tally = collected.tallies.get(&finding.program);
        let launch = &subject.commands[finding.program].launch;
        let judge = Judge {
            finding,
            collected,
            launch: &launch.as_far_as(tally.and_then(|tally| tally.steps)),
            places,
            plan,
            deadline,
            folders: &folders,
            config: plan.options.analyzer_config(),
        };
        let (harm, is_complete) = judge.verdict()?;
        if known.is_none_or(|known| is_complete || known.runs < harm.runs) {
            harms.insert(finding.key, harm);
        }
        Ok(is_complete)
    })?;
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

pub(super) fn cannot_try(plan: HarmPlan<'_>) -> Option<UntriedReason> {
    if !plan.options.harm {
        return Some(UntriedReason::NotAsked);
    }
    if plan.options.strategy == Strategy::Os && plan.options.replay.is_none() {
        return Some(UntriedReason::NotControlled);
    }
    if plan.options.model != MemoryModel::Rc11 {
        return Some(UntriedReason::OtherModel);
    }
    let late = plan.deadline.is_over();
    late.then_some(UntriedReason::TimeUp)
}

/// The judge of one violation.
struct Judge<'a> {
    finding: &'a ViolationFinding,
    collected: &'a CollectedFindings,
    launch: &'a Launch,
    places: &'a Mutex<Places>,
    plan: HarmPlan<'a>,
    /// When to stop with this one.
    deadline: Deadline,
    folders: &'a RunFolders,
    config: AnalyzerConfig,
}

impl Judge<'_> {
    /// The verdict, and whether there was time for all runs.
    fn verdict(&self) -> anyhow::Result<(Harm, bool)> {
        let late = || (Harm::untried(UntriedReason::TimeUp), false);
        let candidates = match self.candidates()? {
            Ok(candidates) => candidates,
            Err(UntriedReason::TimeUp) => return Ok(late()),
            Err(reason) => return Ok((Harm::untried(reason), true)),
        };
        // The first run also tells how long one takes.
        let started = Instant::now();
        let first = &candidates[0];
        let control = first.control(None);
        let control = self.run(first.seed, &control, Expectation::None, self.longest())?;
        let taken = started.elapsed();
        let limit = hangs_after(taken, self.longest());
        if self.plan.deadline.is_over() {
            return Ok(late());
        }
        let mut seen = SeenWithout::new(self.collected, self.finding.program, self.places);
        seen.add(&control);
        let plans = plans(&candidates, runs_worth_making(taken));
        let records = self.run_all(&plans, limit)?;
        let mut is_complete = records.len() == plans.len();
        let mut harm = Harm::untried(match records.is_empty() {
            true => UntriedReason::TimeUp,
            false => UntriedReason::WentElsewhere,
        });
        harm.machine = candidates.iter().map(|candidate| candidate.machine).min();
        for (number, record) in records {
            let candidate = &plans[number];
            let Some(choice) = record.choice.filter(|choice| choice.as_planned) else {
                continue;
            };
            harm.runs += 1;
            let mut effect = self.effect(candidate, &record, choice.discarded, &seen, limit)?;
            // The first run in which the value is used decides about the rest.
            let is_first = harm.untried.is_some() || harm.verdict < HarmVerdict::Survived;
            if effect == Effect::Nothing && choice.is_sequential {
                effect = Effect::Sequential;
            }
            if effect == Effect::Nothing
                && is_first
                && choice.is_repeated
                && self.makes_no_difference(candidate, &record, choice.moment, limit)?
            {
                effect = Effect::NoDifference;
            }
            if effect == Effect::Nothing && is_first {
                effect = self.without(candidate, &record, limit)?;
            }
            let verdict = effect.verdict();
            let shown = harm.shown_by.as_ref().map(|shown_by| shown_by.effect);
            // What says more about the value is what is shown.
            let says_more = matches!(effect, Effect::NoDifference | Effect::Sequential)
                && shown == Some(Effect::Discarded);
            if harm.untried.take().is_some() || verdict > harm.verdict || says_more {
                harm.verdict = verdict;
                harm.shown_by = Some(ShownBy {
                    seed: candidate.seed,
                    target: candidate.target,
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

    /// What a run came to. What looks bad is held against the same run without
    /// the stale value.
    fn effect(
        &self,
        candidate: &Candidate,
        record: &RunRecord,
        discarded: bool,
        seen: &SeenWithout,
        limit: Duration,
    ) -> anyhow::Result<Effect> {
        let calm = if discarded {
            Effect::Discarded
        } else {
            Effect::Nothing
        };
        let Some(effect) = seen.difference(record) else {
            return Ok(calm);
        };
        let control = candidate.control(candidate.target.seed);
        let control = self.run(candidate.seed, &control, Expectation::None, limit)?;
        if control.ended == RunEnd::Interrupted {
            // Without it nothing can be said.
            return Ok(calm);
        }
        let mut seen = seen.clone();
        seen.add(&control);
        Ok(match seen.difference(record) {
            // A race or a use of freed memory may have been hidden by the other.
            Some(again) if again.verdict() == HarmVerdict::Harmful => again,
            Some(again) if effect.verdict() == again.verdict() => again,
            _ => calm,
        })
    }

    /// Whether the run went, but for what the access read, as it goes with the newest
    /// value, or did at least nothing else that could be noticed.
    fn makes_no_difference(
        &self,
        candidate: &Candidate,
        record: &RunRecord,
        moment: Moment,
        limit: Duration,
    ) -> anyhow::Result<bool> {
        let control = candidate.control(candidate.target.seed);
        let expected = Expectation::Control(moment);
        let run = || self.run(candidate.seed, &control, expected, limit);
        let first = run()?;
        let is_whole = first.ended != RunEnd::Interrupted && first.ended == record.ended;
        Ok(is_whole
            && (first.conduct.is_same(&record.conduct)
                || looks_like_but_for_noise(&first, record, run)?))
    }

    /// What the value came to, as far as runs without it show: whether one of them did
    /// nothing that could be noticed but what this one did.
    fn without(
        &self,
        candidate: &Candidate,
        record: &RunRecord,
        limit: Duration,
    ) -> anyhow::Result<Effect> {
        for schedule in &record.others {
            let folder = self.folders.take()?;
            let file = folder.path().join("plan.wmtrace");
            std::fs::write(&file, &schedule.plan)
                .with_context(|| format!("cannot write {}", file.display()))?;
            let launch = self.launch.with_stale(&candidate.control(None));
            let mut launch = launch.replaying(&file);
            if !record.ended_early {
                // Where the schedule cannot be followed, threads that wait may go on for long.
                launch = launch.with_steps(schedule.most_steps);
            }
            let run = || {
                let watchdog = Watchdog::new(limit, self.plan.deadline);
                let folder = self.folders.take()?;
                let finished = launch.once(candidate.seed, &folder, &watchdog)?;
                let expected = Expectation::OtherSchedule;
                examine(&finished, expected, self.places, self.config)
            };
            let first = run()?;
            let ended_same = first.ended == record.ended && first.ended_early == record.ended_early;
            if ended_same && looks_like_but_for_noise(&first, record, run)? {
                return Ok(schedule.shows);
            }
        }
        Ok(Effect::Nothing)
    }

    fn longest(&self) -> Duration {
        Duration::from_secs_f64(self.plan.options.timeout)
    }

    /// The choices of a few runs that showed the violation, in turn.
    fn candidates(&self) -> anyhow::Result<Result<Vec<Candidate>, UntriedReason>> {
        let launch = self.launch.unfiltered();
        let mut by_run = Vec::new();
        for &seed in self.finding.seeds.iter().take(MOST_SOURCES) {
            // One is needed for any verdict.
            if self.plan.deadline.is_over() || self.deadline.is_over() && !by_run.is_empty() {
                break;
            }
            let watchdog = Watchdog::new(self.longest(), self.plan.deadline);
            let folder = self.folders.take()?;
            let finished = launch.once(seed, &folder, &watchdog)?;
            let mut found = Vec::new();
            for path in &finished.traces {
                if std::fs::metadata(path)?.len() > LONGEST_TRACE_BYTES {
                    return Ok(Err(UntriedReason::NoTrace));
                }
                let trace = std::fs::read(path)?;
                let key = self.finding.key;
                found.extend(candidates(key, seed, &trace, self.places, self.config));
            }
            by_run.push(found.into_iter());
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
            true if self.plan.deadline.is_over() => Err(UntriedReason::TimeUp),
            true => Err(UntriedReason::NoChoice),
            false => Ok(candidates),
        })
    }

    fn run(
        &self,
        seed: u64,
        target: &StaleTarget,
        expected: Expectation,
        limit: Duration,
    ) -> anyhow::Result<RunRecord> {
        let watchdog = Watchdog::new(limit, self.plan.deadline);
        let folder = self.folders.take()?;
        let launch = self.launch.with_stale(target);
        let finished = launch.once(seed, &folder, &watchdog)?;
        examine(&finished, expected, self.places, self.config)
    }

    /// Runs all of them, several at a time; what comes of them does not depend on
    /// how many. Gives the records of those that ended before the deadline, by the
    /// number of the plan.
    fn run_all(
        &self,
        plans: &[Candidate],
        limit: Duration,
    ) -> anyhow::Result<Vec<(usize, RunRecord)>> {
        let run = |number: usize| {
            let candidate: &Candidate = &plans[number];
            let expected = Expectation::Choice(candidate.prefix);
            self.run(candidate.seed, &candidate.target, expected, limit)
        };
        let jobs = self.plan.options.jobs();
        // A verdict needs some, whatever part of the time it has.
        let needed = jobs.min(plans.len());
        let mut records = each(jobs, needed, self.plan.deadline, run)?;
        let rest = each(jobs, plans.len() - needed, self.deadline, |number| {
            run(needed + number)
        })?;
        let rest = rest.into_iter();
        records.extend(rest.map(|(number, record)| (needed + number, record)));
        records.retain(|(_, record)| record.ended != RunEnd::Interrupted);
        Ok(records)
    }
}

/// Whether a run without a stale value looks like the one with it, but for what differs
/// when it is made again.
fn looks_like_but_for_noise(
    without: &RunRecord,
    with: &RunRecord,
    again: impl Fn() -> anyhow::Result<RunRecord>,
) -> anyhow::Result<bool> {
    let mut noise = Noise::default();
    let differs_in_values = without.looks_like(with, &Noise::AllValues);
    for _ in 0..RUNS_FOR_NOISE {
        if without.looks_like(with, &noise) {
            return Ok(true);
        }
        if !differs_in_values {
            return Ok(false);
        }
        noise.add(without, &again()?);
    }
    Ok(without.looks_like(with, &noise))
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

impl Effect {
    /// How bad it is.
    pub(super) fn verdict(self) -> HarmVerdict {
        match self {
            Self::Ended(_) | Self::Process(_) | Self::Race(..) | Self::FreedMemory(_) => {
                HarmVerdict::Harmful
            }
            Self::Printed => HarmVerdict::Visible,
            Self::Nothing => HarmVerdict::Survived,
            Self::Discarded | Self::NoDifference | Self::Sequential => HarmVerdict::Discarded,
        }
    }
}

impl Harm {
    fn untried(reason: UntriedReason) -> Self {
        Self {
            verdict: HarmVerdict::Untried,
            runs: 0,
            shown_by: None,
            untried: Some(reason),
            machine: None,
        }
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
