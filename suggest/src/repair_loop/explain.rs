//! What a search found, with the places where people find it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::chosen;
use super::groups::split;
use super::result::{ChangeSite, ExplainedChange, FindingKey, RemainingFindings, RepairResult};
use super::verify::{Verification, Whereabouts, whereabouts};
use crate::candidates::Candidates;
use crate::observe::Places;
use crate::report::FindingNames;
use crate::subject::PatchedFile;
use wmfix_repair::{Change, Finding, Outcome, ReasonedChange, SearchEnd};

/// Gives changes and findings their places.
pub(super) struct Namer<'a> {
    /// What may be changed.
    pub(super) candidates: &'a Candidates,
    /// Where events come from.
    pub(super) places: &'a Places,
}

impl Namer<'_> {
    /// What came of a search.
    pub(super) fn mended(&self, outcome: &Outcome, files: Vec<PatchedFile>) -> RepairResult {
        let needed = outcome.unrepairable.iter().map(|needed| RemainingFindings {
            findings: self.keys(&needed.findings),
            needed: Some((
                needed.change.kind,
                self.spotted(needed.change.point),
                needed.refusal.clone(),
            )),
        });
        let beyond = self
            .keys(&outcome.beyond_repair)
            .into_iter()
            .map(|key| RemainingFindings {
                findings: vec![key],
                needed: None,
            });
        let changes: Vec<ExplainedChange> =
            chosen(outcome).iter().map(|c| self.explained(c)).collect();
        let reasons: Vec<_> = changes.iter().map(|c| c.reasons.clone()).collect();
        let plain: Vec<Change> = chosen(outcome).iter().map(|c| c.change).collect();
        let groups = match files.is_empty() {
            true => Vec::new(),
            false => split(self.candidates, &plain, &reasons, &files),
        };
        RepairResult {
            files,
            changes,
            groups,
            cost: outcome.repair.as_ref().map_or(0, |repair| repair.cost),
            optimal: outcome.end == SearchEnd::Optimal,
            lower_bound: outcome.lower_bound,
            verification: Verification::NoPatch,
            left: needed.chain(beyond).collect(),
            rounds: 0,
            notes: Vec::new(),
            searched: Duration::ZERO,
            verified: Duration::ZERO,
        }
    }

    /// What the text is to say beside each change.
    pub(super) fn labels(&self, outcome: &Outcome, ids: &FindingNames) -> Vec<(Change, String)> {
        let labelled = chosen(outcome).iter().map(|reasoned| {
            let removed = ids.of(&self.keys(&reasoned.reasons));
            (reasoned.change, removed.join(", "))
        });
        labelled.filter(|(_, label)| !label.is_empty()).collect()
    }

    /// The places of findings that stay.
    pub(super) fn left(&self, outcome: &Outcome) -> BTreeSet<Whereabouts> {
        let needed = outcome.unrepairable.iter().flat_map(|n| &n.findings);
        let findings = needed.chain(&outcome.beyond_repair);
        findings
            .flat_map(|finding| {
                let (one, other, _) = finding.key();
                [Some(one), other].into_iter().flatten()
            })
            .map(|site| whereabouts(self.places, site))
            .collect()
    }

    fn explained(&self, reasoned: &ReasonedChange) -> ExplainedChange {
        let Change { point, kind } = reasoned.change;
        ExplainedChange {
            action: kind,
            at: self.spotted(point),
            before: self.candidates.points[point].orders,
            reasons: self.keys(&reasoned.reasons),
        }
    }

    /// What findings are known by, each once.
    fn keys(&self, findings: &[Finding]) -> Vec<FindingKey> {
        let shown = |site| self.places.get(site).shown;
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

    fn spotted(&self, place: usize) -> ChangeSite {
        ChangeSite {
            site: self.candidates.points[place].sites[0],
            text: self.candidates.site(place).cloned(),
        }
    }
}
