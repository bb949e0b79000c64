//! What lies outside of the part of the project that was named. It is not shown and not
//! repaired, but a program whose fault is in another folder is no correct one: races
//! and harmful stale values count wherever they are.

use super::Judgement;
use super::findings;
use super::spots::SpotFinder;
use super::stable_ids::StableIds;
use crate::allow::Allowances;
use crate::findings::CollectedFindings;
use crate::harm::HarmVerdict;
use crate::report::dossier::FindingDetail;
use crate::report::fingerprint;
use crate::report::model::{OutsideFinding, OutsideFindings, StaleKind};

/// A finding that has no name yet: what kind of violation it is, if it is one, and
/// what its name is made of.
type Draft = (OutsideFinding, Option<StaleKind>, FindingDetail);

/// What lies outside of a limit; `None` without one.
pub(super) fn outside(
    collected: &CollectedFindings,
    spots: &mut SpotFinder<'_>,
    allowances: &Allowances,
    judged: Judgement<'_>,
) -> Option<OutsideFindings> {
    let limit = judged.limit;
    let path = match spots.shown(limit.path()?) {
        path if path.is_empty() => "this folder".to_owned(),
        path => path,
    };
    let mut total = 0;
    let mut drafts: Vec<Draft> = Vec::new();
    for finding in &collected.violations {
        if limit.holds_violation(spots.places, &finding.key) {
            continue;
        }
        total += 1;
        let (access, _, kind) = finding.key;
        let harm = judged.harms.get(&finding.key);
        let is_harmful = harm.is_some_and(|harm| {
            harm.verdict == HarmVerdict::Harmful && harm.shows_on(judged.target)
        });
        if is_harmful && allowances.violation(access, kind).is_none() {
            let (violation, detail) = findings::violation(spots, finding);
            let outside = OutsideFinding {
                stable_id: String::new(),
                kind: fingerprint::rule(violation.kind).to_owned(),
                place: violation.access,
                other: violation.write,
                location: violation.location,
            };
            drafts.push((outside, Some(violation.kind), detail));
        }
    }
    for finding in &collected.races {
        if limit.holds_race(spots.places, finding) {
            continue;
        }
        total += 1;
        let race = &finding.first.race.race;
        if allowances.race(race.first.site, race.second.site).is_none() {
            let (race, detail) = findings::race(spots, finding);
            let outside = OutsideFinding {
                stable_id: String::new(),
                kind: fingerprint::DATA_RACE.to_owned(),
                place: race.second,
                other: race.first,
                location: race.location,
            };
            drafts.push((outside, None, detail));
        }
    }
    let reached = collected.reached.keys().copied();
    Some(OutsideFindings {
        path,
        total,
        counted: named(drafts),
        nothing_inside: !limit.holds_any(spots.places, reached),
    })
}

/// The findings in the order of their places, with their names.
fn named(mut drafts: Vec<Draft>) -> Vec<OutsideFinding> {
    drafts.sort_by(|(a, ..), (b, ..)| {
        (&a.place, &a.other, &a.kind).cmp(&(&b.place, &b.other, &b.kind))
    });
    let mut names = StableIds::default();
    let named = drafts.into_iter().map(|(finding, kind, detail)| {
        let stable_id = match kind {
            Some(kind) => names.of_violation(kind, &detail),
            None => names.of_race(&detail),
        };
        OutsideFinding {
            stable_id,
            ..finding
        }
    });
    named.collect()
}
