//! Why each change is there: what comes back without it.

use crate::judge::Judge;
use crate::outcome::Finding;
use crate::selection::Selection;
use crate::stop::Halt;
use crate::variable::Candidate;

/// The findings that come back when exactly this change is left out of a
/// repair, its variable being as in `base`.
pub(crate) fn reasons(
    judge: &Judge<'_>,
    repair: &Selection,
    base: &Selection,
    change: Candidate,
) -> Result<Vec<Finding>, Halt> {
    let without = repair.with(change.variable, base.level(change.variable));
    judge.findings(&without)
}

/// The same for the first run only in which something comes back.
pub(crate) fn first_reasons(
    judge: &mut Judge<'_>,
    repair: &Selection,
    base: &Selection,
    change: Candidate,
) -> Result<Vec<Finding>, Halt> {
    let without = repair.with(change.variable, base.level(change.variable));
    match judge.first_failing(&without)? {
        Some(case) => judge.findings_of(case, &without),
        None => Ok(Vec::new()),
    }
}
