//! What is known of a program before anything runs it.

use std::collections::BTreeSet;

use super::core::{Graphs, graphs};
use super::machine::{HANG, Interleavings, interleavings};
use super::program::Program;

/// Programs with more states are not judged.
const MOST_STATES: usize = 20_000;

/// The truth about a program.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    /// What its interleavings come to.
    pub(super) interleavings: Interleavings,
    /// What brute force says of its execution graphs, if it is a litmus program.
    pub(super) graphs: Option<Graphs>,
    /// All of its atomic accesses are SC.
    pub(super) is_sequential: bool,
}

impl Truth {
    /// The truth, or nothing if the program is too large for it.
    pub(super) fn of(program: &Program) -> Option<Self> {
        let truth = Self {
            interleavings: interleavings(program, MOST_STATES)?,
            graphs: graphs(program),
            is_sequential: program.is_sequential(),
        };
        if let Some(graphs) = &truth.graphs {
            assert_eq!(graphs.race, truth.interleavings.race, "{program:#?}");
        }
        Some(truth)
    }

    /// What its SC runs come to, where races do not make that undefined.
    pub(super) fn ends(&self) -> Option<&BTreeSet<String>> {
        (!self.interleavings.race).then_some(&self.interleavings.ends)
    }

    /// What all of its runs come to, on any machine.
    pub(super) fn all_ends(&self) -> Option<BTreeSet<String>> {
        let sequential = self.ends()?;
        if self.is_robust() == Some(true) {
            return Some(sequential.clone());
        }
        let weak = self.graphs.as_ref()?.weak_ends.clone()?;
        // RC11 could also let it wait for ever; brute force has no word on that.
        let hang = BTreeSet::from([HANG.to_owned()]);
        Some(&(&weak | sequential) | &hang)
    }

    /// Whether it is robust, where that is known.
    pub(super) fn is_robust(&self) -> Option<bool> {
        match &self.graphs {
            Some(graphs) => Some(graphs.robust),
            None => (self.is_sequential && !self.interleavings.race).then_some(true),
        }
    }

    /// Nothing is wrong with it: no race, no stale value, no failure.
    pub(super) fn is_correct(&self) -> bool {
        self.is_robust() == Some(true) && !self.interleavings.race && self.failures().is_empty()
    }

    /// The ends that are failures.
    pub(super) fn failures(&self) -> BTreeSet<String> {
        let ends = self.interleavings.ends.iter();
        ends.filter(|end| is_failure(end)).cloned().collect()
    }
}

/// Whether an end is a failure.
pub(super) fn is_failure(end: &str) -> bool {
    end == HANG || end.starts_with("exit ") || end.starts_with("signal ")
}
