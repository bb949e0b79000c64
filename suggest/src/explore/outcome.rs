//! How far an exploration came, as data: what was run, what is open, and what keeps it
//! from being a proof.

use std::collections::BTreeSet;

use wmfix_analysis::SiteId;
use wmfix_analysis::explore::Progress;

use crate::observe::{ExploredRun, Uncontrolled, Unseen};
use crate::symbols::UnseenCode;

/// What was explored; of several programs, all together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exploration {
    /// Classes of runs: those that differ only in the order of independent steps are
    /// one.
    pub classes: u64,
    /// Runs that were made.
    pub runs: u64,
    /// Schedules that are known and were not run.
    pub open: u64,
    /// How many classes there are, as far as one can tell; none while little is known.
    pub estimate: Option<u64>,
    /// What keeps this from being a proof.
    pub obstacles: BTreeSet<Obstacle>,
}

/// What keeps an exploration from being a proof.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Obstacle {
    /// The time was up.
    TimeUp,
    /// The user interrupted.
    Interrupted,
    /// The same schedule did not lead to the same step again.
    Diverged {
        /// Where the step was.
        expected: SiteId,
        /// Whose it was.
        thread: u32,
        /// Who took which step instead; nobody if the run had ended.
        instead: Option<(u32, SiteId)>,
    },
    /// This loop is not known to wait and was cut.
    Loop(SiteId),
    /// Atomic accesses of different sizes meet in the same memory.
    MixedSizes(SiteId),
    /// Something is not controlled.
    Uncontrolled(Uncontrolled),
    /// Code runs whose accesses nobody sees.
    Unseen(Unseen),
    /// Code is part of the program that was not instrumented.
    NotInstrumented(UnseenCode),
    /// A run was killed before all of its threads had ended.
    EndedEarly,
    /// The test has more than one process with a trace.
    Processes,
    /// A run left no trace.
    NoTrace,
    /// A run was not recorded as a whole.
    Incomplete,
    /// A run has more steps than are put into other orders.
    TooLong,
    /// A schedule could not be followed that may have stood for others.
    Gaps,
    /// Races were not looked for.
    RacesOff,
    /// In a part, the same schedule did not lead to the same step again.
    PartDiverged,
    /// What is not in this part is explored in others.
    OnePart,
    /// The parts are not of one tree, or what they saw is not to be had again.
    PartsDiffer,
}

impl Obstacle {
    /// Whether an exploration that meets it does not go on.
    fn ends_it(&self) -> bool {
        matches!(
            self,
            Self::Diverged { .. }
                | Self::PartDiverged
                | Self::PartsDiffer
                | Self::Processes
                | Self::NoTrace
                | Self::Incomplete
        )
    }
}

impl Exploration {
    /// Whether every run was made.
    pub(crate) fn is_complete(&self) -> bool {
        self.open == 0 && self.obstacles.is_empty() && self.runs > 0
    }

    /// Whether it was stopped and would have gone on, with nothing else in its way.
    pub(crate) fn is_stopped(&self) -> bool {
        let stopped = |obstacle| self.obstacles.contains(&obstacle);
        let ends = self.obstacles.iter().any(Obstacle::ends_it);
        (stopped(Obstacle::TimeUp) || stopped(Obstacle::Interrupted)) && !ends
    }

    /// Takes over how far the explorer is.
    pub(crate) fn update(&mut self, progress: &Progress) {
        self.classes = progress.classes;
        self.open = progress.open;
        let estimate = progress.classes as f64 / progress.fraction;
        self.estimate = estimate.is_finite().then_some(estimate as u64);
        if progress.gaps > 0 {
            self.obstacles.insert(Obstacle::Gaps);
        }
    }

    /// Notes what keeps a run from being one of a proof. True if that was not known.
    pub(super) fn note(&mut self, ran: &ExploredRun) -> bool {
        let before = self.obstacles.len();
        let obstacles = &mut self.obstacles;
        obstacles.extend(ran.cut_loops.iter().map(|&site| Obstacle::Loop(site)));
        obstacles.extend(ran.run.mixed_sizes.map(Obstacle::MixedSizes));
        obstacles.extend(ran.uncontrolled.map(Obstacle::Uncontrolled));
        obstacles.extend(ran.unseen.iter().cloned().map(Obstacle::Unseen));
        obstacles.extend(ran.ended_early.then_some(Obstacle::EndedEarly));
        obstacles.len() > before
    }

    /// Adds what was explored of another program, or in another part.
    pub(crate) fn add(&mut self, other: Self) {
        self.classes += other.classes;
        self.runs += other.runs;
        self.open += other.open;
        self.estimate = match (self.estimate, other.estimate) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        self.obstacles.extend(other.obstacles);
    }
}
