//! A walk that seeks communication: a thread that is about to look at what it wrote
//! itself is put off until all others are, or wait. Threads then mostly meet what
//! others have left: a queue's node is taken by another thread than the one that
//! put it there, a lock is handed over instead of taken again. That is where
//! missing orders matter, and a uniform walk rarely comes there, as threads of the
//! same kind keep step.
//!
//! Programs differ in what else they need, and so do the parts of one run: how readily a
//! thread lets go of the turn after it has read and after it has written, whether threads
//! are put off at all, and who goes on when all are. That is the walk's manner. It is
//! drawn anew every few choices: a program that does the same several times meets
//! several manners in one run.
//!
//! No thread is put off for ever: every now and then all are drawn from.

use alloc::vec::Vec;

use super::pace::{is_dense, starts_another};
use super::replay::PICK_SEED;
use super::{Point, Strategy};
use crate::rng::Rng;

/// A manner lasts for this many choices on average.
const CHOICES_PER_MANNER: u64 = 4;

/// All threads are drawn from at one in this many choices.
const CHOICES_PER_FREE_DRAW: u64 = 64;

/// How often the thread that has the turn keeps it without a draw, in 16 choices: after
/// it has read, and after it has written.
const STAYS: [(u64, u64); 4] = [(0, 0), (4, 13), (0, 13), (13, 13)];

/// See the module.
#[derive(Debug)]
pub(crate) struct Seek {
    rng: Rng,
    picks: Rng,
    /// Whether a thread that starts others does so without being interrupted.
    together: bool,
    manner: Manner,
    choices: u64,
    /// Whether what was done last was a write.
    wrote: bool,
    /// By thread: at which choice it was put off, if it is.
    put_off: Vec<Option<u64>>,
    /// By object: who wrote it last.
    writers: Vec<u32>,
}

/// How the walk chooses, for a while.
#[derive(Clone, Copy, Debug)]
struct Manner {
    /// One of [`STAYS`].
    stays: (u64, u64),
    /// How often a thread is put off that is about to look at its own write, in 16 times.
    puts_off: u64,
    /// Where all are put off: whether it is the one that was put off last that goes on,
    /// so that the others stay where they are.
    last_goes_on: bool,
}

const NOBODY: u32 = u32::MAX;

impl Manner {
    fn draw(rng: &mut Rng) -> Self {
        Self {
            stays: STAYS[rng.below(STAYS.len() as u64) as usize],
            puts_off: match rng.below(16) {
                0..6 => 0,
                6..9 => 8,
                _ => 15,
            },
            last_goes_on: !rng.one_in(4),
        }
    }
}

impl Seek {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let together = !rng.one_in(8);
        let manner = Manner::draw(&mut rng);
        Self {
            rng,
            picks: Rng::new(seed ^ PICK_SEED),
            together,
            manner,
            choices: 0,
            wrote: false,
            put_off: Vec::new(),
            writers: Vec::new(),
        }
    }

    fn change_manner(&mut self) {
        self.manner = Manner::draw(&mut self.rng);
        if self.manner.puts_off == 0 {
            self.put_off.fill(None);
        }
    }

    /// Whether the thread is put off from here on.
    fn puts_off(&mut self, point: &Point<'_>) -> bool {
        let object = point.object.map(|object| object as usize);
        let writer = object.and_then(|object| self.writers.get(object));
        let is_own = writer == Some(&point.current);
        is_own && self.rng.below(16) < self.manner.puts_off
    }

    /// Whether the thread that has the turn keeps it without a draw.
    #[inline]
    fn stays(&mut self, wrote: bool) -> bool {
        let (after_read, after_write) = self.manner.stays;
        let stay = if wrote { after_write } else { after_read };
        !is_dense(&mut self.rng, self.choices) || self.rng.below(16) < stay
    }

    /// One of those that are not put off; where all are, the last of them, or none.
    fn draw(&mut self, candidates: &[u32]) -> Option<u32> {
        let since = |seek: &Self, thread: u32| seek.put_off[thread as usize];
        let is_ready = |seek: &Self, thread: u32| since(seek, thread).is_none();
        let ready = candidates.iter().filter(|&&one| is_ready(self, one));
        let count = ready.count() as u64;
        if count > 0 {
            let at = self.rng.below(count) as usize;
            let mut ready = candidates.iter().filter(|&&one| is_ready(self, one));
            return ready.nth(at).copied();
        }
        let last = candidates.iter().max_by_key(|&&one| since(self, one));
        last.copied().filter(|_| self.manner.last_goes_on)
    }
}

impl Strategy for Seek {
    fn started(&mut self, thread: u32) {
        let known = self.put_off.len().max(thread as usize + 1);
        self.put_off.resize(known, None);
    }

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        let current = point.current;
        if self.together && starts_another(point) {
            return current;
        }
        self.choices += 1;
        if self.rng.one_in(CHOICES_PER_MANNER) {
            self.change_manner();
        }
        let wrote = core::mem::take(&mut self.wrote);
        let is_put_off = self.puts_off(point);
        self.put_off[current as usize] = is_put_off.then_some(self.choices);
        if point.can_stay() && !is_put_off && self.stays(wrote) {
            return current;
        }
        let drawn = match self.rng.one_in(CHOICES_PER_FREE_DRAW) {
            true => None,
            false => self.draw(point.candidates),
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
        self.wrote = true;
        let known = self.writers.len().max(object as usize + 1);
        self.writers.resize(known, NOBODY);
        self.writers[object as usize] = thread;
    }
}
