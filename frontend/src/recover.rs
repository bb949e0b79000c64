//! Broken text: calls that the parser did not see because something around them is
//! unfinished. Finds them by their names, word by word, and parses each alone.

use crate::context::ScanContext;
use crate::found_site::Surroundings;
use crate::recognise::found_in_part;
use crate::site::{Site, Span};

/// How far a call's closing parenthesis is looked for.
const MAX_CALL_BYTES: usize = 4096;

/// The sites that a file's tree does not show. `known` are those that it does.
pub(crate) fn sites(known: &[Site], context: &ScanContext<'_>) -> Vec<Site> {
    let text = context.file.text();
    let mut found: Vec<Site> = Vec::new();
    for word in words(text).filter(|word| opening_parenthesis(text, word.end).is_some()) {
        let seen = |site: &Site| site.callee_span == word;
        if known.iter().any(seen) || found.iter().any(seen) {
            continue;
        }
        let name = context.file.slice(&word);
        let first = context.rules(&name).next();
        if first.is_none() && context.declared.template(&name).is_none() {
            continue;
        }
        let member = first.is_some_and(|rule| rule.member);
        let Some(end) = closing_parenthesis(text, word.end) else {
            continue;
        };
        let start = if member {
            match receiver_start(text, word.start) {
                Some(start) => start,
                None => continue,
            }
        } else {
            word.start
        };
        let tree = context.file.parse_part(&(start..end));
        if has_error_inside(&tree, end) {
            continue;
        }
        for (item, _) in found_in_part(&tree, context) {
            let span = item.callee_span.clone();
            if item.rule.is_some() && !found.iter().any(|site| site.callee_span == span) {
                let around = Surroundings::at(&item.node.byte_range(), context.file);
                found.push(item.into_site(around, context));
            }
        }
    }
    found.retain(|site| !known.iter().any(|k| k.callee_span == site.callee_span));
    found
}

/// Whether the part could not be parsed; that it lacks a semicolon does not count.
fn has_error_inside(tree: &tree_sitter::Tree, end: usize) -> bool {
    let mut broken = false;
    crate::syntax::visit(tree.root_node(), |node, _| {
        broken |= node.is_error() || (node.is_missing() && node.start_byte() < end);
    });
    broken
}

/// The words of a text outside comments and strings.
fn words(text: &[u8]) -> impl Iterator<Item = Span> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let byte = text[at];
            if is_word(byte) {
                let start = at;
                while at < text.len() && is_word(text[at]) {
                    at += 1;
                }
                if !byte.is_ascii_digit() {
                    return Some(start..at);
                }
            } else {
                at = skip(text, at);
            }
        }
        None
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The offset behind what starts at `at`: a comment, a literal, or one byte.
fn skip(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    let find = |needle: &[u8]| memchr::memmem::find(rest, needle);
    if rest.starts_with(b"//") {
        return find(b"\n").map_or(text.len(), |end| at + end);
    }
    if rest.starts_with(b"/*") {
        return find(b"*/").map_or(text.len(), |end| at + end + 2);
    }
    let quote = rest[0];
    if quote == b'"' || quote == b'\'' {
        let mut end = 1;
        while end < rest.len() && rest[end] != quote && rest[end] != b'\n' {
            end += if rest[end] == b'\\' { 2 } else { 1 };
        }
        return (at + end + 1).min(text.len());
    }
    at + 1
}

/// The offset of the parenthesis that comes next, if nothing else does.
fn opening_parenthesis(text: &[u8], at: usize) -> Option<usize> {
    let next = (at..text.len()).find(|&i| !text[i].is_ascii_whitespace())?;
    (text[next] == b'(').then_some(next)
}

/// The offset behind the parenthesis that closes the one following `at`.
fn closing_parenthesis(text: &[u8], at: usize) -> Option<usize> {
    let open = opening_parenthesis(text, at)?;
    let mut depth = 0_usize;
    let mut i = open;
    while i < text.len() && i - open < MAX_CALL_BYTES {
        match text[i] {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            b';' | b'{' | b'}' => return None,
            _ => {}
        }
        i = if matches!(text[i], b'/' | b'"' | b'\'') {
            skip(text, i)
        } else {
            i + 1
        };
    }
    None
}

/// Where the object of a method call starts whose name starts at `name`.
fn receiver_start(text: &[u8], name: usize) -> Option<usize> {
    let mut at = strip_access(text, name)?;
    loop {
        let end = trim_end(text, at);
        let mut start = end;
        while start > 0 && matches!(text[start - 1], b']' | b')') {
            start = trim_end(text, opening(text, start)?);
        }
        while start > 0 && (is_word(text[start - 1]) || text[start - 1] == b':') {
            start -= 1;
        }
        if start == end {
            return None;
        }
        match strip_access(text, start) {
            Some(outer) => at = outer,
            None => return Some(start),
        }
    }
}

/// The offset in front of a `.` or `->` that precedes `at`.
fn strip_access(text: &[u8], at: usize) -> Option<usize> {
    let head = &text[..trim_end(text, at)];
    head.strip_suffix(b".")
        .or_else(|| head.strip_suffix(b"->"))
        .map(<[u8]>::len)
}

fn trim_end(text: &[u8], at: usize) -> usize {
    text[..at].trim_ascii_end().len()
}

/// The offset of the bracket that the one in front of `end` closes.
fn opening(text: &[u8], end: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for i in (end.saturating_sub(MAX_CALL_BYTES)..end).rev() {
        match text[i] {
            b')' | b']' => depth += 1,
            b'(' | b'[' => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}
