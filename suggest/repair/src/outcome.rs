//! What the search returns: the repair with the reason for each change, what
//! cannot be repaired and what would be needed, and how good the repair is.

use std::time::Duration;

use wmfix_analysis::{EventIndex, Race, SiteId, Violation, ViolationKind};

use crate::change_point::Change;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The cheapest repair, or the best one known when the search was stopped;
    /// `None` if it was stopped before it knew any. It has no changes if there
    /// is nothing to repair.
    pub repair: Option<Repair>,
    /// No repair costs less.
    pub lower_bound: u64,
    /// How many runs there were to repair or to weigh costs by.
    pub runs: u64,
    /// Why the search ended.
    pub end: SearchEnd,
    /// Findings that only refused changes would remove, and those changes.
    pub unrepairable: Vec<RefusedChange>,
    /// Findings that stay with every change made, refused ones too: races that
    /// nothing in the program orders, and violations of sites without a change point.
    pub beyond_repair: Vec<Finding>,
    /// Findings that stay with every change that can be made, where the time did
    /// not suffice to find out which refused change would remove them.
    pub unexplained: Vec<Finding>,
    /// What it took.
    pub work: Work,
}

/// A set of changes that leaves none of the findings that can be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The changes, in the order of the source.
    pub changes: Vec<ReasonedChange>,
    /// What they cost together.
    pub cost: u64,
}

/// A change with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonedChange {
    /// The change.
    pub change: Change,
    /// What it costs.
    pub cost: u64,
    /// The findings that come back when exactly this change is left out, of all those
    /// up to its layer; only some if the time was up. Empty only if the search was
    /// cancelled.
    pub reasons: Vec<Finding>,
    /// The layer it was first needed in, where the search has several.
    pub layer: usize,
    /// Changes of the last layer do what it does, too.
    pub is_covered: bool,
}

/// A change that is needed but refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedChange {
    /// The change.
    pub change: Change,
    /// Why it is refused.
    pub refusal: String,
    /// The findings that stay without it.
    pub findings: Vec<Finding>,
}

/// Something that is wrong in a trace of the corpus. Numbers of events are
/// those of the trace as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// An access may be stale.
    Violation {
        /// Which trace.
        trace: usize,
        /// The violation.
        violation: Violation,
    },
    /// Two accesses race.
    Race {
        /// Which trace.
        trace: usize,
        /// The race.
        race: Race,
    },
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// The repair is the cheapest for this corpus.
    Optimal,
    /// The time budget was used up.
    OutOfTime,
    /// Somebody cancelled it.
    Cancelled,
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Sets of changes of which one is needed that were learnt.
    pub clauses: u64,
    /// Integer programs solved.
    pub programs: u64,
    /// Traces analysed, each time counted.
    pub analyses: u64,
    /// Events fed in those analyses.
    pub events: u64,
    /// Time in the solver of integer programs.
    pub solving: Duration,
    /// Time altogether.
    pub total: Duration,
}

impl Work {
    /// Adds analyses and the events that they were fed.
    pub(crate) fn add(&mut self, (analyses, events): (u64, u64)) {
        self.analyses += analyses;
        self.events += events;
    }
}

impl Finding {
    pub(crate) fn violation(
        trace: usize,
        violation: &Violation,
        original: impl Fn(EventIndex) -> EventIndex,
    ) -> Self {
        let mut violation = violation.clone();
        violation.access = original(violation.access);
        for write in violation.stale.iter_mut().chain([&mut violation.newer]) {
            write.event = write.event.map(&original);
        }
        Self::Violation { trace, violation }
    }

    pub(crate) fn race(
        trace: usize,
        race: &Race,
        original: impl Fn(EventIndex) -> EventIndex,
    ) -> Self {
        let race = Race {
            event: original(race.event),
            ..*race
        };
        Self::Race { trace, race }
    }

    /// What findings of the same cause have in common: the sites, and what
    /// could go stale (`None` for a race).
    pub fn key(&self) -> (SiteId, Option<SiteId>, Option<ViolationKind>) {
        match self {
            Self::Violation { violation, .. } => {
                let newer = violation.newer.origin.map(|(_, site)| site);
                (violation.site, newer, Some(violation.kind))
            }
            Self::Race { race, .. } => {
                let (a, b) = (race.first.site, race.second.site);
                (a.min(b), Some(a.max(b)), None)
            }
        }
    }
}
