//! Weaker orders for a program that shows nothing: the cheapest orders for its recorded
//! runs, a patch, and what to learn from the patched program's runs. The search is
//! wmfix-repair's; building and running is the pipeline's.
//!
//! The program has no stale access and no race, and the patched program must have none:
//! whatever a stale value does alone, what it does together with others is not known.

mod menu;
mod result;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wmfix_analysis::{Event, SiteId};
use wmfix_frontend::OrderForm;
use wmfix_repair::{
    AllowedFindings, Change, ChangeKind, Options, Orders, Problem, Relaxation, SearchEnd, relax,
};

use crate::candidates::{Candidates, Purpose};
use crate::evidence::Evidence;
use crate::findings::ViolationKey;
use crate::path_limit::PathLimit;
use crate::plain_accesses::PlainAccesses;
use crate::progress::{Progress, Stage};
use crate::repair_loop::{
    ChangeSite, PatchedRuns, RepairTask, SEARCH_TIME, SEEDS_PER_ROUND, StillFound, Trial,
    Verification, VerificationFailure, allowed_in_libraries, compare,
};
use crate::run::interrupted;
use crate::subject::PatchedFile;
use crate::trace_remapper::{ChangedSite, TraceRemapper};

pub(crate) use result::{KeptReason, KeptSite, RelaxResult, RelaxedSite};

/// After this many patches that do not hold the loop gives up.
const MOST_ROUNDS: u64 = 12;

/// Orders that are not verified yet.
pub(crate) struct RelaxProposal {
    result: RelaxResult,
}

/// What to do after a round.
pub(crate) enum NextRelaxRound {
    /// Nothing: this is the result.
    Finished(Box<RelaxResult>),
    /// Search again.
    Search,
    /// Run the original again, then search.
    RunOriginal,
}

/// What is known from one round to the next.
pub(crate) struct RelaxLoop<'a> {
    task: RepairTask<'a>,
    /// Whether changes say what was there in a comment.
    annotate: bool,
    round: u64,
    refused: Vec<RefusedAssignment>,
    /// Patches that did not hold.
    failed: BTreeSet<String>,
    search_time: Duration,
    verification_time: Duration,
}

/// A change that cannot be made.
struct RefusedAssignment {
    /// Where its operation starts in the text.
    at: (PathBuf, usize),
    kind: ChangeKind,
    reason: &'static str,
}

impl<'a> RelaxLoop<'a> {
    /// The loop before its first round.
    pub(crate) fn new(task: RepairTask<'a>, annotate: bool) -> Self {
        Self {
            task,
            annotate,
            round: 0,
            refused: Vec::new(),
            failed: BTreeSet::new(),
            search_time: Duration::ZERO,
            verification_time: Duration::ZERO,
        }
    }

    /// The first seed for the patched program of this round.
    pub(crate) fn seed(&self) -> u64 {
        let offset = SEEDS_PER_ROUND.wrapping_mul(self.round);
        self.task.options.seed.wrapping_add(offset)
    }

    /// Starts a round: the cheapest orders for the recorded runs.
    pub(crate) fn propose(&mut self, evidence: &mut Evidence) -> anyhow::Result<RelaxProposal> {
        self.round += 1;
        loop {
            if let Some(proposal) = self.search(evidence)? {
                return Ok(proposal);
            }
        }
    }

    /// Searches once; `None` if the changes do not fit together, which the next search
    /// then knows.
    fn search(&mut self, evidence: &mut Evidence) -> anyhow::Result<Option<RelaxProposal>> {
        let all_runs = evidence.exploration().is_some_and(|all| all.is_complete())
            && !evidence.has_dropped_runs();
        let (traces, places) = evidence.lend_traces();
        let mut allowed = AllowedFindings::default();
        allowed_in_libraries(&mut allowed, places);
        let mut candidates = Candidates::new(
            &traces,
            &PlainAccesses::default(),
            places,
            self.task.tree,
            Purpose::Relaxation,
            None,
        );
        for refused in &self.refused {
            candidates.refuse(&refused.at, refused.kind, refused.reason);
        }
        let kept = menu::choose(&mut candidates, &traces, places);
        let problem = Problem {
            traces,
            points: candidates.points.clone(),
            moves: Vec::new(),
            analysis: self.task.options.analyzer_config(),
            allowed,
        };
        let found = self.cheapest(&problem)?;
        let executions = executions(&problem.traces);
        evidence.take_back(problem.traces);
        self.search_time += found.elapsed;
        if self.annotate {
            candidates.annotate(labels(&found.changes, &candidates));
        }
        let (files, conflicts) = candidates.patched(&found.changes);
        if !conflicts.is_empty() && !self.task.deadline.is_over() {
            for (change, _) in conflicts {
                self.refuse_change(&candidates, change, "it does not fit the other changes");
            }
            return Ok(None);
        }
        let changes = found.changes.iter().map(|change| {
            let point = &candidates.points[change.point];
            let runs = point.sites.iter().filter_map(|site| executions.get(site));
            RelaxedSite {
                at: ChangeSite {
                    site: point.sites[0],
                    text: candidates.site(change.point).cloned(),
                },
                kind: change.kind,
                before: point.orders,
                executions: runs.sum(),
            }
        });
        let has_choice = |orders: Orders| orders != Orders::None;
        let points = candidates.points.iter();
        let result = RelaxResult {
            changes: changes.collect(),
            files,
            kept,
            choices: points.filter(|point| has_choice(point.orders)).count() as u64,
            cost_before: found.cost_before,
            cost: found.cost,
            lower_bound: found.lower_bound,
            optimal: found.end == SearchEnd::Optimal,
            all_runs,
            recorded_runs: found.runs,
            savings: found.savings,
            verification: Verification::NoPatch,
            proved: false,
            rounds: self.round,
            gave_up: None,
            search_time: Duration::ZERO,
            verification_time: Duration::ZERO,
        };
        Ok(Some(RelaxProposal { result }))
    }

