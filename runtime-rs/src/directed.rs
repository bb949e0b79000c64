//! A run with one stale choice: which access it is, what it takes, and what the run
//! remembers to make it happen. Nothing is decided here; the host has found the
//! choice in a recorded run and this repeats the run up to it.

use alloc::vec::Vec;

use wmfix_trace::{AccessName, StaleTarget, TakenWrite, ThreadId};

/// A run that is directed.
#[derive(Debug)]
pub(crate) struct Directed {
    target: StaleTarget,
    /// How many atomic accesses of each thread were recorded.
    accesses: Vec<u32>,
    /// The first value of each location.
    first_values: Vec<u128>,
    /// What the write to be taken has written, once it was made.
    taken: Option<u128>,
    done: bool,
}

/// What an access that is about to be recorded has to do with the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Nothing.
    None,
    /// Its write is the one to be taken.
    Source,
    /// It takes a write of this value.
    Stale(u128),
    /// It takes the newest write, and the schedule is drawn anew.
    Control,
}

impl Directed {
    pub(crate) fn new(target: StaleTarget) -> Self {
        Self {
            target,
            accesses: Vec::new(),
            first_values: Vec::new(),
            taken: None,
            done: false,
        }
    }

    /// A location has come into being.
    pub(crate) fn born(&mut self, value: u128) {
        self.first_values.push(value);
    }

    /// A thread makes an access that will be recorded, to the location of this number
    /// in the trace.
    pub(crate) fn access(&mut self, thread: u32, location: Option<u32>) -> Part {
        let known = self.accesses.len().max(thread as usize + 1);
        self.accesses.resize(known, 0);
        let number = &mut self.accesses[thread as usize];
        *number += 1;
        let name = AccessName {
            thread: ThreadId(thread),
            number: *number,
        };
        if self.done {
            return Part::None;
        }
        if self.target.source == TakenWrite::Write(name) {
            return Part::Source;
        }
        if self.target.access != name {
            return Part::None;
        }
        self.done = true;
        let value = match self.target.source {
            TakenWrite::Write(_) => self.taken,
            TakenWrite::First => {
                location.and_then(|number| self.first_values.get(number as usize).copied())
            }
            TakenWrite::Newest => return Part::Control,
        };
        // Without a value the run has gone elsewhere: then it is an ordinary run.
        value.map_or(Part::None, Part::Stale)
    }

    /// The write to be taken has this value.
    pub(crate) fn remember(&mut self, value: u128) {
        self.taken = Some(value);
    }

    /// What was taken, for the trace.
    pub(crate) fn source(&self) -> Option<AccessName> {
        match self.target.source {
            TakenWrite::Write(write) => Some(write),
            TakenWrite::First | TakenWrite::Newest => None,
        }
    }

    /// The seed of the schedule after the choice.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.target.seed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directed(text: &str) -> Directed {
        Directed::new(text.parse().unwrap())
    }

    #[test]
    fn the_access_takes_the_value_of_the_write_that_is_named() {
        let mut run = directed("1.2=2.1");
        run.born(7);
        assert_eq!(run.access(1, Some(0)), Part::None);
        assert_eq!(run.access(2, Some(0)), Part::Source);
        run.remember(5);
        assert_eq!(run.access(2, Some(0)), Part::None);
        assert_eq!(run.access(1, Some(0)), Part::Stale(5));
        assert_eq!(run.access(1, Some(0)), Part::None);
    }

    #[test]
    fn the_first_value_is_the_locations_own() {
        let mut run = directed("1.1=first");
        run.born(7);
        run.born(8);
        assert_eq!(run.access(1, Some(1)), Part::Stale(8));
    }

    #[test]
    fn a_run_that_goes_elsewhere_is_an_ordinary_one() {
        let mut run = directed("1.1=2.1");
        assert_eq!(run.access(1, Some(0)), Part::None);
        assert_eq!(run.access(2, Some(0)), Part::None);
    }
}
