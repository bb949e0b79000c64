//! Types that are written as that of an expression, `__typeof__(*(p))`, which the grammars
//! take for calls. Found by their words and parentheses; what the expression is does not
//! matter, as it is not evaluated.

use crate::literal::literal_end;
use crate::site::Span;

/// The spellings: C23's, and those of gcc and clang.
const WORDS: [&[u8]; 5] = [
    b"typeof",
    b"__typeof",
    b"__typeof__",
    b"typeof_unqual",
    b"__typeof_unqual__",
];

/// How far the closing parenthesis is looked for.
const MAX_BYTES: usize = 4096;

/// Where such types stand, from their words to their closing parentheses.
pub(crate) fn typeof_types(text: &[u8]) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    for at in memchr::memmem::find_iter(text, b"typeof") {
        if found.last().is_some_and(|last| at < last.end) {
            continue;
        }
        let of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let before = text[..at].iter().rev().take_while(of_word).count();
        let after = text[at..].iter().take_while(of_word).count();
        let word = at - before..at + after;
        if !WORDS.contains(&&text[word.clone()]) {
            continue;
        }
        if let Some(end) = closing_parenthesis(text, word.end) {
            found.push(word.start..end);
        }
    }
    found
}

/// The offset behind the parentheses that follow `at`.
fn closing_parenthesis(text: &[u8], at: usize) -> Option<usize> {
    let blanks = text[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace());
    let open = at + blanks.count();
    if text.get(open) != Some(&b'(') {
        return None;
    }
    let (mut depth, mut i) = (0_usize, open);
    while i < text.len() && i - open < MAX_BYTES {
        match text[i] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            quote @ (b'"' | b'\'') => {
                i = literal_end(text, i, quote);
                continue;
            }
            b';' | b'{' | b'}' => return None,
            _ => {}
        }
        i += 1;
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::typeof_types;

    #[test]
    fn the_type_of_an_expression_ends_with_its_parenthesis() {
        let text = "__typeof__(*(p)) v = (typeof (x[')'])) 1; my_typeof(x); typeof_t y;\n\
            __typeof__(__typeof__(a) ) b; __typeof__(c; d)";
        let found: Vec<&str> = typeof_types(text.as_bytes())
            .into_iter()
            .map(|span| &text[span])
            .collect();
        assert_eq!(
            found,
            [
                "__typeof__(*(p))",
                "typeof (x[')'])",
                "__typeof__(__typeof__(a) )"
            ]
        );
    }
}
