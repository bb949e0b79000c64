//! An insertion point is the room next to one statement: what is put before and
//! after it, and the braces that this may need. Owns how inserted lines look;
//! where they are needed is decided elsewhere.

use wmfix_frontend::{MemoryOrder, Span};

use crate::layout::{BraceStyle, Layout};

/// What kind of text is inserted, in the order in which they follow each other
/// at one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum InsertionClass {
    /// Closes an expression that ends here.
    CloseExpression,
    /// A comment at the end of a line.
    Comment,
    /// Follows a statement that ends here.
    AfterStatement,
    /// Precedes a statement that starts here.
    BeforeStatement,
    /// Opens an expression that starts here.
    OpenExpression,
}

/// A text that is inserted at one byte.
#[derive(Clone, Debug)]
pub(crate) struct Insertion {
    pub(crate) at: usize,
    pub(crate) class: InsertionClass,
    /// Decides among those of one class: the smaller comes first.
    pub(crate) rank: isize,
    pub(crate) text: String,
    /// What the text belongs to, and moves with.
    pub(crate) owner: Span,
}

/// The room next to one statement, or inside of an empty block.
pub(crate) struct InsertionPoint {
    /// The statement.
    pub(crate) span: Span,
    /// How deep it is nested: of two that end at one byte, the deeper ends first.
    pub(crate) depth: isize,
    /// Everything has to stay on the statement's line.
    pub(crate) inline: bool,
    /// The start of the statement right before this one.
    pub(crate) previous: Option<usize>,
    pub(crate) room: Room,
    pub(crate) before: Vec<InsertedStatement>,
    pub(crate) after: Vec<InsertedStatement>,
}

/// What kind of room there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Among the statements of a block.
    Block,
    /// A body without braces, which has room for one statement only.
    Body(Body),
    /// Between the braces of an empty block, which is the point's span.
    EmptyBlock,
    /// In a block, but what is put before has to be in a block of its own,
    /// because something may jump over it.
    OwnBlock,
}

/// A body without braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    /// The body: the statement with its labels.
    pub(crate) span: Span,
    /// Where the head of the controlling statement ends.
    pub(crate) head_end: usize,
    /// Where the controlling statement starts.
    pub(crate) owner: usize,
    /// The `else` or `while` that follows the body.
    pub(crate) follows: Option<usize>,
    /// The body is a lone semicolon.
    pub(crate) is_empty: bool,
}

/// One statement to insert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InsertedStatement {
    /// A fence, with its semicolon, and the comment behind it.
    Fence {
        /// The order among the items of one side.
        key: (usize, u8),
        order: MemoryOrder,
        text: String,
        comment: Option<Comment>,
    },
    /// A temporary that holds an expression of the statement.
    Temporary {
        key: (usize, u8),
        type_name: String,
        name: String,
        span: Span,
    },
}

/// A comment in both of its spellings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// Up to the end of the line.
    pub(crate) line: String,
    /// Inside of a line.
    pub(crate) inline: String,
}

impl InsertedStatement {
    /// Whether both are fences and this one is at least as strong.
    pub(crate) fn does_for(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fence { order: mine, .. }, Self::Fence { order, .. }) => {
                mine.join(*order) == *mine
            }
            _ => false,
        }
    }

    fn key(&self) -> (usize, u8) {
        match self {
            Self::Fence { key, .. } | Self::Temporary { key, .. } => *key,
        }
    }

    fn text(&self, inline: bool, text_of: &dyn Fn(&Span) -> String) -> String {
        match self {
            Self::Fence { text, comment, .. } => match comment {
                None => text.clone(),
                Some(comment) if inline => format!("{text} {}", comment.inline),
                Some(comment) => format!("{text} {}", comment.line),
            },
            Self::Temporary {
                type_name,
                name,
                span,
                ..
            } => {
                let blank = if type_name.ends_with('&') { "" } else { " " };
                format!("{type_name}{blank}{name} = {};", text_of(span))
            }
        }
    }
}

impl InsertionPoint {
    /// Sorts the items and leaves of several fences in a row those that no other
    /// one does for.
    pub(crate) fn tidy(&mut self) {
        for side in [&mut self.before, &mut self.after] {
            side.sort_by_key(InsertedStatement::key);
            let mut kept: Vec<InsertedStatement> = Vec::new();
            for item in side.drain(..) {
                match kept.last() {
                    Some(last) if last.does_for(&item) => {}
                    Some(last) if item.does_for(last) => {
                        kept.pop();
                        kept.push(item);
                    }
                    _ => kept.push(item),
                }
            }
            *side = kept;
        }
    }

