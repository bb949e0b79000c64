//! Findings that share a cause, shown as one with its consequences.

use super::model::{Race, Violation};

/// Findings with one cause.
#[derive(Debug)]
pub(super) struct Cause<'a, F> {
    /// The one to show.
    pub shown: &'a F,
    /// The others.
    pub others: Vec<&'a F>,
}

/// Violations by cause. A difference that can be seen in the value is shown
/// rather than one that cannot.
pub(super) fn of_violations(violations: &[Violation]) -> Vec<Cause<'_, Violation>> {
    let mut causes = grouped(violations, |violation| &violation.cause);
    for cause in &mut causes {
        let better = cause.others.iter().position(|other| !other.same_value);
        if let Some(better) = better.filter(|_| cause.shown.same_value) {
            std::mem::swap(&mut cause.shown, &mut cause.others[better]);
        }
    }
    causes
}

/// Races by cause.
pub(super) fn of_races(races: &[Race]) -> Vec<Cause<'_, Race>> {
    grouped(races, |race| &race.cause)
}

fn grouped<'a, F>(findings: &'a [F], cause: impl Fn(&'a F) -> &'a str) -> Vec<Cause<'a, F>> {
    let mut causes: Vec<Cause<'a, F>> = Vec::new();
    for finding in findings {
        let name = cause(finding);
        let same = causes
            .iter_mut()
            .find(|known| !name.is_empty() && cause(known.shown) == name);
        match same {
            Some(known) => known.others.push(finding),
            None => causes.push(Cause {
                shown: finding,
                others: Vec::new(),
            }),
        }
    }
    causes
}
