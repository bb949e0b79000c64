//! What the grammars cannot read is read again without what is at fault: conditional
//! compilation that cuts through a block or a declaration, of which one branch is left,
//! and macros that stand where no expression or declaration can. A reading that leaves
//! less unread is taken. Nothing moves: a text without its faults is as long as it was.
//! What such a tree says is where things are, not what is not there.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::condition_text::condition_holds;
use crate::site::Span;
use crate::source::ParsedFile;
use crate::syntax;
use crate::tokens::{Token, TokenKind, tokens};

/// Reads a file again whose tree has errors; `None` if nothing that is taken out makes it
/// better.
pub(crate) fn read_again(file: &ParsedFile) -> Option<ParsedFile> {
    let mut text = file.readable();
    let mut better: Option<ParsedFile> = None;
    let mut unread = unread_bytes(file.tree().root_node());
    // Macros are found by where errors are: without the conditions there are fewer.
    for faults in [conditions, macros_in_errors] {
        let left_out = faults(&text, better.as_ref().unwrap_or(file));
        if left_out.is_empty() || unread == 0 {
            continue;
        }
        let changed = without(&text, &left_out);
        let again = file.read_as(&changed);
        let still = unread_bytes(again.tree().root_node());
        if still < unread {
            unread = still;
            text = Cow::Owned(changed);
            better = Some(again);
        }
    }
    better
}

/// A text with blanks in place of these spans.
fn without(text: &[u8], spans: &[Span]) -> Vec<u8> {
    let mut changed = text.to_vec();
    for span in spans {
        let bytes = changed[span.clone()].iter_mut();
        let blank = bytes.filter(|byte| !matches!(byte, b'\r' | b'\n'));
        blank.for_each(|byte| *byte = b' ');
    }
    changed
}

/// How much of a tree's text is in no part that was understood.
fn unread_bytes(root: Node<'_>) -> usize {
    let mut unread = 0;
    let mut end = 0;
    syntax::visit(root, |node, _| {
        if node.is_error() && node.start_byte() >= end {
            unread += node.end_byte() - node.start_byte();
            end = node.end_byte();
        } else if node.is_missing() {
            unread += 1;
        }
    });
    unread
}

/// The directives of a condition, and its branches.
#[derive(Default)]
struct Group {
    /// Where each directive stands, with the lines that continue it.
    directives: Vec<Span>,
    /// Whether the branch behind each directive is compiled, where that is known; none for
    /// the last directive, `#endif`.
    holds: Vec<Option<bool>>,
}

/// Conditional compilation that cuts through code: its directives, and all of its branches
/// but one.
fn conditions(text: &[u8], file: &ParsedFile) -> Vec<Span> {
    let language = file.language();
    let mut open: Vec<Group> = Vec::new();
    let mut left_out = Vec::new();
    for directive in directives(text) {
        let code = String::from_utf8_lossy(&text[directive.clone()]);
        let code = code.trim_start().trim_start_matches('#').trim_start();
        let word_end = code.find(|c: char| !c.is_ascii_alphabetic());
        let (word, rest) = code.split_at(word_end.unwrap_or(code.len()));
        let condition = rest.replace("\\\n", " ").replace("\\\r\n", " ");
        let condition = condition.split("//").next().unwrap_or_default();
        let holds = match word {
            "if" | "elif" => condition_holds(condition, language),
            "ifdef" | "elifdef" => condition_holds(&format!("defined({condition})"), language),
            "ifndef" | "elifndef" => condition_holds(&format!("!defined({condition})"), language),
            "else" => Some(true),
            _ => None,
        };
        match word {
            "if" | "ifdef" | "ifndef" => open.push(Group {
                directives: vec![directive],
                holds: vec![holds],
            }),
            "elif" | "elifdef" | "elifndef" | "else" => {
                if let Some(group) = open.last_mut() {
                    group.directives.push(directive);
                    group.holds.push(holds);
                }
            }
            "endif" => {
                if let Some(mut group) = open.pop() {
                    group.directives.push(directive);
                    if group.cuts(text) {
                        left_out.extend(group.left_out());
                    }
                }
            }
            _ => {}
        }
    }
    left_out
}

impl Group {
    /// The texts of the branches.
    fn branches(&self) -> impl Iterator<Item = Span> {
        let pairs = self.directives.windows(2);
        pairs.map(|pair| pair[0].end..pair[1].start)
    }