    /// The cheapest orders for the runs of a problem.
    fn cheapest(&self, problem: &Problem) -> anyhow::Result<Relaxation> {
        let cancel = Arc::new(AtomicBool::new(interrupted()));
        // Half of the time is for building and running what is found.
        let left = self.task.deadline.left();
        let budget = left.map_or(SEARCH_TIME, |left| (left / 2).min(SEARCH_TIME));
        let options = Options {
            profile: self.task.profile,
            budget: Some(budget),
            cancel: Some(cancel.clone()),
        };
        let _progress = Progress::new(self.task.options, Stage::Searching);
        let found = relax(problem, &options, |_| {
            cancel.store(self.task.deadline.is_over(), Ordering::Relaxed);
        });
        Ok(found?)
    }

    /// Ends a round: the result, or what the next round needs.
    pub(crate) fn conclude(
        &mut self,
        evidence: &mut Evidence,
        proposal: RelaxProposal,
        trial: Trial,
    ) -> NextRelaxRound {
        self.verification_time += trial.elapsed;
        let mut result = proposal.result;
        result.verification = trial.verification;
        if let Some(runs) = &trial.runs {
            result.proved = result.holds() && is_proved(evidence) && is_proved(&runs.evidence);
        }
        let goes_on = self.round < MOST_ROUNDS && !self.task.deadline.is_over() && !interrupted();
        match &result.verification {
            Verification::Fails(failure) if goes_on => {
                let failure = failure.clone();
                return self.learn(evidence, &result, trial.runs, &failure);
            }
            Verification::Fails(failure) => {
                result.gave_up = Some(failure.clone());
                result.files.clear();
            }
            Verification::DoesNotBuild(_) if goes_on && self.refuse_new_text(&result) => {
                return NextRelaxRound::Search;
            }
            Verification::DoesNotBuild(_) | Verification::Interrupted | Verification::OutOfTime => {
                result.files.clear()
            }
            Verification::NoPatch | Verification::Clean(_) => {}
        }
        result.search_time = self.search_time;
        result.verification_time = self.verification_time;
        NextRelaxRound::Finished(Box::new(result))
    }

    /// Learns from orders that do not hold: their runs.
    fn learn(
        &mut self,
        evidence: &mut Evidence,
        result: &RelaxResult,
        runs: Option<PatchedRuns>,
        failure: &VerificationFailure,
    ) -> NextRelaxRound {
        let patch: Vec<_> = result.files.iter().map(|file| &file.edits).collect();
        let is_new = self.failed.insert(format!("{patch:?}"));
        let removes_fences = result
            .changes
            .iter()
            .any(|change| change.kind == ChangeKind::RemoveFence);
        let Some(mut patched) = runs else {
            return NextRelaxRound::RunOriginal;
        };
        // A run without a fence at its place is no run of the original to learn from.
        if !removes_fences && matches!(failure, VerificationFailure::Findings(_)) {
            let had = result.changes.iter();
            let had = had.filter_map(|change| {
                Some(ChangedSite {
                    text: change.at.text.clone()?,
                    site: change.at.site,
                    orders: change.before,
                })
            });
            let had: Vec<_> = had.collect();
            let copy = patched.copy.as_ref();
            let remapper = TraceRemapper::new(&had, &result.files, copy, evidence.places());
            let (traces, places) = patched.evidence.lend_traces();
            let remapped = remapper.remap(traces, places, evidence.places());
            if evidence.add_traces(remapped.traces) > 0 {
                return NextRelaxRound::Search;
            }
        }
        if !is_new && removes_fences {
            self.refuse_removals(result);
            return NextRelaxRound::Search;
        }
        NextRelaxRound::RunOriginal
    }

