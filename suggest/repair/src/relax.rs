//! The cheapest orders of a program that shows nothing: the same search, with every
//! operation on the menu. It starts from accesses that are relaxed and fences that
//! are not there, and looks for what has to be strong so that no run shows anything
//! that it does not show with the orders as they are.
//!
//! Orders may also become stronger, where that lets others become so much weaker that
//! it pays. New fences are not looked for.

use std::time::{Duration, Instant};

use wmfix_analysis::Labels;

use crate::change_point::{Change, ChangeKind, ChangePoint, Orders};
use crate::cost::{Counts, Profile, Weights};
use crate::error::RepairError;
use crate::judge::Judge;
use crate::outcome::SearchEnd;
use crate::problem::{Options, Problem, Progress};
use crate::search::{CandidateTraits, Search};
use crate::selection::Selection;
use crate::solve::candidate;
use crate::stop::{Halt, Stop};
use crate::variable::{Candidate, Variable, order_variables};

/// The cheapest orders that are enough.
#[derive(Clone, Debug)]
pub struct Relaxation {
    /// The points that get other orders, in the order of the source.
    pub changes: Vec<Change>,
    /// What all points cost now, beyond the weakest orders.
    pub cost_before: u64,
    /// What they cost with the changes.
    pub cost: u64,
    /// No orders that are enough cost less than this.
    pub lower_bound: u64,
    /// Why the search ended.
    pub end: SearchEnd,
    /// How many runs decided.
    pub runs: u64,
    /// What the changes save on a machine, in rough cycles of all runs together.
    pub savings: Vec<Saving>,
    /// How long it took.
    pub elapsed: Duration,
}

/// What orders and fences cost on a machine, beyond the weakest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The machine: [`Profile::X86`] or [`Profile::Arm64`].
    pub machine: Profile,
    /// As the program is.
    pub before: u64,
    /// With the changes.
    pub after: u64,
}

/// Finds the cheapest orders of the points of a problem with which no run shows
/// anything that it does not show now. A site belongs to at most one point. What a
/// point refuses of [`Orders::assignments`] is not chosen; the orders that it has can
/// always be had.
pub fn relax(
    problem: &Problem,
    options: &Options,
    mut progress: impl FnMut(Progress),
) -> Result<Relaxation, RepairError> {
    let started = Instant::now();
    let stop = Stop::new(options.budget, options.cancel.as_deref());
    let menu = Menu::of(&problem.points);
    let variables = order_variables(&menu.points);
    let traces = || problem.traces.iter().map(Vec::as_slice);
    let counts = Counts::of(traces());
    let search = RelaxSearch {
        problem,
        options,
        menu: &menu,
        variables: &variables,
        counts: &counts,
        stop,
    };
    let mut found = Found {
        kinds: menu.originals.clone(),
        lower_bound: 0,
        end: SearchEnd::Optimal,
    };
    match search.run(&mut found, &mut progress) {
        Ok(()) => {}
        Err(Halt::Stopped) => found.end = stop.reason(),
        Err(Halt::Failed(error)) => return Err(error),
    }
    let cost = |kinds: &[Option<ChangeKind>]| search.cost(kinds);
    if cost(&found.kinds) > cost(&menu.originals) {
        // What a search that was stopped has may be worse than what is there.
        found.kinds.clone_from(&menu.originals);
    }
    let pairs = found.kinds.iter().zip(&menu.originals).enumerate();
    let changed = pairs.filter(|(_, (new, old))| new != old);
    let changes = changed.filter_map(|(point, (new, _))| {
        Some(Change {
            point,
            kind: (*new)?,
        })
    });
    let machines = [Profile::X86, Profile::Arm64];
    Ok(Relaxation {
        changes: changes.collect(),
        cost_before: cost(&menu.originals),
        cost: cost(&found.kinds),
        lower_bound: found.lower_bound,
        end: found.end,
        runs: problem.traces.len() as u64,
        savings: machines
            .map(|machine| Saving {
                machine,
                before: menu.price(machine, &counts, &menu.originals),
                after: menu.price(machine, &counts, &found.kinds),
            })
            .to_vec(),
        elapsed: started.elapsed(),
    })
}

/// What can be chosen.
struct Menu {
    /// The points with the weakest orders that they can have, in place of those they
    /// have.
    points: Vec<ChangePoint>,
    /// The orders that they have, as changes.
    originals: Vec<Option<ChangeKind>>,
    /// What makes the runs those of a program with the weakest orders.
    labels: Labels,
}

impl Menu {
    fn of(points: &[ChangePoint]) -> Self {
        let mut menu = Self {
            points: Vec::new(),
            originals: Vec::new(),
            labels: Labels::new(),
        };
        for point in points {
            let weak = weakest(point);
            menu.label(point, weak.orders);
            menu.points.push(weak);
            menu.originals.push(point.orders.as_change());
        }
        menu
    }

    /// Gives the sites of a point these orders, whatever they have.
    fn label(&mut self, point: &ChangePoint, orders: Orders) {
        if orders == Orders::None {
            return;
        }
        for &site in &point.sites {
            self.labels.weaken(site);
        }
        let bare = ChangePoint::new(point.sites.clone(), orders.weakest());
        for variable in order_variables(std::slice::from_ref(&bare)) {
            let level = orders.as_change().and_then(|kind| variable.level_of(kind));
            variable.label(level.unwrap_or(0), &mut self.labels);
        }
    }

