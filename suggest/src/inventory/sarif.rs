//! The inventory as SARIF 2.1.0: sites as informational results, so that editors
//! and code hosts can show them in place.

use serde_json::{Value, json};
use wmfix_frontend::{Note, NoteKind, Site, TreeScan};

use super::json::{operation_name, order_name};
use crate::sarif::{self, uri};

/// The log, indented.
pub(super) fn render(scan: &TreeScan) -> anyhow::Result<String> {
    let mut results: Vec<Value> = Vec::new();
    for (_, file) in &scan.files {
        results.extend(file.sites.iter().map(site));
        results.extend(file.notes.iter().map(note));
    }
    results.extend(scan.unreadable.iter().map(note));
    let log = sarif::log(rules(), json!({ "results": results }));
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

fn rules() -> Value {
    let rule = |id: &str, text: &str| json!({ "id": id, "shortDescription": { "text": text } });
    json!([
        rule("atomic-site", "An atomic operation"),
        rule(
            "not-literal-order",
            "An atomic operation whose order is not written at the operation"
        ),
        rule(
            "inline-assembly",
            "Inline assembly, which instrumentation does not see"
        ),
        rule("no-sanitize", "A function that is not instrumented"),
        rule("not-parsed", "A part that could not be parsed"),
        rule("unreadable", "A file that could not be read"),
    ])
}

fn site(site: &Site) -> Value {
    let vague = site.order.order.is_none();
    let function = site
        .function
        .as_ref()
        .map_or(String::new(), |f| format!(" in {f}"));
    json!({
        "ruleId": if vague { "not-literal-order" } else { "atomic-site" },
        // What does not fail has no level, by the standard.
        "level": "none",
        "kind": "informational",
        "message": { "text": format!(
            "{} {} ({}){function}",
            operation_name(site.operation),
            order_name(&site.order),
            site.callee,
        ) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&site.file.to_string_lossy()) },
            "region": {
                "startLine": site.start.line,
                "startColumn": site.start.column,
                "endLine": site.end.line,
                "endColumn": site.end.column,
            },
        } }],
    })
}

fn note(note: &Note) -> Value {
    let text = match note.kind {
        NoteKind::InlineAssembly => "inline assembly: instrumentation does not see what it does",
        NoteKind::NoSanitize => "not instrumented: its accesses are not seen",
        NoteKind::NotParsed => "could not be parsed: sites may be missing",
        NoteKind::Unreadable => "could not be read",
    };
    let mut place = json!({
        "artifactLocation": { "uri": uri(&note.file.to_string_lossy()) },
    });
    if let Some(position) = note.place {
        place["region"] = json!({
            "startLine": position.line,
            "startColumn": position.column,
        });
    }
    json!({
        "ruleId": note.kind.name(),
        "level": "note",
        "message": { "text": text },
        "locations": [{ "physicalLocation": place }],
    })
}
