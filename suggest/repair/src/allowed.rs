//! Findings that the project allows: a trace does not fail because of them.

use rustc_hash::FxHashSet;
use wmfix_analysis::{Race, SiteId, Violation, ViolationKind};

/// Allowed findings, by the sites of their accesses.
#[derive(Clone, Debug, Default)]
pub struct AllowedFindings {
    violations: FxHashSet<(SiteId, ViolationKind)>,
    between: FxHashSet<(SiteId, Option<SiteId>, ViolationKind)>,
    races: FxHashSet<SiteId>,
    of_libraries: FxHashSet<SiteId>,
    atomics_of_libraries: FxHashSet<SiteId>,
    race_pairs: FxHashSet<(SiteId, SiteId)>,
}

impl AllowedFindings {
    /// Allows violations of this kind at this access.
    pub fn allow_violation(&mut self, access: SiteId, kind: ViolationKind) {
        self.violations.insert((access, kind));
    }

    /// Allows violations of this kind at this access that miss this write; `None`
    /// for a first value.
    pub fn allow_between(&mut self, access: SiteId, newer: Option<SiteId>, kind: ViolationKind) {
        self.between.insert((access, newer, kind));
    }

    /// Allows races of this access.
    pub fn allow_race(&mut self, access: SiteId) {
        self.races.insert(access);
    }

    /// The code of a library makes this access: its races with its like are allowed, and
    /// all of them if it is to an atomic object of the library's own.
    pub fn allow_library(&mut self, access: SiteId, is_own_atomic: bool) {
        self.of_libraries.insert(access);
        if is_own_atomic {
            self.atomics_of_libraries.insert(access);
        }
    }

    /// Allows races of these two accesses with each other.
    pub fn allow_race_between(&mut self, one: SiteId, other: SiteId) {
        self.race_pairs.insert((one.min(other), one.max(other)));
    }

    pub(crate) fn allows_violation(&self, violation: &Violation) -> bool {
        let (access, kind) = (violation.site, violation.kind);
        let newer = violation.newer.origin.map(|(_, site)| site);
        self.violations.contains(&(access, kind)) || self.between.contains(&(access, newer, kind))
    }

    pub(crate) fn allows_race(&self, race: &Race) -> bool {
        let sides = [race.first.site, race.second.site];
        let pair = (sides[0].min(sides[1]), sides[0].max(sides[1]));
        let has = |set: &FxHashSet<SiteId>| sides.iter().any(|site| set.contains(site));
        has(&self.races)
            || has(&self.atomics_of_libraries)
            || sides.iter().all(|site| self.of_libraries.contains(site))
            || self.race_pairs.contains(&pair)
    }
}
