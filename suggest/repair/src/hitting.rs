//! The clauses that are known, and the cheapest set of candidates that hits
//! them all, as an integer program. All weights are whole numbers of few
//! digits, and what the solver answers is checked in whole numbers, so its
//! rounding decides nothing.

use std::time::{Duration, Instant};

use microlp::{
    ComparisonOp, OptimizationDirection, Problem, SolutionStatus, SolveOptions, SolveOutcome,
};

use crate::error::RepairError;
use crate::stop::{Halt, Stop};
use crate::variable::Candidate;

/// Sets of candidates of which at least one is needed.
#[derive(Debug, Default)]
pub(crate) struct Clauses {
    clauses: Vec<Vec<usize>>,
    solved: u64,
    solving: Duration,
}

/// What is to be small.
#[derive(Clone, Debug)]
pub(crate) enum Objective {
    /// The sum of the weights of the candidates.
    Sum(Vec<u64>),
    /// The number of groups that have a candidate chosen: the group of each
    /// candidate.
    Groups(Vec<usize>),
}

impl Objective {
    /// The value of a set of candidates.
    pub(crate) fn value(&self, chosen: &[usize]) -> u64 {
        match self {
            Self::Sum(weights) => chosen.iter().map(|&c| weights[c]).sum(),
            Self::Groups(groups) => {
                let mut touched: Vec<usize> = chosen.iter().map(|&c| groups[c]).collect();
                touched.sort_unstable();
                touched.dedup();
                touched.len() as u64
            }
        }
    }
}

impl Clauses {
    /// Adds a clause, the candidates by number.
    pub(crate) fn add(&mut self, clause: Vec<usize>) {
        self.clauses.push(clause);
    }

    /// How many clauses there are, how many programs were solved, in what time.
    pub(crate) fn work(&self) -> (u64, u64, Duration) {
        (self.clauses.len() as u64, self.solved, self.solving)
    }

    /// A set of candidates, at most one of each variable, that hits every clause,
    /// keeps every objective of `limits` within its limit, and is best in `objective`.
    pub(crate) fn best(
        &mut self,
        candidates: &[Candidate],
        objective: &Objective,
        limits: &[(Objective, u64)],
        stop: &Stop<'_>,
    ) -> Result<Vec<usize>, Halt> {
        let started = Instant::now();
        let solved = self.solve(candidates, objective, limits, stop);
        self.solving += started.elapsed();
        self.solved += 1;
        let chosen = solved?;
        let hit = |clause: &Vec<usize>| clause.iter().any(|c| chosen.contains(c));
        let within = |(objective, limit): &(Objective, u64)| objective.value(&chosen) <= *limit;
        if self.clauses.iter().all(hit) && limits.iter().all(within) {
            return Ok(chosen);
        }
        let what = "its answer breaks a constraint once it is rounded".to_owned();
        Err(RepairError::Solver(what).into())
    }

    fn solve(
        &self,
        candidates: &[Candidate],
        objective: &Objective,
        limits: &[(Objective, u64)],
        stop: &Stop<'_>,
    ) -> Result<Vec<usize>, Halt> {
        // A candidate in no clause is not worth choosing.
        let mut useful: Vec<usize> = self.clauses.iter().flatten().copied().collect();
        useful.sort_unstable();
        useful.dedup();
        if useful.is_empty() {
            return Ok(Vec::new());
        }
        let mut program = Program::new(candidates, &useful, objective);
        for clause in &self.clauses {
            program.at_least_one(clause);
        }
        program.one_level_per_variable();
        for (objective, limit) in limits {
            program.limit(objective, *limit);
        }
        program.solve(stop)
    }
}

/// An integer program in the making.
struct Program<'a> {
    problem: Problem,
    candidates: &'a [Candidate],
    /// The candidates it is about and their variables.
    variables: Vec<(usize, microlp::Variable)>,
}

