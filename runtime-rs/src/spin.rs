//! Notices a thread that spins: it reads the same values at the same places
//! again and again and changes nothing. Such a thread cannot get on before
//! somebody else does something, so it may as well let them.

/// How many different reads a loop may have and still be seen as one.
const WINDOW: usize = 8;

/// What a thread has read since it last got on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Detector {
    seen: [(u32, u32, u64); WINDOW],
    len: usize,
    repeats: usize,
}

impl Detector {
    /// The thread has read this value and changed nothing. True if it spins.
    #[inline]
    pub(crate) fn read(&mut self, place: u32, location: u32, value: u64) -> bool {
        let read = (place, location, value);
        if self.seen[..self.len].contains(&read) {
            self.repeats += 1;
        } else {
            if self.len == WINDOW {
                self.len = 0;
            }
            self.seen[self.len] = read;
            self.len += 1;
            self.repeats = 0;
        }
        // Twice around, so that a loop is not taken for one at its first turn.
        self.repeats >= 2 * self.len
    }

    /// The thread has changed something.
    #[inline]
    pub(crate) fn progress(&mut self) {
        self.len = 0;
        self.repeats = 0;
    }

    /// The location it read last.
    pub(crate) fn last_location(&self) -> Option<u32> {
        self.seen[..self.len]
            .last()
            .map(|&(_, location, _)| location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_over_unchanged_values_is_a_spin() {
        let mut one = Detector::default();
        let spins: [bool; 4] = core::array::from_fn(|_| one.read(1, 0, 5));
        assert_eq!(spins, [false, false, true, true]);
        let mut two = Detector::default();
        let found = (0..20).position(|n| two.read(n % 2, n % 2, 5));
        assert_eq!(found, Some(5));
    }

    #[test]
    fn a_changing_value_or_a_write_is_none() {
        let mut counter = Detector::default();
        assert!(!(0..100).any(|n| counter.read(1, 0, n)));
        let mut writer = Detector::default();
        for _ in 0..100 {
            assert!(!writer.read(1, 0, 5));
            writer.progress();
        }
    }
}
