//! What was found outside of the part of a project that was named.

use serde::{Deserialize, Serialize};

use super::ReportedPlace;

/// What was found outside of the part that was named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutsideFindings {
    /// The part, as it is shown.
    pub path: String,
    /// How many findings lie outside of it.
    pub total: usize,
    /// Those that count all the same, in the order of their places: data races, and
    /// stale values that are harmful.
    pub counted: Vec<OutsideFinding>,
    /// No run executed an atomic operation of the part.
    pub nothing_inside: bool,
}

/// A finding that counts although it lies outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutsideFinding {
    /// Its name in every report on this program.
    pub stable_id: String,
    /// `stale-read`, `stale-write`, `stale-rmw` or `data-race`.
    pub kind: String,
    /// The access; of a race, the second one.
    pub place: ReportedPlace,
    /// The newer write; of a race, the first access.
    pub other: ReportedPlace,
    /// What is accessed.
    pub location: String,
}
