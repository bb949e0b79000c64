//! One search: from the recorded runs to the cheapest set of changes that fit
//! into the text together.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wmfix_analysis::{SiteId, ViolationKind};
use wmfix_repair::{
    AllowedFindings, Change, ChangeKind, Options, Outcome, Problem, Profile, ReasonedChange,
    SearchEnd, holds, repair_in_layers, unneeded,
};

use super::explain::{Explainer, carriers};
use super::verify::{finding_keys, violation_places};
use super::{Proposal, Ranking, RepairLoop, RepairNote, RepairResult, RepairTask};
use crate::candidates::{Candidates, Purpose};
use crate::evidence::Evidence;
use crate::findings::{FindingNames, ViolationKey};
use crate::observe::Places;
use crate::path_limit::PathLimit;
use crate::plain_accesses::PlainAccesses;
use crate::progress::{Progress, Stage};
use crate::run::interrupted;

/// How long a search may take: it then ends with the best repair it knows.
pub(crate) const SEARCH_TIME: Duration = Duration::from_secs(60);

/// More events than this, once for each violation that is spared, are not looked through.
const MOST_EVENTS_PROBED: usize = 2_000_000;

/// A change that cannot be made together with others.
pub(super) struct RefusedChange {
    /// Where its operation starts in the text.
    pub(super) at: (PathBuf, usize),
    pub(super) kind: ChangeKind,
    pub(super) reason: String,
}

impl RepairLoop<'_> {
    /// Searches once; `None` if the changes do not fit together, which the next
    /// search then knows.
    pub(super) fn search(
        &mut self,
        evidence: &mut Evidence,
        rank: Ranking<'_>,
        names: Option<&FindingNames>,
    ) -> anyhow::Result<Option<Proposal>> {
        let Ranking {
            left_alone, minor, ..
        } = rank;
        let spared = self.spared(evidence, rank);
        let wanted = finding_keys(evidence, left_alone, self.task.limit);
        let allowed = allowed_findings(evidence, left_alone, self.task.limit);
        let layers = self.layers(&allowed, minor, evidence.places());
        let carriers = carriers(evidence.collected());
        let (traces, places) = evidence.lend_traces();
        let config = self.task.options.analyzer_config();
        let plain = PlainAccesses::racing(&traces, config, places);
        let tree = self.task.tree;
        let mut candidates = Candidates::new(
            &traces,
            &plain,
            places,
            tree,
            Purpose::Repair,
            self.task.options.volatile_orders(),
        );
        candidates.take_standard_fences(&self.standard_fences);
        for refused in &self.refused {
            candidates.refuse(&refused.at, refused.kind, &refused.reason);
        }
        let mut problem = Problem {
            traces,
            points: candidates.points.clone(),
            moves: candidates.moves(places, self.task.tree),
            analysis: config,
            allowed,
        };
        // Half of the time is for building and running what is found.
        let left = self.task.deadline.left();
        let budget = left.map_or(SEARCH_TIME, |left| (left / 2).min(SEARCH_TIME));
        let mut outcome = cheapest(&problem, &layers, &self.task, budget)?;
        drop_unneeded(&problem, &mut outcome, budget / 4)?;
        self.search_time += outcome.work.total;
        let open = still_there(&mut problem, &outcome, spared)?;
        let places = evidence.take_back(problem.traces);
        let open = open
            .iter()
            .map(|key| violation_places(places, key))
            .collect();
        if let Some(names) = names {
            let explainer = Explainer {
                candidates: &candidates,
                places,
                carriers: &carriers,
            };
            let labels = explainer.labels(&outcome, names);
            candidates.annotate(labels);
        }
        let changes: Vec<Change> = chosen(&outcome).iter().map(|c| c.change).collect();
        if outcome.repair.is_none() && !self.notes.contains(&RepairNote::NoRepairInTime) {
            self.notes.push(RepairNote::NoRepairInTime);
        }
        let (files, conflicts) = candidates.patched(&changes);
        if !conflicts.is_empty() && !self.task.deadline.is_over() {
            let refused = conflicts.into_iter().filter_map(|(change, reason)| {
                let site = candidates.site(change.point)?;
                Some(RefusedChange {
                    at: (site.file.to_path_buf(), site.span.start),
                    kind: change.kind,
                    reason,
                })
            });
            self.refused.extend(refused);
            return Ok(None);
        }
        let explainer = Explainer {
            candidates: &candidates,
            places,
            carriers: &carriers,
        };
        Ok(Some(Proposal {
            result: RepairResult {
                wanted: wanted.len(),
                ..explainer.result(&outcome, files)
            },
            remaining: explainer.remaining_places(&outcome),
            wanted,
            open,
        }))
    }
}

