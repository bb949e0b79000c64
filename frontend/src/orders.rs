//! Memory orders as arguments: which names mean which order in one file, and
//! whether an argument says its order itself or leaves that to something else.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use crate::order::MemoryOrder;
use crate::site::{OrderForm, OrderSpelling};
use crate::source::ParsedFile;
use crate::vocabulary::Vocabularies;

/// A name of more letters means something.
const MAX_SHORTHAND_LETTERS: usize = 2;

/// What a file says about orders beyond the standard names.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderNames {
    /// Names with a constant value: constexpr variables, macros, enumerators.
    pub aliases: FxHashMap<String, MemoryOrder>,
    /// Variables and parameters that hold some order.
    pub variables: FxHashSet<String>,
    /// `using enum std::memory_order` makes the bare names orders.
    pub bare: bool,
}

impl OrderNames {
    /// Reads an argument in the position of an order.
    pub(crate) fn read(
        &self,
        node: Node<'_>,
        file: &ParsedFile,
        vocabularies: &Vocabularies,
    ) -> OrderSpelling {
        let text = squeeze(&file.node_text(node));
        let span = node.byte_range();
        if let Some(order) = standard(&text).or_else(|| vocabularies.order_spelled(&text)) {
            return OrderSpelling {
                order: Some(order),
                form: OrderForm::Literal(span),
            };
        }
        let last = text.rsplit("::").next().unwrap_or_default();
        if self.bare
            && let Some(order) = bare(last)
        {
            return OrderSpelling {
                order: Some(order),
                form: OrderForm::Literal(span),
            };
        }
        // An alias that only shortens the order's name says the order at this
        // site; a constant with a name of its own (`kPublish`) is a knob that
        // several sites share, and is not this site's to change.
        match self.aliases.get(last) {
            Some(&order) if names_order(last, order) || is_shorthand(last) => OrderSpelling {
                order: Some(order),
                form: OrderForm::Literal(span),
            },
            known => OrderSpelling {
                order: known.copied(),
                form: OrderForm::NotLiteral(span),
            },
        }
    }

    /// Whether an argument can be an order at all, for calls whose name alone
    /// does not say that they are atomic.
    pub(crate) fn plausible(&self, spelling: &OrderSpelling, text: &str) -> bool {
        let text = squeeze(text);
        let last = text.rsplit("::").next().unwrap_or_default();
        spelling.order.is_some()
            || self.variables.contains(last)
            || text.contains("memory_order")
            || text.contains("MemoryOrder")
            || text.contains("memoryOrder")
    }
}

/// The order that an expression's text names by a standard name.
pub(crate) fn standard(text: &str) -> Option<MemoryOrder> {
    // `mi_memory_order(acquire)`: a macro that pastes the name together.
    if let Some((function, name)) = text.strip_suffix(')').and_then(|t| t.split_once('('))
        && function.ends_with("memory_order")
    {
        return bare(name);
    }
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b':';
    if !text.bytes().all(is_name) {
        return None;
    }
    let (scope, last) = text.rsplit_once("::").unwrap_or(("", text));
    let name = match last.strip_prefix("memory_order_") {
        Some(name) => name,
        None if scope.ends_with("memory_order") => last,
        None => {
            return match last {
                "__ATOMIC_RELAXED" => Some(MemoryOrder::Relaxed),
                "__ATOMIC_CONSUME" | "__ATOMIC_ACQUIRE" => Some(MemoryOrder::Acquire),
                "__ATOMIC_RELEASE" => Some(MemoryOrder::Release),
                "__ATOMIC_ACQ_REL" => Some(MemoryOrder::AcqRel),
                "__ATOMIC_SEQ_CST" => Some(MemoryOrder::SeqCst),
                _ => None,
            };
        }
    };
    bare(name)
}

fn bare(name: &str) -> Option<MemoryOrder> {
    match name {
        "relaxed" => Some(MemoryOrder::Relaxed),
        "consume" | "acquire" => Some(MemoryOrder::Acquire),
        "release" => Some(MemoryOrder::Release),
        "acq_rel" => Some(MemoryOrder::AcqRel),
        "seq_cst" => Some(MemoryOrder::SeqCst),
        _ => None,
    }
}

/// The order that a name of the project's own says by how it ends, wherever it is
/// defined: `rte_memory_order_relaxed`, `MY_MEMORY_ORDER_RELAXED`.
pub(crate) fn named(text: &str) -> Option<MemoryOrder> {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b':';
    if !text.bytes().all(is_name) {
        return None;
    }
    let last = text.rsplit("::").next().unwrap_or_default();
    let name = last.to_ascii_lowercase();
    let (prefix, name) = name.rsplit_once("memory_order_")?;
    let is_apart = prefix.is_empty() || prefix.ends_with('_');
    bare(name).filter(|_| is_apart)
}

