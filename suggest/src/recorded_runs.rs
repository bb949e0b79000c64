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

/// Runs that are kept.
#[derive(Debug, Default)]
pub(crate) struct RecordedRuns {
    traces: Vec<Vec<Event>>,
    seen: HashSet<u64>,
    failing: usize,
    clean: usize,
    events: usize,
}

impl RecordedRuns {
    /// Offers the trace of a run, and says whether it is kept. One that shows
    /// something new is, unless the same run is there already.
    pub(crate) fn offer(&mut self, trace: Vec<Event>, failing: bool, new: bool) -> bool {
        let room = match failing {
            true => self.failing < MAX_FAILING_RUNS,
            false => self.clean < MAX_CLEAN_RUNS,
        };
        let fits = self.events + trace.len() <= MAX_EVENTS;
        if !(new || room && fits) || !self.seen.insert(fingerprint(&trace)) {
            return false;
        }
        self.failing += usize::from(failing);
        self.clean += usize::from(!failing);
        self.events += trace.len();
        self.traces.push(trace);
        true
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
