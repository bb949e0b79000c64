//! What walks have in common: how long a thread keeps the turn, and what is no choice.

use super::{Kind, Point};
use crate::rng::Rng;

/// After this many choices threads stay for longer, more so as the run goes on: a
/// change of threads costs much more than an operation.
const DENSE_CHOICES: u64 = 4096;

/// Whether this choice, of so many so far, is one at which the turn may change hands.
#[inline]
pub(super) fn is_dense(rng: &mut Rng, choices: u64) -> bool {
    choices <= DENSE_CHOICES || rng.below(choices) < DENSE_CHOICES
}

/// Whether a thread is about to start another one. In most runs it is not interrupted:
/// the threads that are started first would be ahead in nearly every run.
#[inline]
pub(super) fn starts_another(point: &Point<'_>) -> bool {
    point.kind == Kind::Create && point.can_stay()
}
