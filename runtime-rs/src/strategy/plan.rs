//! A schedule that was made up from a recorded one: the turn changes hands after
//! as many operations of the thread that has it as the schedule says. Operations
//! are what a trace records but for plain accesses; reads that only repeat what
//! the thread has just read do not count, so that a loop which waits takes one.
//!
//! Where the program does something else, the schedule ends: from there on every
//! thread goes on for as long as it can.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use wmfix_trace::{Cause, Reader, Record};

use super::{Point, Strategy};
use crate::spin::Read;

/// See the module.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Operations to be done, and who gets the turn then; the next one last.
    turns: Vec<(u64, u32)>,
    /// Operations since the turn last changed hands.
    operations: u64,
    /// What each thread has read since it did anything else.
    reads: BTreeMap<u32, Vec<Read>>,
}

impl Plan {
    /// The schedule in a trace, if it is one that was made up.
    pub(crate) fn new(reader: Reader<'_>) -> Option<Self> {
        let mut turns: Vec<(u64, u32)> = reader
            .filter_map(|record| match record {
                Record::Turn(turn) if turn.cause == Cause::Planned => {
                    Some((turn.choices, turn.thread.0))
                }
                _ => None,
            })
            .collect();
        turns.reverse();
        (!turns.is_empty()).then_some(Self {
            turns,
            operations: 0,
            reads: BTreeMap::new(),
        })
    }

    /// Whether there is anything left of it.
    pub(crate) fn is_followed(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Who is to have the turn now, if it is to change hands.
    pub(crate) fn due(&self) -> Option<u32> {
        let &(operations, thread) = self.turns.last()?;
        (self.operations >= operations).then_some(thread)
    }

    /// The thread has done something: read without changing anything, if told.
    pub(crate) fn done(&mut self, thread: u32, read: Option<Read>) {
        let reads = self.reads.entry(thread).or_default();
        match read {
            Some(read) if reads.contains(&read) => return,
            Some(read) => reads.push(read),
            None => reads.clear(),
        }
        self.operations += 1;
    }
}

impl Strategy for Plan {
    fn started(&mut self, _thread: u32) {}

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        match self.due() {
            Some(thread) if point.candidates.contains(&thread) => {
                self.turns.pop();
                self.operations = 0;
                return thread;
            }
            None if point.can_stay() => return point.current,
            // Somebody cannot go on who should.
            _ => self.turns.clear(),
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
    use crate::strategy::Kind;

    fn point<'a>(current: u32, candidates: &'a [u32]) -> Point<'a> {
        Point {
            current,
            candidates,
            version: 0,
            kind: Kind::Operation,
            object: None,
            pending: crate::strategy::Pending::Other,
        }
    }

    fn plan(turns: &[(u64, u32)]) -> Plan {
        Plan {
            turns: turns.iter().rev().copied().collect(),
            operations: 0,
            reads: BTreeMap::new(),
        }
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
    fn it_ends_where_it_cannot_be_followed() {
        let mut blocked = plan(&[(3, 1), (1, 0)]);
        assert_eq!(blocked.choose(&point(0, &[1, 2])), 1);
        assert!(!blocked.is_followed());
        let mut missing = plan(&[(0, 7)]);
        assert_eq!(missing.choose(&point(0, &[0, 1])), 0);
        assert!(!missing.is_followed());
    }
}