impl RepairLoop<'_> {
    /// The violations that are spared, each with what is allowed if it is not.
    fn spared(
        &self,
        evidence: &mut Evidence,
        rank: Ranking<'_>,
    ) -> Vec<(ViolationKey, AllowedFindings)> {
        let all = rank.spared.iter().map(|key| {
            let mut others = rank.left_alone.clone();
            others.remove(key);
            (*key, allowed_findings(evidence, &others, self.task.limit))
        });
        all.collect()
    }

    /// What is allowed while the findings are repaired that matter most: first all
    /// but races, then what does little harm. Nothing comes first where it is the
    /// number of changes that counts.
    fn layers(
        &self,
        allowed: &AllowedFindings,
        minor: &BTreeSet<ViolationKey>,
        places: &Places,
    ) -> Vec<AllowedFindings> {
        if self.task.profile == Profile::Fewest {
            return Vec::new();
        }
        let only_races = only_races(allowed, places);
        let mut serious = allowed.clone();
        for (access, newer, kind) in sites_of(minor, places) {
            serious.allow_between(access, newer, kind);
        }
        vec![only_races, serious]
    }
}

/// What a search does not look at: what the project allows, what is `left_alone`, what
/// was not confirmed, what libraries do, and what is not in the limit.
fn allowed_findings(
    evidence: &mut Evidence,
    left_alone: &BTreeSet<ViolationKey>,
    limit: &PathLimit,
) -> AllowedFindings {
    let mut allowed = evidence.allowances(&[]).allowed_findings();
    for (access, newer, kind) in sites_of(left_alone, evidence.places()) {
        allowed.allow_between(access, newer, kind);
    }
    let unconfirmed: BTreeSet<ViolationKey> = evidence
        .collected()
        .never_confirmed()
        .map(|finding| finding.key)
        .collect();
    for (access, newer, kind) in sites_of(&unconfirmed, evidence.places()) {
        allowed.allow_between(access, newer, kind);
    }
    allowed_in_libraries(&mut allowed, evidence.places());
    outside(&mut allowed, evidence, limit);
    allowed
}

/// The same with everything stale allowed: only races are looked at.
fn only_races(allowed: &AllowedFindings, places: &Places) -> AllowedFindings {
    let mut only_races = allowed.clone();
    for (site, _) in places.iter() {
        for kind in VIOLATION_KINDS {
            only_races.allow_violation(site, kind);
        }
    }
    only_races
}

const VIOLATION_KINDS: [ViolationKind; 3] = [
    ViolationKind::StaleRead,
    ViolationKind::StaleWrite,
    ViolationKind::StaleRmw,
];

/// What libraries do with objects of their own is not the program's to repair.
pub(crate) fn allowed_in_libraries(allowed: &mut AllowedFindings, places: &Places) {
    for (site, place) in places.iter() {
        let point = place.point.as_ref();
        if place.is_foreign() {
            for kind in VIOLATION_KINDS {
                allowed.allow_violation(site, kind);
            }
        }
        // The same accesses whose races are not reported: a constructor of the library's
        // that writes to the program's object is the program's doing.
        if place.is_library || point.is_some_and(|at| places.scope.is_system(&at.file)) {
            allowed.allow_library(site, place.is_library && place.kind.is_atomic());
        }
    }
}

