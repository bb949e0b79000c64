//! Who goes next. A strategy sees the threads that could and names one of them;
//! it knows neither what they do nor how the turn is handed over. Everything
//! that a run leaves open is decided here and nowhere else.

mod explore;
mod pace;
mod pct;
mod plan;
mod pos;
mod random;
mod replay;
mod seek;

#[cfg(test)]
mod tests;

pub(crate) use explore::{Explore, Pending};
pub(crate) use pct::Pct;
pub(crate) use plan::Plan;
pub(crate) use pos::Pos;
pub(crate) use random::Random;
pub(crate) use replay::Replay;
pub(crate) use seek::Seek;

use crate::rng::Rng;

/// A moment at which the turn may change hands.
#[derive(Debug)]
pub(crate) struct Point<'a> {
    /// Who has the turn.
    pub(crate) current: u32,
    /// Who could have it next: at least one, in an order that only depends on
    /// what happened before. Without `current` if that one cannot go on, or
    /// should not, because it spins or yields.
    pub(crate) candidates: &'a [u32],
    /// Changes whenever the candidates do.
    pub(crate) version: u64,
    /// What `current` is about to do.
    pub(crate) kind: Kind,
    /// The atomic object that it is about to access, by its number, if there is
    /// one and it is not new.
    pub(crate) object: Option<u32>,
    /// The same as far as it can be told for any operation.
    pub(crate) pending: Pending,
}

/// What the thread that has the turn is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An operation on an atomic, a fence, a lock.
    Operation,
    /// Start a thread.
    Create,
    /// Wait, yield or end.
    Stop,
}

impl Point<'_> {
    /// Whether the thread that has the turn could keep it.
    pub(crate) fn can_stay(&self) -> bool {
        self.candidates.contains(&self.current)
    }
}

/// A way to choose.
pub(crate) trait Strategy {
    /// A thread has come into being.
    fn started(&mut self, thread: u32);

    /// One of the candidates.
    fn choose(&mut self, point: &Point<'_>) -> u32;

    /// A number below `end`, for choices that are not about threads: which of
    /// the waiters a signal wakes.
    fn pick(&mut self, end: u64) -> u64;

    /// The thread, which was chosen last, has written an atomic object.
    fn wrote(&mut self, _thread: u32, _object: u32) {}
}

/// The strategy of this run.
#[derive(Debug)]
pub(crate) enum AnyStrategy {
    Random(Random),
    Pct(Pct),
    Seek(Seek),
    Pos(Pos),
    Replay(Replay),
    Plan(Plan),
    Explore(Explore),
}

/// Of this many runs two have priorities and one samples partial orders: they let threads
/// miss what others do, for long and in orders that a walk rarely takes, which few bugs
/// need. The others seek.
const MIXED_RUNS: u64 = 16;
/// Draws which, apart from what the strategy draws.
const MIX_SEED: u64 = 0x6d69_7865;

impl AnyStrategy {
    /// Whether it wants to know which objects threads are about to access.
    #[inline]
    pub(crate) fn asks_for_objects(&self) -> bool {
        match self {
            Self::Seek(_) => true,
            Self::Pct(strategy) => strategy.current_walk().is_some_and(Self::asks_for_objects),
            _ => false,
        }
    }

    /// The strategy of a run of which none was asked for: programs differ in what
    /// finds their bugs, so runs differ in how they are scheduled.
    pub(crate) fn mixed(seed: u64, length: Option<u64>, depth: Option<u64>) -> Self {
        // These say how priorities change: whoever gives them wants some.
        if length.is_some() || depth.is_some() {
            return Self::Pct(Pct::new(seed, length, depth));
        }
        match Rng::new(seed ^ MIX_SEED).below(MIXED_RUNS) {
            0..2 => Self::Pct(Pct::mixed(seed)),
            2 => Self::Pos(Pos::new(seed)),
            _ => Self::Seek(Seek::new(seed)),
        }
    }
}

impl Strategy for AnyStrategy {
    fn started(&mut self, thread: u32) {
        match self {
            Self::Random(strategy) => strategy.started(thread),
            Self::Seek(strategy) => strategy.started(thread),
            Self::Pos(strategy) => strategy.started(thread),
            Self::Pct(strategy) => strategy.started(thread),
            Self::Replay(strategy) => strategy.started(thread),
            Self::Plan(strategy) => strategy.started(thread),
            Self::Explore(strategy) => strategy.started(thread),
        }
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> u32 {
        match self {
            Self::Random(strategy) => strategy.choose(point),
            Self::Seek(strategy) => strategy.choose(point),
            Self::Pos(strategy) => strategy.choose(point),
            Self::Pct(strategy) => strategy.choose(point),
            Self::Replay(strategy) => strategy.choose(point),
            Self::Plan(strategy) => strategy.choose(point),
            Self::Explore(strategy) => strategy.choose(point),
        }
    }

    fn pick(&mut self, end: u64) -> u64 {
        match self {
            Self::Random(strategy) => strategy.pick(end),
            Self::Seek(strategy) => strategy.pick(end),
            Self::Pos(strategy) => strategy.pick(end),
            Self::Pct(strategy) => strategy.pick(end),
            Self::Replay(strategy) => strategy.pick(end),
            Self::Plan(strategy) => strategy.pick(end),
            Self::Explore(strategy) => strategy.pick(end),
        }
    }
    #[inline]
    fn wrote(&mut self, thread: u32, object: u32) {
        match self {
            Self::Seek(strategy) => strategy.wrote(thread, object),
            Self::Pct(strategy) => strategy.wrote(thread, object),
            _ => {}
        }
    }
}
