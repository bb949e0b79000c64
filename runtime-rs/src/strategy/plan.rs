//! A schedule that was made up from a recorded one: the turn changes hands after
//! as many operations of the thread that has it as the schedule says. Operations
//! are what a trace records but for plain accesses; reads that only repeat what
//! the thread has just read do not count, so that a loop which waits takes one.
//! A loose schedule counts what changes something, and lets a thread look more or less
//! often than it did.
//!
//! Where the program does something else, the schedule ends: from there on every
//! thread goes on for as long as it can.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wmfix_trace::{Cause, LooseCount, Reader, Record};

use super::{Kind, Pending, Point, Strategy};
use crate::spin::Read;

/// See the module.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What is to be done, and who gets the turn then; the next one last.
    turns: Vec<(Extent, u32)>,
    /// What was done since the turn last changed hands.
    done: Done,
    /// Of each thread: the operation that it is about to make may change something.
    may_change: BTreeMap<u32, bool>,
    /// What each thread has read since it did anything else.
    reads: BTreeMap<u32, Vec<Read>>,
    /// In a loose schedule: changes that threads should have made and could not yet.
    owed: BTreeMap<u32, u32>,
}

/// How far a thread gets in a turn.
#[derive(Clone, Copy, Debug)]
enum Extent {
    /// So many operations.
    Operations(u64),
    /// Loosely so far.
    Loose(LooseCount),
}

/// What a thread did in its turn.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    operations: u64,
    changes: u32,
    /// Since the last change: compare-exchanges that failed, and these with reads.
    attempts: u16,
    reads: u16,
}

impl Extent {
    /// Whether this is it. `may_change` says so of the operation that comes next.
    fn is_reached(self, done: Done, may_change: bool) -> bool {
        match self {
            Self::Operations(operations) => done.operations >= operations,
            Self::Loose(count) if done.changes != count.changes => done.changes > count.changes,
            // What may change something may fail, as it did.
            Self::Loose(count) if may_change => done.attempts >= count.attempts,
            Self::Loose(count) => done.reads >= count.reads,
        }
    }
}

impl Plan {
    /// The schedule in a trace, if it is one that was made up.
    pub(crate) fn new(reader: Reader<'_>) -> Option<Self> {
        let turns = reader.filter_map(|record| match record {
            Record::Turn(turn) => {
                let extent = match turn.cause {
                    Cause::Planned => Extent::Operations(turn.choices),
                    Cause::PlannedLoosely => Extent::Loose(LooseCount::unpack(turn.choices)),
                    _ => return None,
                };
                Some((extent, turn.thread.0))
            }
            _ => None,
        });
        Self::of(turns.collect())
    }

    fn of(mut turns: Vec<(Extent, u32)>) -> Option<Self> {
        turns.reverse();
        (!turns.is_empty()).then_some(Self {
            turns,
            done: Done::default(),
            may_change: BTreeMap::new(),
            reads: BTreeMap::new(),
            owed: BTreeMap::new(),
        })
    }

    /// Whether there is anything left of it.
    pub(crate) fn is_followed(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Who is to have the turn now, if it is to change hands before this operation.
    pub(crate) fn due(&self, kind: Kind, pending: Pending) -> Option<u32> {
        let &(extent, thread) = self.turns.last()?;
        let is_reached = extent.is_reached(self.done, may_change(kind, pending));
        is_reached.then_some(thread)
    }

    /// Who has the turn next, if the schedule goes on. Where it is loose, those that cannot
    /// go on do what they should have done in their next turn, and those whose next
    /// operation is for a later turn have none.
    fn next(&mut self, point: &Point<'_>) -> Option<u32> {
        let mut current = point.current;
        while let Some(&(extent, next)) = self.turns.last() {
            match extent {
                Extent::Operations(operations) if self.done.operations < operations => break,
                Extent::Operations(_) => {}
                Extent::Loose(count) => {
                    let left = count.changes.saturating_sub(self.done.changes);
                    *self.owed.entry(current).or_default() += left;
                }
            }
            self.turns.pop();
            self.done = Done::default();
            let owed = self.owed.remove(&next).unwrap_or(0);
            if let Some((Extent::Loose(count), _)) = self.turns.last_mut() {
                count.changes += owed;
            }
            let can_go_on = point.candidates.contains(&next);
            if can_go_on && !self.is_through(next) {
                return Some(next);
            }
            if matches!(extent, Extent::Operations(_)) {
                break;
            }
            current = next;
        }
        self.turns.clear();
        None
    }

    /// Whether a thread that has just got the turn has nothing to do in it.
    fn is_through(&self, thread: u32) -> bool {
        match (self.turns.last(), self.may_change.get(&thread)) {
            (Some(&(extent @ Extent::Loose(_), _)), Some(&may_change)) => {
                extent.is_reached(Done::default(), may_change)
            }
            _ => false,
        }
    }

    /// The thread has done something: read without changing anything, if told.
    pub(crate) fn done(&mut self, thread: u32, read: Option<Read>) {
        let reads = self.reads.entry(thread).or_default();
        let done = &mut self.done;
        match read {
            Some(read) if reads.contains(&read) => return,
            Some(read) => {
                reads.push(read);
                done.reads = done.reads.saturating_add(1);
                if self.may_change.get(&thread) == Some(&true) {
                    done.attempts = done.attempts.saturating_add(1);
                }
            }
            None => {
                reads.clear();
                done.changes = done.changes.saturating_add(1);
                (done.attempts, done.reads) = (0, 0);
            }
        }
        done.operations += 1;
    }
}

/// Whether this operation may change something: more than look, yield or wait.
fn may_change(kind: Kind, pending: Pending) -> bool {
    match pending {
        Pending::Access { writes, .. } => writes,
        Pending::Other => kind != Kind::Stop,
    }
}

impl Strategy for Plan {
    fn started(&mut self, _thread: u32) {}

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        self.may_change
            .insert(point.current, may_change(point.kind, point.pending));
        if self.due(point.kind, point.pending).is_none() && point.can_stay() {
            return point.current;
        }
        if let Some(thread) = self.next(point) {
            return thread;
        }
        if point.can_stay() {
            point.current
        } else {
            point.candidates[0]
        }
    }

