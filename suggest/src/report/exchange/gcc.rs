//! Findings as gcc prints what it has to say, which editors read to jump to the lines:
//! `file:line:column: warning: … [rule]`. Files are named from the current folder.

use super::entry::{Entry, Severity, entries};
use crate::report::dossier::Dossier;
use crate::report::model::ReportedPlace;

/// A line for each finding that counts or that nobody has judged yet, and a note for its
/// other side.
pub(crate) fn gcc(dossier: &Dossier) -> String {
    let entries = entries(dossier);
    let shown = entries.iter().filter(|entry| entry.excuse.is_none());
    shown.map(lines).collect()
}

fn lines(entry: &Entry<'_>) -> String {
    let name = match entry.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let column = entry.range.map(|(from, _)| from.byte_column);
    let at = place(entry.place, column);
    let title = one_line(&entry.title);
    let mut text = format!("{at}: {name}: {title} [{}]\n", entry.rule);
    if let Some((other, said)) = &entry.other {
        text += &format!("{}: note: {}\n", place(other, None), one_line(said));
    }
    text
}

/// Where, as gcc has it; wmfix itself where there is no line.
fn place(place: &ReportedPlace, column: Option<usize>) -> String {
    let (file, line) = (&place.file, place.line);
    match (line, column.or(usize::try_from(place.column).ok())) {
        (0, _) => "wmfix".to_owned(),
        (_, None | Some(0)) => format!("{file}:{line}"),
        (_, Some(column)) => format!("{file}:{line}:{column}"),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
