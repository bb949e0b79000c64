//! What findings are known by in another run, on another machine, after lines have
//! moved: for SARIF, code hosts and baselines.

use std::collections::{BTreeMap, HashMap};

use super::dossier::{Dossier, FindingDetail};
use super::model::{Finding, Race, StaleKind, Violation};

/// The name of a kind of finding that is no violation.
pub(super) const DATA_RACE: &str = "data-race";

/// The fingerprint of each finding, allowed or not, by its name in the report.
pub(super) fn fingerprints(dossier: &Dossier) -> BTreeMap<&str, String> {
    let report = &dossier.report;
    let mut named: Vec<(&str, &str)> = Vec::new();
    named.extend(report.violations.iter().map(of_violation));
    named.extend(report.races.iter().map(of_race));
    named.extend(report.allowed.iter().map(|allowed| match &allowed.finding {
        Finding::Violation(violation) => of_violation(violation),
        Finding::Race(race) => of_race(race),
    }));
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut prints = BTreeMap::new();
    for (id, rule) in named {
        let Some(detail) = dossier.details.get(id) else {
            continue;
        };
        let print = fingerprint(rule, detail);
        // Findings that look the same are numbered.
        let count = seen.entry(print.clone()).or_default();
        *count += 1;
        let print = match *count {
            1 => print,
            count => format!("{print}:{count}"),
        };
        prints.insert(id, print);
    }
    prints
}

/// What each finding is called in every report, by its name in this one: its stable
/// name, and its fingerprint where it has none.
pub(super) fn lasting_names(dossier: &Dossier) -> BTreeMap<&str, String> {
    let mut names = fingerprints(dossier);
    for (id, name) in &mut names {
        let stable = dossier.report.stable_id(id);
        if let Some(stable) = stable.filter(|stable| !stable.is_empty()) {
            *name = stable.to_owned();
        }
    }
    names
}

fn of_violation(violation: &Violation) -> (&str, &'static str) {
    (&violation.id, rule(violation.kind))
}

fn of_race(race: &Race) -> (&str, &'static str) {
    (&race.id, DATA_RACE)
}

/// The name of a kind of violation.
pub(super) fn rule(kind: StaleKind) -> &'static str {
    match kind {
        StaleKind::Read => "stale-read",
        StaleKind::Write => "stale-write",
        StaleKind::Rmw => "stale-rmw",
    }
}

/// The same for the same finding, whatever lines come and go around it.
fn fingerprint(rule: &str, detail: &FindingDetail) -> String {
    let mut sides = vec![detail.access.identity.as_str()];
    sides.extend(detail.other.as_ref().map(|spot| spot.identity.as_str()));
    if detail.race.is_some() {
        // Which side comes first is the schedule's doing.
        sides.sort_unstable();
    }
    let text = format!("{rule}\n{}", sides.join("\n"));
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}
