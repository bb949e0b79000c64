//! Findings that share a cause: they are between the same two lines, so that to
//! have seen one is to have seen all.

use super::model::{Race, ReportedPlace, Violation};

/// Findings between the same two lines.
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
    let mut causes = grouped(violations, |violation| {
        (line(&violation.access), line(&violation.write))
    });
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
    grouped(races, |race| {
        let (one, other) = (line(&race.first), line(&race.second));
        if one <= other {
            (one, other)
        } else {
            (other, one)
        }
    })
}

/// A line, if it is known; what is not known is not the same as anything.
type LineKey<'a> = Option<(&'a str, u32)>;

fn line(place: &ReportedPlace) -> LineKey<'_> {
    (place.line > 0).then_some((place.file.as_str(), place.line))
}

fn grouped<'a, F>(
    findings: &'a [F],
    lines: impl Fn(&'a F) -> (LineKey<'a>, LineKey<'a>),
) -> Vec<Cause<'a, F>> {
    let mut causes: Vec<Cause<'a, F>> = Vec::new();
    for finding in findings {
        let key = lines(finding);
        let same = causes.iter_mut().find(|cause| {
            let known = key.0.is_some() && key.1.is_some();
            known && lines(cause.shown) == key
        });
        match same {
            Some(cause) => cause.others.push(finding),
            None => causes.push(Cause {
                shown: finding,
                others: Vec::new(),
            }),
        }
    }
    causes
}
