//! One rule of a vocabulary: how one call is written and what it does. Rules are
//! compiled from vocabulary text; they know nothing of syntax trees.

use crate::order::MemoryOrder;
use crate::site::{Comparison, SiteOperation};

/// How calls of one name are to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The vocabulary it belongs to: an index into the list of vocabularies.
    pub vocabulary: usize,
    /// What the call does.
    pub operation: SiteOperation,
    /// A method of the atomic object (`x.load()`), or a free function or macro.
    pub member: bool,
    /// Where the atomic object is, if the call is not a method.
    pub object: Option<usize>,
    /// Where the order is, of a compare-exchange on success.
    pub order: OrderRule,
    /// Where the failure order of a compare-exchange is.
    pub failure: Option<OrderRule>,
    /// The fewest and the most arguments of such a call.
    pub arity: (usize, usize),
    /// The argument that a compare-exchange expects in memory.
    pub expected: Option<usize>,
    /// The expected value is that argument itself, not what it refers to, so that
    /// a failed compare-exchange does not change it.
    pub expected_by_value: bool,
    /// The argument that a compare-exchange writes.
    pub desired: Option<usize>,
    /// The argument that says whether a compare-exchange is weak.
    pub weak: Option<usize>,
    /// What the call gives back.
    pub result: CallResult,
    /// The call itself waits until the value compares so with its second argument.
    pub awaits: Option<Comparison>,
    /// The name alone says that this is an atomic operation: true of
    /// `compare_exchange_weak`, not of `load` or `clear`.
    pub distinctive: bool,
    /// How such a call accesses a plain object, if it can: known of macros and functions
    /// by their bodies.
    pub plain: Option<PlainForm>,
}

/// How a call accesses a plain object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainForm {
    /// The argument that is or leads to the object.
    pub object: usize,
    /// The object's address is what is given, not the object itself.
    pub takes_address: bool,
    /// The argument that a store writes.
    pub value: Option<usize>,
    /// The only type that the object may have; `None` if it may have any.
    pub only: Option<String>,
    /// The value must have the object's type as it stands, without a conversion.
    pub same_type: bool,
    /// The object may be const.
    pub takes_const: bool,
    /// The object may be volatile.
    pub takes_volatile: bool,
}

/// Where a call says its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OrderRule {
    /// In this argument; absent, the order is the default.
    Argument {
        /// Which argument, from 0.
        index: usize,
        /// The order when the argument is absent.
        default: MemoryOrder,
    },
    /// In this template argument.
    Template {
        /// Which template argument, from 0.
        index: usize,
        /// The order when the argument is absent.
        default: MemoryOrder,
    },
    /// In this argument, which a macro makes part of the order's name:
    /// `memory_order_##order`.
    Pasted {
        /// Which argument, from 0.
        index: usize,
        /// What stands before it in the name.
        prefix: String,
        /// What stands behind it.
        suffix: String,
    },
    /// In the last `length` bytes of the name.
    Suffix {
        /// The order that the suffix names.
        order: MemoryOrder,
        /// The length of the suffix in bytes.
        length: usize,
    },
    /// Nowhere: the call has this order.
    Fixed(MemoryOrder),
    /// In the body of the macro that the rule describes.
    Macro {
        /// The order said there, where the text decides it.
        order: Option<MemoryOrder>,
        /// The macro.
        name: String,
    },
}

/// What the value of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallResult {
    /// The value that was in memory before.
    Old,
    /// The value that is in memory afterwards.
    New,
    /// Whether a compare-exchange wrote.
    Success,
}

/// A name with at most one `*`, which stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wildcard {
    prefix: String,
    suffix: String,
}

impl Wildcard {
    /// The pattern as a wildcard, or `None` if it is a plain name.
    pub(crate) fn parse(pattern: &str) -> Option<Self> {
        pattern.split_once('*').map(|(prefix, suffix)| Self {
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
        })
    }

    /// Whether `name` fits.
    pub(crate) fn matches(&self, name: &str) -> bool {
        name.len() >= self.prefix.len() + self.suffix.len()
            && name.starts_with(&self.prefix)
            && name.ends_with(&self.suffix)
    }

    /// How many bytes of a name it fixes.
    pub(crate) fn literal_length(&self) -> usize {
        self.prefix.len() + self.suffix.len()
    }

    /// The longer literal part: a text without it holds no match.
    pub(crate) fn word(&self) -> &str {
        if self.prefix.len() >= self.suffix.len() {
            &self.prefix
        } else {
            &self.suffix
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Wildcard;

    #[test]
    fn a_wildcard_stands_for_any_text_in_one_place() {
        let wildcard = Wildcard::parse("vatomic*_read").expect("has a star");
        assert!(wildcard.matches("vatomic32_read"));
        assert!(wildcard.matches("vatomic_read"));
        assert!(!wildcard.matches("vatomic32_read_acq"));
        assert!(!wildcard.matches("vatomic_rea"));
        assert_eq!(wildcard.word(), "vatomic");
        assert_eq!(Wildcard::parse("plain"), None);
    }
}
