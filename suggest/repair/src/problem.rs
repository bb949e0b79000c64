//! The question and the way to its answer: what can be removed at all, the
//! cheapest way to remove it, the reason for each change, and what would be
//! needed for the rest.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use wmfix_analysis::{Config, Event};

use crate::cost::{Counts, Profile, Weights};
use crate::error::RepairError;
use crate::exempt::Exempt;
use crate::explain::reasons;
use crate::judge::Judge;
use crate::outcome::{Ended, Needed, Outcome, Reasoned, Repair, Work};
use crate::place::{Change, Place};
use crate::search::{Found, Search};
use crate::selection::Selection;
use crate::slot::{Candidate, Slot, slots};
use crate::stop::{Halt, Stop};

/// What is to be repaired.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The recorded runs. Runs without findings only weigh the costs.
    pub traces: Vec<Vec<Event>>,
    /// What may be changed, in the order of the source.
    pub places: Vec<Place>,
    /// How runs are analysed. A run fails while it holds a violation or, if
    /// `races` is on, a race.
    pub analysis: Config,
    /// What a run does not fail for.
    pub exempt: Exempt,
}

/// How to search.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What changes cost.
    pub profile: Profile,
    /// Stop after this time with the best repair known.
    pub budget: Option<Duration>,
    /// Stop when somebody sets this.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// No repair costs less.
    pub lower_bound: u64,
    /// What the best repair known costs.
    pub best_cost: Option<u64>,
    /// How many clauses were learnt.
    pub clauses: u64,
}

/// What a search is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Looking for the cheapest repair.
    Cheapest,
    /// Choosing among the cheapest ones.
    Ties,
    /// Finding the reason for each change.
    Reasons,
}

/// Finds the cheapest repair.
pub fn repair(
    problem: &Problem,
    options: &Options,
    mut progress: impl FnMut(Progress),
) -> Result<Outcome, RepairError> {
    let started = Instant::now();
    let stop = Stop::new(options.budget, options.cancel.as_deref());
    let mut outcome = Outcome {
        repair: None,
        lower_bound: 0,
        ended: Ended::Optimal,
        unrepairable: Vec::new(),
        beyond_repair: Vec::new(),
        work: Work::default(),
    };
    let slots = slots(&problem.places);
    let run = Run {
        problem,
        options,
        slots: &slots,
        counts: Counts::of(problem.traces.iter().map(Vec::as_slice)),
        stop,
    };
    match run.all(&mut outcome, &mut progress) {
        Ok(()) => {}
        Err(Halt::Stopped) => outcome.ended = stop.reason(),
        Err(Halt::Failed(error)) => return Err(error),
    }
    outcome.work.total = started.elapsed();
    Ok(outcome)
}

/// The changes, by number, that can be left out one after the other, the last
/// first, with no trace failing that does not fail with all of them.
pub fn unneeded(problem: &Problem, changes: &[Change]) -> Result<Vec<usize>, RepairError> {
    let slots = slots(&problem.places);
    let stop = Stop::new(None, None);
    let find = || -> Result<Vec<usize>, Halt> {
        let candidate = |change: &Change| {
            let mine = |slot: &Slot| slot.place == change.place;
            slots.iter().enumerate().find_map(|(number, slot)| {
                let level = slot.level_of(change.action).filter(|_| mine(slot))?;
                Some(Candidate {
                    slot: number,
                    level,
                })
            })
        };
        let judge = Judge::new(problem, &slots, stop)?;
        let all = Selection::of(&slots, changes.iter().filter_map(candidate));
        let (mut judge, _) = judge.split(&all)?;
        let mut kept: Vec<usize> = (0..changes.len()).collect();
        let mut dropped = Vec::new();
        for number in (0..changes.len()).rev() {
            let rest = kept.iter().copied().filter(|&n| n != number);
            let rest: Vec<usize> = rest.collect();
            let candidates = rest.iter().filter_map(|&n| candidate(&changes[n]));
            let without = Selection::of(&slots, candidates);
            if judge.first_failing(&without)?.is_none() {
                kept = rest;
                dropped.push(number);
            }
        }
        Ok(dropped)
    };
    find().map_err(|halt| match halt {
        Halt::Failed(error) => error,
        Halt::Stopped => unreachable!("nothing stops it"),
    })
}

/// One call of [`repair`].
struct Run<'a> {
    problem: &'a Problem,
    options: &'a Options,
    slots: &'a [Slot],
    counts: Counts,
    stop: Stop<'a>,
}

/// A candidate that is refused, and why.
type Refused = (Candidate, String);

/// Candidates that a search chose, with their costs.
type Chosen = Vec<(Candidate, u64)>;

