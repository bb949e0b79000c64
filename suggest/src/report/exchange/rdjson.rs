//! Findings as reviewdog's diagnostics, and the repair as diagnostics with a
//! suggestion each. The suggestions are diagnostics of their own because one
//! change removes several findings: as part of each of them it would be offered
//! several times, and a suggestion can only be about the file of its diagnostic.

use serde_json::{Value, json};

use super::ExchangeSettings;
use super::entry::{Entry, Severity, change_text, entries};
use crate::report::dossier::Dossier;
use crate::report::model::{Group, Position, Repair, ReportedPlace};

/// The result as one object.
pub(crate) fn rdjson(dossier: &Dossier, settings: &ExchangeSettings) -> anyhow::Result<String> {
    let entries = entries(dossier);
    // Every diagnostic has a place.
    let shown = entries
        .iter()
        .filter(|entry| entry.excuse.is_none() && !entry.place.file.is_empty());
    let mut diagnostics: Vec<Value> = shown.map(|entry| diagnostic(entry, settings)).collect();
    if let Some(repair) = &dossier.report.repair {
        for group in &repair.groups {
            diagnostics.extend(suggestions(group, repair, settings));
        }
    }
    let result = json!({
        "source": { "name": "wmfix" },
        "severity": "WARNING",
        "diagnostics": diagnostics,
    });
    Ok(serde_json::to_string_pretty(&result)? + "\n")
}

fn diagnostic(entry: &Entry<'_>, settings: &ExchangeSettings) -> Value {
    let title = format!("{}: {}", entry.id, entry.title);
    // reviewdog has no field for another place in all of its versions, and refuses
    // a diagnostic with a field that it does not know.
    let other = entry.other.as_ref().filter(|(place, _)| place.line > 0);
    let other = other
        .map(|(place, said)| format!("{}:{}: {said}\n", settings.path(&place.file), place.line));
    let other = other.unwrap_or_default();
    let mut diagnostic = json!({
        "message": format!("{title}\n{}\n{other}To reproduce: {}", entry.text, entry.again),
        "location": location(entry.place, settings),
        "severity": match entry.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Note => "INFO",
        },
        "code": { "value": entry.rule },
    });
    if let Some((from, to)) = entry.range {
        diagnostic["location"]["range"] = range(from, to);
    }
    diagnostic
}

/// The edits of a group, each as a suggestion.
fn suggestions<'a>(
    group: &'a Group,
    repair: &Repair,
    settings: &'a ExchangeSettings,
) -> impl Iterator<Item = Value> + 'a {
    let changes = group.changes.iter().filter_map(|&n| repair.changes.get(n));
    let told: Vec<String> = changes.map(change_text).collect();
    let removes = group.removes.join(", ");
    let message = format!("Part of the repair of {removes}: {}.", told.join("; "));
    group.edits.iter().map(move |edit| {
        let at = range(edit.from, edit.to);
        json!({
            "message": message,
            "location": { "path": settings.path(&edit.file), "range": at },
            "severity": "INFO",
            "code": { "value": "repair" },
            "suggestions": [{ "range": at, "text": edit.text }],
        })
    })
}

fn location(place: &ReportedPlace, settings: &ExchangeSettings) -> Value {
    let mut location = json!({ "path": settings.path(&place.file) });
    if place.line > 0 {
        location["range"] =
            json!({ "start": { "line": place.line, "column": place.column.max(1) } });
    }
    location
}

/// A range; columns count bytes.
fn range(from: Position, to: Position) -> Value {
    let position =
        |position: Position| json!({ "line": position.line, "column": position.byte_column });
    json!({ "start": position(from), "end": position(to) })
}
