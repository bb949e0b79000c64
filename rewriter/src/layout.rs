//! How a text is laid out: its lines, its indentation, its line endings, where
//! its braces go. Looks at bytes and at the syntax tree, changes nothing.

use std::cell::OnceCell;

use tree_sitter::Node;
use wmfix_frontend::Span;

use crate::view::children;

/// Where the project puts the brace that opens a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BraceStyle {
    /// Behind the closing parenthesis.
    SameLine,
    /// On a line of its own.
    OwnLine,
}

/// The layout of one text.
pub(crate) struct Layout<'a> {
    text: &'a [u8],
    root: Node<'a>,
    pub(crate) newline: &'static str,
    /// Counted when first asked for: most changes need no braces.
    braces: OnceCell<BraceStyle>,
}

impl<'a> Layout<'a> {
    /// The layout of `text`, whose syntax tree has the root `root`.
    pub(crate) fn of(text: &'a [u8], root: Node<'a>) -> Self {
        let first_end = text.iter().position(|&byte| byte == b'\n');
        let crlf = first_end.is_some_and(|end| end > 0 && text[end - 1] == b'\r');
        Self {
            text,
            root,
            newline: if crlf { "\r\n" } else { "\n" },
            braces: OnceCell::new(),
        }
    }

    /// Where this text puts its opening braces, by majority.
    pub(crate) fn braces(&self) -> BraceStyle {
        *self.braces.get_or_init(|| {
            let mut habits = BraceCounts::default();
            habits.collect(self.text, self.root);
            if habits.own_line > habits.same_line {
                BraceStyle::OwnLine
            } else {
                BraceStyle::SameLine
            }
        })
    }

    /// Where the line with `offset` starts.
    pub(crate) fn line_start(&self, offset: usize) -> usize {
        line_start(self.text, offset)
    }

    /// Where the line with `offset` ends, before its line ending.
    pub(crate) fn line_end(&self, offset: usize) -> usize {
        let end = self.text[offset..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(self.text.len(), |length| offset + length);
        if end > offset && self.text[end - 1] == b'\r' {
            end - 1
        } else {
            end
        }
    }

    /// The blanks at the start of the line with `offset`.
    pub(crate) fn indent(&self, offset: usize) -> String {
        indent(self.text, offset)
    }

    /// One step of indentation, as the lines above `offset` have it.
    pub(crate) fn indent_step(&self, offset: usize) -> String {
        let own = self.indent(offset);
        let mut at = self.line_start(offset);
        while at > 0 {
            at = self.line_start(at - 1);
            let outer = self.indent(at);
            let is_empty = self.line_end(at) == at + outer.len();
            if !is_empty
                && outer.len() < own.len()
                && let Some(step) = own.strip_prefix(&outer)
            {
                return step.to_owned();
            }
        }
        " ".repeat(4)
    }

    /// Whether only blanks come before `offset` on its line.
    pub(crate) fn is_first_on_line(&self, offset: usize) -> bool {
        let start = self.line_start(offset);
        is_blank(&self.text[start..offset])
    }

    /// Whether two offsets are on one line.
    pub(crate) fn same_line(&self, from: usize, to: usize) -> bool {
        !self.text[from.min(to)..from.max(to)].contains(&b'\n')
    }

    /// The end of the line, if only blanks and one comment that ends on this line
    /// follow `offset`: a new line can be put there.
    pub(crate) fn free_line_end(&self, offset: usize) -> Option<usize> {
        let end = self.line_end(offset);
        let rest = String::from_utf8_lossy(&self.text[offset..end]);
        let rest = rest.trim();
        let free = rest.is_empty()
            || (rest.starts_with("//") && !rest.ends_with('\\'))
            || (rest.starts_with("/*") && rest.find("*/").is_some_and(|at| at + 2 == rest.len()));
        free.then_some(end)
    }

    /// The text of a span.
    pub(crate) fn slice(&self, span: Span) -> &'a [u8] {
        &self.text[span]
    }
}

/// What is counted to learn the habits.
#[derive(Default)]
struct BraceCounts {
    same_line: usize,
    own_line: usize,
}

impl BraceCounts {
    fn collect(&mut self, text: &[u8], node: Node<'_>) {
        if node.kind() == "compound_statement" {
            self.look_at_block(text, node);
        }
        for child in children(node) {
            self.collect(text, child);
        }
    }

    fn look_at_block(&mut self, text: &[u8], block: Node<'_>) {
        let start = block.start_byte();
        let own_line = is_blank(&text[line_start(text, start)..start]);
        let controls = block.parent().is_some_and(|parent| {
            matches!(
                parent.kind(),
                "if_statement"
                    | "else_clause"
                    | "while_statement"
                    | "for_statement"
                    | "for_range_loop"
            )
        });
        if controls {
            if own_line {
                self.own_line += 1;
            } else {
                self.same_line += 1;
            }
        }
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn line_start(text: &[u8], offset: usize) -> usize {
    text[..offset]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1)
}

fn indent(text: &[u8], offset: usize) -> String {
    text[line_start(text, offset)..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .map(|&byte| char::from(byte))
        .collect()
}
