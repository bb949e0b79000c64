//! A walk that seeks communication: a thread that is about to look at what it wrote
//! itself is put off until all others are, or wait. Threads then mostly meet what
//! others have left: a queue's node is taken by another thread than the one that
//! put it there, a lock is handed over instead of taken again. That is where
//! missing orders matter, and a uniform walk rarely comes there, as threads of the
//! same kind keep step.
//!
//! Programs differ in what else they need, and so do the parts of one run:
//! 1. How readily a thread lets go of the turn after it has read and after it has
//!    written: what it has read grows old meanwhile, what it has written is found before
//!    it writes more.
//! 2. How often threads are put off: some bugs need a thread that uses its own writes.
//! 3. For how long. A thread that goes on as soon as another one has written what it is
//!    about to look at meets that write at once: threads take turns, many times in a row.
//!    One that stays until all are put off meets what is left in the end, and what it
//!    knows grows old.
//! 4. Who goes on when all are put off: the last one, while the others stay where they
//!    are, or any.
//!
//! That is the walk's manner. It is drawn anew every few choices: a program that does the
//! same several times meets several manners in one run.
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

/// How often a thread is put off that is about to look at its own write, in 16 times.
/// Never in all 16, so that it sometimes looks before another one writes.
const PUTS_OFF: [u64; 4] = [0, 8, 15, 15];

/// In one manner of this many, threads are put off only until another one has written the
/// object. More would be too many: no thread then stays where it is for long.
const MANNERS_PER_UNTIL_WRITTEN: u64 = 4;

/// In one manner of this many any thread goes on when all are put off, so that the others
/// do not always fall behind the last one.
const MANNERS_PER_ANY_GOES_ON: u64 = 3;

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
    /// By thread: since when and before which object it is put off, if it is.
    put_off: Vec<Option<PutOff>>,
    /// By object: who wrote it last.
    writers: Vec<u32>,
}

/// How the walk chooses, for a while.
#[derive(Clone, Copy, Debug)]
struct Manner {
    /// One of [`STAYS`].
    stays: (u64, u64),
    /// One of [`PUTS_OFF`].
    puts_off: u64,
    /// Whether a thread is put off only until another one has written the object.
    until_written: bool,
    /// Where all are put off: whether it is the one that was put off last that goes on,
    /// so that the others stay where they are.
    last_goes_on: bool,
}

/// A thread that lets others go first.
#[derive(Clone, Copy, Debug)]
struct PutOff {
    /// The number of the choice.
    since: u64,
    /// What it is about to look at, and wrote itself.
    object: u32,
}

const NOBODY: u32 = u32::MAX;

impl Manner {
    fn draw(rng: &mut Rng) -> Self {
        Self {
            stays: STAYS[rng.below(STAYS.len() as u64) as usize],
            puts_off: PUTS_OFF[rng.below(PUTS_OFF.len() as u64) as usize],
            until_written: rng.one_in(MANNERS_PER_UNTIL_WRITTEN),
            last_goes_on: !rng.one_in(MANNERS_PER_ANY_GOES_ON),
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

    /// Whether the thread that has the turn is put off from here on.
    fn put_off(&mut self, point: &Point<'_>) -> Option<PutOff> {
        let object = point.object?;
        let is_put_off =
            self.is_writer(point.current, object) && self.rng.below(16) < self.manner.puts_off;
        is_put_off.then_some(PutOff {
            since: self.choices,
            object,
        })
    }

    /// Whether the thread wrote the object last.
    fn is_writer(&self, thread: u32, object: u32) -> bool {
        self.writers.get(object as usize) == Some(&thread)
    }

    /// Whether the thread is not put off, or no longer.
    fn is_ready(&self, thread: u32) -> bool {
        self.put_off[thread as usize].is_none_or(|put_off| {
            self.manner.until_written && !self.is_writer(thread, put_off.object)
        })
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
        let count = candidates.iter().filter(|&&one| self.is_ready(one)).count();
        if count > 0 {
            let at = self.rng.below(count as u64) as usize;
            let mut ready = candidates.iter().filter(|&&one| self.is_ready(one));
            return ready.nth(at).copied();
        }
        let since = |&&one: &&u32| self.put_off[one as usize].map(|put_off| put_off.since);
        let last = candidates.iter().max_by_key(since);
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
        let put_off = self.put_off(point);
        self.put_off[current as usize] = put_off;
        if point.can_stay() && put_off.is_none() && self.stays(wrote) {
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
