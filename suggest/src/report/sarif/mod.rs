//! The report as SARIF 2.1.0, for editors and code hosts: findings as results
//! with both places, the repair as fixes, what is allowed as suppressions.

mod failures;
mod locations;
mod results;

use serde_json::{Value, json};

use super::dossier::Dossier;
use super::model::{Verdict, VerificationOutcome};
use crate::exit::ExitStatus;
use crate::report::repair_words::candidate_words;
use crate::sarif;

/// The log, indented, of a command with this exit status.
pub(crate) fn sarif(dossier: &Dossier, exit: ExitStatus) -> anyhow::Result<String> {
    let report = &dossier.report;
    let run = json!({
        "invocations": [{
            "executionSuccessful": report.verdict != Verdict::Failed,
            "exitCode": exit.code(),
            "toolExecutionNotifications": notifications(dossier),
        }],
        "results": results::results(dossier),
        "properties": {
            "verdict": report.verdict,
            "runs": report.runs.total,
            "distinctSchedules": report.runs.distinct_schedules,
            "sites": report.sites.total,
            "sitesReached": report.sites.reached,
        },
    });
    Ok(serde_json::to_string_pretty(&sarif::log(rules(), run))? + "\n")
}

fn rules() -> Value {
    let rule = |id: &str, name: &str, short: &str, full: &str| {
        json!({
            "id": id,
            "name": name,
            "shortDescription": { "text": short },
            "fullDescription": { "text": full },
            "defaultConfiguration": { "level": "warning" },
        })
    };
    let mut rules = vec![
        rule(
            "stale-read",
            "StaleRead",
            "A read may return a stale value",
            "The memory orders allow this read to return an older value than it could in any interleaving of the threads.",
        ),
        rule(
            "stale-write",
            "StaleWrite",
            "A write may take effect too early",
            "The memory orders allow this write to take effect before one that is older in every interleaving of the threads.",
        ),
        rule(
            "stale-rmw",
            "StaleUpdate",
            "A read-modify-write may act on a stale value",
            "The memory orders allow this read-modify-write to act on an older value than it could in any interleaving of the threads.",
        ),
        rule(
            "stale-values",
            "StaleValues",
            "Stale values together lead to a failure",
            "The memory orders allow these accesses to take older values than in any interleaving of the threads, and the program then comes to what it does not otherwise come to.",
        ),
        rule(
            "data-race",
            "DataRace",
            "Two accesses may happen at the same time",
            "Two threads access the same memory, at least one of them writes, at least one access is not atomic, and nothing orders the two.",
        ),
    ];
    rules.extend(failures::RULES.map(|(id, name, short, full)| rule(id, name, short, full)));
    Value::Array(rules)
}

/// What else a reader should know.
fn notifications(dossier: &Dossier) -> Vec<Value> {
    let report = &dossier.report;
    let note = |level: &str, text: &str| json!({ "level": level, "message": { "text": text } });
    let mut notifications: Vec<Value> = report.notes.iter().map(|n| note("note", n)).collect();
    for left in &report.unrepairable {
        let mut told = note("warning", &format!("not repaired: {}", left.text));
        if let Some(place) = &left.place {
            told["locations"] = json!([locations::of_place(place)]);
        }
        notifications.push(told);
    }
    let unreached = &report.sites.unreached;
    if !unreached.is_empty() {
        let mut told = note(
            "note",
            "no run reached these atomic operations: nothing is known about them",
        );
        told["locations"] = unreached.iter().map(locations::of_place).collect();
        notifications.push(told);
    }
    if let Some(repair) = &report.repair {
        let why = repair.verification.why.as_deref().unwrap_or_default();
        match repair.verification.outcome {
            VerificationOutcome::Held if repair.verification.is_proved() => notifications.push(note(
                "note",
                "the fixes are proved for this test: no finding in any run of the patched program",
            )),
            VerificationOutcome::Held => {}
            VerificationOutcome::NotEnough => {
                notifications.push(note("warning", &format!("the fixes are not enough: {why}")));
            }
        }
    }
    if let Some(candidate) = &report.candidate {
        let why = candidate_words(dossier, candidate);
        notifications.push(note("warning", why.trim_end_matches(':')));
    }
    notifications
}
