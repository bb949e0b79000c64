//! Fences that may move by one statement: a run in which one had stood on the other
//! side of its neighbour. That is no stronger label, so it is tried on runs of its
//! own, not chosen among the variables.

use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};
use wmfix_analysis::{Event, Operation, SiteId, ThreadId};

use crate::change_point::{Change, ChangeKind, ChangePoint, MoveDirection};

/// A fence that can change places with the statement next to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceMove {
    /// The fence, as one of [`Problem::points`](crate::Problem::points).
    pub point: usize,
    /// The sites of the statement.
    pub past: Vec<SiteId>,
    /// Where the statement is.
    pub direction: MoveDirection,
}

impl FenceMove {
    /// The move as a change.
    pub fn change(&self) -> Change {
        Change {
            point: self.point,
            kind: ChangeKind::Move(self.direction),
        }
    }

    /// The runs after the move; `None` if one does not show where the fence would
    /// have been.
    pub(crate) fn applied(
        &self,
        points: &[ChangePoint],
        traces: &[Vec<Event>],
    ) -> Option<Vec<Vec<Event>>> {
        let fences: FxHashSet<SiteId> = points[self.point].sites.iter().copied().collect();
        let past: FxHashSet<SiteId> = self.past.iter().copied().collect();
        let moved = traces.iter().map(|trace| match self.direction {
            MoveDirection::Up => up(trace, &fences, &past),
            MoveDirection::Down => down(trace, &fences, &past),
        });
        moved.collect()
    }
}

/// A run with each fence before what its thread did right before it in the
/// statement.
fn up(trace: &[Event], fences: &FxHashSet<SiteId>, past: &FxHashSet<SiteId>) -> Option<Vec<Event>> {
    let mut before: FxHashMap<usize, usize> = FxHashMap::default();
    let mut entered: FxHashMap<ThreadId, usize> = FxHashMap::default();
    for (number, event) in trace.iter().enumerate() {
        if is_fence(event, fences) {
            before.insert(entered.remove(&event.thread)?, number);
        } else if past.contains(&event.site) {
            entered.entry(event.thread).or_insert(number);
        } else {
            entered.remove(&event.thread);
        }
    }
    let mut moved = Vec::with_capacity(trace.len());
    for (number, event) in trace.iter().enumerate() {
        moved.extend(before.get(&number).map(|&fence| trace[fence]));
        moved.extend((!is_fence(event, fences)).then_some(*event));
    }
    Some(moved)
}

/// A run with each fence after what its thread did right after it in the statement.
fn down(
    trace: &[Event],
    fences: &FxHashSet<SiteId>,
    past: &FxHashSet<SiteId>,
) -> Option<Vec<Event>> {
    let mut after: FxHashMap<usize, usize> = FxHashMap::default();
    for (number, event) in trace.iter().enumerate() {
        if !is_fence(event, fences) {
            continue;
        }
        let mut last = None;
        let following = trace.iter().enumerate().skip(number + 1);
        let mine = following.filter(|(_, other)| other.thread == event.thread);
        let ended = mine.map(|(at, other)| (at, past.contains(&other.site)));
        let _ = ended.into_iter().try_for_each(|(at, inside)| match inside {
            true => {
                last = Some(at);
                ControlFlow::Continue(())
            }
            false => ControlFlow::Break(()),
        });
        after.insert(last?, number);
    }
    let mut moved = Vec::with_capacity(trace.len());
    for (number, event) in trace.iter().enumerate() {
        moved.extend((!is_fence(event, fences)).then_some(*event));
        moved.extend(after.get(&number).map(|&fence| trace[fence]));
    }
    Some(moved)
}

fn is_fence(event: &Event, fences: &FxHashSet<SiteId>) -> bool {
    matches!(event.operation, Operation::Fence { .. }) && fences.contains(&event.site)
}
