//! A selection sets every slot to a level: the empty one changes nothing, the
//! full one changes all that can be changed. Selections are ordered slot by
//! slot, and whatever a selection repairs, a stronger one repairs too.

use wmfix_analysis::Labels;

use crate::slot::{Candidate, Level, Slot};

/// A level for every slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Selection(Vec<Level>);

impl Selection {
    /// Nothing is changed.
    pub(crate) fn none(slots: &[Slot]) -> Self {
        Self(vec![0; slots.len()])
    }

    /// What these candidates change together.
    pub(crate) fn of(slots: &[Slot], candidates: impl IntoIterator<Item = Candidate>) -> Self {
        let mut selection = Self::none(slots);
        for candidate in candidates {
            selection.add(slots, candidate);
        }
        selection
    }

    /// The level of a slot.
    pub(crate) fn level(&self, slot: usize) -> Level {
        self.0[slot]
    }

    /// Raises a slot to at least the candidate's level.
    pub(crate) fn add(&mut self, slots: &[Slot], candidate: Candidate) {
        let level = &mut self.0[candidate.slot];
        *level = slots[candidate.slot].join(*level, candidate.level);
    }

    /// The same with one slot set to another level.
    pub(crate) fn with(&self, slot: usize, level: Level) -> Self {
        let mut changed = self.clone();
        changed.0[slot] = level;
        changed
    }

    /// Whether a slot is at least at the candidate's level.
    pub(crate) fn has(&self, slots: &[Slot], candidate: Candidate) -> bool {
        slots[candidate.slot].covers(self.0[candidate.slot], candidate.level)
    }

    /// Whether it is, in these slots, at least as strong as another selection.
    pub(crate) fn covers(&self, slots: &[Slot], other: &Self, within: &[usize]) -> bool {
        within
            .iter()
            .all(|&slot| slots[slot].covers(self.0[slot], other.0[slot]))
    }

    /// The slots that are changed, with their levels.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = Candidate> + '_ {
        let levels = self.0.iter().enumerate();
        levels
            .filter(|&(_, &level)| level != 0)
            .map(|(slot, &level)| Candidate { slot, level })
    }

    /// The labels of the runs after these changes.
    pub(crate) fn labels(&self, slots: &[Slot]) -> Labels {
        let mut labels = Labels::new();
        for chosen in self.chosen() {
            slots[chosen.slot].label(chosen.level, &mut labels);
        }
        labels
    }
}