    fn refuse_removals(&mut self, result: &RelaxResult) {
        let removed = result.changes.iter();
        let removed = removed.filter(|change| change.kind == ChangeKind::RemoveFence);
        self.refuse(
            removed,
            "without it, the patched program shows something new",
        );
    }

    /// Takes out of the search what is likely to be why a patch does not build: orders
    /// where none were written or, if there are none, all. Says whether there was any.
    fn refuse_new_text(&mut self, result: &RelaxResult) -> bool {
        let is_new = |change: &&RelaxedSite| {
            let text = change.at.text.as_ref();
            text.is_some_and(|site| site.order.form == OrderForm::Implied)
        };
        let has_new = result.changes.iter().any(|change| is_new(&change));
        let blamed = result.changes.iter();
        let blamed = blamed.filter(|change| !has_new || is_new(change));
        let before = self.refused.len();
        self.refuse(blamed, "a patch with it does not compile");
        self.refused.len() > before
    }

    fn refuse<'c>(&mut self, changes: impl Iterator<Item = &'c RelaxedSite>, reason: &'static str) {
        self.refused.extend(changes.filter_map(|change| {
            let site = change.at.text.as_ref()?;
            Some(RefusedAssignment {
                at: (site.file.to_path_buf(), site.span.start),
                kind: change.kind,
                reason,
            })
        }));
    }

    fn refuse_change(&mut self, candidates: &Candidates, change: Change, reason: &'static str) {
        let site = candidates.site(change.point);
        self.refused.extend(site.map(|site| RefusedAssignment {
            at: (site.file.to_path_buf(), site.span.start),
            kind: change.kind,
            reason,
        }));
    }
}

impl RelaxProposal {
    /// The patched files; none if nothing is changed.
    pub(crate) fn files(&self) -> &[PatchedFile] {
        &self.result.files
    }

    /// What the runs of the patched program come to.
    pub(crate) fn verify(
        &self,
        original: &mut Evidence,
        patched: &mut Evidence,
        left_alone: &BTreeSet<ViolationKey>,
        limit: &PathLimit,
    ) -> Verification {
        let shown = compare(original, patched, &BTreeSet::new(), left_alone, limit);
        match shown {
            Verification::Clean(_) if !patched.collected().is_empty() => {
                Verification::Fails(VerificationFailure::Findings(found_anywhere(patched)))
            }
            shown => shown,
        }
    }
}

/// Where anything was found, allowed or not, in the limit or not.
fn found_anywhere(patched: &mut Evidence) -> StillFound {
    let runs = patched.summary().runs;
    let (found, places) = patched.findings();
    let stale = found.violations.iter().chain(&found.unconfirmed);
    let races = found.races.iter().map(|finding| &finding.first.race.race);
    let sites = stale
        .map(|finding| finding.key.0)
        .chain(races.map(|race| race.first.site));
    let functions: BTreeSet<(String, String)> = sites
        .map(|site| {
            let place = places.get(site);
            let file = place.point.as_ref().and_then(|at| at.file.file_name());
            let file = file.unwrap_or_default().to_string_lossy().into_owned();
            (place.function.clone(), file)
        })
        .collect();
    StillFound {
        functions: functions.into_iter().collect(),
        runs,
        gone: None,
    }
}

/// Whether all runs were explored and nothing was found.
fn is_proved(evidence: &Evidence) -> bool {
    let found = evidence.collected();
    let is_complete = evidence.exploration().is_some_and(|all| all.is_complete());
    is_complete && found.is_empty() && found.problems.is_empty() && found.incomplete_runs() == 0
}

/// How often each site was executed.
fn executions(traces: &[Vec<Event>]) -> HashMap<SiteId, u64> {
    let mut executions: HashMap<SiteId, u64> = HashMap::new();
    for event in traces.iter().flatten() {
        *executions.entry(event.site).or_default() += 1;
    }
    executions
}

/// What the text says beside each change.
fn labels(changes: &[Change], candidates: &Candidates) -> Vec<(Change, String)> {
    let said = changes.iter().filter_map(|&change| {
        let before = match candidates.points[change.point].orders {
            Orders::Load(order) => order.name(),
            Orders::Store(order) => order.name(),
            Orders::Rmw(order) | Orders::CompareExchange { success: order, .. } => order.name(),
            Orders::Fence(order) => order.name(),
            Orders::NoFence | Orders::PlainRead | Orders::PlainWrite | Orders::None => return None,
        };
        Some((change, format!("was {before}")))
    });
    said.collect()
}
