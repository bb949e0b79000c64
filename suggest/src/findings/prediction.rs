//! Races that no run showed: predicted from a run, with a schedule that shows
//! them, and what came of following it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use wmfix_analysis::predict::PredictedRace;
use wmfix_analysis::reordering::{Checker, RaceWitness};
use wmfix_analysis::{Event, EventIndex, Operation, ReleaseSequences, SiteId, ThreadId};

use super::story::{StepRole, StoryOperation, StoryStep, pointers};
use crate::observe::{DecodedTrace, Places};

/// How a race is known.
#[derive(Clone, Debug)]
pub(crate) enum RaceOrigin {
    /// A run showed it.
    Seen,
    /// It was predicted from a run.
    Predicted(Prediction),
}

/// A prediction, and what is known of it since.
#[derive(Clone, Debug)]
pub(crate) struct Prediction {
    /// A trace to replay: the order of events that shows it.
    pub plan: Option<Arc<[u8]>>,
    /// What the threads do on the way, each with its site, in their order.
    pub way: Vec<(ThreadId, SiteId)>,
    /// The two accesses.
    pub racing: [(ThreadId, SiteId); 2],
    /// The end of the schedule, with the two accesses.
    pub steps: Vec<StoryStep>,
    /// What came of following it.
    pub outcome: PredictionOutcome,
}

/// Of a longer schedule only the end is shown.
const MOST_STEPS: usize = 24;

/// What came of following a prediction's schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PredictionOutcome {
    /// It was not followed.
    NotFollowed,
    /// The race was seen.
    Seen,
    /// The race was not seen.
    Elsewhere(Deviation),
}

/// Why following a schedule ended elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deviation {
    /// A thread did something else.
    OtherWay {
        /// Who.
        thread: ThreadId,
        /// What it should have done.
        expected: SiteId,
        /// What it did.
        instead: SiteId,
    },
    /// A thread did not get so far.
    Stopped {
        /// Who.
        thread: ThreadId,
        /// What it should have done next.
        before: SiteId,
    },
    /// All threads did what they should, but something ordered the accesses.
    Ordered,
    /// The run left no trace that could be read.
    NoTrace,
}

impl Prediction {
    /// Of a race that was predicted from a run with these events.
    pub(crate) fn new(
        decoded: &DecodedTrace,
        places: &Mutex<Places>,
        events: &[Event],
        race: &PredictedRace,
        witness: &RaceWitness,
    ) -> Self {
        let racing = [race.first_event, race.race.event];
        let steps = witness
            .schedule
            .iter()
            .filter(|index| !racing.contains(index));
        let steps = steps.map(|index| &events[index.0 as usize]);
        let story = witness.schedule.iter().filter_map(|index| {
            let event = &events[index.0 as usize];
            let role = match racing.contains(index) {
                true => StepRole::Access,
                false => StepRole::Way,
            };
            // On the way only what schedules is of interest.
            if role == StepRole::Way && is_plain(&event.operation) {
                return None;
            }
            let step = StoryStep {
                thread: event.thread,
                site: event.site,
                operation: StoryOperation::of(event, decoded, places)?,
                pointers: Vec::new(),
                role,
                edge: None,
            };
            Some((*index, step))
        });
        let mut story: Vec<(EventIndex, StoryStep)> = story.collect();
        story.drain(..story.len().saturating_sub(MOST_STEPS));
        let story = story.into_iter().map(|(index, mut step)| {
            let event = &events[index.0 as usize];
            step.pointers = pointers(&step.operation, event, index, decoded, places);
            step
        });
        Self {
            plan: None,
            racing: [race.race.first, race.race.second].map(|access| (access.thread, access.site)),
            steps: story.collect(),
            way: way(steps),
            outcome: PredictionOutcome::NotFollowed,
        }
    }

    /// Whether a run that followed the schedule shows the race: nothing in it orders
    /// the two accesses. The analysis names one race of an access; there may be more.
    pub(crate) fn is_shown_by(&self, followed: &[Event], rule: ReleaseSequences) -> bool {
        /// How many executions of each access are looked at.
        const MOST: usize = 4;
        let checker = Checker::new(followed, rule);
        let executions = |&(thread, site): &(ThreadId, SiteId)| {
            let all = followed.iter().enumerate();
            let all = all.filter(move |(_, event)| (event.thread, event.site) == (thread, site));
            let mut last: Vec<usize> = all.map(|(index, _)| index).collect();
            last.drain(..last.len().saturating_sub(MOST));
            last
        };
        let [one, other] = [0, 1].map(|side| executions(&self.racing[side]));
        one.iter().any(|&a| {
            other.iter().any(|&b| {
                let (first, second) = (a.min(b) as u64, a.max(b) as u64);
                let (first, second) = (EventIndex(first), EventIndex(second));
                let witness = RaceWitness::of_run(followed, first, second);
                checker.check(&witness).is_ok()
            })
        })
    }

    /// Why a run that followed the schedule did not show the race.
    pub(crate) fn deviation(&self, followed: &[Event]) -> Deviation {
        let by_thread = |way: &[(ThreadId, SiteId)]| {
            let mut threads: BTreeMap<ThreadId, Vec<SiteId>> = BTreeMap::new();
            for &(thread, site) in way {
                threads.entry(thread).or_default().push(site);
            }
            threads
        };
        let did = by_thread(&way(followed.iter()));
        let mut next: BTreeMap<ThreadId, usize> = BTreeMap::new();
        for &(thread, expected) in &self.way {
            let at = next.entry(thread).or_default();
            match did.get(&thread).and_then(|sites| sites.get(*at)) {
                Some(&instead) if instead != expected => {
                    return Deviation::OtherWay {
                        thread,
                        expected,
                        instead,
                    };
                }
                Some(_) => *at += 1,
                None => {
                    return Deviation::Stopped {
                        thread,
                        before: expected,
                    };
                }
            }
        }
        let made = |&(thread, site): &(ThreadId, SiteId)| {
            let mut events = followed.iter();
            events.any(|event| (event.thread, event.site) == (thread, site))
        };
        match self.racing.iter().find(|&access| !made(access)) {
            Some(&(thread, before)) => Deviation::Stopped { thread, before },
            None => Deviation::Ordered,
        }
    }
}

/// What threads do that a schedule counts, with the rounds of a loop as one.
fn way<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<(ThreadId, SiteId)> {
    let mut last: BTreeMap<ThreadId, SiteId> = BTreeMap::new();
    let mut way = Vec::new();
    for event in events {
        if is_plain(&event.operation) || event.operation.stays_in_loop() {
            continue;
        }
        if last.insert(event.thread, event.site) != Some(event.site) {
            way.push((event.thread, event.site));
        }
    }
    way
}

fn is_plain(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Birth { .. }
            | Operation::Death { .. }
            | Operation::Read { .. }
            | Operation::Write { .. }
    )
}
