//! What a report leaves out because it is limited to a part of the project, in
//! words.

use super::dossier::Dossier;
use super::fingerprint::DATA_RACE;
use super::model::{OutsideFinding, OutsideFindings};
use super::words;

/// Says in the notes what is left out. Comes after everything that decides what counts.
pub(crate) fn add_outside_note(dossier: &mut Dossier) {
    let report = &mut dossier.report;
    let note = report.outside.as_ref().and_then(outside_text);
    report.notes.extend(note);
}

/// A note on what is left out; `None` if there is nothing to say.
fn outside_text(outside: &OutsideFindings) -> Option<String> {
    let mut parts = Vec::new();
    let path = &outside.path;
    let first = outside.counted.first().map(finding_text);
    match (outside.total, first) {
        (0, _) => {}
        (1, None) => parts.push(format!(
            "1 finding outside of {path} is not shown: name the project's folder to see it"
        )),
        (1, Some(first)) => parts.push(format!(
            "1 finding outside of {path} is not shown but counts, {first}: name the project's \
             folder to see it"
        )),
        (total, None) => parts.push(format!(
            "{total} findings outside of {path} are not shown: name the project's folder to see \
             them"
        )),
        (total, Some(first)) => {
            let counts = match outside.counted.len() {
                1 => "1 of them counts,".to_owned(),
                count => format!("{count} of them count, first"),
            };
            parts.push(format!(
                "{total} findings outside of {path} are not shown, but {counts} {first}: name \
                 the project's folder to see them"
            ));
        }
    }
    if outside.nothing_inside {
        parts.push(format!(
            "no run executed an atomic operation of {path}: do the tests use it?"
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What a finding is and where.
fn finding_text(finding: &OutsideFinding) -> String {
    let what = match finding.kind.as_str() {
        DATA_RACE => "data race",
        _ => "harmful stale value",
    };
    let place = words::at(&finding.place);
    format!("the {what} of {} at {place}", finding.location)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::ReportedPlace;

    fn outside(total: usize, counted: usize) -> OutsideFindings {
        let place = ReportedPlace {
            file: "a.c".to_owned(),
            line: 3,
            column: 1,
            function: "put".to_owned(),
            operation: "write".to_owned(),
            order: String::new(),
        };
        let finding = OutsideFinding {
            stable_id: "a-put-race-123456".to_owned(),
            kind: DATA_RACE.to_owned(),
            other: place.clone(),
            place,
            location: "item".to_owned(),
        };
        OutsideFindings {
            path: "src".to_owned(),
            total,
            counted: vec![finding; counted],
            nothing_inside: false,
        }
    }

    #[test]
    fn what_is_outside_is_counted_and_the_first_that_counts_is_named() {
        let text = |total, counted| outside_text(&outside(total, counted)).unwrap_or_default();
        assert_eq!(text(0, 0), "");
        for ((total, counted), expected) in [
            ((1, 0), "1 finding outside of src is not shown: name"),
            (
                (1, 1),
                "1 finding outside of src is not shown but counts, the data race of item at a.c:3, \
                 in put: name",
            ),
            ((3, 0), "3 findings outside of src are not shown: name"),
            (
                (3, 1),
                "3 findings outside of src are not shown, but 1 of them counts, the data race",
            ),
            (
                (3, 2),
                "3 findings outside of src are not shown, but 2 of them count, first the data",
            ),
        ] {
            let text = text(total, counted);
            assert!(text.starts_with(expected), "{text}");
        }
    }

    #[test]
    fn that_nothing_inside_was_executed_is_said() {
        let mut outside = outside(0, 0);
        outside.nothing_inside = true;
        let text = outside_text(&outside).unwrap_or_default();
        assert!(
            text.starts_with("no run executed an atomic operation of src"),
            "{text}"
        );
    }
}
