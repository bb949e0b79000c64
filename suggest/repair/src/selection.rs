//! A selection sets every variable to a level: the empty one changes nothing, the
//! full one changes all that can be changed. Selections are ordered variable by
//! variable, and whatever a selection repairs, a stronger one repairs too.

use wmfix_analysis::Labels;

use crate::variable::{Candidate, Level, Variable};

/// A level for every variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Selection(Vec<Level>);

impl Selection {
    /// Nothing is changed.
    pub(crate) fn none(variables: &[Variable]) -> Self {
        Self(vec![0; variables.len()])
    }

    /// What these candidates change together.
    pub(crate) fn of(
        variables: &[Variable],
        candidates: impl IntoIterator<Item = Candidate>,
    ) -> Self {
        let mut selection = Self::none(variables);
        for candidate in candidates {
            selection.add(variables, candidate);
        }
        selection
    }

    /// The level of a variable.
    pub(crate) fn level(&self, variable: usize) -> Level {
        self.0[variable]
    }

    /// Raises a variable to at least the candidate's level.
    pub(crate) fn add(&mut self, variables: &[Variable], candidate: Candidate) {
        let level = &mut self.0[candidate.variable];
        *level = variables[candidate.variable].join(*level, candidate.level);
    }

    /// The same with one variable set to another level.
    pub(crate) fn with(&self, variable: usize, level: Level) -> Self {
        let mut changed = self.clone();
        changed.0[variable] = level;
        changed
    }

    /// Whether a variable is at least at the candidate's level.
    pub(crate) fn has(&self, variables: &[Variable], candidate: Candidate) -> bool {
        variables[candidate.variable].covers(self.0[candidate.variable], candidate.level)
    }

    /// Whether it is, in these variables, at least as strong as another selection.
    pub(crate) fn covers(&self, variables: &[Variable], other: &Self, within: &[usize]) -> bool {
        within
            .iter()
            .all(|&variable| variables[variable].covers(self.0[variable], other.0[variable]))
    }

    /// The variables that are changed, with their levels.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = Candidate> + '_ {
        let levels = self.0.iter().enumerate();
        levels
            .filter(|&(_, &level)| level != 0)
            .map(|(variable, &level)| Candidate { variable, level })
    }

    /// The labels of the runs after these changes, which come on top of others.
    pub(crate) fn labels(&self, variables: &[Variable], others: &Labels) -> Labels {
        let mut labels = others.clone();
        for chosen in self.chosen() {
            variables[chosen.variable].label(chosen.level, &mut labels);
        }
        labels
    }
}
