//! Probabilistic concurrency testing: threads have random priorities, the
//! highest one that can go on does, and at a few random moments the one that
//! has the turn falls behind all others. A bug that needs d ordered moments is
//! found with a probability of at least 1/(n·k^(d−1)) for n threads and k
//! operations, whatever the program.
//!
//! After "A randomized scheduler with probabilistic guarantees of finding bugs",
//! Sebastian Burckhardt, Pravesh Kothari, Madanlal Musuvathi and Santosh
//! Nagarakatte, ASPLOS 2010, <https://doi.org/10.1145/1736020.1736040>.
//! Deviations:
//! 1. k is not known before the run. Unless it is given, it is drawn, small
//!    values more often, so that short programs are covered densely and long
//!    ones are reached now and then.
//! 2. d is drawn too, from 0 (each thread runs until it must wait) upwards, and
//!    at half of the changes the new priority is any, not the lowest.
//! 3. Threads that are started in a row are started before any of them runs, in
//!    most runs, so that being started first is no advantage.
//! 4. A thread that keeps the turn for very long falls behind, so that no loop
//!    of a high priority starves the one it waits for.
//! 5. Five runs in eight begin with a uniform walk, which reaches what needs many
//!    changes within a few operations; where strategies are mixed, seven in eight begin
//!    with one that seeks communication, and k counts from its end. The probability
//!    holds for the other runs, and for what comes after the walk.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::replay::PICK_SEED;
use super::{AnyStrategy, Kind, Point, Random, Seek, Strategy};
use crate::rng::Rng;

/// Draws of k are powers of two up to this one.
const LONGEST_LENGTH_BITS: u64 = 11;
/// In every other run, up to this one.
const SHORT_LENGTH_BITS: u64 = 3;
/// Draws of d are below this.
const DEPTH_LIMIT: u64 = 6;
/// How many runs in 16 begin with a walk.
const WALKS: u64 = 10;
/// The same where strategies are mixed: walks are what most of the other runs are, and
/// what finds most in short programs.
const MIXED_WALKS: u64 = 14;
/// How long a walk at the beginning is.
const WALK_CHOICES: u64 = 64;
/// The most choices in a row that one thread may have.
const MAX_CHOICES_IN_A_ROW: u64 = 5_000;

/// One yield or wait in this many makes its thread fall behind all others.
const STOPS_PER_DEMOTION: u64 = 32;

/// See the module.
#[derive(Debug)]
pub(crate) struct Pct {
    rng: Rng,
    picks: Rng,
    /// By thread; the highest goes first. All are different.
    priorities: Vec<i64>,
    /// The lowest priority so far.
    lowest: i64,
    /// The choices at which the priority changes, sorted, the next one last.
    changes: Vec<u64>,
    choices: u64,
    in_a_row: u64,
    /// The candidates for which the highest was last looked for, by version.
    looked_at: Option<u64>,
    stops: u64,
    together: bool,
    walk: Option<Box<AnyStrategy>>,
}

impl Pct {
    pub(crate) fn new(seed: u64, length: Option<u64>, depth: Option<u64>) -> Self {
        Self::with_walk(seed, length, depth, |rng| {
            (depth.is_none() && rng.below(16) < WALKS)
                .then(|| AnyStrategy::Random(Random::new(rng.next())))
        })
    }

    /// As one of several strategies.
    pub(crate) fn mixed(seed: u64) -> Self {
        let mut pct = Self::with_walk(seed, None, None, |rng| {
            (rng.below(16) < MIXED_WALKS).then(|| AnyStrategy::Seek(Seek::new(rng.next())))
        });
        // Most lengths are short: within the walk, such changes would be lost.
        if pct.walk.is_some() {
            pct.changes.iter_mut().for_each(|at| *at += WALK_CHOICES);
        }
        pct
    }

