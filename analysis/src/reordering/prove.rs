//! Proves races: builds the witness and has it checked. One pass over the run
//! serves all of its races.

use super::RaceWitness;
use super::check::{Checker, Defect};
use crate::event::{Bytes, Event, Operation};
use crate::model::ReleaseSequences;
use crate::predict::{Pair, PredictedRace, pair_cuts};
use crate::race::Race;
use crate::violation::EventIndex;

/// How many earlier accesses of the same thread and site are tried for the first
/// access of a race that names none.
const ATTEMPTS: usize = 8;

/// For each race, an order of events that shows it, checked; or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RaceProofs {
    /// Of the races that the run showed.
    pub seen: Vec<Result<RaceWitness, Defect>>,
    /// Of those that were predicted from it.
    pub predicted: Vec<Result<RaceWitness, Defect>>,
}

/// Proves the races that a run showed and those that were predicted from it, in
/// their order. `events` is the stream that was analysed.
pub fn prove_races(
    events: &[Event],
    seen: &[Race],
    predicted: &[PredictedRace],
    release_sequences: ReleaseSequences,
) -> RaceProofs {
    if seen.is_empty() && predicted.is_empty() {
        return RaceProofs::default();
    }
    let last = seen.iter().map(|race| race.event);
    let last = last
        .chain(predicted.iter().map(|found| found.race.event))
        .max();
    let events = &events[..(last.map_or(0, |last| last.0 as usize + 1)).min(events.len())];
    let checker = Checker::new(events, release_sequences);
    let proved = |witness: RaceWitness| checker.check(&witness).map(|()| witness);
    let predicted = predicted
        .iter()
        .map(|found| {
            let witness = RaceWitness::new(events, &found.cut, found.first_event, found.race.event);
            proved(witness)
        })
        .collect();
    let candidates: Vec<Vec<Pair>> = seen.iter().map(|race| pairs(events, race)).collect();
    let all: Vec<Pair> = candidates.iter().flatten().copied().collect();
    let mut cuts = pair_cuts(events, &all).into_iter();
    let seen = candidates
        .iter()
        .map(|pairs| {
            let cuts: Vec<_> = cuts.by_ref().take(pairs.len()).collect();
            let mut result = Err(Defect::NoConflict);
            for (pair, cut) in pairs.iter().zip(cuts) {
                let Some(cut) = cut else { continue };
                result = proved(RaceWitness::new(events, &cut, pair.first, pair.second));
                // What is left out may have parted a release sequence.
                if result == Err(Defect::HappensBefore) {
                    result = proved(RaceWitness::of_run(events, pair.first, pair.second));
                }
                if result.is_ok() {
                    break;
                }
            }
            result
        })
        .collect();
    RaceProofs { seen, predicted }
}

/// The events that the first access of a race may be, latest first.
fn pairs(events: &[Event], race: &Race) -> Vec<Pair> {
    let end = (race.event.0 as usize).min(events.len());
    let mut bytes_of = std::collections::BTreeMap::new();
    for event in &events[..end] {
        if let Operation::Birth {
            location, bytes, ..
        } = event.operation
        {
            bytes_of.insert(location, bytes);
        }
    }
    let touches = |operation: &Operation| {
        let bytes = match *operation {
            Operation::Read { bytes } | Operation::Write { bytes } => Some(bytes),
            Operation::Load { location, .. }
            | Operation::Store { location, .. }
            | Operation::Rmw { location, .. }
            | Operation::CompareExchange { location, .. } => bytes_of.get(&location).copied(),
            _ => None,
        };
        bytes.is_some_and(|bytes| overlap(bytes, race.bytes))
    };
    let earlier = events[..end].iter().enumerate().rev();
    earlier
        .filter(|(_, event)| {
            event.thread == race.first.thread
                && event.site == race.first.site
                && touches(&event.operation)
        })
        .take(ATTEMPTS)
        .map(|(index, _)| Pair {
            first: EventIndex(index as u64),
            second: race.event,
        })
        .collect()
}

fn overlap(one: Bytes, other: Bytes) -> bool {
    one.address < other.address.saturating_add(other.size)
        && other.address < one.address.saturating_add(one.size)
}
