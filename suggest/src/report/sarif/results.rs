//! Findings as SARIF results.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::failures;
use super::locations::{of_place, of_spot, replacement, with_message};
use crate::report::dossier::{Dossier, FindingDetail};
use crate::report::model::{
    AllowedFinding, Finding, Group, HarmWord, Race, Repair, ReportedFreeFinding, ReportedPlace,
    Violation,
};
use crate::report::{fingerprint, harm_words, words};
use crate::sarif::uri;

/// All findings, those that are allowed last.
pub(super) fn results(dossier: &Dossier) -> Vec<Value> {
    let report = &dossier.report;
    let mut results: Vec<Value> = report.failures.iter().map(failures::result).collect();
    for one in &report.violations {
        results.push(violation(one, dossier));
    }
    for one in &report.races {
        results.push(race(one, dossier));
    }
    for one in report.free_findings() {
        results.push(free(one, dossier));
    }
    for allowed in &report.allowed {
        let mut result = match &allowed.finding {
            Finding::Violation(one) => violation(one, dossier),
            Finding::Race(one) => race(one, dossier),
        };
        result["suppressions"] = json!([suppression(allowed)]);
        results.push(result);
    }
    let prints = fingerprint::fingerprints(dossier);
    for result in &mut results {
        let id = result["properties"]["id"].as_str().unwrap_or_default();
        let id = id.to_owned();
        let known = (report.baseline.as_ref()).map(|baseline| baseline.has(&id));
        if let Some(print) = prints.get(id.as_str()) {
            result["partialFingerprints"] = json!({ "wmfix/v1": print });
        }
        let stable_id = report.stable_id(&id);
        if let Some(stable_id) = stable_id.filter(|name| !name.is_empty()) {
            result["partialFingerprints"]["wmfix/id"] = json!(stable_id);
        }
        if let Some(known) = known {
            result["baselineState"] = json!(if known { "unchanged" } else { "new" });
        }
    }
    results
}

fn violation(violation: &Violation, dossier: &Dossier) -> Value {
    let rule = fingerprint::rule(violation.kind);
    let mut text = format!(
        "{} {}",
        words::sentence(&words::title(violation)),
        words::what_happens(violation)
    );
    if let Some(harm) = harm_words::consequence(violation) {
        text += &format!(" {}", words::sentence(&harm));
    }
    let mut result = result(rule, &violation.id, &text, &violation.access, dossier);
    if let Some(harm) = &violation.harm {
        result["level"] = json!(match harm.verdict {
            HarmWord::Harmful => "error",
            _ if violation.counts => "warning",
            _ => "note",
        });
    }
    if let Some(detail) = dossier.details.get(&violation.id) {
        if let Some(write) = &detail.other {
            let said = words::at_write(violation, detail);
            let related = with_message(of_spot(write, dossier), &said);
            result["relatedLocations"] = json!([related]);
        }
        result["codeFlows"] = json!([{ "threadFlows": thread_flows(detail) }]);
    }
    result["properties"] = json!({
        "id": violation.id,
        "object": violation.location,
        "allocated": violation.allocated,
        "threads": violation.threads,
        "readValue": violation.read_value,
        "staleValues": violation.stale_values,
        "runs": violation.runs,
        "seed": violation.seed,
        "witnessChecked": violation.witness_checked,
        "harm": violation.harm,
        "machines": violation.machines,
        "again": dossier.again_with(&violation.id, violation.seed),
    });
    result
}

fn race(race: &Race, dossier: &Dossier) -> Value {
    let text = words::what_races(race);
    let mut result = result("data-race", &race.id, &text, &race.second, dossier);
    result["level"] = json!("error");
    let detail = dossier.details.get(&race.id);
    if let Some((detail, sides)) = detail.and_then(|detail| Some((detail, detail.race.as_ref()?))) {
        if let Some(first) = &detail.other {
            let said = words::first_side(race, sides);
            let related = with_message(of_spot(first, dossier), &said);
            result["relatedLocations"] = json!([related]);
        }
        result["properties"] = json!({
            "id": race.id,
            "object": race.location,
            "allocated": race.allocated,
            "threads": [sides.first_thread, sides.second_thread],
            "runs": sides.runs,
            "seed": race.seed,
            "again": dossier.again_with(&race.id, race.seed),
        });
        if race.prediction.is_some() {
            let total = dossier.report.runs.total;
            let known = words::how_race_is_known(race, sides.runs, total);
            result["message"]["text"] = json!(format!("{text} {}", words::sentence(&known)));
            result["properties"]["prediction"] = json!(race.prediction);
        }
    }
    result
}

