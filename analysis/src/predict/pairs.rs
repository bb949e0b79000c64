//! What a given pair of accesses needs before both can be made, for pairs that
//! somebody else has found: one pass over the run for all of them.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use super::cut::Reach;
use super::threads::Stretch;
use super::{Predictor, PredictorConfig, ThreadPrefix};
use crate::event::Event;
use crate::hash::FxHashMap;
use crate::violation::EventIndex;

/// Two events of a run, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The earlier one.
    pub first: EventIndex,
    /// The later one.
    pub second: EventIndex,
}

/// For each pair, the events that have to come before its second event if all
/// that comes before its first one in its thread does too. The first event is
/// among them where the second one cannot come without it. `None` for an event
/// that is not there or is no event of its own (a round of a waiting loop).
pub fn pair_cuts(events: &[Event], pairs: &[Pair]) -> Vec<Option<Vec<ThreadPrefix>>> {
    let mut firsts: FxHashMap<EventIndex, Option<(usize, u32, Rc<Stretch>)>> =
        pairs.iter().map(|pair| (pair.first, None)).collect();
    let mut seconds: FxHashMap<EventIndex, Vec<usize>> = FxHashMap::default();
    for (at, pair) in pairs.iter().enumerate() {
        seconds.entry(pair.second).or_default().push(at);
    }
    let mut cuts = vec![None; pairs.len()];
    let mut predictor = Predictor::silent();
    let end = pairs.iter().map(|pair| pair.second.0 + 1).max();
    let end = end.unwrap_or(0).min(events.len() as u64) as usize;
    for (index, event) in events[..end].iter().enumerate() {
        let index = EventIndex(index as u64);
        if !event.operation.stays_in_loop() {
            let thread = predictor.threads.number(event.thread);
            if let Some(first) = firsts.get_mut(&index) {
                let before = predictor.threads.at(thread).events;
                *first = Some((thread, before, predictor.threads.stretch(thread)));
            }
            for &at in seconds.get(&index).into_iter().flatten() {
                let Some(Some((first, before, stretch))) = firsts.get(&pairs[at].first) else {
                    continue;
                };
                let mut cut = predictor.threads.at(thread).cut.clone();
                cut.join(&stretch.cut);
                cut.raise(*first, Reach::new(*before, stretch.holds));
                predictor.locks.close(&predictor.threads, &mut cut, None);
                cuts[at] = Some(predictor.threads.named(&cut));
            }
        }
        predictor.feed(event);
    }
    cuts
}

impl Predictor {
    /// One that keeps the cuts and looks for nothing.
    fn silent() -> Self {
        // The pairs may lie anywhere in the run.
        let mut predictor = Self::new(PredictorConfig {
            events: u64::MAX,
            words: usize::MAX,
            ..PredictorConfig::default()
        });
        predictor.looks = false;
        predictor
    }
}
