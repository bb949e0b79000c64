//! A location clock: for each location the newest write that is known.

/// Pairs of location and timestamp, by location; what is missing is 0.
#[derive(Clone, Debug, Default)]
pub(super) struct LocationClock(Vec<(u32, u32)>);

impl LocationClock {
    /// The newest known write to a location.
    pub(super) fn get(&self, location: u32) -> u32 {
        self.find(location).map_or(0, |place| self.0[place].1)
    }

    /// Makes a write to a location known. Timestamps only grow.
    pub(super) fn set(&mut self, location: u32, timestamp: u32) {
        match self.find(location) {
            Ok(place) => self.0[place].1 = self.0[place].1.max(timestamp),
            Err(place) if timestamp > 0 => self.0.insert(place, (location, timestamp)),
            Err(_) => {}
        }
    }

    /// Learns all that another clock knows.
    pub(super) fn join(&mut self, other: &Self) {
        let mut mine = self.0.iter_mut().peekable();
        let mut missing = 0;
        // First what both have, in place: the usual case is that this is all.
        for &(location, timestamp) in &other.0 {
            while mine.next_if(|(l, _)| *l < location).is_some() {}
            match mine.next_if(|(l, _)| *l == location) {
                Some((_, known)) => *known = (*known).max(timestamp),
                None => missing += 1,
            }
        }
        if missing > 0 {
            self.add_missing(other, missing);
        }
    }

    /// Becomes equal to another clock.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }

    /// Merges from the back, so that every pair moves at most once.
    fn add_missing(&mut self, other: &Self, missing: usize) {
        let mut from = self.0.len();
        let mut to = from + missing;
        self.0.resize(to, (0, 0));
        for &pair in other.0.iter().rev() {
            while from > 0 && self.0[from - 1].0 > pair.0 {
                from -= 1;
                to -= 1;
                self.0[to] = self.0[from];
            }
            if from > 0 && self.0[from - 1].0 == pair.0 {
                continue;
            }
            to -= 1;
            self.0[to] = pair;
        }
    }

    fn find(&self, location: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&location, |pair| pair.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::litmus::Rng;

    #[test]
    fn join_is_the_greater_of_both_everywhere() {
        let mut rng = Rng::new(3);
        for _ in 0..500 {
            let mut random = || {
                let mut clock = LocationClock::default();
                for _ in 0..rng.below(12) {
                    clock.set(rng.below(10) as u32, rng.below(5) as u32);
                }
                clock
            };
            let (a, b) = (random(), random());
            let mut both = a.clone();
            both.join(&b);
            for location in 0..10 {
                assert_eq!(both.get(location), a.get(location).max(b.get(location)));
            }
            assert!(
                both.0.is_sorted_by(|x, y| x.0 < y.0),
                "{a:?} {b:?} {both:?}"
            );
        }
    }
}
