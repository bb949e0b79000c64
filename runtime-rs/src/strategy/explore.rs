//! A schedule that the exploration of all runs asks for: whose step is first, second
//! and so on, and who must not go on after that before another thread has taken a step
//! that it depends on. A step ends where the next operation begins; what records
//! nothing is part of the step that follows. After the asked-for steps a thread goes
//! on for as long as it can, then the first one that is awake.

use alloc::vec::Vec;

use wmfix_trace::{Reader, Record, SyncKind};

use super::{Point, Strategy};

/// After this many choices in a row the turn goes to somebody else who can have it: a
/// loop that is not seen to wait must not keep the others from ending it.
const LONGEST_STAY: u32 = 1 << 8;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Explore {
    /// Threads that are to take a step; the next one last.
    prefix: Vec<u32>,
    /// Threads that sleep.
    asleep: Vec<u32>,
    /// What each thread is about to do, if it has come to its first operation.
    pending: Vec<Option<Pending>>,
    /// The thread whose step is asked for has done something.
    stepped: bool,
    /// Choices since the turn last changed hands.
    stayed: u32,
}

/// What a thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// Access an atomic object.
    Access {
        address: u64,
        size: u8,
        writes: bool,
    },
    /// Something else: take a lock, pass a fence, end.
    Other,
}

impl Pending {
    /// Whether the order of two operations could matter. Accesses and operations of
    /// another kind do not see each other.
    pub(super) fn may_depend_on(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::Access {
                    address,
                    size,
                    writes,
                },
                Self::Access {
                    address: theirs,
                    size: their_size,
                    writes: they_write,
                },
            ) => {
                (writes || they_write)
                    && address < theirs + u64::from(their_size)
                    && theirs < address + u64::from(size)
            }
            (Self::Other, Self::Other) => true,
            _ => false,
        }
    }
}

impl Explore {
    /// Reads `1,2,1;3`: the threads of the steps, then who sleeps.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (prefix, asleep) = text.split_once(';')?;
        let mut prefix = numbers(prefix)?;
        prefix.reverse();
        Some(Self {
            prefix,
            asleep: numbers(asleep)?,
            ..Self::default()
        })
    }

    /// The schedule of a recorded run that was one of an exploration.
    pub(crate) fn again(reader: Reader<'_>) -> Self {
        let mut prefix = Vec::new();
        let (mut thread, mut counted) = (0, false);
        for record in reader {
            match record {
                Record::Turn(turn) => (thread, counted) = (turn.thread.0, false),
                Record::Event(event) if !event.operation.is_plain() && !counted => {
                    prefix.push(thread);
                    counted = true;
                }
                Record::Sync(sync) if sync.kind != SyncKind::Unexplored && !counted => {
                    prefix.push(thread);
                    counted = true;
                }
                _ => {}
            }
        }
        prefix.reverse();
        Self {
            prefix,
            ..Self::default()
        }
    }

    /// Whose step is asked for next.
    pub(crate) fn due(&mut self) -> Option<u32> {
        if self.stepped {
            self.stepped = false;
            self.prefix.pop();
        }
        self.prefix.last().copied()
    }

    /// The thread has done something that the trace records. Who sleeps at the end of
    /// the asked-for steps is not woken by these.
    pub(crate) fn done(&mut self, thread: u32) {
        match self.prefix.last() {
            Some(&due) => self.stepped |= due == thread,
            None if self.asleep.is_empty() => {}
            None => self.wake(thread),
        }
    }

    /// Wakes those that depend on what a thread has done, not on what it tried: it may
    /// have had to wait.
    fn wake(&mut self, thread: u32) {
        let Some(did) = self.pending(thread) else {
            return;
        };
        let pending = &self.pending;
        self.asleep.retain(|&sleeper| {
            let theirs = pending.get(sleeper as usize).copied().flatten();
            sleeper != thread && theirs.is_some_and(|theirs| !theirs.may_depend_on(did))
        });
    }

    fn pending(&self, thread: u32) -> Option<Pending> {
        self.pending.get(thread as usize).copied().flatten()
    }

    /// Who goes next where nothing is asked for.
    fn next(&mut self, point: &Point<'_>) -> u32 {
        let awake = |thread: &&u32| !self.asleep.contains(thread);
        self.stayed += 1;
        let stays = point.can_stay() && awake(&&point.current) && self.stayed < LONGEST_STAY;
        if stays {
            return point.current;
        }
        let others = point.candidates.iter().filter(|&&t| t != point.current);
        let first = others.clone().filter(awake).min();
        let anybody = point.candidates.iter().filter(awake).min();
        // If all sleep, the run is one that another stands for.
        let chosen = first.or(anybody).or(others.min());
        *chosen.unwrap_or(&point.candidates[0])
    }
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    let words = text.split(',').filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

