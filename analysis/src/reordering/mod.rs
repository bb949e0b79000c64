//! Witnesses of data races: an order of some of the run's events after which two
//! accesses race, and an independent decision, from the definition, that it is
//! one. Must not know the clocks that find races.

mod check;
mod facts;
mod ordered;
mod prove;

pub use check::{Checker, Defect};
pub use prove::{RaceProofs, prove_races};

use crate::event::Event;
use crate::predict::ThreadPrefix;
use crate::violation::EventIndex;

/// Why a pair of accesses races: some of the events of the run in an order in
/// which the program can have them too, the two accesses among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceWitness {
    /// The events in their new order. The last one is the second access.
    pub schedule: Vec<EventIndex>,
    /// The access that came first in the run.
    pub first: EventIndex,
    /// The access that came second in the run, and comes last here.
    pub second: EventIndex,
    /// How the two meet.
    pub meeting: Meeting,
}

/// How two racing accesses meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// They are next to each other.
    Adjacent,
    /// No interleaving puts them next to each other, since the second one's
    /// thread has read something that the first one's thread wrote later; but
    /// nothing that it read orders them.
    Unordered,
}

impl RaceWitness {
    /// The events of the cut in the order of the run, and the two accesses after
    /// them.
    pub fn new(
        events: &[Event],
        cut: &[ThreadPrefix],
        first: EventIndex,
        second: EventIndex,
    ) -> Self {
        let mut left: std::collections::BTreeMap<_, _> = cut
            .iter()
            .map(|prefix| (prefix.thread, prefix.events))
            .collect();
        let mut schedule = Vec::new();
        let end = (second.0 as usize).min(events.len());
        for (index, event) in events[..end].iter().enumerate() {
            let counts = !event.operation.stays_in_loop();
            if let Some(left) = left.get_mut(&event.thread)
                && counts
                && *left > 0
            {
                *left -= 1;
                schedule.push(EventIndex(index as u64));
            }
        }
        Self::ending(schedule, first, second)
    }

    /// The run itself up to the second access: it shows the race if nothing in it
    /// orders the two.
    pub fn of_run(events: &[Event], first: EventIndex, second: EventIndex) -> Self {
        let end = (second.0 as usize).min(events.len());
        let counted = events[..end].iter().enumerate();
        let counted = counted.filter(|(_, event)| !event.operation.stays_in_loop());
        let schedule = counted.map(|(index, _)| EventIndex(index as u64)).collect();
        Self::ending(schedule, first, second)
    }

    fn ending(mut schedule: Vec<EventIndex>, first: EventIndex, second: EventIndex) -> Self {
        let meeting = if schedule.contains(&first) {
            Meeting::Unordered
        } else {
            schedule.push(first);
            Meeting::Adjacent
        };
        schedule.push(second);
        Self {
            schedule,
            first,
            second,
            meeting,
        }
    }
}
