//! How many runs without anything new are enough. Without a number from the user it
//! is an amount of work, counted in events: a small program is run thousands of
//! times in the seconds that a person waits, a large one less often. Events are the
//! same for the same seeds, so the number of runs is too; a clock would end each
//! examination elsewhere.

use crate::options::RunOptions;

/// How many runs without anything new are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// This many.
    Runs(u64),
    /// As many as are worth their time.
    Work,
}

/// Runs in a row that showed nothing new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuietRuns {
    /// How many.
    pub runs: u64,
    /// What happened in them.
    pub events: u64,
}

/// Where the work counts, there are at least this many quiet runs.
const LEAST_RUNS: u64 = 100;

/// The work that is enough, in events: some seconds.
const ENOUGH_WORK: u64 = 2_000_000;

/// What it takes to start a program and to look at its trace, in events.
const WORK_PER_RUN: u64 = 1_000;

impl QuietRuns {
    /// Another one.
    pub(crate) fn add(&mut self, events: u64) {
        self.runs += 1;
        self.events = self.events.saturating_add(events);
    }
}

impl Patience {
    /// As the options say.
    pub(crate) fn of(options: &RunOptions) -> Self {
        options.runs.map_or(Self::Work, Self::Runs)
    }

    /// Whether these are enough.
    pub(crate) fn is_over(self, quiet: QuietRuns) -> bool {
        quiet.runs >= self.wanted(quiet)
    }

    /// How many it takes, if the next ones are like these.
    pub(crate) fn wanted(self, quiet: QuietRuns) -> u64 {
        match self {
            Self::Runs(runs) => runs,
            Self::Work => {
                let events = quiet.events / quiet.runs.max(1);
                let work = events.saturating_add(WORK_PER_RUN);
                ENOUGH_WORK.div_ceil(work).max(LEAST_RUNS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_fewer_and_never_too_few() {
        let of = |events| QuietRuns { runs: 1, events };
        assert_eq!(Patience::Work.wanted(of(0)), 2_000);
        assert_eq!(Patience::Work.wanted(of(9_000)), 200);
        assert_eq!(Patience::Work.wanted(of(u64::MAX)), LEAST_RUNS);
        assert_eq!(Patience::Runs(7).wanted(of(9_000)), 7);
    }

    #[test]
    fn it_is_over_when_the_work_is_done() {
        let mut quiet = QuietRuns::default();
        while !Patience::Work.is_over(quiet) {
            quiet.add(9_000);
        }
        assert_eq!(quiet.runs, 200);
    }
}
