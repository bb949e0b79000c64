//! What a report leaves out because it is limited to a part of the project, in
//! words.

use crate::findings::CollectedFindings;
use crate::observe::Places;
use crate::path_limit::PathLimit;

/// What lies outside of a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outside {
    /// How many violations.
    pub violations: usize,
    /// How many races.
    pub races: usize,
    /// No run came to an atomic operation inside.
    pub nothing_inside: bool,
}

impl Outside {
    /// What of the findings lies outside of a limit.
    pub(super) fn of(collected: &CollectedFindings, places: &Places, limit: &PathLimit) -> Self {
        if limit.path().is_none() {
            return Self::default();
        }
        let violations = collected.violations.iter();
        let races = collected.races.iter();
        Self {
            violations: violations
                .filter(|finding| !limit.holds_violation(places, &finding.key))
                .count(),
            races: races
                .filter(|finding| !limit.holds_race(places, finding))
                .count(),
            nothing_inside: !limit.holds_any(places, collected.reached.keys().copied()),
        }
    }
}

/// A note on what is left out; `None` if there is nothing to say.
pub(super) fn outside_text(outside: &Outside, part: &str) -> Option<String> {
    let mut parts = Vec::new();
    match outside.violations + outside.races {
        0 => {}
        1 => parts.push(format!(
            "1 finding outside of {part} is not shown: name the project's folder to see it"
        )),
        count => parts.push(format!(
            "{count} findings outside of {part} are not shown: name the project's folder to see them"
        )),
    }
    if outside.nothing_inside {
        parts.push(format!(
            "no run executed an atomic operation of {part}: do the tests use it?"
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_in_the_singular() {
        let mut outside = Outside::default();
        assert_eq!(outside_text(&outside, "src"), None);
        outside.races = 1;
        let text = outside_text(&outside, "src").unwrap_or_default();
        assert!(
            text.starts_with("1 finding outside of src is not shown"),
            "{text}"
        );
        outside.violations = 2;
        let text = outside_text(&outside, "src").unwrap_or_default();
        assert!(
            text.starts_with("3 findings outside of src are not shown"),
            "{text}"
        );
    }
}
