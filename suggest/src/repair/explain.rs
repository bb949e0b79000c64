//! Why each change is there: what comes back without it.

use super::judge::Judge;
use super::outcome::Finding;
use super::selection::Selection;
use super::slot::Candidate;
use super::stop::Halt;

/// The findings that come back when exactly this change is left out of a
/// repair, its slot being as in `base`.
pub(super) fn reasons(
    judge: &Judge<'_>,
    repair: &Selection,
    base: &Selection,
    change: Candidate,
) -> Result<Vec<Finding>, Halt> {
    let without = repair.with(change.slot, base.level(change.slot));
    judge.findings(&without)
}
