//! The recorded runs that the repair search looks at: those that hold findings,
//! and a few of the others, for the counts of executions.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use wmfix_analysis::Event;

/// At most this many runs with findings are kept: later ones hardly add anything.
const MAX_FAILING_RUNS: usize = 300;

/// At most this many runs without findings are kept.
const MAX_CLEAN_RUNS: usize = 20;

/// At most this many events are kept, all runs together.
const MAX_EVENTS: usize = 5_000_000;

/// At most this many are kept where every operation is on the menu, and what shows
/// nothing now may show something with weaker orders.
const MAX_RUNS_OF_ALL: usize = 1_000;

/// Runs that are kept.
#[derive(Debug, Default)]
pub(crate) struct RecordedRuns {
    keeps: KeptRuns,
    /// Some were not kept that differ from all that are.
    has_dropped: bool,
    traces: Vec<Vec<Event>>,
    seen: HashSet<u64>,
    failing: usize,
    clean: usize,
    events: usize,
}

/// Which runs are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KeptRuns {
    /// Those that hold findings, and a few others.
    #[default]
    Failing,
    /// Many of all.
    Many,
    /// All of them, as long as there is memory.
    All,
}

/// Which runs there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CorpusRoom {
    /// Runs with findings.
    pub failing: bool,
    /// Other runs.
    pub clean: bool,
}

impl RecordedRuns {
    /// Nothing is kept yet.
    pub(crate) fn keeping(keeps: KeptRuns) -> Self {
        Self {
            keeps,
            ..Self::default()
        }
    }

    /// Whether a run was not kept that differs from all that are.
    pub(crate) fn has_dropped(&self) -> bool {
        self.has_dropped
    }

    fn max_clean_runs(&self) -> usize {
        match self.keeps {
            KeptRuns::Failing => MAX_CLEAN_RUNS,
            KeptRuns::Many => MAX_RUNS_OF_ALL,
            KeptRuns::All => usize::MAX,
        }
    }

    /// Offers the trace of a run, and says whether it is kept. One that shows
    /// something new is, unless the same run is there already.
    pub(crate) fn offer(&mut self, trace: Vec<Event>, failing: bool, new: bool) -> bool {
        let room = match failing {
            true => self.failing < MAX_FAILING_RUNS,
            false => self.clean < self.max_clean_runs(),
        };
        let fits = self.events + trace.len() <= MAX_EVENTS;
        let print = fingerprint(&trace);
        if !(new || room && fits) {
            self.has_dropped |= !self.seen.contains(&print);
            return false;
        }
        if !self.seen.insert(print) {
            return false;
        }
        self.failing += usize::from(failing);
        self.clean += usize::from(!failing);
        self.events += trace.len();
        self.traces.push(trace);
        true
    }

    /// Which runs there is room for.
    pub(crate) fn room(&self) -> CorpusRoom {
        let fits = self.events < MAX_EVENTS;
        CorpusRoom {
            failing: fits && self.failing < MAX_FAILING_RUNS,
            clean: fits && self.clean < self.max_clean_runs(),
        }
    }

    /// Gives the traces away for a while: they are too large to be copied.
    pub(crate) fn lend(&mut self) -> Vec<Vec<Event>> {
        std::mem::take(&mut self.traces)
    }

    /// Takes back what was lent.
    pub(crate) fn take_back(&mut self, traces: Vec<Vec<Event>>) {
        self.traces = traces;
    }
}

/// Equal for runs whose threads did the same in the same order.
fn fingerprint(trace: &[Event]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for event in trace {
        (event.thread, event.site).hash(&mut hasher);
        event.operation.stays_in_loop().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wmfix_analysis::{Operation, SiteId, ThreadId};

    fn ended(thread: u32) -> Vec<Event> {
        vec![Event {
            thread: ThreadId(thread),
            site: SiteId(0),
            operation: Operation::Exit,
        }]
    }

    #[test]
    fn a_run_is_kept_once_and_few_are_kept_that_show_nothing() {
        let mut recorded = RecordedRuns::default();
        for thread in 0..100 {
            recorded.offer(ended(thread), false, false);
            recorded.offer(ended(thread), false, false);
        }
        assert_eq!(recorded.traces.len(), MAX_CLEAN_RUNS);
        recorded.offer(ended(200), true, false);
        recorded.offer(ended(201), false, true);
        assert_eq!(recorded.traces.len(), MAX_CLEAN_RUNS + 2);
    }
}
