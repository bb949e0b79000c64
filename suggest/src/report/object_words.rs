//! What an object is called in a sentence. Pure text, no layout.

use super::model::ReportedPlace;
use super::short_name::short_name;

/// What is said of an object for which neither the symbols nor the text have a name.
pub(super) const UNNAMED: &str = "an object without a name";

/// An object without a name, by who writes to it or uses it.
pub(super) fn described(verb: &str, place: &ReportedPlace) -> String {
    let by = match place.function.as_str() {
        "" => String::new(),
        function => format!(" by {}", short_name(function)),
    };
    format!("memory {verb}{by} at {}", place.point())
}

/// An object in a sentence: its name as code, or words as they are.
pub(super) fn object(location: &str) -> String {
    match is_name(location) {
        true => format!("`{}`", short_name(location)),
        false => location.to_owned(),
    }
}

/// Whether an object has a name, rather than words for one.
pub(super) fn is_name(location: &str) -> bool {
    // No name has a blank after its first word.
    location != UNNAMED && !location.starts_with("memory ") && !location.starts_with("the ")
}