    /// Drops the fence that comes first if `previous`, right before it, does for
    /// it; says whether it did.
    pub(crate) fn drop_first_fence(&mut self, previous: &InsertedStatement) -> bool {
        let doubled = self
            .before
            .first()
            .is_some_and(|first| previous.does_for(first));
        if doubled {
            self.before.remove(0);
        }
        doubled
    }

    /// Adds what is inserted and replaced here to the two lists.
    pub(crate) fn render(
        &self,
        layout: &Layout<'_>,
        text_of: &dyn Fn(&Span) -> String,
        inserts: &mut Vec<Insertion>,
        replacements: &mut Vec<(Span, String)>,
    ) {
        let mut lines = PointRenderer {
            point: self,
            layout,
            text_of,
            inserts,
        };
        if self.before.is_empty() && self.after.is_empty() {
            return;
        }
        match &self.room {
            Room::Block => {
                lines.before();
                lines.after("");
            }
            Room::EmptyBlock => lines.empty_block(),
            Room::OwnBlock => lines.own_block(),
            Room::Body(body)
                if body.is_empty
                    && (self.inline || layout.same_line(body.head_end, body.span.start)) =>
            {
                let blank = if layout.slice(body.span.start - 1..body.span.start) == b")" {
                    " "
                } else {
                    ""
                };
                let text = lines.joined(self.before.iter().chain(&self.after));
                replacements.push((body.span.clone(), format!("{blank}{{ {text} }}")));
            }
            Room::Body(body) if body.is_empty => {
                let separator = format!("{}{}", layout.newline, layout.indent(body.span.start));
                let items: Vec<String> = self
                    .before
                    .iter()
                    .chain(&self.after)
                    .map(|item| item.text(false, text_of))
                    .collect();
                replacements.push((body.span.clone(), items.join(&separator)));
                lines.braces(body, |_| {}, |lines, closing| lines.close(closing));
            }
            Room::Body(body) => lines.braces(
                body,
                |lines| lines.before(),
                |lines, closing| lines.after(closing),
            ),
        }
    }
}

/// Renders one insertion point.
struct PointRenderer<'a> {
    point: &'a InsertionPoint,
    layout: &'a Layout<'a>,
    text_of: &'a dyn Fn(&Span) -> String,
    inserts: &'a mut Vec<Insertion>,
}

