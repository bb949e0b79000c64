//! Detects a thread that spins: it reads the same values in the same contexts
//! again and again and changes nothing. Such a thread makes no progress before
//! another one changes something, so it gives up the turn.
//!
//! Also decides which reads add nothing and need not be recorded. A read
//! of the same write as an earlier one of the same thread cannot read anything
//! older (coherence), and it orders nothing that the earlier one does not,
//! if the thread has learnt nothing in between. So a read is left out if the
//! same one was recorded, nobody has written since, and the thread has done
//! nothing since but read what it had read before.

/// How many different reads a loop may have and still be seen as one.
const WINDOW_READS: usize = 8;

/// What a thread has read since it last got on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Detector {
    seen: [SeenRead; WINDOW_READS],
    len: usize,
    repeats: usize,
    /// Counts the reads.
    reads: u64,
    /// The read with which the thread last learnt something, or the one after
    /// anything else that it did.
    news: u64,
}

/// A read that changed nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) context: u32,
    pub(crate) location: u32,
    pub(crate) value: u64,
    /// Its order, as a number.
    pub(crate) order: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct SeenRead {
    read: Read,
    /// The number of the read that was recorded.
    recorded: u64,
    /// The count of changes by all threads at that time.
    changes: u64,
}

/// What a read means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadVerdict {
    /// The thread spins.
    pub(crate) spins: bool,
    /// The read tells nothing that is not recorded.
    pub(crate) known: bool,
}

impl Detector {
    /// The thread has read this and changed nothing; `changes` counts the
    /// changes by all threads so far.
    #[inline]
    pub(crate) fn read(&mut self, read: Read, changes: u64) -> ReadVerdict {
        self.reads += 1;
        let mut known = false;
        let at = self.seen[..self.len]
            .iter()
            .position(|seen| seen.read == read);
        match at.map(|at| &mut self.seen[at]) {
            Some(seen) => {
                self.repeats += 1;
                if seen.changes != changes {
                    // It may be another write of the same value.
                    self.news = self.reads;
                }
                known = seen.recorded >= self.news;
                if !known {
                    seen.recorded = self.reads;
                    seen.changes = changes;
                }
            }
            None => {
                if self.len == WINDOW_READS {
                    self.len = 0;
                }
                self.seen[self.len] = SeenRead {
                    read,
                    recorded: self.reads,
                    changes,
                };
                self.len += 1;
                self.repeats = 0;
                self.news = self.reads;
            }
        }
        ReadVerdict {
            // Twice around, so that a loop is not taken for one at its first turn.
            spins: self.repeats >= 2 * self.len,
            known,
        }
    }

    /// The thread has changed something, or has been given a new chance.
    #[inline]
    pub(crate) fn progress(&mut self) {
        self.len = 0;
        self.repeats = 0;
    }

    /// The thread has done something else.
    #[inline]
    pub(crate) fn other(&mut self) {
        self.news = self.reads + 1;
    }

    /// What it read last that was new to it.
    pub(crate) fn last_read(&self) -> Option<Read> {
        self.seen[..self.len].last().map(|seen| seen.read)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    fn read(context: u32, value: u64) -> Read {
        Read {
            context,
            location: context,
            value,
            order: 0,
        }
    }

    #[test]
    fn a_loop_over_unchanged_values_is_a_spin() {
        let mut one = Detector::default();
        let spins: [bool; 4] = core::array::from_fn(|_| one.read(read(1, 5), 0).spins);
        assert_eq!(spins, [false, false, true, true]);
        let mut two = Detector::default();
        let found = (0..20).position(|n| two.read(read(n % 2, 5), 0).spins);
        assert_eq!(found, Some(5));
    }

    #[test]
    fn a_changing_value_or_a_write_is_none() {
        let mut counter = Detector::default();
        assert!(!(0..100).any(|n| counter.read(read(1, n), 0).spins));
        let mut writer = Detector::default();
        for _ in 0..100 {
            assert!(!writer.read(read(1, 5), 0).spins);
            writer.progress();
        }
    }

    /// Which reads of a sequence are recorded, as `r`; a digit is a read at that
    /// context, `w` another thread's change, `f` something else that the thread does.
    fn recorded(steps: &str) -> String {
        let mut detector = Detector::default();
        let mut changes = 0;
        let mut shown = |step: char| match step.to_digit(10) {
            Some(context) if detector.read(read(context, 0), changes).known => '-',
            Some(_) => 'r',
            None if step == 'w' => {
                changes += 1;
                'w'
            }
            None => {
                detector.other();
                'f'
            }
        };
        steps.chars().map(&mut shown).collect()
    }

    #[test]
    fn reads_that_tell_nothing_are_known() {
        assert_eq!(recorded("1111"), "r---");
        // The first of two reads comes once more after the other: by then the
        // thread knows what that one read.
        assert_eq!(recorded("12121212"), "rrr-----");
        assert_eq!(recorded("211112111"), "rr---r---");
    }

    #[test]
    fn whatever_happens_in_between_may_matter() {
        assert_eq!(recorded("11w11"), "r-wr-");
        assert_eq!(recorded("11f11"), "r-fr-");
        assert_eq!(recorded("1212w1212"), "rrr-wrrr-");
        assert_eq!(recorded("1f1f1"), "rfrfr");
    }
}