/// Whether an alias is too short to say anything but an order: `A`, `R`, `X`.
fn is_shorthand(alias: &str) -> bool {
    alias.len() <= MAX_SHORTHAND_LETTERS
}

/// Whether an alias's name says which order it is.
fn names_order(alias: &str, order: MemoryOrder) -> bool {
    if named(alias) == Some(order) {
        return true;
    }
    // `FOO_RELAXED`: the project's name before the order's.
    if let Some((prefix, name)) = alias.split_once('_')
        && !prefix.is_empty()
        && name.eq_ignore_ascii_case(order.name())
    {
        return true;
    }
    let alias = alias.to_ascii_lowercase().replace('_', "");
    let forms: &[&str] = match order {
        MemoryOrder::Relaxed => &["relaxed", "rlx"],
        MemoryOrder::Acquire => &["acquire", "acq", "consume"],
        MemoryOrder::Release => &["release", "rel"],
        MemoryOrder::AcqRel => &["acqrel", "acquirerelease", "ar"],
        MemoryOrder::SeqCst => &["seqcst", "sc", "sequentiallyconsistent"],
    };
    forms.iter().any(|form| {
        alias == *form
            || ["mo", "kmo", "memoryorder", "order", "k", "atomic"]
                .iter()
                .any(|prefix| alias.strip_prefix(prefix) == Some(*form))
    })
}

/// The text of an expression without blanks, comments and outer parentheses.
pub(crate) fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else {
            if !c.is_whitespace() && c != '\\' {
                out.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    while out.starts_with('(') && out.ends_with(')') && balanced(&out[1..out.len() - 1]) {
        out = out[1..out.len() - 1].to_owned();
    }
    out
}

fn balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    for byte in text.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::{named, names_order, squeeze, standard};
    use crate::order::MemoryOrder::{AcqRel, Acquire, Relaxed, SeqCst};

    #[test]
    fn standard_names_in_every_dress() {
        for text in [
            "memory_order_acquire",
            "std::memory_order_acquire",
            "::std::memory_order::acquire",
            "memory_order::acquire",
            "boost::memory_order_acquire",
            "__ATOMIC_ACQUIRE",
            "std::memory_order_consume",
        ] {
            assert_eq!(standard(text), Some(Acquire), "{text}");
        }
        for text in [
            "acquire",
            "order",
            "x::acquire",
            "memory_order_strange",
            "a?memory_order_relaxed",
        ] {
            assert_eq!(standard(text), None, "{text}");
        }
    }

    #[test]
    fn an_alias_names_its_order_or_is_a_knob() {
        assert!(names_order("mo_relaxed", Relaxed));
        assert!(names_order("AT_RELAXED", Relaxed));
        assert!(names_order("foo_seq_cst", SeqCst));
        assert!(!names_order("HEAD_LOAD_RELAXED", Relaxed));
        assert!(!names_order("AT_RELAXED", Acquire));
        assert!(names_order("acq", Acquire));
        assert!(names_order("kAcqRel", AcqRel));
        assert!(names_order("memory_order_seq_cst", SeqCst));
        assert!(!names_order("kPublish", Acquire));
        assert!(!names_order("relaxed", Acquire));
    }

    #[test]
    fn a_name_that_ends_like_an_order_is_one() {
        assert_eq!(named("rte_memory_order_relaxed"), Some(Relaxed));
        assert_eq!(named("my::MY_MEMORY_ORDER_ACQ_REL"), Some(AcqRel));
        assert_eq!(named("kmemory_order_relaxed"), None);
        assert_eq!(named("my_memory_order_of_x"), None);
        assert_eq!(named("MY_RELAXED"), None);
        assert_eq!(named("f(memory_order_relaxed"), None);
        assert_eq!(named("a?x:std::memory_order_relaxed"), None);
        assert!(names_order("rte_memory_order_relaxed", Relaxed));
        assert!(names_order("MY_MEMORY_ORDER_SEQ_CST", SeqCst));
        assert!(!names_order("rte_memory_order_relaxed", Acquire));
    }

    #[test]
    fn squeezing_leaves_what_counts() {
        assert_eq!(
            squeeze("( std :: /* why */ memory_order_acquire )"),
            "std::memory_order_acquire"
        );
        assert_eq!(squeeze("(a)+(b)"), "(a)+(b)");
        assert_eq!(squeeze("a // end\n + b"), "a+b");
    }
}
