//! Compares the runs of a patched program with those of the original: whether
//! they show anything that the original did not, or that the repair was to
//! remove. Knows nothing of how the patched program was built.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use wmfix_analysis::{SiteId, ViolationKind};

use super::result::{StillFound, Verification, VerificationFailure, VerifiedRuns};
use crate::evidence::Evidence;
use crate::explore::Exploration;
use crate::findings::{FindingKey, Identity, ViolationKey};
use crate::observe::{EventKind, Places};
use crate::path_limit::PathLimit;
use crate::run::interrupted;

/// What a place is known by before and after a patch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlaceKey {
    /// The name of its file.
    file: String,
    /// Its function.
    function: String,
    /// What is done there.
    kind: EventKind,
}

impl PlaceKey {
    /// The key of a site.
    pub(super) fn of(places: &Places, site: SiteId) -> Self {
        let place = places.get(site);
        let path = place.point.as_ref().map(|point| point.file.as_path());
        let name = path.and_then(|path| path.file_name()).unwrap_or_default();
        Self {
            file: name.to_string_lossy().into_owned(),
            function: place.function.clone(),
            kind: place.kind,
        }
    }
}

/// What a violation is known by before and after a patch: its access, what that may
/// miss, and what kind it is.
pub(crate) type ViolationPlaces = (PlaceKey, Option<PlaceKey>, ViolationKind);

/// What a violation is known by before and after a patch.
pub(crate) fn violation_places(places: &Places, key: &ViolationKey) -> ViolationPlaces {
    let &(access, newer, kind) = key;
    let newer = newer.map(|newer| PlaceKey::of(places, newer));
    (PlaceKey::of(places, access), newer, kind)
}

/// What the runs of a patched program come to. `remaining` are the places of
/// findings that no change removes, `left_alone` what does too little harm.
pub(crate) fn compare(
    original: &mut Evidence,
    patched: &mut Evidence,
    remaining: &BTreeSet<PlaceKey>,
    left_alone: &BTreeSet<ViolationKey>,
    limit: &PathLimit,
) -> Verification {
    if patched.not_run().is_some() {
        return Verification::Fails(VerificationFailure::CannotRun);
    }
    if interrupted() {
        return Verification::Interrupted;
    }
    if patched.summary().runs == 0 {
        return Verification::OutOfTime;
    }
    let known_ends = &original.collected().ended;
    let mut ends = patched.collected().ended.keys();
    if let Some(&end) = ends.find(|end| !known_ends.contains_key(end)) {
        return Verification::Fails(VerificationFailure::NewEnd(end));
    }
    let mut functions = Vec::new();
    let shown = placed_findings(patched, left_alone, limit);
    for (_, keys) in &shown {
        let function = (keys[0].function.clone(), keys[0].file.clone());
        if !keys.iter().all(|key| remaining.contains(key)) && !functions.contains(&function) {
            functions.push(function);
        }
    }
    if !functions.is_empty() {
        return Verification::Fails(VerificationFailure::Findings(StillFound {
            functions,
            runs: patched.summary().runs,
            gone: None,
        }));
    }
    let known = placed_findings(original, &BTreeSet::new(), limit);
    let (still, others) = counterparts(&shown, &known);
    let exploration = patched.exploration().cloned();
    let reached = operations(patched);
    let missed = operations(original)
        .into_iter()
        .filter(|(operation, _)| !reached.contains_key(operation));
    Verification::Clean(VerifiedRuns {
        runs: patched.summary().runs,
        schedules: patched.collected().distinct_schedules(),
        missed: missed.map(|(_, site)| site).collect(),
        still,
        others,
        free_runs: None,
        proved: exploration.as_ref().is_some_and(Exploration::is_complete)
            && patched.collected().shows_nothing(),
        exploration,
    })
}

/// The findings of an original that a patched program shows, and how many it shows that
/// are none of these.
fn counterparts(shown: &[PlacedFinding], known: &[PlacedFinding]) -> (Vec<FindingKey>, u64) {
    let mut still = BTreeSet::new();
    let mut others = 0;
    for ((_, _, kind), places) in shown {
        let same = known
            .iter()
            .filter(|((_, _, other), at)| other == kind && is_same_pair(*kind, places, at));
        let mut same = same.map(|(key, _)| *key).peekable();
        others += u64::from(same.peek().is_none());
        still.extend(same);
    }
    (still.into_iter().collect(), others)
}

