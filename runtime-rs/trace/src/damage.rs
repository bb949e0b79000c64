//! What a run loses so that one can see whether its test notices, and its text: the
//! words that both sides of `WMFIX_LOSE` and `WMFIX_UNDO` read and write.
//!
//! `5,9=acquire/relaxed` reads: the operations of the sites 5 and 9 of the table
//! `WMFIX_SITES` have the order acquire, and relaxed where a compare-exchange fails; a
//! relaxed fence is none. `2.17` reads: what the 17th recorded atomic access of thread 2
//! stores is gone at its next step, `2.p17` means its 17th recorded plain write.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::record::{AccessName, Order, ThreadId};

/// The operations of some sites have a weaker order than the program says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LostOrder {
    /// The sites, by their numbers in the table.
    pub sites: Vec<u32>,
    /// The order that is left.
    pub order: Order,
    /// The one that is left where a compare-exchange fails.
    pub failure: Order,
}

/// A store that is undone behind its thread's back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UndoneStore {
    /// The access: atomic ones and plain ones are counted apart.
    pub access: AccessName,
    /// It is a plain write.
    pub is_plain: bool,
}

/// A text that says nothing to be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadDamage;

impl fmt::Display for BadDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SITE[,SITE…]=ORDER/ORDER, THREAD.ACCESS or THREAD.pWRITE is wanted"
        )
    }
}

impl core::error::Error for BadDamage {}

impl fmt::Display for LostOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, site) in self.sites.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma}{site}")?;
        }
        write!(f, "={}/{}", self.order.name(), self.failure.name())
    }
}

impl FromStr for LostOrder {
    type Err = BadDamage;

    fn from_str(text: &str) -> Result<Self, BadDamage> {
        let (sites, orders) = text.split_once('=').ok_or(BadDamage)?;
        let (order, failure) = orders.split_once('/').ok_or(BadDamage)?;
        let number = |text: &str| text.parse().map_err(|_| BadDamage);
        let named = |name: &str| {
            let mut all = Order::ALL.into_iter();
            all.find(|order| order.name() == name).ok_or(BadDamage)
        };
        Ok(Self {
            sites: sites.split(',').map(number).collect::<Result<_, _>>()?,
            order: named(order)?,
            failure: named(failure)?,
        })
    }
}

impl fmt::Display for UndoneStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_plain { "p" } else { "" };
        write!(f, "{}.{kind}{}", self.access.thread.0, self.access.number)
    }
}

impl FromStr for UndoneStore {
    type Err = BadDamage;

    fn from_str(text: &str) -> Result<Self, BadDamage> {
        let (thread, number) = text.split_once('.').ok_or(BadDamage)?;
        let plain = number.strip_prefix('p');
        let parsed = |text: &str| text.parse().map_err(|_| BadDamage);
        Ok(Self {
            access: AccessName {
                thread: ThreadId(parsed(thread)?),
                number: parsed(plain.unwrap_or(number))?,
            },
            is_plain: plain.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_lost_order_reads_as_it_is_written() {
        for text in ["5=relaxed/relaxed", "5,9=acq_rel/acquire"] {
            assert_eq!(text.parse::<LostOrder>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "5",
            "5=",
            "=relaxed/relaxed",
            "5=relaxed",
            "5=weak/relaxed",
        ] {
            assert_eq!(text.parse::<LostOrder>(), Err(BadDamage), "{text}");
        }
    }

    #[test]
    fn an_undone_store_reads_as_it_is_written() {
        for text in ["2.17", "0.p1"] {
            assert_eq!(text.parse::<UndoneStore>().unwrap().to_string(), text);
        }
        for text in ["", "2", "2.", "2.p", "p.2", "2.q1"] {
            assert_eq!(text.parse::<UndoneStore>(), Err(BadDamage), "{text}");
        }
    }
}
