//! Whether a selection of changes repairs the corpus: every trace is analysed
//! again with the labels that the selection gives it. Traces that pass stay
//! out of the way, those that told repairs from non-repairs are asked first,
//! and the answers do not depend on how many threads look for them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use wmfix_analysis::{
    Analyzer, AnalyzerConfig, Event, EventFindings, EventIndex, Labels, LocationId, Race, SiteId,
    Violation, free_location,
};

use crate::allowed::AllowedFindings;
use crate::error::RepairError;
use crate::outcome::Finding;
use crate::problem::Problem;
use crate::selection::Selection;
use crate::stop::{Halt, Stop};
use crate::variable::Variable;

/// Looks at traces with changed labels.
pub(crate) struct Judge<'a> {
    traces: &'a [Vec<Event>],
    variables: &'a [Variable],
    /// What the labels of the runs are before anything is changed.
    labels: Labels,
    /// For each trace, the first location that it does not use.
    free: Vec<LocationId>,
    config: AnalyzerConfig,
    allowed: &'a AllowedFindings,
    stop: Stop<'a>,
    cases: Vec<Case>,
    /// The cases, most telling first.
    order: Vec<usize>,
    analyses: AtomicU64,
    events: AtomicU64,
}

/// A trace that fails while nothing is changed.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Which trace.
    trace: usize,
    /// The variables that have a site in it.
    variables: Vec<usize>,
    /// The events that fail while nothing is changed and that count.
    blamed: FxHashSet<usize>,
    /// The last of them: what comes later decides nothing.
    last: usize,
    /// Selections that repair it.
    passed: Vec<Selection>,
}

/// The most selections that are remembered to repair a trace.
const MAX_PASSED_SELECTIONS: usize = 16;

/// The number of events after which the analysis checks whether it should stop.
const EVENTS_BETWEEN_STOP_CHECKS: usize = 1 << 16;

/// An event may get a fence before and after it, and a plain access that becomes atomic
/// a new object: each of the four has an index.
const INDICES_PER_EVENT: u64 = 4;

impl<'a> Judge<'a> {
    /// Looks at every trace as it is.
    pub(crate) fn new(
        problem: &'a Problem,
        variables: &'a [Variable],
        stop: Stop<'a>,
    ) -> Result<Self, Halt> {
        Self::with_labels(problem, variables, Labels::new(), stop)
    }

    /// Looks at every trace with these labels.
    pub(crate) fn with_labels(
        problem: &'a Problem,
        variables: &'a [Variable],
        labels: Labels,
        stop: Stop<'a>,
    ) -> Result<Self, Halt> {
        let traces = &problem.traces;
        let mut judge = Self {
            traces,
            variables,
            labels,
            free: traces.iter().map(|trace| free_location(trace)).collect(),
            config: problem.analysis,
            allowed: &problem.allowed,
            stop,
            cases: Vec::new(),
            order: Vec::new(),
            analyses: AtomicU64::new(0),
            events: AtomicU64::new(0),
        };
        let none = Selection::none(variables);
        let failing: Vec<FxHashSet<usize>> = (0..traces.len())
            .into_par_iter()
            .map(|trace| judge.failing_events(trace, &none))
            .collect::<Result<_, Halt>>()?;
        for (trace, blamed) in failing.into_iter().enumerate() {
            let Some(&last) = blamed.iter().max() else {
                continue;
            };
            let until = &traces[trace][..=last];
            let sites: FxHashSet<SiteId> = until.iter().map(|e| e.site).collect();
            let touches =
                |variable: &Variable| variable.sites.iter().any(|site| sites.contains(site));
            judge.cases.push(Case {
                trace,
                variables: (0..variables.len())
                    .filter(|&s| touches(&variables[s]))
                    .collect(),
                blamed,
                last,
                passed: Vec::new(),
            });
        }
        judge.order = shortest_first(&judge.cases);
        Ok(judge)
    }

