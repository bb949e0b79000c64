//! What a search found, as the result has it: changes with their sites in the
//! text and the findings that they remove.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use wmfix_analysis::SiteId;
use wmfix_repair::{Change, Finding, Outcome, ReasonedChange, SearchEnd};

use super::groups::split;
use super::result::{
    ChangeSite, ExplainedChange, NeededChange, RemainingFindings, RemainingReason, RepairResult,
    Verification,
};
use super::search::chosen;
use super::verify::PlaceKey;
use crate::candidates::Candidates;
use crate::findings::{Carrier, CollectedFindings, FindingKey, FindingNames};
use crate::observe::Places;
use crate::subject::PatchedFile;

/// Explains the changes that a search chose.
pub(super) struct Explainer<'a> {
    /// What may be changed.
    pub(super) candidates: &'a Candidates,
    /// Where events come from.
    pub(super) places: &'a Places,
    /// What carried the news of races.
    pub(super) carriers: &'a Carriers,
}

/// What carried the news of the first access to the second one, by race.
pub(super) type Carriers = BTreeMap<FindingKey, Carrier>;

/// What carried the news of the races that were found.
pub(super) fn carriers(found: &CollectedFindings) -> Carriers {
    let carried = found.races.iter().filter_map(|race| {
        let (one, other) = race.key;
        Some(((one, Some(other), None), race.first.carrier?))
    });
    carried.collect()
}

impl Explainer<'_> {
    /// What came of a search, before it is verified.
    pub(super) fn result(&self, outcome: &Outcome, files: Vec<PatchedFile>) -> RepairResult {
        let needed = outcome.unrepairable.iter().map(|needed| RemainingFindings {
            findings: self.keys(&needed.findings),
            why: RemainingReason::Refused(Box::new(NeededChange {
                kind: needed.change.kind,
                at: self.change_site(needed.change.point),
                refusal: needed.refusal.clone(),
            })),
        });
        let beyond = self.keys(&outcome.beyond_repair).into_iter();
        let beyond = beyond.map(|key| (key, RemainingReason::NothingHelps));
        let open = self.keys(&outcome.unexplained).into_iter();
        let open = open.map(|key| (key, RemainingReason::OutOfTime));
        let beyond = beyond.chain(open).map(|(key, why)| RemainingFindings {
            findings: vec![key],
            why,
        });
        let changes: Vec<ExplainedChange> =
            chosen(outcome).iter().map(|c| self.explained(c)).collect();
        let reasons: Vec<_> = changes.iter().map(|c| c.reasons.clone()).collect();
        let plain: Vec<Change> = chosen(outcome).iter().map(|c| c.change).collect();
        let layers: Vec<usize> = chosen(outcome).iter().map(|c| c.layer).collect();
        let groups = match files.is_empty() {
            true => Vec::new(),
            false => split(self.candidates, &plain, &reasons, &layers, &files),
        };
        RepairResult {
            files,
            changes,
            groups,
            cost: outcome.repair.as_ref().map_or(0, |repair| repair.cost),
            optimal: outcome.end == SearchEnd::Optimal,
            lower_bound: outcome.lower_bound,
            wanted: 0,
            recorded_runs: outcome.runs,
            layers: layers.iter().collect::<BTreeSet<_>>().len().max(1) as u64,
            spared: 0,
            verification: Verification::NoPatch,
            remaining: needed.chain(beyond).collect(),
            rounds: 0,
            notes: Vec::new(),
            search_time: Duration::ZERO,
            verification_time: Duration::ZERO,
        }
    }

    /// What the text is to say beside each change.
    pub(super) fn labels(&self, outcome: &Outcome, ids: &FindingNames) -> Vec<(Change, String)> {
        let labelled = chosen(outcome).iter().map(|reasoned| {
            let removed = ids.stable_of(&self.keys(&reasoned.reasons));
            (reasoned.change, removed.join(", "))
        });
        labelled.filter(|(_, label)| !label.is_empty()).collect()
    }

    /// The places of findings that no change removes.
    pub(super) fn remaining_places(&self, outcome: &Outcome) -> BTreeSet<PlaceKey> {
        let needed = outcome.unrepairable.iter().flat_map(|n| &n.findings);
        let findings = needed
            .chain(&outcome.beyond_repair)
            .chain(&outcome.unexplained);
        findings
            .flat_map(|finding| {
                let (one, other, _) = finding.key();
                [Some(one), other].into_iter().flatten()
            })
            .map(|site| PlaceKey::of(self.places, site))
            .collect()
    }

    fn explained(&self, reasoned: &ReasonedChange) -> ExplainedChange {
        let Change { point, kind } = reasoned.change;
        ExplainedChange {
            kind,
            at: self.change_site(point),
            before: self.candidates.points[point].orders,
            other_callers: self.other_callers(point, &reasoned.reasons),
            reasons: self.keys(&reasoned.reasons),
            is_covered: reasoned.is_covered,
            reached: None,
        }
    }

    /// How many calls lead to the operation of a point that none of these findings
    /// needs to be changed.
    fn other_callers(&self, point: usize, reasons: &[Finding]) -> usize {
        let shown = |site: SiteId| self.places.get(site).reported_site;
        let mut needed: BTreeSet<SiteId> = BTreeSet::new();
        for key in self.keys(reasons) {
            needed.extend([Some(key.0), key.1].into_iter().flatten());
            // A race needs what carried the news of its first access.
            let carrier = self.carriers.get(&key);
            needed.extend(
                carrier
                    .iter()
                    .flat_map(|carrier| [carrier.write, carrier.read]),
            );
        }
        let needed: BTreeSet<SiteId> = needed.into_iter().map(shown).collect();
        let sites = self.candidates.points[point].sites.iter();
        // A change at the call itself is paid for there only.
        let is_inside = |site: &&SiteId| {
            let place = self.places.get(**site);
            !place.via.is_empty() && self.candidates.site(point) == place.site.as_ref()
        };
        let calls: BTreeSet<SiteId> = sites.filter(is_inside).map(|&site| shown(site)).collect();
        let others = calls.difference(&needed).count();
        // Whichever it is, one of them needs the change.
        others.min(calls.len().saturating_sub(1))
    }

    /// What findings are known by, each once.
    fn keys(&self, findings: &[Finding]) -> Vec<FindingKey> {
        let shown = |site| self.places.get(site).reported_site;
        let mut keys: Vec<FindingKey> = Vec::new();
        for finding in findings {
            let (one, other, kind) = finding.key();
            let (mut one, mut other) = (shown(one), other.map(shown));
            if let (None, Some(second)) = (kind, other) {
                (one, other) = (one.min(second), Some(one.max(second)));
            }
            if !keys.contains(&(one, other, kind)) {
                keys.push((one, other, kind));
            }
        }
        keys
    }

    fn change_site(&self, place: usize) -> ChangeSite {
        ChangeSite {
            site: self.candidates.points[place].sites[0],
            text: self.candidates.site(place).cloned(),
        }
    }
}
