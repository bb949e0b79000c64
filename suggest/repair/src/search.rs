//! The search for the cheapest repair, by implicit hitting sets. A clause is a
//! set of candidates of which every repair has one. The cheapest set that hits
//! all known clauses is tried; if a trace still fails, the set is grown until
//! anything more would repair that trace, and what is outside is a new clause.
//! The first set that repairs all traces is a cheapest repair, because every
//! repair hits all clauses. Ties are broken by further objectives
//! in turn, by the same loop.
//!
//! After: Karthekeyan Chandrasekaran, Richard Karp, Erick Moreno-Centeno, Santosh
//! Vempala, "Algorithms for Implicit Hitting Set Problems", SODA 2011,
//! <https://arxiv.org/abs/1102.1472>; Jessica Davies, Fahiem Bacchus, "Solving
//! MAXSAT by Solving a Sequence of Simpler SAT Instances", CP 2011,
//! <https://doi.org/10.1007/978-3-642-23786-7_19>.

use crate::error::RepairError;
use crate::hitting::{Clauses, Objective};
use crate::judge::Judge;
use crate::outcome::SearchEnd;
use crate::problem::{Progress, Stage};
use crate::selection::Selection;
use crate::stop::{Halt, Stop};
use crate::variable::{Candidate, Level, Variable};

/// Past this many events a search may not come to any repair in its time.
pub(crate) const EVENTS_OF_A_LONG_SEARCH: usize = 200_000;

/// A search over some candidates.
pub(crate) struct Search<'s, 'a> {
    variables: &'a [Variable],
    /// What can be chosen, in the order of the source.
    candidates: &'s [Candidate],
    /// What each of them costs.
    costs: &'s [u64],
    /// What else speaks against each of them.
    traits: &'s [CandidateTraits],
    /// What is changed in any case.
    base: Selection,
    judge: &'s mut Judge<'a>,
    stop: Stop<'a>,
    clauses: Clauses,
    found: SearchResult,
}

/// What speaks against a candidate beside its cost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CandidateTraits {
    /// It makes a plain access atomic.
    pub(crate) is_promotion: bool,
    /// It makes an order stronger where all are to become weaker.
    pub(crate) is_raise: bool,
    /// It is at a point that others lead to.
    pub(crate) is_shared: bool,
    /// It holds in fewer executions than others like it.
    pub(crate) is_fragile: bool,
}

/// What a search has found so far.
#[derive(Clone, Debug)]
pub(crate) struct SearchResult {
    /// The best repair: candidates by number, at most one of each variable.
    pub(crate) best: Option<Vec<usize>>,
    /// No repair costs less.
    pub(crate) lower_bound: u64,
    /// Why it ended.
    pub(crate) end: SearchEnd,
}

impl<'s, 'a> Search<'s, 'a> {
    /// A search among candidates that come on top of `base`.
    pub(crate) fn new(
        variables: &'a [Variable],
        candidates: &'s [Candidate],
        (costs, traits): (&'s [u64], &'s [CandidateTraits]),
        base: Selection,
        judge: &'s mut Judge<'a>,
        stop: Stop<'a>,
    ) -> Self {
        Self {
            variables,
            candidates,
            costs,
            traits,
            base,
            judge,
            stop,
            clauses: Clauses::default(),
            found: SearchResult {
                best: None,
                lower_bound: 0,
                end: SearchEnd::Optimal,
            },
        }
    }