    fn pick(&mut self, _end: u64) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn point<'a>(current: u32, candidates: &'a [u32]) -> Point<'a> {
        Point {
            current,
            candidates,
            version: 0,
            kind: Kind::Operation,
            object: None,
            pending: Pending::Other,
        }
    }

    fn plan(turns: &[(u64, u32)]) -> Plan {
        let turns = turns
            .iter()
            .map(|&(count, thread)| (Extent::Operations(count), thread));
        Plan::of(turns.collect()).expect("turns")
    }

    fn read(value: u64) -> Option<Read> {
        Some(Read {
            context: 1,
            location: 1,
            value,
            order: 0,
        })
    }

    #[test]
    fn the_turn_changes_hands_after_as_many_operations() {
        let mut plan = plan(&[(2, 1), (0, 2)]);
        let all = [0, 1, 2];
        assert_eq!(plan.choose(&point(0, &all)), 0);
        plan.done(0, None);
        assert_eq!(plan.choose(&point(0, &all)), 0);
        plan.done(0, None);
        assert_eq!(plan.choose(&point(0, &all)), 1);
        assert_eq!(plan.choose(&point(1, &all)), 2, "at once");
        assert!(!plan.is_followed());
        assert_eq!(plan.choose(&point(2, &all)), 2);
    }

    #[test]
    fn reads_that_repeat_do_not_count() {
        let mut plan = plan(&[(2, 1)]);
        for _ in 0..5 {
            plan.done(0, read(0));
            assert_eq!(plan.choose(&point(0, &[0, 1])), 0);
        }
        plan.done(0, read(1));
        assert_eq!(plan.choose(&point(0, &[0, 1])), 1);
    }

    #[test]
    fn a_loose_turn_ends_before_the_next_change() {
        let count = LooseCount {
            changes: 1,
            attempts: 1,
            reads: 3,
        };
        let both = [0, 1];
        let access = |writes| Pending::Access {
            address: 8,
            size: 4,
            writes,
        };
        let next = |plan: &mut Plan, writes| {
            plan.choose(&Point {
                pending: access(writes),
                ..point(0, &both)
            })
        };
        let start = || Plan::of(alloc::vec![(Extent::Loose(count), 1)]).expect("a turn");
        let mut plan = start();
        // However often it looks, it goes on to its change.
        for value in 0..9 {
            assert_eq!(next(&mut plan, false), 0);
            plan.done(0, read(value));
        }
        assert_eq!(next(&mut plan, true), 0);
        plan.done(0, None);
        // One attempt may fail, as it did.
        assert_eq!(next(&mut plan, true), 0);
        plan.done(0, read(1));
        assert_eq!(next(&mut plan, true), 1, "before another change");
        let mut plan = start();
        plan.done(0, None);
        for value in 0..3 {
            assert_eq!(next(&mut plan, false), 0);
            plan.done(0, read(value));
        }
        assert_eq!(next(&mut plan, false), 1, "after as many reads");
    }

    fn loose(changes: u32) -> Extent {
        Extent::Loose(LooseCount {
            changes,
            ..LooseCount::default()
        })
    }

    #[test]
    fn who_would_change_something_too_early_is_passed_over() {
        // 0 makes a change, 1 looks once, 0 looks once, 1 makes a change, 0 makes one.
        let look = Extent::Loose(LooseCount {
            reads: 1,
            ..LooseCount::default()
        });
        let turns = alloc::vec![
            (loose(1), 1),
            (look, 0),
            (look, 1),
            (loose(1), 0),
            (loose(1), 1)
        ];
        let mut plan = Plan::of(turns).expect("turns");
        let both = [0, 1];
        plan.done(0, None);
        // It does not look again, and is about to change something.
        assert_eq!(plan.choose(&point(0, &both)), 1);
        plan.done(1, read(1));
        assert_eq!(plan.choose(&point(1, &both)), 1, "not 0");
        plan.done(1, None);
        assert_eq!(plan.choose(&point(1, &both)), 0);
    }

    #[test]
    fn who_cannot_go_on_does_so_later() {
        // 0 makes two changes, 1 makes one, 0 makes one, and 1 goes on.
        let turns = alloc::vec![(loose(2), 1), (loose(1), 0), (loose(1), 1)];
        let mut plan = Plan::of(turns).expect("turns");
        plan.done(0, None);
        assert_eq!(plan.choose(&point(0, &[1])), 1, "0 waits");
        plan.done(1, None);
        let both = [0, 1];
        assert_eq!(plan.choose(&point(1, &both)), 0);
        for _ in 0..2 {
            assert_eq!(plan.choose(&point(0, &both)), 0);
            plan.done(0, None);
        }
        assert_eq!(plan.choose(&point(0, &both)), 1, "after what it owed");
    }

    #[test]
    fn it_ends_where_it_cannot_be_followed() {
        let mut blocked = plan(&[(3, 1), (1, 0)]);
        assert_eq!(blocked.choose(&point(0, &[1, 2])), 1);
        assert!(!blocked.is_followed());
        let mut missing = plan(&[(0, 7)]);
        assert_eq!(missing.choose(&point(0, &[0, 1])), 0);
        assert!(!missing.is_followed());
    }
}