    /// Whether a branch begins or ends within something: a bracket that it does not close,
    /// or a statement.
    fn cuts(&self, text: &[u8]) -> bool {
        self.branches().any(|branch| {
            let tokens = tokens(&text[branch.clone()]);
            let mark = |token: &Token| match token.kind {
                TokenKind::Mark(mark) => mark,
                TokenKind::Closing(_) => b')',
                TokenKind::Word => 0,
            };
            let is_label = || {
                let before = tokens.len().checked_sub(2).map(|at| &tokens[at]);
                before.is_some_and(|before| before.kind == TokenKind::Word)
            };
            let ends_whole = tokens.last().is_none_or(|last| match mark(last) {
                b';' | b'}' => true,
                b':' => is_label(),
                _ => false,
            });
            !ends_whole || !is_balanced(tokens.iter().map(mark))
        })
    }

    /// The directives, and the branches but for the first that may be compiled.
    fn left_out(&self) -> Vec<Span> {
        let known = self.holds.iter().position(|holds| *holds == Some(true));
        let open = self.holds.iter().position(|holds| holds.is_none());
        let kept = match (open, known) {
            (Some(open), Some(known)) => open.min(known),
            (open, known) => open.or(known).unwrap_or(0),
        };
        let branches = self.branches().enumerate();
        let others = branches.filter(|(number, _)| *number != kept);
        let others = others.map(|(_, branch)| branch);
        self.directives.iter().cloned().chain(others).collect()
    }
}

/// Whether brackets come in pairs.
fn is_balanced(marks: impl Iterator<Item = u8>) -> bool {
    let mut open = Vec::new();
    for mark in marks {
        match mark {
            b'(' | b'[' | b'{' => open.push(mark),
            b')' | b']' | b'}' => {
                let opening = match mark {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if open.pop() != Some(opening) {
                    return false;
                }
            }
            _ => {}
        }
    }
    open.is_empty()
}

/// The lines of a text that are directives, each with those that continue it.
fn directives(text: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut in_comment = false;
    while at < text.len() {
        let mut end = line_end(text, at);
        let line = &text[at..end];
        if !in_comment && line.trim_ascii_start().starts_with(b"#") {
            while text[at..end].trim_ascii_end().ends_with(b"\\") && end < text.len() {
                end = line_end(text, end + 1);
            }
            found.push(at..end);
        }
        let line = &text[at..end];
        in_comment = ends_in_comment(line, in_comment);
        at = end + 1;
    }
    found
}

fn line_end(text: &[u8], start: usize) -> usize {
    let start = start.min(text.len());
    memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length)
}

/// Whether a line leaves a comment open.
fn ends_in_comment(line: &[u8], mut in_comment: bool) -> bool {
    let mut rest = line;
    loop {
        let mark: &[u8] = if in_comment { b"*/" } else { b"/*" };
        let Some(found) = memchr::memmem::find(rest, mark) else {
            return in_comment;
        };
        let is_line_comment = !in_comment && memchr::memmem::find(&rest[..found], b"//").is_some();
        if is_line_comment {
            return false;
        }
        in_comment = !in_comment;
        rest = &rest[found + 2..];
    }
}

/// Names in capitals, with their arguments, in the parts of a tree that were not
/// understood, or right before them.
fn macros_in_errors(text: &[u8], file: &ParsedFile) -> Vec<Span> {
    let mut errors: Vec<Span> = Vec::new();
    syntax::visit(file.tree().root_node(), |node, _| {
        if node.is_error() || node.is_missing() {
            // The line before is where a macro without a semicolon stands.
            let line = memchr::memrchr(b'\n', &text[..node.start_byte()]).unwrap_or(0);
            let before = memchr::memrchr(b'\n', &text[..line]).unwrap_or(0);
            // Nodes come in the order of the text.
            match errors.last_mut().filter(|last| before <= last.end) {
                Some(last) => last.end = last.end.max(node.end_byte()),
                None => errors.push(before..node.end_byte()),
            }
        }
    });
    let tokens = tokens(text);
    let is_macro = |token: &Token| {
        let word = &text[token.span.clone()];
        token.kind == TokenKind::Word
            && word.len() > 3
            && word.iter().any(u8::is_ascii_uppercase)
            && !word.iter().any(u8::is_ascii_lowercase)
    };
    let mut left_out = Vec::new();
    for (number, token) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| is_macro(token))
    {
        let next = errors.partition_point(|error| error.end <= token.span.start);
        let error = errors.get(next);
        if error.is_none_or(|error| token.span.start < error.start) {
            continue;
        }
        let opens = number + 1;
        let closing = tokens[opens..]
            .iter()
            .find(|token| token.kind == TokenKind::Closing(opens));
        left_out.push(token.span.start..closing.map_or(token.span.end, |token| token.span.end));
    }
    left_out
}
