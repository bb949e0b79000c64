//! How a text is laid out: its lines, its indentation, its line endings, where
//! its braces go. Looks at bytes and at the syntax tree, changes nothing.

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
    pub(crate) newline: &'static str,
    pub(crate) braces: BraceStyle,
    /// One step of indentation.
    pub(crate) unit: String,
}

impl<'a> Layout<'a> {
    /// The layout of `text`, whose syntax tree has the root `root`.
    pub(crate) fn of(text: &'a [u8], root: Node<'_>) -> Self {
        let mut habits = Habits::default();
        habits.collect(text, root);
        let braces = if habits.own_line > habits.same_line {
            BraceStyle::OwnLine
        } else {
            BraceStyle::SameLine
        };
        let crlf = text.windows(2).filter(|pair| pair == b"\r\n").count();
        let lf = text.iter().filter(|&&byte| byte == b'\n').count() - crlf;
        Self {
            text,
            newline: if crlf > lf { "\r\n" } else { "\n" },
            braces,
            unit: habits.unit(),
        }
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
struct Habits {
    same_line: usize,
    own_line: usize,
    tabs: usize,
    /// How often each width of a step of indentation occurs.
    widths: [usize; 9],
}

impl Habits {
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
        let Some(first) = children(block).into_iter().next() else {
            return;
        };
        let inner = indent(text, first.start_byte());
        let outer = indent(text, start);
        if let Some(step) = inner.strip_prefix(&outer) {
            if step.contains('\t') {
                self.tabs += 1;
            } else if (1..self.widths.len()).contains(&step.len()) {
                self.widths[step.len()] += 1;
            }
        }
    }

    fn unit(&self) -> String {
        let (width, count) = self
            .widths
            .iter()
            .enumerate()
            .max_by_key(|&(width, count)| (count, usize::MAX - width))
            .unwrap_or((4, &0));
        if self.tabs > *count {
            "\t".to_owned()
        } else if *count == 0 {
            " ".repeat(4)
        } else {
            " ".repeat(width)
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
