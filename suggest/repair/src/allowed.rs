//! Findings that the project allows: a trace does not fail because of them.

use rustc_hash::FxHashSet;
use wmfix_analysis::{Race, SiteId, Violation, ViolationKind};

/// Allowed findings, by the sites of their accesses.
#[derive(Clone, Debug, Default)]
pub struct AllowedFindings {
    violations: FxHashSet<(SiteId, ViolationKind)>,
    races: FxHashSet<SiteId>,
}

impl AllowedFindings {
    /// Allows violations of this kind at this access.
    pub fn allow_violation(&mut self, access: SiteId, kind: ViolationKind) {
        self.violations.insert((access, kind));
    }

    /// Allows races of this access.
    pub fn allow_race(&mut self, access: SiteId) {
        self.races.insert(access);
    }

    pub(crate) fn allows_violation(&self, violation: &Violation) -> bool {
        self.violations.contains(&(violation.site, violation.kind))
    }

    pub(crate) fn allows_race(&self, race: &Race) -> bool {
        let sides = [race.first.site, race.second.site];
        sides.iter().any(|site| self.races.contains(site))
    }
}
