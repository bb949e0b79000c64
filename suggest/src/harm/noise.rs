//! What differs between two runs of one schedule: the time of day, numbers of processes,
//! how much memory the system gave. None of it comes of a stale value, so that a run with
//! one may differ in it from a run without.

use std::collections::BTreeSet;

use super::directed_run::RunRecord;

/// What may differ without being a difference.
#[derive(Clone, Debug)]
pub(super) enum Noise {
    /// Every value: runs that are not even the same but for this differ in what they do.
    AllValues,
    /// What is written to these addresses, and these of the words that are printed.
    Of {
        addresses: BTreeSet<u64>,
        words: BTreeSet<usize>,
    },
}

impl Default for Noise {
    /// None.
    fn default() -> Self {
        Self::Of {
            addresses: BTreeSet::new(),
            words: BTreeSet::new(),
        }
    }
}

impl Noise {
    /// Adds what differs between two runs that should be the same: only where they did the
    /// same but for values.
    pub(super) fn add(&mut self, one: &RunRecord, other: &RunRecord) {
        let Self::Of { addresses, words } = self else {
            return;
        };
        if one.looks_like(other, &Self::AllValues) {
            addresses.extend(one.effects.different_values(&other.effects));
            words.extend(one.printed.different_words(&other.printed));
        }
    }

    /// Whether what is written to an address may be anything.
    pub(super) fn has_address(&self, address: u64) -> bool {
        match self {
            Self::AllValues => true,
            Self::Of { addresses, .. } => addresses.contains(&address),
        }
    }

    /// Whether this word that is printed may be anything.
    pub(super) fn has_word(&self, number: usize) -> bool {
        match self {
            Self::AllValues => true,
            Self::Of { words, .. } => words.contains(&number),
        }
    }
}