    fn with_walk(
        seed: u64,
        length: Option<u64>,
        depth: Option<u64>,
        draw_walk: impl FnOnce(&mut Rng) -> Option<AnyStrategy>,
    ) -> Self {
        let mut rng = Rng::new(seed);
        let together = !rng.one_in(8);
        let walk = draw_walk(&mut rng).map(Box::new);
        let length = match length {
            // An estimate from another run: somewhat more, as runs differ.
            Some(length) => length + length / 4 + 1,
            None => {
                let longest = if rng.one_in(2) {
                    SHORT_LENGTH_BITS
                } else {
                    LONGEST_LENGTH_BITS
                };
                4 << rng.below(longest)
            }
        };
        let depth = depth.unwrap_or_else(|| rng.below(DEPTH_LIMIT));
        let mut changes: Vec<u64> = (0..depth).map(|_| 1 + rng.below(length)).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            rng,
            picks: Rng::new(seed ^ PICK_SEED),
            priorities: Vec::new(),
            lowest: 0,
            changes,
            choices: 0,
            in_a_row: 0,
            looked_at: None,
            stops: 0,
            together,
            walk,
        }
    }

    /// Whether the thread that has the turn was the highest of the same
    /// candidates at the choice before, and no change is due.
    #[inline]
    fn nothing_new(&self, point: &Point<'_>) -> bool {
        self.looked_at == Some(point.version)
            && self.in_a_row > 0
            && self.in_a_row <= MAX_CHOICES_IN_A_ROW
            && self.changes.last().is_none_or(|&at| at > self.choices + 1)
    }

    /// The walk at the beginning, if the run is still in it.
    pub(super) fn current_walk(&self) -> Option<&AnyStrategy> {
        self.walk.as_deref().filter(|_| self.choices < WALK_CHOICES)
    }

    fn fall_behind(&mut self, thread: u32) {
        self.lowest -= 1;
        self.priorities[thread as usize] = self.lowest;
    }

    /// At a moment of change: behind all others, or to a new random priority, so
    /// that with three threads and more either of the others may come next.
    fn change(&mut self, thread: u32) {
        if self.rng.one_in(2) {
            self.fall_behind(thread);
        } else {
            self.started(thread);
        }
    }

    fn highest(&self, candidates: &[u32]) -> u32 {
        let priority = |&thread: &u32| self.priorities[thread as usize];
        candidates
            .iter()
            .copied()
            .max_by_key(priority)
            .unwrap_or_default()
    }
}

impl Strategy for Pct {
    fn started(&mut self, thread: u32) {
        // A random position among the others. Two equal priorities are very
        // unlikely; then the later candidate wins.
        let priority = self.rng.next() >> 2;
        let known = self.priorities.len().max(thread as usize + 1);
        self.priorities.resize(known, 0);
        self.priorities[thread as usize] = priority as i64;
        if let Some(walk) = &mut self.walk {
            walk.started(thread);
        }
    }

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        if let Some(walk) = &mut self.walk
            && self.choices < WALK_CHOICES
        {
            self.choices += 1;
            return walk.choose(point);
        }
        if self.nothing_new(point) {
            self.choices += 1;
            self.in_a_row += 1;
            return point.current;
        }
        let stays = point.can_stay();
        if self.together && point.kind == Kind::Create && stays {
            return point.current;
        }
        if point.candidates.len() > 1 {
            self.choices += 1;
            while self.changes.last().is_some_and(|&at| at <= self.choices) {
                self.changes.pop();
                if stays {
                    self.change(point.current);
                }
            }
        }
        if stays && self.in_a_row > MAX_CHOICES_IN_A_ROW {
            self.fall_behind(point.current);
        }
        // Threads that yield to each other for ever must not starve a lower one,
        // even if each of them writes something on the way.
        if point.kind == Kind::Stop {
            self.stops += 1;
            if self.stops.is_multiple_of(STOPS_PER_DEMOTION) {
                self.fall_behind(point.current);
            }
        }
        let next = self.highest(point.candidates);
        let kept = next == point.current;
        self.in_a_row = if kept { self.in_a_row + 1 } else { 0 };
        // Only a thread that was chosen is found again without looking.
        self.looked_at = (kept && point.candidates.len() > 1).then_some(point.version);
        next
    }

    fn pick(&mut self, end: u64) -> u64 {
        self.picks.below(end)
    }

    fn wrote(&mut self, thread: u32, object: u32) {
        if self.choices < WALK_CHOICES
            && let Some(walk) = &mut self.walk
        {
            walk.wrote(thread, object);
        }
    }
}