    /// What the points cost on a machine with these orders.
    fn price(&self, machine: Profile, counts: &Counts, kinds: &[Option<ChangeKind>]) -> u64 {
        let weights = Weights::new(machine, counts, &self.points);
        let points = self.points.iter().zip(kinds);
        let prices = points.map(|(point, kind)| {
            kind.map_or(0, |kind| weights.of_orders(point, point.orders.after(kind)))
        });
        prices.sum()
    }
}

/// A point with the weakest orders that it can have. What is refused, and what cannot
/// be joined with the orders that the point has, is refused there.
fn weakest(point: &ChangePoint) -> ChangePoint {
    let (original, base) = (point.orders, point.orders.weakest());
    let own = original.as_change();
    let reached = |kind: ChangeKind| base.after(kind);
    let is_open = |kind: ChangeKind| {
        Some(kind) == own || point.refused.iter().all(|(refused, _)| *refused != kind)
    };
    let joined = |kind: ChangeKind| own.and_then(|own| own.join(kind));
    let open: Vec<ChangeKind> = original
        .assignments()
        .into_iter()
        .filter(|&kind| is_open(kind))
        // A fence that is taken away is below all others.
        .filter(|&kind| kind == ChangeKind::RemoveFence || joined(kind).is_some_and(is_open))
        .collect();
    let below_all = |&&kind: &&ChangeKind| open.iter().all(|&k| reached(k).covers(reached(kind)));
    let lowest = open.iter().find(below_all).copied();
    let mut weak = ChangePoint {
        orders: lowest.map_or(original, reached),
        refused: Vec::new(),
        ..point.clone()
    };
    for kind in weak.orders.raises() {
        let is_had = lowest.is_some() && open.contains(&kind);
        if !is_had && Some(kind) != own {
            weak.refuse(kind, "it cannot be had");
        }
    }
    weak
}

/// What a search has found.
struct Found {
    /// For each point the change that gives it its orders.
    kinds: Vec<Option<ChangeKind>>,
    lower_bound: u64,
    end: SearchEnd,
}

/// One call of [`relax`].
struct RelaxSearch<'a> {
    problem: &'a Problem,
    options: &'a Options,
    menu: &'a Menu,
    variables: &'a [Variable],
    counts: &'a Counts,
    stop: Stop<'a>,
}

impl RelaxSearch<'_> {
    fn run(&self, found: &mut Found, progress: &mut dyn FnMut(Progress)) -> Result<(), Halt> {
        let labels = self.menu.labels.clone();
        let judge = Judge::with_labels(self.problem, self.variables, labels, self.stop)?;
        let originals = self.menu.originals.iter().enumerate();
        let originals = originals.filter_map(|(point, &kind)| {
            let change = Change { point, kind: kind? };
            candidate(self.variables, &change)
        });
        let original = Selection::of(self.variables, originals);
        // What is there with the orders of now may stay.
        let (mut judge, _) = judge.split(&original)?;
        let candidates = self.candidates();
        let costs: Vec<u64> = candidates.iter().map(|&c| self.cost_of(c)).collect();
        let traits: Vec<CandidateTraits> = candidates.iter().map(|&c| self.traits(c)).collect();
        let weights = (&costs[..], &traits[..]);
        let none = Selection::none(self.variables);
        let search = Search::new(
            self.variables,
            &candidates,
            weights,
            none,
            &mut judge,
            self.stop,
        );
        let (result, _) = search.run(progress)?;
        found.lower_bound = result.lower_bound;
        found.end = result.end;
        if let Some(best) = result.best {
            let weakest = self
                .menu
                .points
                .iter()
                .map(|point| point.orders.as_change());
            found.kinds = weakest.collect();
            for number in best {
                let Candidate { variable, level } = candidates[number];
                let change = self.variables[variable].change(level);
                found.kinds[change.point] = Some(change.kind);
            }
        }
        Ok(())
    }

    fn candidates(&self) -> Vec<Candidate> {
        let variables = self.variables.iter().enumerate();
        let all = variables.flat_map(|(variable, had)| {
            let levels = had.available().into_iter();
            levels.map(move |level| Candidate { variable, level })
        });
        all.collect()
    }

    fn cost_of(&self, candidate: Candidate) -> u64 {
        let points = &self.menu.points;
        let weights = Weights::new(self.options.profile, self.counts, points);
        let variable = &self.variables[candidate.variable];
        weights.cost(points, variable.change(candidate.level))
    }

    fn traits(&self, candidate: Candidate) -> CandidateTraits {
        let change = self.variables[candidate.variable].change(candidate.level);
        let point = &self.menu.points[change.point];
        let original = self.problem.points[change.point].orders;
        CandidateTraits {
            is_promotion: false,
            is_raise: !original.covers(original.after(change.kind)),
            is_shared: false,
            is_fragile: self.counts.is_fragile(point, change.kind),
        }
    }

    /// What the points cost with these orders.
    fn cost(&self, kinds: &[Option<ChangeKind>]) -> u64 {
        let points = &self.menu.points;
        let weights = Weights::new(self.options.profile, self.counts, points);
        let numbered = kinds.iter().enumerate();
        let changes = numbered.filter_map(|(point, &kind)| Some(Change { point, kind: kind? }));
        let changes = changes.filter(|c| points[c.point].orders.as_change() != Some(c.kind));
        changes.map(|change| weights.cost(points, change)).sum()
    }
}