    /// How many analyses and how many events there were so far.
    pub(crate) fn work(&self) -> (u64, u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&self.analyses), read(&self.events))
    }

    /// Whether there is nothing to repair.
    pub(crate) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Lets something else stop it from now on.
    pub(crate) fn set_stop(&mut self, stop: Stop<'a>) {
        self.stop = stop;
    }

    /// Splits the judge by what still fails with a selection: the first only
    /// looks at what the selection repairs, the second at what it does not.
    pub(crate) fn split(self, selection: &Selection) -> Result<(Self, Self), Halt> {
        let rest: Vec<FxHashSet<usize>> = self
            .cases
            .par_iter()
            .map(|case| self.failing_events(case.trace, selection))
            .collect::<Result<_, Halt>>()?;
        let keep = |inside: bool| {
            let cases = self.cases.iter().zip(&rest).filter_map(|(case, rest)| {
                let blamed = case.blamed.iter().copied();
                let blamed: FxHashSet<usize> = blamed
                    .filter(|event| rest.contains(event) == inside)
                    .collect();
                Some(Case {
                    last: *blamed.iter().max()?,
                    blamed,
                    passed: Vec::new(),
                    ..case.clone()
                })
            });
            cases.collect::<Vec<Case>>()
        };
        let other = Self {
            cases: keep(true),
            labels: self.labels.clone(),
            free: self.free.clone(),
            order: Vec::new(),
            analyses: AtomicU64::new(0),
            events: AtomicU64::new(0),
            ..self
        };
        let repaired = keep(false);
        let this = Self {
            order: shortest_first(&repaired),
            cases: repaired,
            ..self
        };
        let other = Self {
            order: shortest_first(&other.cases),
            ..other
        };
        Ok((this, other))
    }

    /// The first case that a selection does not repair. It will be asked first
    /// from now on.
    pub(crate) fn first_failing(&mut self, selection: &Selection) -> Result<Option<usize>, Halt> {
        let open: Vec<usize> = self
            .order
            .iter()
            .copied()
            .filter(|&case| !self.is_known_to_pass(case, selection))
            .collect();
        // Growing batches of fixed sizes: the answer is that of one thread.
        let (mut rest, mut size) = (&open[..], 1);
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(size.min(rest.len()));
            let fails: Vec<bool> = batch
                .par_iter()
                .map(|&case| self.fails(case, selection))
                .collect::<Result<_, Halt>>()?;
            for (&case, &fails) in batch.iter().zip(&fails) {
                if !fails {
                    self.remember(case, selection);
                }
            }
            if let Some(at) = fails.iter().position(|&fails| fails) {
                let case = batch[at];
                self.order.retain(|&c| c != case);
                self.order.insert(0, case);
                return Ok(Some(case));
            }
            (rest, size) = (after, (size * 4).min(256));
        }
        Ok(None)
    }

    /// Whether a selection leaves a finding in a case.
    pub(crate) fn fails(&self, case: usize, selection: &Selection) -> Result<bool, Halt> {
        let case = &self.cases[case];
        let mut fails = false;
        self.analyse(case.trace, case.last, selection, |event, _, _| {
            fails = case.blamed.contains(&event);
            if fails {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(fails)
    }

    /// How many events decide about all cases together.
    pub(crate) fn events(&self) -> usize {
        self.cases.iter().map(|case| case.last).sum()
    }

    /// The variables that have a site in a case.
    pub(crate) fn variables_of(&self, case: usize) -> &[usize] {
        &self.cases[case].variables
    }

    /// The trace of a case.
    pub(crate) fn trace_of(&self, case: usize) -> usize {
        self.cases[case].trace
    }

    /// Everything that a selection leaves, one finding for each pair of sites.
    pub(crate) fn findings(&self, selection: &Selection) -> Result<Vec<Finding>, Halt> {
        let found: Vec<Vec<Finding>> = self
            .cases
            .par_iter()
            .map(|case| self.findings_in(case, selection))
            .collect::<Result<_, Halt>>()?;
        let mut seen = FxHashSet::default();
        let all = found.into_iter().flatten();
        Ok(all.filter(|finding| seen.insert(finding.key())).collect())
    }

    /// What a selection leaves of one case, one finding for each pair of sites.
    pub(crate) fn findings_of(
        &self,
        case: usize,
        selection: &Selection,
    ) -> Result<Vec<Finding>, Halt> {
        let mut seen = FxHashSet::default();
        let mut found = self.findings_in(&self.cases[case], selection)?;
        found.retain(|finding| seen.insert(finding.key()));
        Ok(found)
    }

    fn findings_in(&self, case: &Case, selection: &Selection) -> Result<Vec<Finding>, Halt> {
        let mut found = Vec::new();
        self.analyse(case.trace, case.last, selection, |event, step, analyzer| {
            if case.blamed.contains(&event) {
                let (violation, race) = self.counted(step, analyzer);
                found.extend(violation.map(|v| Finding::violation(case.trace, v, original)));
                found.extend(race.map(|r| Finding::race(case.trace, r, original)));
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    fn failing_events(
        &self,
        trace: usize,
        selection: &Selection,
    ) -> Result<FxHashSet<usize>, Halt> {
        let mut failing = FxHashSet::default();
        self.analyse(trace, usize::MAX, selection, |event, _, _| {
            failing.insert(event);
            ControlFlow::Continue(())
        })?;
        Ok(failing)
    }

    /// Analyses a trace with changed labels up to an event and shows every event
    /// that has a finding, by its number in the trace as it was recorded.
    fn analyse(
        &self,
        trace: usize,
        last: usize,
        selection: &Selection,
        mut visit: impl FnMut(usize, EventFindings, &Analyzer) -> ControlFlow<()>,
    ) -> Result<(), Halt> {
        let labels = selection.labels(self.variables, &self.labels);
        let mut run = labels.run(self.free[trace]);
        let mut analyzer = Analyzer::new(self.config);
        let mut fed = 0;
        let events = self.traces[trace].iter().enumerate();
        'events: for (number, event) in events.take_while(|&(number, _)| number <= last) {
            if number % EVENTS_BETWEEN_STOP_CHECKS == 0 {
                self.stop.check()?;
            }
            let expanded = run.expand(event).into_iter().flatten();
            for (offset, event) in expanded.enumerate() {
                let index = EventIndex(number as u64 * INDICES_PER_EVENT + offset as u64);
                let step =
                    analyzer
                        .feed_at(index, &event)
                        .map_err(|source| RepairError::Trace {
                            trace,
                            event: number,
                            source,
                        })?;
                fed += 1;
                let (violation, race) = self.counted(step, &analyzer);
                let found = violation.is_some() || race.is_some();
                if found && visit(number, step, &analyzer).is_break() {
                    break 'events;
                }
            }
        }
        self.analyses.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(fed, Ordering::Relaxed);
        Ok(())
    }

    /// What a step found, as far as it counts.
    fn counted<'s>(
        &self,
        step: EventFindings,
        analyzer: &'s Analyzer,
    ) -> (Option<&'s Violation>, Option<&'s Race>) {
        let violation = step.violation.map(|n| &analyzer.violations()[n].violation);
        let race = step.race.map(|n| &analyzer.races()[n].race);
        (
            violation.filter(|violation| !self.allowed.allows_violation(violation)),
            race.filter(|race| !self.allowed.allows_race(race)),
        )
    }

    fn is_known_to_pass(&self, case: usize, selection: &Selection) -> bool {
        let case = &self.cases[case];
        let covers = |known| selection.covers(self.variables, known, &case.variables);
        case.passed.iter().any(covers)
    }

    fn remember(&mut self, case: usize, selection: &Selection) {
        let case = &mut self.cases[case];
        // What is stronger than the new one has nothing to say any more.
        case.passed
            .retain(|known| !known.covers(self.variables, selection, &case.variables));
        case.passed.insert(0, selection.clone());
        case.passed.truncate(MAX_PASSED_SELECTIONS);
    }
}

/// The cases, those first that are decided after the fewest events.
fn shortest_first(cases: &[Case]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|&case| (cases[case].last, case));
    order
}

/// The number of an event in the trace as it was recorded.
fn original(index: EventIndex) -> EventIndex {
    EventIndex(index.0 / INDICES_PER_EVENT)
}