/// Whether places are those of the same finding; which side of a race is first depends on
/// the run.
fn is_same_pair(kind: Option<ViolationKind>, one: &[PlaceKey], other: &[PlaceKey]) -> bool {
    one == other || kind.is_none() && one.iter().rev().eq(other)
}

/// A finding with the places that it has before and after a patch, the access first.
type PlacedFinding = (FindingKey, Vec<PlaceKey>);

/// The places of each finding in the limit that is neither allowed nor left alone, the
/// access first.
pub(super) fn finding_keys(
    evidence: &mut Evidence,
    left_alone: &BTreeSet<ViolationKey>,
    limit: &PathLimit,
) -> Vec<Vec<PlaceKey>> {
    let placed = placed_findings(evidence, left_alone, limit).into_iter();
    placed.map(|(_, places)| places).collect()
}

/// The findings in the limit that are neither allowed nor left alone.
fn placed_findings(
    evidence: &mut Evidence,
    left_alone: &BTreeSet<ViolationKey>,
    limit: &PathLimit,
) -> Vec<PlacedFinding> {
    let findings = counted_findings(evidence, left_alone, limit);
    let places = evidence.places();
    let placed = findings.into_iter().map(|(key, sites)| {
        let keys = sites.into_iter().map(|site| PlaceKey::of(places, site));
        (key, keys.collect())
    });
    placed.collect()
}

/// The sites of each of them.
fn counted_findings(
    evidence: &mut Evidence,
    left_alone: &BTreeSet<ViolationKey>,
    limit: &PathLimit,
) -> Vec<(FindingKey, Vec<SiteId>)> {
    let allowances = evidence.allowances(&[]);
    let (found, places) = evidence.findings();
    let violations = found.violations.iter().map(|finding| finding.key);
    let violations = violations
        .filter(|key| !left_alone.contains(key) && limit.holds_violation(places, key))
        .filter(|&(access, _, kind)| allowances.violation(access, kind).is_none())
        .map(|(access, newer, kind)| {
            let sites = std::iter::once(access).chain(newer).collect();
            ((access, newer, Some(kind)), sites)
        });
    let races = found.races.iter();
    let races = races.filter(|finding| limit.holds_race(places, finding));
    let races = races
        .map(|finding| {
            let (one, other) = finding.key;
            let race = &finding.first.race.race;
            let key = (one, Some(other), None);
            (key, [race.first.site, race.second.site])
        })
        .filter(|&(_, [one, other])| allowances.race(one, other).is_none())
        .map(|(key, sites)| (key, sites.to_vec()));
    violations.chain(races).collect()
}

/// The operations that runs reached, by what they are known by before and after
/// the patch. Fences are left out: the patch may have added some.
fn operations(evidence: &mut Evidence) -> BTreeMap<(OsString, Identity), SiteId> {
    let reached: Vec<SiteId> = evidence.collected().reached.keys().copied().collect();
    let places = evidence.places();
    let mut operations = BTreeMap::new();
    for id in reached {
        let place = places.get(id).clone();
        if place.kind == EventKind::Fence {
            continue;
        }
        if let Some(site) = place.shown().or(place.site.as_ref())
            && let Some(file) = places.sources.file(&site.file)
        {
            let name = site.file.file_name().unwrap_or_default().to_owned();
            let identity = Identity::of(site, &file.scan, &file.text);
            operations.entry((name, identity)).or_insert(id);
        }
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: &str, kind: EventKind) -> PlaceKey {
        PlaceKey {
            file: "a.c".to_owned(),
            function: function.to_owned(),
            kind,
        }
    }

    #[test]
    fn what_a_patched_program_still_shows_is_named_as_in_the_original() {
        let (read, write) = (at("get", EventKind::Read), at("put", EventKind::Write));
        let race = |one, other| (SiteId(one), Some(SiteId(other)), None);
        let stale = (SiteId(1), Some(SiteId(2)), Some(ViolationKind::StaleRead));
        let known = [
            (race(1, 2), vec![read.clone(), write.clone()]),
            (stale, vec![read.clone(), write.clone()]),
        ];
        // The other side comes first, and sites have other numbers.
        let shown = [(race(7, 8), vec![write.clone(), read.clone()])];
        assert_eq!(counterparts(&shown, &known), (vec![race(1, 2)], 0));
        let shown = [(race(7, 8), vec![write.clone(), write])];
        assert_eq!(counterparts(&shown, &known), (vec![], 1));
    }
}
