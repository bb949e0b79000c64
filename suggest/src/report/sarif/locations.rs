//! Places as SARIF locations. Lines and columns count from 1, columns in UTF-16
//! units, as the log says.

use serde_json::{Value, json};

use crate::report::dossier::{Dossier, Spot};
use crate::report::model::{Position, ReportedEdit, ReportedPlace};
use crate::sarif::uri;

/// The location of a place whose text is at hand.
pub(super) fn of_spot(spot: &Spot, dossier: &Dossier) -> Value {
    let mut location = of_place(&spot.place);
    if let (Some((start, end)), Some(text)) = (spot.span, dossier.source(spot)) {
        let from = Position::of(text.as_bytes(), start);
        let to = Position::of(text.as_bytes(), end);
        location["physicalLocation"]["region"] = region(from, to);
        if let Some(snippet) = text.get(start..end) {
            location["physicalLocation"]["region"]["snippet"] = json!({ "text": snippet });
        }
    }
    location
}

/// The location of a place, as far as it is known.
pub(super) fn of_place(place: &ReportedPlace) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(&place.file) } });
    if place.line > 0 {
        physical["region"] = json!({ "startLine": place.line });
        if place.column > 0 {
            physical["region"]["startColumn"] = json!(place.column);
        }
    }
    let mut location = json!({ "physicalLocation": physical });
    if !place.function.is_empty() {
        location["logicalLocations"] = json!([{ "name": place.function, "kind": "function" }]);
    }
    location
}

/// The same with a message.
pub(super) fn with_message(mut location: Value, text: &str) -> Value {
    location["message"] = json!({ "text": text });
    location
}

/// A replacement.
pub(super) fn replacement(edit: &ReportedEdit) -> Value {
    json!({
        "deletedRegion": region(edit.from, edit.to),
        "insertedContent": { "text": edit.text },
    })
}

fn region(from: Position, to: Position) -> Value {
    json!({
        "startLine": from.line,
        "startColumn": from.column,
        "endLine": to.line,
        "endColumn": to.column,
        "byteOffset": from.byte,
        "byteLength": to.byte - from.byte,
    })
}