impl Strategy for Explore {
    fn started(&mut self, thread: u32) {
        let needed = thread as usize + 1;
        if self.pending.len() < needed {
            self.pending.resize(needed, None);
        }
        // The thread that starts the program is past its beginning.
        if thread == 0 {
            self.pending[0] = Some(Pending::Other);
        }
    }

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        self.pending[point.current as usize] = Some(point.pending);
        // Every thread comes to its first operation before anything else happens, so
        // that it is known what it is about to do.
        let unknown = |thread: &&u32| self.pending(**thread).is_none();
        if let Some(&thread) = point.candidates.iter().find(unknown) {
            return thread;
        }
        let chosen = match self.due() {
            Some(due) if point.candidates.contains(&due) => return due,
            Some(_) => {
                // It cannot go on: whoever asked will see.
                self.prefix.clear();
                self.next(point)
            }
            None => self.next(point),
        };
        if chosen != point.current {
            self.stayed = 0;
        }
        chosen
    }

    fn pick(&mut self, _end: u64) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Kind;

    const WRITE: Pending = Pending::Access {
        address: 16,
        size: 4,
        writes: true,
    };
    const ELSEWHERE: Pending = Pending::Access {
        address: 32,
        size: 4,
        writes: true,
    };

    fn point(current: u32, candidates: &[u32], pending: Pending) -> Point<'_> {
        Point {
            current,
            candidates,
            version: 0,
            kind: Kind::Operation,
            object: None,
            pending,
        }
    }

    fn started(text: &str) -> Explore {
        let mut explore = Explore::parse(text).unwrap();
        for thread in 0..3 {
            explore.started(thread);
        }
        // All come to their first operation.
        let all = [0, 1, 2];
        assert_eq!(explore.choose(&point(0, &all, Pending::Other)), 1);
        assert_eq!(explore.choose(&point(1, &all, WRITE)), 2);
        explore
    }

    #[test]
    fn the_steps_that_are_asked_for_are_taken() {
        let mut explore = started("1,2;");
        let all = [0, 1, 2];
        assert_eq!(explore.choose(&point(2, &all, ELSEWHERE)), 1);
        assert_eq!(explore.choose(&point(1, &all, WRITE)), 1, "nothing done");
        explore.done(1);
        assert_eq!(explore.choose(&point(1, &all, WRITE)), 2);
        explore.done(2);
        assert_eq!(explore.choose(&point(2, &all, ELSEWHERE)), 2, "stays");
    }

    #[test]
    fn who_sleeps_wakes_when_it_matters() {
        let mut explore = started(";1");
        assert_eq!(explore.choose(&point(2, &[1, 2], ELSEWHERE)), 2);
        explore.done(2);
        assert_eq!(explore.asleep, [1]);
        assert_eq!(explore.choose(&point(2, &[1, 2], WRITE)), 2);
        assert_eq!(explore.asleep, [1], "nothing done");
        explore.done(2);
        assert!(explore.asleep.is_empty());
        assert_eq!(explore.choose(&point(2, &[1], Pending::Other)), 1);
    }

    #[test]
    fn only_two_lists_of_numbers_are_read() {
        assert!(Explore::parse("1,2").is_none());
        assert!(Explore::parse("1,x;").is_none());
        assert!(Explore::parse(";").is_some());
    }
}