impl<'a> Program<'a> {
    fn new(candidates: &'a [Candidate], useful: &[usize], objective: &Objective) -> Self {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let weight = |candidate: usize| match objective {
            Objective::Sum(weights) => weights[candidate] as f64,
            Objective::Groups(_) => 0.0,
        };
        let variables = useful
            .iter()
            .map(|&candidate| (candidate, problem.add_binary_var(weight(candidate))))
            .collect();
        let mut program = Self {
            problem,
            candidates,
            variables,
        };
        if let Objective::Groups(groups) = objective {
            program.touched(groups, 1.0);
        }
        program
    }

    /// A variable for each group that is 1 if a candidate of it is chosen.
    fn touched(&mut self, groups: &[usize], weight: f64) -> Vec<microlp::Variable> {
        let mut touched: Vec<(usize, microlp::Variable)> = Vec::new();
        for &(candidate, variable) in &self.variables {
            let group = groups[candidate];
            let known = touched.iter().find(|(g, _)| *g == group);
            let indicator = known.map(|&(_, v)| v).unwrap_or_else(|| {
                let indicator = self.problem.add_binary_var(weight);
                touched.push((group, indicator));
                indicator
            });
            let terms = [(indicator, 1.0), (variable, -1.0)];
            self.problem.add_constraint(terms, ComparisonOp::Ge, 0.0);
        }
        touched.into_iter().map(|(_, variable)| variable).collect()
    }

    fn at_least_one(&mut self, clause: &[usize]) {
        let terms: Vec<(microlp::Variable, f64)> = clause
            .iter()
            .map(|&candidate| (self.variable(candidate), 1.0))
            .collect();
        self.problem.add_constraint(terms, ComparisonOp::Ge, 1.0);
    }

    fn one_level_per_variable(&mut self) {
        let of_one_variable = |a: &(usize, microlp::Variable), b: &(usize, microlp::Variable)| {
            self.candidates[a.0].variable == self.candidates[b.0].variable
        };
        let levels: Vec<Vec<(microlp::Variable, f64)>> = self
            .variables
            .chunk_by(of_one_variable)
            .filter(|levels| levels.len() > 1)
            .map(|levels| levels.iter().map(|&(_, v)| (v, 1.0)).collect())
            .collect();
        for terms in levels {
            self.problem.add_constraint(terms, ComparisonOp::Le, 1.0);
        }
    }

    fn limit(&mut self, objective: &Objective, limit: u64) {
        let terms: Vec<(microlp::Variable, f64)> = match objective {
            Objective::Sum(weights) => self
                .variables
                .iter()
                .filter(|&&(candidate, _)| weights[candidate] > 0)
                .map(|&(candidate, variable)| (variable, weights[candidate] as f64))
                .collect(),
            Objective::Groups(groups) => {
                let touched = self.touched(groups, 0.0);
                touched.into_iter().map(|v| (v, 1.0)).collect()
            }
        };
        if !terms.is_empty() {
            // Sums are whole numbers: a half more lets no other one in.
            let limit = limit as f64 + 0.5;
            self.problem.add_constraint(terms, ComparisonOp::Le, limit);
        }
    }

    fn solve(self, stop: &Stop<'_>) -> Result<Vec<usize>, Halt> {
        let mut options = SolveOptions::default();
        options.time_limit = stop.left();
        let failed = |error: microlp::Error| Halt::Failed(RepairError::Solver(error.to_string()));
        match self.problem.solve_with(options).map_err(failed)? {
            SolveOutcome::Solution(solution) if solution.status() == SolutionStatus::Optimal => {
                let chosen = self.variables.iter();
                Ok(chosen
                    .filter(|&&(_, variable)| solution.var_value(variable) > 0.5)
                    .map(|&(candidate, _)| candidate)
                    .collect())
            }
            _ => Err(Halt::Stopped),
        }
    }

    fn variable(&self, candidate: usize) -> microlp::Variable {
        let at = self.variables.binary_search_by_key(&candidate, |&(c, _)| c);
        self.variables[at.expect("every candidate of a clause has a variable")].1
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::test_runner::RngSeed;

    use super::*;

    /// The least value of an objective over all sets that hit the clauses within limits.
    fn by_force(
        candidates: &[Candidate],
        clauses: &[Vec<usize>],
        objective: &Objective,
        limits: &[(Objective, u64)],
    ) -> Option<u64> {
        (0u32..1 << candidates.len())
            .map(|set| -> Vec<usize> {
                let all = 0..candidates.len();
                all.filter(|&c| set >> c & 1 == 1).collect()
            })
            .filter(|set| {
                let one_level = set
                    .windows(2)
                    .all(|w| candidates[w[0]].variable != candidates[w[1]].variable);
                let hit = |clause: &Vec<usize>| clause.iter().any(|c| set.contains(c));
                let within = |(objective, limit): &(Objective, u64)| objective.value(set) <= *limit;
                one_level && clauses.iter().all(hit) && limits.iter().all(within)
            })
            .map(|set| objective.value(&set))
            .min()
    }

    /// Clauses over two levels of each variable: which variables are in, and for
    /// which of those the weaker level is in, too.
    fn clause((strong, weak): (u8, u8), variables: usize) -> Vec<usize> {
        let mut clause: Vec<usize> = (0..variables)
            .filter(|v| strong >> v & 1 == 1)
            // The stronger level of a variable hits whatever the weaker one hits.
            .flat_map(|v| [(weak >> v & 1 == 1).then_some(2 * v), Some(2 * v + 1)])
            .flatten()
            .collect();
        if clause.is_empty() {
            clause.push(1);
        }
        clause
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 150,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn the_solver_agrees_with_trying_all_sets(
            variables in 2..6_usize,
            masks in vec(any::<(u8, u8)>(), 1..9),
            largest_weight in select(&[5, 200_000]),
            seeds in vec(any::<u64>(), 10),
        ) {
            let candidates: Vec<Candidate> = (0..variables)
                .flat_map(|variable| [1, 2].map(|level| Candidate { variable, level }))
                .collect();
            let mut clauses = Clauses::default();
            for mask in masks {
                clauses.add(clause(mask, variables));
            }
            let weights = seeds[..candidates.len()].iter();
            let objectives = [
                Objective::Sum(weights.map(|seed| seed % largest_weight).collect()),
                Objective::Groups(candidates.iter().map(|c| c.variable / 2).collect()),
                Objective::Sum((0..candidates.len() as u64).collect()),
            ];
            let stop = Stop::new(None, None);
            let mut limits = Vec::new();
            for objective in objectives {
                let chosen = clauses.best(&candidates, &objective, &limits, &stop).unwrap();
                let least = by_force(&candidates, &clauses.clauses, &objective, &limits);
                prop_assert_eq!(Some(objective.value(&chosen)), least);
                let value = objective.value(&chosen);
                limits.push((objective, value));
            }
        }
    }
}
