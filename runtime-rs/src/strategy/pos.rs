//! Partial order sampling: the operation that each thread is about to make has a random
//! priority, and the highest is made. One that could not have come in either order with
//! what was just made, because both access the same object and one of them writes, draws
//! anew. Orders that differ only in operations that do not see each other are not told
//! apart, so that those which matter are drawn more evenly.
//!
//! After "Partial Order Aware Concurrency Sampling", Xinhao Yuan, Junfeng Yang and
//! Ronghui Gu, CAV 2018, <https://doi.org/10.1007/978-3-319-96142-2_20>. Deviations:
//! 1. Locks, fences and starts of threads are taken to be independent of each other.
//! 2. In a long run a thread keeps its priority more and more often, because a change of
//!    threads costs much more than an operation.

use alloc::vec::Vec;

use super::pace::{is_dense, starts_another};
use super::replay::PICK_SEED;
use super::{Pending, Point, Strategy};
use crate::rng::Rng;

/// One start of a thread in this many is a choice.
const RUNS_PER_CHOICE_AT_START: u64 = 8;

/// See the module.
#[derive(Debug)]
pub(crate) struct Pos {
    rng: Rng,
    picks: Rng,
    together: bool,
    choices: u64,
    /// By thread: how much its next operation is preferred.
    priorities: Vec<u64>,
    /// By thread: what it is about to do.
    pending: Vec<Pending>,
    /// Who was chosen last.
    chosen: Option<u32>,
}

impl Pos {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let together = !rng.one_in(RUNS_PER_CHOICE_AT_START);
        Self {
            rng,
            picks: Rng::new(seed ^ PICK_SEED),
            together,
            choices: 0,
            priorities: Vec::new(),
            pending: Vec::new(),
            chosen: None,
        }
    }

    /// The thread has made its operation: it draws for the next one, and so does
    /// everybody whose operation could not have been made in either order with it.
    fn made(&mut self, thread: u32) {
        let made = self.pending[thread as usize];
        for other in 0..self.priorities.len() {
            let draws = match made {
                _ if other == thread as usize => true,
                Pending::Other => false,
                Pending::Access { .. } => made.may_depend_on(self.pending[other]),
            };
            if draws {
                self.priorities[other] = self.rng.next();
            }
        }
    }
}

impl Strategy for Pos {
    fn started(&mut self, thread: u32) {
        while self.priorities.len() <= thread as usize {
            self.priorities.push(self.rng.next());
            self.pending.push(Pending::Other);
        }
    }

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        let current = point.current;
        if self.together && starts_another(point) {
            return current;
        }
        self.choices += 1;
        let dense = is_dense(&mut self.rng, self.choices);
        if self.chosen == Some(current) && (dense || !point.can_stay()) {
            self.made(current);
        }
        self.pending[current as usize] = point.pending;
        let priority = |&thread: &u32| self.priorities[thread as usize];
        let next = point.candidates.iter().copied().max_by_key(priority);
        self.chosen = next;
        next.unwrap_or(current)
    }

    fn pick(&mut self, end: u64) -> u64 {
        self.picks.below(end)
    }
}