impl PointRenderer<'_> {
    fn before(&mut self) {
        let at = self.point.span.start;
        if self.point.before.is_empty() {
            return;
        }
        if self.point.inline || !self.layout.is_first_on_line(at) {
            let text = format!("{} ", self.joined(&self.point.before));
            self.insert(at, InsertionClass::BeforeStatement, text);
        } else {
            let text = self.whole_lines(&self.point.before, &self.layout.indent(at), false);
            self.insert(
                self.layout.line_start(at),
                InsertionClass::BeforeStatement,
                text,
            );
        }
    }

    /// What follows the statement, and then `closing` on a line of its own.
    fn after(&mut self, closing: &str) {
        let (start, end) = (self.point.span.start, self.point.span.end);
        if self.point.after.is_empty() && closing.is_empty() {
            return;
        }
        let line_end = self
            .layout
            .free_line_end(end)
            .filter(|_| !self.point.inline && self.layout.is_first_on_line(start));
        match line_end {
            Some(line_end) => {
                let mut text =
                    self.whole_lines(&self.point.after, &self.layout.indent(start), true);
                text.push_str(closing);
                self.insert(line_end, InsertionClass::AfterStatement, text);
            }
            None => {
                let mut text = String::new();
                if !self.point.after.is_empty() {
                    text = format!(" {}", self.joined(&self.point.after));
                }
                text.push_str(closing);
                self.insert(end, InsertionClass::AfterStatement, text);
            }
        }
    }

    /// Braces around a body, with what `before` and `after` put into them.
    fn braces(&mut self, body: &Body, before: impl Fn(&mut Self), after: impl Fn(&mut Self, &str)) {
        if self.point.inline || self.layout.same_line(body.head_end, body.span.start) {
            self.braces_inline(body);
            return;
        }
        let newline = self.layout.newline;
        let indent = self.layout.indent(body.owner);
        match self.layout.braces() {
            BraceStyle::SameLine => {
                self.insert(body.head_end, InsertionClass::AfterStatement, " {".into())
            }
            BraceStyle::OwnLine => {
                let at = self.layout.line_end(body.head_end);
                self.insert(
                    at,
                    InsertionClass::AfterStatement,
                    format!("{newline}{indent}{{"),
                );
            }
        }
        before(self);
        let joins = body.follows.filter(|&follows| {
            let gap = self.layout.line_end(body.span.end)..follows;
            self.layout.braces() == BraceStyle::SameLine
                && self.layout.free_line_end(body.span.end).is_some()
                && self.layout.slice(gap).trim_ascii().is_empty()
        });
        match joins {
            Some(follows) => {
                after(self, "");
                self.insert(follows, InsertionClass::BeforeStatement, "} ".into());
            }
            None => after(self, &format!("{newline}{indent}}}")),
        }
    }

    fn braces_inline(&mut self, body: &Body) {
        let mut open = String::from("{ ");
        if !self.point.before.is_empty() && body.span.start == self.point.span.start {
            open.push_str(&self.joined(&self.point.before));
            open.push(' ');
        } else {
            self.before();
        }
        self.insert(body.span.start, InsertionClass::BeforeStatement, open);
        let mut close = String::new();
        if !self.point.after.is_empty() {
            close = format!(" {}", self.joined(&self.point.after));
        }
        close.push_str(" }");
        self.insert(body.span.end, InsertionClass::AfterStatement, close);
    }

    /// Only `closing`, on a line of its own behind the statement's.
    fn close(&mut self, closing: &str) {
        let end = self.point.span.end;
        let at = self.layout.free_line_end(end).unwrap_or(end);
        self.insert(at, InsertionClass::AfterStatement, closing.to_owned());
    }

    fn empty_block(&mut self) {
        let block = &self.point.span;
        let items = self.point.before.iter().chain(&self.point.after);
        if self.layout.same_line(block.start, block.end) || self.point.inline {
            let blank = if block.len() == 2 { " " } else { "" };
            let text = format!(" {}{blank}", self.joined(items));
            self.insert(block.start + 1, InsertionClass::AfterStatement, text);
        } else {
            let indent = format!(
                "{}{}",
                self.layout.indent(block.start),
                self.layout.indent_step(block.start)
            );
            let items: Vec<InsertedStatement> = items.cloned().collect();
            let text = self.whole_lines(&items, &indent, true);
            let line_end = self.layout.free_line_end(block.start + 1);
            self.insert(
                line_end.unwrap_or(block.start + 1),
                InsertionClass::AfterStatement,
                text,
            );
        }
    }

    fn own_block(&mut self) {
        let (start, end) = (self.point.span.start, self.point.span.end);
        let line_end = self
            .layout
            .free_line_end(end)
            .filter(|_| !self.point.inline && self.layout.is_first_on_line(start));
        let Some(line_end) = line_end else {
            let text = format!("{{ {} ", self.joined(&self.point.before));
            self.insert(start, InsertionClass::BeforeStatement, text);
            let mut close = String::new();
            if !self.point.after.is_empty() {
                close = format!(" {}", self.joined(&self.point.after));
            }
            close.push_str(" }");
            self.insert(end, InsertionClass::AfterStatement, close);
            return;
        };
        let (outer, newline) = (self.layout.indent(start), self.layout.newline);
        let step = self.layout.indent_step(start);
        let inner = format!("{outer}{step}");
        let mut text = format!("{outer}{{{newline}");
        text.push_str(&self.whole_lines(&self.point.before, &inner, false));
        text.push_str(&step);
        self.insert(
            self.layout.line_start(start),
            InsertionClass::BeforeStatement,
            text,
        );
        let mut text = self.whole_lines(&self.point.after, &inner, true);
        text.push_str(&format!("{newline}{outer}}}"));
        self.insert(line_end, InsertionClass::AfterStatement, text);
    }

    /// The items on one line.
    fn joined<'i>(&self, items: impl IntoIterator<Item = &'i InsertedStatement>) -> String {
        let items: Vec<String> = items
            .into_iter()
            .map(|item| item.text(true, self.text_of))
            .collect();
        items.join(" ")
    }

    /// The items on lines of their own, the line endings in front or behind.
    fn whole_lines(
        &self,
        items: &[InsertedStatement],
        indent: &str,
        newline_first: bool,
    ) -> String {
        let newline = self.layout.newline;
        items
            .iter()
            .map(|item| {
                let text = item.text(false, self.text_of);
                if newline_first {
                    format!("{newline}{indent}{text}")
                } else {
                    format!("{indent}{text}{newline}")
                }
            })
            .collect()
    }

    fn insert(&mut self, at: usize, class: InsertionClass, text: String) {
        if text.is_empty() {
            return;
        }
        let rank = match class {
            InsertionClass::AfterStatement => -self.point.depth,
            _ => self.point.depth,
        };
        self.inserts.push(Insertion {
            at,
            class,
            rank,
            text,
            owner: self.point.span.clone(),
        });
    }
}
