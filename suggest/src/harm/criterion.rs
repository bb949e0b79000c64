//! By what violations count. A failing execution says that one does; that none was seen
//! says something only where the test looks. Where it does not, or nothing can be tried,
//! the program has to be robust, as it has where the user asks for that.

use std::collections::BTreeSet;

use super::UntriedReason;

/// By what violations count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Criterion {
    /// Those of which a failing execution is known, and all of programs whose tests notice
    /// nothing.
    Correctness {
        /// These programs.
        blind: BTreeSet<usize>,
    },
    /// All of them.
    Robustness(RobustnessReason),
}

/// Why every violation counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RobustnessReason {
    /// The user wants it.
    Asked,
    /// Orders are relaxed only where nothing is stale.
    ForRelaxing,
    /// Stale values cannot be made to happen.
    NotLookedAt(UntriedReason),
}

impl Criterion {
    /// What fails counts.
    pub(crate) fn of_tests_that_look() -> Self {
        Self::Correctness {
            blind: BTreeSet::new(),
        }
    }

    /// Whether the test of a program has been found to notice nothing.
    pub(crate) fn is_blind(&self, program: usize) -> bool {
        matches!(self, Self::Correctness { blind } if blind.contains(&program))
    }

    /// Whether a violation counts whatever is known of what it does, by the programs
    /// that showed it: one test that looks is enough to judge it.
    pub(crate) fn takes_all(&self, programs: &BTreeSet<usize>) -> bool {
        match self {
            Self::Correctness { blind } => programs.is_subset(blind),
            Self::Robustness(_) => true,
        }
    }
}
