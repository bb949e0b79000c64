//! Which threads of a recorded run do nothing more before they join another one.

use alloc::vec::Vec;

use crate::event::{Event, Operation, ThreadId};
use crate::hash::FxHashMap;
use crate::violation::EventIndex;

/// A thread whose next event is the join of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinAhead {
    /// Its last event before that.
    pub after: EventIndex,
    /// The thread.
    pub thread: ThreadId,
    /// The thread that it joins.
    pub child: ThreadId,
}

/// The threads of a run that wait for the end of another one, in the order of the
/// events after which they do: for [`crate::Analyzer::awaits_end`].
pub fn joins_ahead(events: &[Event]) -> Vec<JoinAhead> {
    let mut found = Vec::new();
    let mut joined: FxHashMap<ThreadId, ThreadId> = FxHashMap::default();
    // From the end, where joins are: the thread's event before each is the next one
    // that is met.
    for (index, event) in events.iter().enumerate().rev() {
        if joined.is_empty() && !matches!(event.operation, Operation::Join { .. }) {
            continue;
        }
        if let Some(child) = joined.remove(&event.thread) {
            found.push(JoinAhead {
                after: EventIndex(index as u64),
                thread: event.thread,
                child,
            });
        }
        if let Operation::Join { child } = event.operation {
            joined.insert(event.thread, child);
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::SiteId;

    #[test]
    fn a_thread_waits_from_its_event_before_the_join_on() {
        let create = |child| Operation::Create {
            child: ThreadId(child),
        };
        let join = |child| Operation::Join {
            child: ThreadId(child),
        };
        let events = [
            (0, create(1)),
            (0, create(2)),
            (1, Operation::Exit),
            (2, Operation::Exit),
            (0, join(2)),
            (0, join(1)),
        ];
        let events = events.map(|(thread, operation)| Event {
            thread: ThreadId(thread),
            site: SiteId(0),
            operation,
        });
        let found = joins_ahead(&events);
        let found: Vec<(u64, u32, u32)> = (found.iter())
            .map(|ahead| (ahead.after.0, ahead.thread.0, ahead.child.0))
            .collect();
        assert_eq!(found, [(1, 0, 2), (4, 0, 1)]);
    }
}
