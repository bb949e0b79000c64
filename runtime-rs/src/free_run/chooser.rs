//! Which of the writes that an access could take it takes: the strategies of free
//! runs. Knows neither threads nor what the model allows.

use alloc::vec::Vec;

use wmfix_analysis::weak::Candidate;
use wmfix_trace::{AccessName, StaleTarget, TakenWrite};

use super::{WeakStrategy, name_of};
use crate::rng::Rng;

/// Makes the choices of a run.
#[derive(Debug)]
pub(super) enum Chooser {
    /// Every write is as likely as any other.
    Uniform(Rng),
    /// Once in so many times an old write, else the newest.
    Few { rng: Rng, one_in: u64 },
    /// Once in so many times any write, else the oldest: threads keep to what they
    /// know but for a few communications.
    Pctwm { rng: Rng, one_in: u64 },
    /// These and no others.
    Given(Vec<StaleTarget>),
}

/// What the rarer choice of a run may be one in, as powers of two.
const RAREST: u64 = 4;

impl Chooser {
    /// The seed decides how often, and with `Mixed` also the way.
    pub(super) fn new(strategy: WeakStrategy, seed: u64, given: Vec<StaleTarget>) -> Self {
        // The schedule's own numbers must not come again.
        let mut rng = Rng::new(seed ^ 0xa076_1d64_78bd_642f);
        let way = rng.below(4);
        let one_in = 1 << (1 + rng.below(RAREST));
        match strategy {
            WeakStrategy::Uniform => Self::Uniform(rng),
            WeakStrategy::Few => Self::Few { rng, one_in },
            WeakStrategy::Pctwm => Self::Pctwm { rng, one_in },
            WeakStrategy::Mixed => match way {
                0 | 1 => Self::Uniform(rng),
                2 => Self::Few { rng, one_in },
                _ => Self::Pctwm { rng, one_in },
            },
            WeakStrategy::Given => Self::Given(given),
        }
    }

    /// The number of one of the candidates, which are at least one, oldest first.
    pub(super) fn choose(&mut self, access: AccessName, candidates: &[Candidate]) -> usize {
        let newest = candidates.len() - 1;
        if let Self::Given(given) = self {
            let target = given.iter().find(|target| target.access == access);
            let named = |taken: TakenWrite| {
                let mut all = candidates.iter();
                match taken {
                    TakenWrite::Write(write) => {
                        all.position(|candidate| candidate.tag.map(name_of) == Some(write))
                    }
                    TakenWrite::First => all.position(|candidate| candidate.tag.is_none()),
                    TakenWrite::Newest => None,
                }
            };
            return target
                .and_then(|target| named(target.source))
                .unwrap_or(newest);
        }
        if newest == 0 {
            return 0;
        }
        match self {
            Self::Uniform(rng) => rng.below(candidates.len() as u64) as usize,
            Self::Few { rng, one_in } => match rng.one_in(*one_in) {
                true => rng.below(newest as u64) as usize,
                false => newest,
            },
            Self::Pctwm { rng, one_in } => match rng.one_in(*one_in) {
                true => rng.below(candidates.len() as u64) as usize,
                false => 0,
            },
            Self::Given(_) => newest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(count: usize) -> Vec<Candidate> {
        let all = (0..count).map(|position| Candidate {
            position,
            value: position as u64,
            tag: position.checked_sub(1).map(|before| before as u64 + 1),
            parts_rmw: false,
        });
        all.collect()
    }

    fn counts(strategy: WeakStrategy, seed: u64) -> [u32; 3] {
        let mut chooser = Chooser::new(strategy, seed, Vec::new());
        let (access, all) = (name_of(1 << 32 | 1), candidates(3));
        let mut counts = [0; 3];
        for _ in 0..3000 {
            counts[chooser.choose(access, &all)] += 1;
        }
        counts
    }

    #[test]
    fn strategies_choose_as_they_say() {
        for seed in 0..20 {
            let [oldest, middle, newest] = counts(WeakStrategy::Uniform, seed);
            assert!([oldest, middle, newest].iter().all(|&count| count > 800));
            let [oldest, middle, newest] = counts(WeakStrategy::Few, seed);
            assert!(newest > oldest && newest > middle && oldest > 0 && middle > 0);
            let [oldest, middle, newest] = counts(WeakStrategy::Pctwm, seed);
            assert!(oldest > newest && oldest > middle && newest > 0 && middle > 0);
        }
    }

    #[test]
    fn a_seed_gives_the_same_choices_and_others_give_others() {
        let all: Vec<_> = (0..30)
            .map(|seed| counts(WeakStrategy::Mixed, seed))
            .collect();
        let again = (0..30).map(|seed| counts(WeakStrategy::Mixed, seed));
        assert!(again.eq(all.iter().copied()));
        assert!(all.iter().any(|counts| counts[0] > 2000));
        assert!(all.iter().any(|counts| counts[2] > 2000));
    }

    #[test]
    fn given_choices_are_made_where_they_can_be() {
        let given = ["1.4=first", "1.5=0.1", "1.6=0.9"].map(|text| text.parse().unwrap());
        let mut chooser = Chooser::new(WeakStrategy::Given, 0, given.to_vec());
        let mut choose = |number: u64| chooser.choose(name_of(1 << 32 | number), &candidates(3));
        assert_eq!((choose(3), choose(4), choose(5), choose(6)), (2, 0, 1, 2));
    }
}
