//! The test before an access: could it take a stale write? Reads the clocks,
//! changes nothing.

use super::history::Timestamp;
use super::location::Location;
use super::thread::Thread;
use super::values::{Values, WriteRecord};
use crate::event::{CasStrength, LoopExit, Operation};
use crate::violation::ViolationKind;

/// A stretch of the modification order that an access need not know, and in
/// which there is something for it to take.
#[derive(Clone, Copy)]
pub(crate) struct Gap {
    /// What taking a stale write would be.
    pub(crate) kind: ViolationKind,
    /// The newest write that SC makes the access see.
    pub(crate) newer: Timestamp,
    pending: PendingAccess,
    floor: Timestamp,
    floor_failure: Timestamp,
}

/// What the access about to be made could do with each stale write.
#[derive(Clone, Copy)]
enum PendingAccess {
    Load {
        exit: Option<LoopExit>,
    },
    Store,
    Rmw {
        exit: Option<LoopExit>,
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
    let mut gap = Gap {
        kind: ViolationKind::StaleRead,
        newer: ceiling,
        pending: pending(operation)?,
        floor: floor(sc),
        floor_failure: if sc_failure == sc {
            floor(sc)
        } else {
            floor(sc_failure)
        },
    };
    gap.kind = gap.worst(&location.values)?;
    Some(gap)
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

/// The newest write that an SC access cannot go behind because it is SC.
fn floor_by_sc(thread: &Thread, location: &Location) -> Timestamp {
    let (own, others) = (&thread.own_sc, &thread.view.from_accesses);
    location
        .sc_written_within(|slot| own.newest(slot).max(others.newest(slot)))
        .max(
            location.written_within(|slot| own.before_fences(slot).max(others.before_fences(slot))),
        )
}

fn pending(operation: &Operation) -> Option<PendingAccess> {
    match *operation {
        Operation::Load { exit, .. } => Some(PendingAccess::Load { exit }),
        Operation::Store { .. } => Some(PendingAccess::Store),
        Operation::Rmw { exit, .. } => Some(PendingAccess::Rmw { exit }),
        Operation::CompareExchange {
            expected,
            strength,
            blocking,
            ..
        } => {
            let weak = strength == CasStrength::Weak;
            Some(PendingAccess::CompareExchange {
                expected,
                weak,
                blocking,
            })
        }
        _ => None,
    }
}

impl Gap {
    /// The stale writes that the access could take, oldest first; never empty.
    pub(crate) fn stale<'a>(&'a self, values: &'a Values) -> impl Iterator<Item = &'a WriteRecord> {
        self.timestamps()
            .filter(|&timestamp| self.taking(values, timestamp).is_some())
            .map(|timestamp| values.at(timestamp))
    }

    /// A compare-exchange that could succeed on a stale value is worse than one
    /// that could fail on one; other accesses can go wrong in one way only.
    fn worst(&self, values: &Values) -> Option<ViolationKind> {
        let mut worst = None;
        for timestamp in self.timestamps() {
            let kind = self.taking(values, timestamp);
            worst = kind.or(worst);
            let certain = !matches!(self.pending, PendingAccess::CompareExchange { .. });
            if kind == Some(ViolationKind::StaleRmw) || (kind.is_some() && certain) {
                break;
            }
        }
        worst
    }

    fn timestamps(&self) -> core::ops::Range<Timestamp> {
        self.floor.min(self.floor_failure)..self.newer
    }

    /// What it would be if the access took the write at a timestamp.
    fn taking(&self, values: &Values, timestamp: Timestamp) -> Option<ViolationKind> {
        let written = values.at(timestamp);
        // Nothing comes between a write and the RMW that read it.
        let free = !values.at(timestamp + 1).is_by_rmw();
        let leaves = |exit: Option<LoopExit>| {
            exit.is_none_or(|exit| written.value().is_some_and(|value| exit.leaves(value)))
        };
        match self.pending {
            PendingAccess::Load { exit } => leaves(exit).then_some(ViolationKind::StaleRead),
            PendingAccess::Store => free.then_some(ViolationKind::StaleWrite),
            PendingAccess::Rmw { exit } => {
                (free && leaves(exit)).then_some(ViolationKind::StaleRmw)
            }
            PendingAccess::CompareExchange {
                expected,
                weak,
                blocking,
            } => {
                let is_expected = written.value().map(|value| value == expected);
                let succeeds = timestamp >= self.floor && free && is_expected == Some(true);
                let may_fail = !blocking && (weak || is_expected == Some(false));
                if succeeds {
                    Some(ViolationKind::StaleRmw)
                } else if timestamp >= self.floor_failure && may_fail {
                    Some(ViolationKind::StaleRead)
                } else {
                    None
                }
            }
        }
    }
}