fn free(finding: &ReportedFreeFinding, dossier: &Dossier) -> Value {
    let spots = dossier.choices.get(&finding.id);
    let spots = spots.map_or(&[][..], Vec::as_slice);
    let choices = finding.choices.iter().zip(spots).enumerate();
    let locations: Vec<Value> = choices
        .map(|(number, (choice, spot))| {
            let said = harm_words::choice(number + 1, choice);
            with_message(of_spot(spot, dossier), &said)
        })
        .collect();
    let identities: Vec<&str> = spots.iter().map(|spot| spot.identity.as_str()).collect();
    let text = format!("stale-values\n{}", identities.join("\n"));
    json!({
        "ruleId": "stale-values",
        "level": match finding.harm.verdict {
            HarmWord::Harmful => "error",
            _ => "warning",
        },
        "message": { "text": words::sentence(&harm_words::free_title(finding)) },
        "locations": locations[..locations.len().min(1)],
        "relatedLocations": locations,
        "partialFingerprints": { "wmfix/v1": blake3::hash(text.as_bytes()).to_hex()[..32] },
        "properties": { "id": finding.id, "harm": finding.harm },
    })
}

/// What all results have.
fn result(rule: &str, id: &str, text: &str, place: &ReportedPlace, dossier: &Dossier) -> Value {
    let detail = dossier.details.get(id);
    let location = match detail {
        Some(detail) => of_spot(&detail.access, dossier),
        None => of_place(place),
    };
    let mut result = json!({
        "ruleId": rule,
        "level": "warning",
        "message": { "text": text },
        "locations": [location],
    });
    if let Some(repair) = &dossier.report.repair {
        let removing = |group: &&Group| group.removes.iter().any(|one| one == id);
        let fixes: Vec<Value> = repair
            .groups
            .iter()
            .filter(removing)
            .map(|group| fix(group, repair))
            .collect();
        if !fixes.is_empty() {
            result["fixes"] = json!(fixes);
        }
    }
    result
}

/// The run that showed a violation, a flow a thread.
fn thread_flows(detail: &FindingDetail) -> Vec<Value> {
    let mut threads: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    for (order, step) in (1..).zip(&detail.steps) {
        let location = with_message(of_place(&step.place), &step.what);
        threads.entry(step.thread).or_default().push(json!({
            "location": location,
            "executionOrder": order,
            "importance": if step.mark.is_some() { "essential" } else { "important" },
        }));
    }
    let flows = threads.into_iter().map(
        |(thread, locations)| json!({ "id": format!("thread {thread}"), "locations": locations }),
    );
    flows.collect()
}

fn fix(group: &Group, repair: &Repair) -> Value {
    let changes = group.changes.iter().filter_map(|&n| repair.changes.get(n));
    let told: Vec<String> = changes
        .map(|change| {
            let place = &change.place;
            let (file, line, operation) = (&place.file, place.line, &place.operation);
            format!("{file}:{line}: {operation}: {}", change.what)
        })
        .collect();
    let mut files: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for edit in &group.edits {
        files.entry(&edit.file).or_default().push(replacement(edit));
    }
    let changes: Vec<Value> = files
        .into_iter()
        .map(|(file, replacements)| {
            json!({
                "artifactLocation": { "uri": uri(file) },
                "replacements": replacements,
            })
        })
        .collect();
    json!({ "description": { "text": told.join("; ") }, "artifactChanges": changes })
}

fn suppression(allowed: &AllowedFinding) -> Value {
    let in_source = !allowed.by.file.ends_with(".toml");
    json!({
        "kind": if in_source { "inSource" } else { "external" },
        "status": "accepted",
        "justification": allowed.reason,
        "location": { "physicalLocation": {
            "artifactLocation": { "uri": uri(&allowed.by.file) },
            "region": { "startLine": allowed.by.line },
        } },
    })
}
