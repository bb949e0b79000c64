//! Findings, each kept once per pair of places in the program, with a count.

use alloc::vec::Vec;

use crate::event::SiteId;
use crate::hash::FxHashMap;
use crate::race::{FoundRace, Race};
use crate::violation::{FoundViolation, Violation, ViolationKind};

/// What was found so far, in the order of the first time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    violations: Vec<FoundViolation>,
    violation_keys: FxHashMap<(SiteId, Option<SiteId>, ViolationKind), usize>,
    races: Vec<FoundRace>,
    race_keys: FxHashMap<(SiteId, SiteId), usize>,
}

impl Findings {
    /// Notes a violation. Of several between the same places the first is kept,
    /// but one whose difference can be seen is preferred to one of equal values;
    /// `violation` is only asked for where it could be the one to keep.
    pub(crate) fn add_violation(
        &mut self,
        site: SiteId,
        newer: Option<SiteId>,
        kind: ViolationKind,
        violation: impl FnOnce() -> Violation,
    ) -> usize {
        let next = self.violations.len();
        let index = *self
            .violation_keys
            .entry((site, newer, kind))
            .or_insert(next);
        match self.violations.get_mut(index) {
            Some(found) => {
                found.count += 1;
                if found.violation.same_value {
                    let violation = violation();
                    if !violation.same_value {
                        found.violation = violation;
                    }
                }
            }
            None => self.violations.push(FoundViolation {
                violation: violation(),
                count: 1,
            }),
        }
        index
    }

    /// Notes a race.
    pub(crate) fn add_race(&mut self, race: Race) -> usize {
        let (a, b) = (race.first.site, race.second.site);
        let index = *self
            .race_keys
            .entry((a.min(b), a.max(b)))
            .or_insert(self.races.len());
        match self.races.get_mut(index) {
            Some(found) => found.count += 1,
            None => self.races.push(FoundRace { race, count: 1 }),
        }
        index
    }

    /// The violations, in the order of the first time.
    pub(crate) fn violations(&self) -> &[FoundViolation] {
        &self.violations
    }

    /// The races, in the order of the first time.
    pub(crate) fn races(&self) -> &[FoundRace] {
        &self.races
    }
}
