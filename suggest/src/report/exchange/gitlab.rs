//! Findings as a code quality report of GitLab, which compares it with that of the
//! target branch by fingerprint.

use serde_json::{Value, json};

use super::ExchangeSettings;
use super::entry::{Entry, Severity, entries};
use crate::report::dossier::Dossier;

/// The report: a list of issues, without what was reviewed and accepted.
pub(crate) fn gitlab(dossier: &Dossier, settings: &ExchangeSettings) -> anyhow::Result<String> {
    let entries = entries(dossier);
    // Every issue has a place there.
    let shown = entries
        .iter()
        .filter(|entry| entry.excuse.is_none() && !entry.place.file.is_empty());
    let issues: Vec<Value> = shown.map(|entry| issue(entry, settings)).collect();
    Ok(serde_json::to_string_pretty(&issues)? + "\n")
}

fn issue(entry: &Entry<'_>, settings: &ExchangeSettings) -> Value {
    let line = entry.place.line.max(1);
    let end = entry.range.map_or(line as usize, |(_, to)| to.line);
    json!({
        "description": format!("{}: {}", entry.id, entry.text),
        "check_name": format!("wmfix-{}", entry.rule),
        "fingerprint": entry.fingerprint,
        "severity": match entry.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Note => "info",
        },
        "location": {
            "path": settings.path(&entry.place.file),
            "lines": { "begin": line, "end": end },
        },
    })
}
