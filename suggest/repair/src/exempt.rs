//! Findings that are not to be repaired: a trace does not fail for them.

use rustc_hash::FxHashSet;
use wmfix_analysis::{Race, SiteId, Violation, ViolationKind};

/// Findings, by the places of their accesses, that do not count.
#[derive(Clone, Debug, Default)]
pub struct Exempt {
    violations: FxHashSet<(SiteId, ViolationKind)>,
    races: FxHashSet<SiteId>,
}

impl Exempt {
    /// Violations of this kind at this access do not count.
    pub fn violation(&mut self, access: SiteId, kind: ViolationKind) {
        self.violations.insert((access, kind));
    }

    /// Races of this access do not count.
    pub fn race(&mut self, access: SiteId) {
        self.races.insert(access);
    }

    pub(crate) fn has_violation(&self, violation: &Violation) -> bool {
        self.violations.contains(&(violation.site, violation.kind))
    }

    pub(crate) fn has_race(&self, race: &Race) -> bool {
        let sides = [race.first.site, race.second.site];
        sides.iter().any(|site| self.races.contains(site))
    }
}
