//! A uniform walk: at every operation each thread is as likely as any other.

use super::replay::PICK_SEED;
use super::{Kind, Point, Strategy};
use crate::rng::Rng;

/// See the module.
#[derive(Debug)]
pub(crate) struct Random {
    rng: Rng,
    picks: Rng,
    /// Whether a thread that starts others does so without being interrupted:
    /// otherwise the first ones would be ahead in nearly every run.
    together: bool,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let together = !rng.one_in(4);
        let picks = Rng::new(seed ^ PICK_SEED);
        Self {
            rng,
            picks,
            together,
        }
    }
}

impl Strategy for Random {
    fn started(&mut self, _thread: u32) {}

    fn choose(&mut self, point: &Point<'_>) -> u32 {
        if self.together && point.kind == Kind::Create && point.can_stay() {
            return point.current;
        }
        point.candidates[self.rng.below(point.candidates.len() as u64) as usize]
    }

    fn pick(&mut self, end: u64) -> u64 {
        self.picks.below(end)
    }
}
