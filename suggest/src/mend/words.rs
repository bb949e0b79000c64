//! Changes and findings in words, with the places where people find them.

use std::collections::BTreeSet;
use std::path::Path;

use wmfix_analysis::SiteId;

use super::chosen;
use super::told::{Explained, Mended};
use super::verify::{Verification, Whereabouts, whereabouts};
use crate::observe::Places;
use crate::patch::{Menu, PatchedFile, action_words, cost_words};
use crate::repair::{Change, Ended, Finding, Outcome, Reasoned};

/// Gives changes and findings their words.
pub(super) struct Namer<'a> {
    /// What may be changed.
    pub(super) menu: &'a Menu,
    /// Where events come from.
    pub(super) places: &'a Places,
}

impl Namer<'_> {
    /// What came of a search.
    pub(super) fn mended(&self, outcome: &Outcome, files: Vec<PatchedFile>) -> Mended {
        let needed = outcome.unrepairable.iter().map(|needed| {
            let what = self.findings(&needed.findings).join("; ");
            let change = action_words(needed.change.action);
            let place = self.place(needed.change.place);
            format!("{what}: needs {change} at {place}, but {}", needed.refusal)
        });
        let beyond = self.findings(&outcome.beyond_repair).into_iter();
        let beyond = beyond.map(|what| format!("{what}: no memory order or fence changes that"));
        Mended {
            files,
            changes: chosen(outcome).iter().map(|c| self.explained(c)).collect(),
            cost: outcome.repair.as_ref().map_or(0, |repair| repair.cost),
            optimal: outcome.ended == Ended::Optimal,
            lower_bound: outcome.lower_bound,
            verification: Verification::NoPatch,
            unrepairable: needed.chain(beyond).collect(),
        }
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

    fn explained(&self, reasoned: &Reasoned) -> Explained {
        let Change { place, action } = reasoned.change;
        let site = self.menu.site(place);
        let first = self.menu.places[place].sites[0];
        let known = self.places.get(first);
        Explained {
            kind: if action.is_new_fence() {
                "fence"
            } else {
                "order"
            },
            place: site.map_or_else(
                || (self.place(place), 0, 0),
                |site| (shown(&site.file), site.start.line, site.start.column),
            ),
            operation: site.map(|site| site.callee.clone()).unwrap_or_default(),
            from: known.order,
            to: action_words(action),
            reasons: self.findings(&reasoned.reasons),
            price: cost_words(action),
        }
    }

    fn findings(&self, findings: &[Finding]) -> Vec<String> {
        let mut words: Vec<String> = findings.iter().map(|f| self.finding(f)).collect();
        // Read and write of one line are one story.
        let mut told = BTreeSet::new();
        words.retain(|line| told.insert(line.clone()));
        words
    }

    fn finding(&self, finding: &Finding) -> String {
        match finding {
            Finding::Violation { violation, .. } => {
                let newer = violation.newer.origin.map(|(_, site)| self.at(site));
                let newer = newer.unwrap_or_else(|| "the first value".to_owned());
                let access = self.at(violation.site);
                format!("the access at {access} may miss the write at {newer}")
            }
            Finding::Race { race, .. } => {
                let (first, second) = (self.at(race.first.site), self.at(race.second.site));
                format!("the plain accesses at {first} and {second} race")
            }
        }
    }

    fn place(&self, place: usize) -> String {
        self.at(self.menu.places[place].sites[0])
    }

    fn at(&self, site: SiteId) -> String {
        match &self.places.get(site).point {
            Some(point) => format!("{}:{}", shown(&point.file), point.line),
            None => "a place without debug information".to_owned(),
        }
    }
}

/// A path as people like it: relative to the current folder, if it is below.
fn shown(path: &Path) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let below = path.strip_prefix(&current).unwrap_or(path);
    below.display().to_string()
}