impl<'a> Run<'a> {
    fn all(&self, outcome: &mut Outcome, progress: &mut dyn FnMut(Progress)) -> Result<(), Halt> {
        let (available, refused) = self.candidates();
        let reachable = Selection::of(self.slots, available.iter().copied());
        let judge = Judge::new(self.problem, self.slots, self.stop)?;
        let (mut judge, rest) = judge.split(&reachable)?;
        self.rest(outcome, &reachable, &refused, rest)?;

        let none = Selection::none(self.slots);
        let (found, chosen) = self.search(outcome, progress, &available, &none, &mut judge)?;
        outcome.lower_bound = found.lower_bound;
        outcome.ended = found.ended;
        if let Some(chosen) = chosen {
            let cost = chosen.iter().map(|&(_, cost)| cost).sum();
            progress(Progress {
                stage: Stage::Reasons,
                lower_bound: found.lower_bound,
                best_cost: Some(cost),
                clauses: outcome.work.clauses,
            });
            let changes = self.reasoned(&chosen, &mut judge)?;
            outcome.repair = Some(Repair { changes, cost });
        }
        outcome.work.add(&judge);
        Ok(())
    }

    /// What is left when all that can be had is done: what else it would take,
    /// and what nothing removes.
    fn rest(
        &self,
        outcome: &mut Outcome,
        reachable: &Selection,
        refused: &[Refused],
        judge: Judge<'a>,
    ) -> Result<(), Halt> {
        let mut everything = reachable.clone();
        for &(candidate, _) in refused {
            everything.add(self.slots, candidate);
        }
        let (mut judge, beyond) = judge.split(&everything)?;
        outcome.beyond_repair = beyond.findings(&everything)?;
        let candidates: Vec<Candidate> = refused.iter().map(|&(c, _)| c).collect();
        let (found, chosen) =
            self.search(outcome, &mut |_| {}, &candidates, reachable, &mut judge)?;
        if found.ended != Ended::Optimal {
            return Err(Halt::Stopped);
        }
        let chosen = chosen.unwrap_or_default();
        let mut full = reachable.clone();
        for &(candidate, _) in &chosen {
            full.add(self.slots, candidate);
        }
        for (candidate, _) in chosen {
            let why = refused.iter().find(|(c, _)| *c == candidate);
            outcome.unrepairable.push(Needed {
                change: self.slots[candidate.slot].change(candidate.level),
                refusal: why.map(|(_, why)| why.clone()).unwrap_or_default(),
                findings: reasons(&judge, &full, reachable, candidate)?,
            });
        }
        outcome.work.add(&judge);
        outcome.work.add(&beyond);
        Ok(())
    }

    /// Searches among candidates that come on top of `base`.
    fn search(
        &self,
        outcome: &mut Outcome,
        progress: &mut dyn FnMut(Progress),
        candidates: &[Candidate],
        base: &Selection,
        judge: &mut Judge<'a>,
    ) -> Result<(Found, Option<Chosen>), Halt> {
        let places = &self.problem.places;
        let weights = Weights::new(self.options.profile, &self.counts, places);
        let cost = |c: &Candidate| weights.cost(places, self.slots[c.slot].change(c.level));
        let costs: Vec<u64> = candidates.iter().map(cost).collect();
        let base = base.clone();
        let search = Search::new(self.slots, candidates, &costs, base, judge, self.stop);
        let (found, clauses) = search.run(progress)?;
        let (learnt, solved, solving) = clauses.work();
        outcome.work.clauses += learnt;
        outcome.work.programs += solved;
        outcome.work.solving += solving;
        let chosen = found.best.as_ref().map(|best| {
            let chosen = best.iter().map(|&c| (candidates[c], costs[c]));
            chosen.collect()
        });
        Ok((found, chosen))
    }

    /// Changes with their reasons. A repair that took the whole budget is still
    /// explained; only a cancelled one is not.
    fn reasoned(&self, chosen: &Chosen, judge: &mut Judge<'a>) -> Result<Vec<Reasoned>, Halt> {
        judge.forget_deadline();
        let none = Selection::none(self.slots);
        let selection = Selection::of(self.slots, chosen.iter().map(|c| c.0));
        let mut changes = Vec::new();
        for &(candidate, cost) in chosen {
            let reasons = match reasons(judge, &selection, &none, candidate) {
                Err(Halt::Stopped) => Vec::new(),
                found => found?,
            };
            changes.push(Reasoned {
                change: self.slots[candidate.slot].change(candidate.level),
                cost,
                reasons,
            });
        }
        Ok(changes)
    }

    /// What can be had and what is refused, of the slots that ran.
    fn candidates(&self) -> (Vec<Candidate>, Vec<Refused>) {
        let mut available = Vec::new();
        let mut refused = Vec::new();
        for (number, slot) in self.slots.iter().enumerate() {
            let place = &self.problem.places[slot.place];
            let had = slot.available();
            for level in slot.levels() {
                let candidate = Candidate {
                    slot: number,
                    level,
                };
                if self.counts.runs(place, slot.change(level).action) == 0 {
                    continue;
                }
                match had.contains(&level) {
                    true => available.push(candidate),
                    false => refused.push((candidate, slot.refusal(level))),
                }
            }
        }
        (available, refused)
    }
}
