//! Which part of the runs a machine makes.

use std::fmt;
use std::str::FromStr;

/// Shard `number` of `total`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    number: u64,
    total: u64,
}

/// `--shard` as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShardFlag {
    /// `2/5`
    Given(Shard),
    /// `auto` or `auto/5`: whatever starts the shards says which one this is, and if
    /// the number of shards is not given, also that.
    Auto(Option<u64>),
}

/// More shards than this are a mistake.
const MAX_SHARDS: u64 = 100_000;

impl Shard {
    /// A shard, if there is one of that number.
    pub(crate) fn new(number: u64, total: u64) -> Option<Self> {
        let there = (1..=total).contains(&number) && total <= MAX_SHARDS;
        there.then_some(Self { number, total })
    }

    /// Its number, from 1.
    pub(crate) fn number(self) -> u64 {
        self.number
    }

    /// How many there are.
    pub(crate) fn total(self) -> u64 {
        self.total
    }

    /// The number, among all runs, of its run number `count`; both from 0.
    pub(crate) fn run_number(self, count: u64) -> u64 {
        let number = count.saturating_mul(self.total);
        number.saturating_add(self.number - 1)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.total)
    }
}

impl FromStr for ShardFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected I/N with I from 1 to N, as in 2/5, or auto";
        let number = |text: &str| text.parse::<u64>().map_err(|_| expected.to_owned());
        match text.split_once('/') {
            None if text == "auto" => Ok(Self::Auto(None)),
            None => Err(expected.to_owned()),
            Some(("auto", total)) => match number(total)? {
                total @ 1..=MAX_SHARDS => Ok(Self::Auto(Some(total))),
                _ => Err(expected.to_owned()),
            },
            Some((one, total)) => {
                let shard = Shard::new(number(one)?, number(total)?);
                shard.map(Self::Given).ok_or_else(|| expected.to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_take_turns() {
        let numbers = |text: &str| -> Vec<u64> {
            let Ok(ShardFlag::Given(shard)) = text.parse() else {
                panic!("{text}");
            };
            (0..3).map(|count| shard.run_number(count)).collect()
        };
        assert_eq!(numbers("1/1"), [0, 1, 2]);
        assert_eq!(numbers("1/3"), [0, 3, 6]);
        assert_eq!(numbers("3/3"), [2, 5, 8]);
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        assert_eq!("auto/4".parse(), Ok(ShardFlag::Auto(Some(4))));
        assert_eq!("auto".parse(), Ok(ShardFlag::Auto(None)));
        for text in [
            "", "3", "0/3", "4/3", "1/0", "a/b", "auto/0", "1/3/4", "-1/3", "1/200000",
        ] {
            assert!(text.parse::<ShardFlag>().is_err(), "{text}");
        }
    }
}
