//! The test before an access: could it take a stale write? Reads the clocks,
//! changes nothing.

use super::history::Timestamp;
use super::location::Location;
use super::thread::Thread;
use super::values::{Values, Written};
use crate::event::{CasStrength, Exit, Operation};
use crate::violation::ViolationKind;

/// The stale writes that an access could take with an effect.
#[derive(Clone, Debug)]
pub(crate) struct Gap {
    /// What taking one of them would be.
    pub(crate) kind: ViolationKind,
    /// The stale writes, oldest first; never empty.
    pub(crate) stale: Vec<Written>,
    /// The newest write that SC makes the access see.
    pub(crate) newer: Written,
}

/// What the access about to be made could do with each stale write.
#[derive(Clone, Copy)]
enum Appetite {
    Load {
        exit: Option<Exit>,
    },
    Store,
    Rmw {
        exit: Option<Exit>,
    },
    CompareExchange {
        expected: u64,
        weak: bool,
        blocking: bool,
    },
}

/// Whether the thread's next operation, an access to `location`, could be stale.
/// `sc` and `sc_failure` say whether it takes part in the order of SC events (if
/// it fails, for the latter).
#[inline]
pub(crate) fn check(
    thread: &Thread,
    location: &Location,
    operation: &Operation,
    sc: bool,
    sc_failure: bool,
) -> Option<Gap> {
    let hb_floor = floor_by_fences(thread, location);
    if hb_floor >= location.values.newest() {
        return None;
    }
    let ceiling = location.sc_visible(&thread.sc_before);
    if hb_floor >= ceiling {
        return None;
    }
    let floor = |sc: bool| {
        let floor = if sc {
            hb_floor.max(floor_by_sc(thread, location))
        } else {
            hb_floor
        };
        floor.max(location.values.oldest())
    };
    stale(
        &location.values,
        appetite(operation)?,
        floor(sc),
        floor(sc_failure),
        ceiling,
    )
}

/// The newest write that the access cannot go behind, for what happened before
/// it and for the SC fences before it (psc through a fence counts reads, too).
#[inline]
fn floor_by_fences(thread: &Thread, location: &Location) -> Timestamp {
    let view = &thread.view;
    if view.from_fences.is_empty() {
        return location.seen_within(|slot| view.happened_before.get(slot));
    }
    let fences = &view.from_fences;
    location
        .seen_within(|slot| {
            view.happened_before
                .get(slot)
                .max(fences.before_fences(slot))
        })
        .max(location.sc_written_within(|slot| fences.newest(slot)))
}

/// The newest write that an SC access cannot go behind for being one.
fn floor_by_sc(thread: &Thread, location: &Location) -> Timestamp {
    let (own, others) = (&thread.own_sc, &thread.view.from_accesses);
    location
        .sc_written_within(|slot| own.newest(slot).max(others.newest(slot)))
        .max(
            location.written_within(|slot| own.before_fences(slot).max(others.before_fences(slot))),
        )
}

fn appetite(operation: &Operation) -> Option<Appetite> {
    match *operation {
        Operation::Load { exit, .. } => Some(Appetite::Load { exit }),
        Operation::Store { .. } => Some(Appetite::Store),
        Operation::Rmw { exit, .. } => Some(Appetite::Rmw { exit }),
        Operation::CompareExchange {
            expected,
            strength,
            blocking,
            ..
        } => {
            let weak = strength == CasStrength::Weak;
            Some(Appetite::CompareExchange {
                expected,
                weak,
                blocking,
            })
        }
        _ => None,
    }
}

fn stale(
    values: &Values,
    appetite: Appetite,
    floor: Timestamp,
    floor_failure: Timestamp,
    ceiling: Timestamp,
) -> Option<Gap> {
    let mut kind = ViolationKind::StaleRead;
    let mut stale = Vec::new();
    for timestamp in floor.min(floor_failure)..ceiling {
        let written = values.at(timestamp);
        // Nothing comes between a write and the RMW that read it.
        let free = !values.at(timestamp + 1).by_rmw;
        let leaves = |exit: Option<Exit>| {
            exit.is_none_or(|exit| written.value.is_some_and(|value| exit.leaves(value)))
        };
        let taken = match appetite {
            Appetite::Load { exit } => leaves(exit).then_some(ViolationKind::StaleRead),
            Appetite::Store => free.then_some(ViolationKind::StaleWrite),
            Appetite::Rmw { exit } => (free && leaves(exit)).then_some(ViolationKind::StaleRmw),
            Appetite::CompareExchange {
                expected,
                weak,
                blocking,
            } => {
                let is_expected = written.value.map(|value| value == expected);
                if timestamp >= floor && free && is_expected == Some(true) {
                    Some(ViolationKind::StaleRmw)
                } else if timestamp >= floor_failure
                    && !blocking
                    && (weak || is_expected == Some(false))
                {
                    Some(ViolationKind::StaleRead)
                } else {
                    None
                }
            }
        };
        if let Some(taken) = taken {
            // A compare-exchange that could succeed on a stale value is the worse news.
            if stale.is_empty() || taken == ViolationKind::StaleRmw {
                kind = taken;
            }
            stale.push(*written);
        }
    }
    (!stale.is_empty()).then(|| Gap {
        kind,
        stale,
        newer: *values.at(ceiling),
    })
}