/// Allows what lies outside of the limit: it is not to be repaired.
fn outside(allowed: &mut AllowedFindings, evidence: &mut Evidence, limit: &PathLimit) {
    if limit.path().is_none() {
        return;
    }
    let (found, places) = evidence.findings();
    let violations = found.violations.iter().map(|finding| finding.key);
    let violations = violations.filter(|key| !limit.holds_violation(places, key));
    for (access, newer, kind) in sites_of(&violations.collect(), places) {
        allowed.allow_between(access, newer, kind);
    }
    let races = found.races.iter();
    for finding in races.filter(|finding| !limit.holds_race(places, finding)) {
        let race = &finding.first.race.race;
        allowed.allow_race_between(race.first.site, race.second.site);
    }
}

/// Findings by the sites of their events: several may be shown as one.
fn sites_of(keys: &BTreeSet<ViolationKey>, places: &Places) -> Vec<ViolationKey> {
    let mut shown_as: HashMap<SiteId, Vec<SiteId>> = HashMap::new();
    for (site, place) in places.iter() {
        shown_as.entry(place.reported_site).or_default().push(site);
    }
    let all = |site: SiteId| shown_as.get(&site).cloned().unwrap_or_else(|| vec![site]);
    let mut sites = Vec::new();
    for &(access, newer, kind) in keys {
        let newer: Vec<Option<SiteId>> = match newer {
            Some(newer) => all(newer).into_iter().map(Some).collect(),
            None => vec![None],
        };
        for access in all(access) {
            sites.extend(newer.iter().map(|&newer| (access, newer, kind)));
        }
    }
    sites
}

/// The changes of the cheapest repair; none if there is no repair.
pub(super) fn chosen(outcome: &Outcome) -> &[ReasonedChange] {
    let repair = outcome.repair.as_ref();
    repair.map_or(&[], |repair| &repair.changes)
}

fn cheapest(
    problem: &Problem,
    layers: &[AllowedFindings],
    task: &RepairTask<'_>,
    budget: Duration,
) -> anyhow::Result<Outcome> {
    let cancel = Arc::new(AtomicBool::new(interrupted()));
    let options = Options {
        profile: task.profile,
        budget: Some(budget),
        cancel: Some(cancel.clone()),
    };
    let _progress = Progress::new(task.options, Stage::Searching);
    let outcome = repair_in_layers(problem, layers, &options, |_| {
        cancel.store(task.deadline.is_over(), Ordering::Relaxed);
    })?;
    Ok(outcome)
}

/// Which of the violations that are spared some recorded run has with the changes made.
fn still_there(
    problem: &mut Problem,
    outcome: &Outcome,
    spared: Vec<(ViolationKey, AllowedFindings)>,
) -> anyhow::Result<Vec<ViolationKey>> {
    let changes: Vec<Change> = chosen(outcome).iter().map(|c| c.change).collect();
    let events: usize = problem.traces.iter().map(Vec::len).sum();
    if events.saturating_mul(spared.len()) > MOST_EVENTS_PROBED {
        return Ok(spared.into_iter().map(|(key, _)| key).collect());
    }
    let mut open = Vec::new();
    for (key, allowed) in spared {
        problem.allowed = allowed;
        if !holds(problem, &changes)? {
            open.push(key);
        }
    }
    Ok(open)
}

/// Drops changes that no run needs: a search that was stopped may have some. What was
/// found for the layers before it is needed there, whatever else was found later.
fn drop_unneeded(problem: &Problem, outcome: &mut Outcome, budget: Duration) -> anyhow::Result<()> {
    if outcome.end == SearchEnd::Optimal || interrupted() {
        return Ok(());
    }
    if let Some(repair) = &mut outcome.repair {
        // Those that come last are tried first.
        let mut by_layer: Vec<&ReasonedChange> = repair.changes.iter().collect();
        by_layer.sort_by_key(|change| change.layer);
        let last = by_layer.last().map_or(0, |change| change.layer);
        let changes: Vec<Change> = by_layer.iter().map(|c| c.change).collect();
        let unneeded: Vec<Change> = unneeded(problem, &changes, Some(budget))?
            .into_iter()
            .map(|number| changes[number])
            .collect();
        let is_kept =
            |change: &ReasonedChange| change.layer < last || !unneeded.contains(&change.change);
        repair.changes.retain(is_kept);
        repair.cost = repair.changes.iter().map(|change| change.cost).sum();
    }
    Ok(())
}
