//! The words that name a memory order in source text, in the styles that one finds.

use wmfix_frontend::MemoryOrder;

/// A text without its blanks.
pub(crate) fn squeeze(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace() && *letter != '\\')
        .collect()
}

/// The names of an order, in the spellings that one finds.
const ORDER_WORDS: [[&str; 6]; 4] = [
    [
        "relaxed", "acquire", "release", "acq_rel", "seq_cst", "consume",
    ],
    [
        "RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST", "CONSUME",
    ],
    [
        "Relaxed", "Acquire", "Release", "AcqRel", "SeqCst", "Consume",
    ],
    ["rlx", "acq", "rel", "acq_rel", "seq_cst", "cns"],
];

/// A literal cut before the word that names its order.
pub(crate) fn split_order(literal: &str) -> Option<(&str, &str)> {
    ORDER_WORDS
        .iter()
        .flatten()
        .filter(|word| literal.ends_with(*word))
        .max_by_key(|word| word.len())
        .map(|word| literal.split_at(literal.len() - word.len()))
}

/// The order that a literal names by its last word.
pub(crate) fn order_named(literal: &str) -> Option<MemoryOrder> {
    let (_, word) = split_order(literal)?;
    let style = ORDER_WORDS.iter().find(|style| style.contains(&word))?;
    Some(match style.iter().position(|known| *known == word)? {
        0 => MemoryOrder::Relaxed,
        // A consume is an acquire to every compiler.
        1 | 5 => MemoryOrder::Acquire,
        2 => MemoryOrder::Release,
        3 => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    })
}

/// The word for `order` in the style of `word`.
pub(crate) fn in_case_of(word: &str, order: MemoryOrder) -> Option<&'static str> {
    let style = ORDER_WORDS.iter().find(|style| style.contains(&word))?;
    let index = match order {
        MemoryOrder::Relaxed => 0,
        MemoryOrder::Acquire => 1,
        MemoryOrder::Release => 2,
        MemoryOrder::AcqRel => 3,
        MemoryOrder::SeqCst => 4,
    };
    Some(style[index])
}