    /// Searches to the end, or until it is stopped.
    pub(crate) fn run(
        mut self,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(SearchResult, Clauses), RepairError> {
        match self.optimise(progress) {
            Ok(()) => {}
            Err(Halt::Stopped) => self.found.end = self.stop.reason(),
            Err(Halt::Failed(error)) => return Err(error),
        }
        Ok((self.found, self.clauses))
    }

    /// A repair to begin with, where the search may not get to one in time: for one
    /// case after the other what it needs beyond the cases before it, found by
    /// leaving out many changes at a time, the dearest first.
    fn first_repair(&mut self) -> Result<(), Halt> {
        let mut all = self.base.clone();
        for &candidate in self.candidates {
            all.add(self.variables, candidate);
        }
        self.found.best = Some(self.chosen(&all));
        let mut numbers = self.chosen(&all);
        numbers.sort_by_key(|&c| (std::cmp::Reverse(self.costs[c]), std::cmp::Reverse(c)));
        let mut repair = self.base.clone();
        while let Some(case) = self.judge.first_failing(&repair)? {
            let open = numbers.iter().map(|&c| self.candidates[c].variable);
            let touching = self.judge.variables_of(case);
            let open: Vec<usize> = open
                .filter(|&variable| repair.level(variable) == self.base.level(variable))
                .filter(|variable| touching.binary_search(variable).is_ok())
                .collect();
            let mut wanted = repair.clone();
            for &variable in &open {
                wanted = wanted.with(variable, all.level(variable));
            }
            if self.judge.fails(case, &wanted)? {
                // The search proper will say what is wrong.
                return Ok(());
            }
            self.leave_out(case, &mut wanted, &open)?;
            repair = wanted;
        }
        self.found.best = Some(self.chosen(&repair));
        let light = self.lightened(repair)?;
        self.found.best = Some(light);
        Ok(())
    }

    /// Leaves out what a case does not need of some variables, in halves.
    fn leave_out(
        &self,
        case: usize,
        repair: &mut Selection,
        variables: &[usize],
    ) -> Result<(), Halt> {
        self.stop.check()?;
        let mut less = repair.clone();
        for &variable in variables {
            less = less.with(variable, self.base.level(variable));
        }
        if !self.judge.fails(case, &less)? {
            *repair = less;
        } else if let (first @ [_, ..], second @ [_, ..]) = variables.split_at(variables.len() / 2)
        {
            self.leave_out(case, repair, first)?;
            self.leave_out(case, repair, second)?;
        }
        Ok(())
    }

    fn optimise(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), Halt> {
        if self.judge.events() > EVENTS_OF_A_LONG_SEARCH {
            self.first_repair()?;
        }
        let mut limits: Vec<(Objective, u64)> = Vec::new();
        let (objectives, of_cost) = self.objectives();
        for (number, objective) in objectives.into_iter().enumerate() {
            loop {
                self.stop.check()?;
                progress(self.progress(number > of_cost));
                let tried = self
                    .clauses
                    .best(self.candidates, &objective, &limits, &self.stop)?;
                if number == of_cost {
                    self.found.lower_bound = objective.value(&tried);
                }
                // The best repair is within the limits: it came from there.
                let best = self.found.best.as_deref();
                if best.is_some_and(|best| objective.value(best) == objective.value(&tried)) {
                    break;
                }
                let selection = self.selection(&tried);
                match self.judge.first_failing(&selection)? {
                    None => {
                        self.found.best = Some(tried);
                        break;
                    }
                    Some(case) => {
                        let found = self.learn(case, selection)?;
                        if number <= of_cost {
                            self.improve(found, &objective, &limits)?;
                        }
                    }
                }
            }
            let best = self.found.best.as_deref().unwrap_or_default();
            let value = objective.value(best);
            limits.push((objective, value));
        }
        Ok(())
    }

    /// What is to be small, the most important first, and which of it is the cost. A
    /// plain access becomes atomic only where nothing else helps.
    fn objectives(&self) -> (Vec<Objective>, usize) {
        let of = |weigh: &dyn Fn(usize, Candidate) -> u64| {
            let numbered = self.candidates.iter().enumerate();
            Objective::Sum(numbered.map(|(n, &c)| weigh(n, c)).collect())
        };
        let points = self
            .candidates
            .iter()
            .map(|c| self.variables[c.variable].point);
        let raises = of(&|n, _| u64::from(self.traits[n].is_raise));
        let has_raises = self.traits.iter().any(|traits| traits.is_raise);
        let promotions = of(&|n, _| u64::from(self.traits[n].is_promotion));
        let has_promotions = self.traits.iter().any(|traits| traits.is_promotion);
        let mut objectives = Vec::new();
        objectives.extend(has_promotions.then_some(promotions));
        let of_cost = objectives.len();
        objectives.push(Objective::Sum(self.costs.to_vec()));
        objectives.extend(has_raises.then_some(raises));
        objectives.extend([
            Objective::Groups(points.collect()),
            of(&|n, _| u64::from(self.traits[n].is_shared)),
            of(&|_, c| {
                let kind = self.variables[c.variable].change(c.level).kind;
                u64::from(kind.is_new_fence())
            }),
            of(&|n, _| u64::from(self.traits[n].is_fragile)),
            of(&|_, c| self.variables[c.variable].height(c.level)),
            of(&|n, _| n as u64),
        ]);
        (objectives, of_cost)
    }

    /// Learns from a failing case: a clause for it, then one for whatever still
    /// fails once that clause is hit, until nothing fails. What hits them all
    /// is a repair, if not a good one.
    fn learn(&mut self, case: usize, failing: Selection) -> Result<Selection, Halt> {
        let mut selection = failing;
        let mut next = Some(case);
        while let Some(case) = next {
            let clause = self.clause(case, &selection)?;
            let cheapest = clause.iter().copied().min_by_key(|&c| (self.costs[c], c));
            let Some(cheapest) = cheapest else {
                return Err(RepairError::NotMonotone(self.judge.trace_of(case)).into());
            };
            self.clauses.add(clause);
            selection.add(self.variables, self.candidates[cheapest]);
            next = self.judge.first_failing(&selection)?;
        }
        Ok(selection)
    }

    /// Keeps a repair, without what it does not need, if it is better than the best one
    /// known: within what was reached before, less of what is to be small now.
    fn improve(
        &mut self,
        repair: Selection,
        objective: &Objective,
        limits: &[(Objective, u64)],
    ) -> Result<(), Halt> {
        let repair = self.lightened(repair)?;
        let is_within = |(limit, most): &(Objective, u64)| limit.value(&repair) <= *most;
        let known = self.found.best.as_deref().map(|best| objective.value(best));
        if limits.iter().all(is_within)
            && known.is_none_or(|known| objective.value(&repair) < known)
        {
            self.found.best = Some(repair);
        }
        Ok(())
    }

    /// Grows a selection that fails in a case as far as it goes on failing; the
    /// candidates that are then still missing are a clause.
    fn clause(&self, case: usize, failing: &Selection) -> Result<Vec<usize>, Halt> {
        let touching = self.judge.variables_of(case);
        let mut missing: Vec<usize> = (0..self.candidates.len())
            .filter(|&c| touching.binary_search(&self.candidates[c].variable).is_ok())
            .filter(|&c| !failing.has(self.variables, self.candidates[c]))
            .collect();
        // Cheap ones first, so that the clause is left with dear ones and says more.
        missing.sort_by_key(|&c| (self.costs[c], c));
        let mut grown = failing.clone();
        self.grow(case, &mut grown, &missing)?;
        missing.retain(|&c| !grown.has(self.variables, self.candidates[c]));
        missing.sort_unstable();
        Ok(missing)
    }

    /// Adds what can be added of some candidates, as one after the other would,
    /// but in halves: most of them can be added together.
    fn grow(&self, case: usize, grown: &mut Selection, missing: &[usize]) -> Result<(), Halt> {
        if missing.is_empty() {
            return Ok(());
        }
        self.stop.check()?;
        let mut more = grown.clone();
        for &candidate in missing {
            more.add(self.variables, self.candidates[candidate]);
        }
        if more == *grown {
            return Ok(());
        }
        if self.judge.fails(case, &more)? {
            *grown = more;
        } else if let (first @ [_, ..], second @ [_, ..]) = missing.split_at(missing.len() / 2) {
            self.grow(case, grown, first)?;
            self.grow(case, grown, second)?;
        }
        Ok(())
    }

    /// A repair without what it does not need, the dearest tried first.
    fn lightened(&mut self, repair: Selection) -> Result<Vec<usize>, Halt> {
        let mut light = repair;
        let mut chosen = self.chosen(&light);
        chosen.sort_by_key(|&c| {
            let (promotes, cost) = (self.traits[c].is_promotion, self.costs[c]);
            (std::cmp::Reverse((promotes, cost)), std::cmp::Reverse(c))
        });
        for number in chosen {
            let candidate = self.candidates[number];
            let variable = &self.variables[candidate.variable];
            let kept = self.base.level(candidate.variable);
            let weaker = self.candidates[..number]
                .iter()
                .filter(|c| c.variable == candidate.variable)
                .map(|c| variable.join(kept, c.level))
                .filter(|&level| variable.covers(candidate.level, level));
            let levels: Vec<Level> = [kept].into_iter().chain(weaker).collect();
            for level in levels {
                let lighter = light.with(candidate.variable, level);
                if self.judge.first_failing(&lighter)?.is_none() {
                    light = lighter;
                    break;
                }
            }
        }
        Ok(self.chosen(&light))
    }

    fn selection(&self, chosen: &[usize]) -> Selection {
        let mut selection = self.base.clone();
        for &candidate in chosen {
            selection.add(self.variables, self.candidates[candidate]);
        }
        selection
    }

    /// The candidates that a selection has on top of the base.
    fn chosen(&self, selection: &Selection) -> Vec<usize> {
        let at = |candidate: Candidate| self.candidates.iter().position(|&c| c == candidate);
        selection
            .chosen()
            .filter(|c| self.base.level(c.variable) != c.level)
            .map(|c| at(c).expect("what can be chosen is closed under join"))
            .collect()
    }

    fn progress(&self, at_ties: bool) -> Progress {
        let cost = |chosen: &Vec<usize>| chosen.iter().map(|&c| self.costs[c]).sum();
        Progress {
            stage: if at_ties {
                Stage::Ties
            } else {
                Stage::Cheapest
            },
            lower_bound: self.found.lower_bound,
            best_cost: self.found.best.as_ref().map(cost),
            clauses: self.clauses.work().0,
        }
    }
}
