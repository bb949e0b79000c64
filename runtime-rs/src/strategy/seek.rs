//! A walk that seeks communication: a thread that is about to look at what it wrote
//! itself is put off until all others are, or wait. Threads then mostly meet what
//! others have left: a queue's node is taken by another thread than the one that
//! put it there, a lock is handed over instead of taken again. That is where
//! missing orders matter, and a uniform walk rarely comes there, as threads of the
//! same kind keep step.
//!
//! How long a thread goes on before another one is drawn differs from run to run.
//! No thread is put off for ever: every now and then all are drawn from.

use alloc::vec::Vec;

use super::replay::PICK_SEED;
use super::{Kind, Point, Strategy};
use crate::rng::Rng;

/// How often the thread that has the turn keeps it without a draw, in 16 choices.
const STAYS: [u64; 4] = [0, 5, 8, 13];

/// A thread is not put off at one in this many operations.
const OPERATIONS_PER_LEAVE: u64 = 16;

/// All threads are drawn from at one in this many choices.
const CHOICES_PER_FREE_DRAW: u64 = 64;

/// After this many choices threads stay for longer, more so as the run goes on: a
/// change of threads costs much more than an operation.
const DENSE_CHOICES: u64 = 4096;

/// See the module.
#[derive(Debug)]
pub(crate) struct Seek {
    rng: Rng,
    picks: Rng,
    /// Whether a thread that starts others does so without being interrupted.
    together: bool,
    stay: u64,
    choices: u64,
    /// By thread: whether it is put off.
    put_off: Vec<bool>,
    /// By object: who wrote it last.
    writers: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

impl Seek {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let together = !rng.one_in(8);
        let stay = STAYS[rng.below(STAYS.len() as u64) as usize];
        Self {
            rng,
            picks: Rng::new(seed ^ PICK_SEED),
            together,
            stay,
            choices: 0,
            put_off: Vec::new(),
            writers: Vec::new(),
        }
    }

    /// Whether the thread that has the turn keeps it without a draw.
    #[inline]
    fn stays(&mut self) -> bool {
        let dense = self.choices <= DENSE_CHOICES || self.rng.below(self.choices) < DENSE_CHOICES;
        !dense || self.rng.below(16) < self.stay
    }

    /// One of those that are not put off.
    fn draw(&mut self, candidates: &[u32]) -> Option<u32> {
        let ready = |seek: &Self, thread: u32| !seek.put_off[thread as usize];
        let count = candidates.iter().filter(|&&one| ready(self, one)).count();
        if count == 0 {
            return None;
        }
        let at = self.rng.below(count as u64) as usize;
        let mut drawn = candidates.iter().filter(|&&one| ready(self, one));
        drawn.nth(at).copied()
    }
}

impl Strategy for Seek {
    fn started(&mut self, thread: u32) {
        let known = self.put_off.len().max(thread as usize + 1);
        self.put_off.resize(known, false);
    }

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        let (current, stays) = (point.current, point.can_stay());
        if self.together && point.kind == Kind::Create && stays {
            return current;
        }
        self.choices += 1;
        let object = point.object.map(|object| object as usize);
        let writer = object.and_then(|object| self.writers.get(object));
        let is_own = writer == Some(&current);
        self.put_off[current as usize] = is_own && !self.rng.one_in(OPERATIONS_PER_LEAVE);
        if stays && !self.put_off[current as usize] && self.stays() {
            return current;
        }
        let free = self.rng.one_in(CHOICES_PER_FREE_DRAW);
        let drawn = if free {
            None
        } else {
            self.draw(point.candidates)
        };
        drawn.unwrap_or_else(|| {
            let at = self.rng.below(point.candidates.len() as u64);
            point.candidates[at as usize]
        })
    }

    fn pick(&mut self, end: u64) -> u64 {
        self.picks.below(end)
    }

    fn wrote(&mut self, thread: u32, object: u32) {
        let known = self.writers.len().max(object as usize + 1);
        self.writers.resize(known, NOBODY);
        self.writers[object as usize] = thread;
    }
}
