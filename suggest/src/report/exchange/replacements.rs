//! The repair as replacements in the YAML of clang's tools, which
//! clang-apply-replacements makes.

use std::fmt::Write;
use std::path::Path;

use super::entry::change_text;
use crate::report::dossier::Dossier;
use crate::report::model::{Group, Repair, ReportedEdit};

/// The document. Paths in it are absolute, from the folder that the report's paths
/// are relative to.
pub(crate) fn replacements(dossier: &Dossier, folder: &Path) -> String {
    let groups = dossier.report.repair.as_ref();
    let groups = groups.map_or(&[][..], |repair| &repair.groups);
    let first = groups.iter().find_map(|group| group.edits.first());
    let main = first.map_or_else(String::new, |edit| absolute(folder, edit));
    let mut text = format!("---\nMainSourceFile: {}\nDiagnostics:", quoted(&main));
    if first.is_none() {
        return text + " []\n...\n";
    }
    text.push('\n');
    for group in groups.iter().filter(|group| !group.edits.is_empty()) {
        if let Some(repair) = &dossier.report.repair {
            diagnostic(&mut text, group, repair, folder);
        }
    }
    text + "...\n"
}

/// A group of changes: what it removes, and its edits.
fn diagnostic(text: &mut String, group: &Group, repair: &Repair, folder: &Path) {
    let changes = group.changes.iter().filter_map(|&n| repair.changes.get(n));
    let told: Vec<String> = changes.map(change_text).collect();
    let message = format!("{}: {}", group.removes.join(", "), told.join("; "));
    let Some(first) = group.edits.first() else {
        return;
    };
    let mut lines = vec![
        "  - DiagnosticName: wmfix".to_owned(),
        "    DiagnosticMessage:".to_owned(),
        format!("      Message: {}", quoted(&message)),
        format!("      FilePath: {}", quoted(&absolute(folder, first))),
        format!("      FileOffset: {}", first.from.byte),
        "      Replacements:".to_owned(),
    ];
    for edit in &group.edits {
        lines.extend([
            format!("        - FilePath: {}", quoted(&absolute(folder, edit))),
            format!("          Offset: {}", edit.from.byte),
            format!("          Length: {}", edit.to.byte - edit.from.byte),
            format!("          ReplacementText: {}", quoted(&edit.text)),
        ]);
    }
    lines.push("    Level: Warning".to_owned());
    lines.push(format!(
        "    BuildDirectory: {}",
        quoted(&folder.to_string_lossy())
    ));
    for line in lines {
        writeln!(text, "{line}").expect("a text takes all that is written");
    }
}

fn absolute(folder: &Path, edit: &ReportedEdit) -> String {
    folder.join(&edit.file).to_string_lossy().into_owned()
}

/// A scalar in double quotes: YAML has JSON's escapes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
