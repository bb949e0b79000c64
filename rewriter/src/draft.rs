//! A draft of one file's edits: what is put into expressions, what is put next
//! to statements, and what moves. Owns the order of things that meet at one
//! byte and the text of moved expressions; it knows no syntax.

use std::collections::BTreeMap;

use wmfix_frontend::Span;

use crate::edit::Edit;
use crate::insertion_point::{Insertion, InsertionClass, InsertionPoint};
use crate::layout::Layout;

/// Everything that is to be changed in one file.
#[derive(Default)]
pub(crate) struct Draft {
    /// What is put next to statements, by the statement's start.
    pub(crate) points: BTreeMap<usize, InsertionPoint>,
    inserts: Vec<Insertion>,
    replacements: Vec<(Span, String)>,
    /// Expressions that move into a temporary, which takes their place.
    moved: Vec<(Span, String)>,
}

impl Draft {
    /// Puts text around an expression.
    pub(crate) fn wrap(&mut self, span: &Span, open: &str, close: &str) {
        let length = isize::try_from(span.len()).unwrap_or(isize::MAX);
        for (at, class, rank, text) in [
            (span.start, InsertionClass::OpenExpression, -length, open),
            (span.end, InsertionClass::CloseExpression, length, close),
        ] {
            if !text.is_empty() {
                self.inserts.push(Insertion {
                    at,
                    class,
                    rank,
                    text: text.to_owned(),
                    owner: span.clone(),
                });
            }
        }
    }

    /// Replaces an operand's text.
    pub(crate) fn replace(&mut self, span: Span, text: String) {
        if !self.replacements.iter().any(|(known, _)| *known == span) {
            self.replacements.push((span, text));
        }
    }

    /// A comment at the end of a line; the same one is put there only once.
    pub(crate) fn comment(&mut self, at: usize, text: String, owner: Span) {
        let class = InsertionClass::Comment;
        let known =
            |insert: &Insertion| (insert.at, insert.class) == (at, class) && insert.text == text;
        if !self.inserts.iter().any(known) {
            self.inserts.push(Insertion {
                at,
                class,
                rank: 0,
                text,
                owner,
            });
        }
    }

    /// Moves whole lines to the start of another one.
    pub(crate) fn move_lines(&mut self, lines: Span, to: usize, layout: &Layout<'_>) {
        let text = String::from_utf8_lossy(layout.slice(lines.clone())).into_owned();
        self.inserts.push(Insertion {
            at: to,
            class: InsertionClass::BeforeStatement,
            rank: 0,
            text,
            owner: to..to,
        });
        self.replacements.push((lines, String::new()));
    }

    /// Lets a temporary of this name take the place of an expression.
    pub(crate) fn move_out(&mut self, span: Span, name: String) {
        self.moved.push((span, name));
    }

    /// The temporary that has taken the place of an expression.
    pub(crate) fn moved(&self, span: &Span) -> bool {
        self.moved.iter().any(|(moved, _)| moved == span)
    }

    /// The edits of the whole file.
    pub(crate) fn finish(mut self, layout: &Layout<'_>) -> Vec<Edit> {
        self.drop_doubled_fences();
        let mut inserts = self.inserts.clone();
        let mut replacements = self.replacements.clone();
        for (span, name) in &self.moved {
            replacements.push((span.clone(), name.clone()));
        }
        for point in self.points.values() {
            point.render(
                layout,
                &|span| self.text_of(layout, span),
                &mut inserts,
                &mut replacements,
            );
        }
        let stays = |owner: &Span| !self.moved.iter().any(|(moved, _)| within(owner, moved));
        replacements.retain(|(span, _)| stays(span) || self.moved(span));
        replacements.retain(|(span, _)| !self.moved.iter().any(|(moved, _)| inside(span, moved)));
        inserts.retain(|insert| stays(&insert.owner));
        inserts.sort_by_key(|insert| (insert.at, insert.class, insert.rank));
        let inserted = inserts.into_iter().map(|insert| Edit {
            span: insert.at..insert.at,
            text: insert.text.into_bytes(),
        });
        let replaced = replacements.into_iter().map(|(span, text)| Edit {
            span,
            text: text.into_bytes(),
        });
        inserted.chain(replaced).collect()
    }

    /// Between two statements, one fence is enough.
    fn drop_doubled_fences(&mut self) {
        for point in self.points.values_mut() {
            point.tidy();
        }
        let follows: Vec<(usize, usize)> = (self.points.iter())
            .filter_map(|(&start, point)| Some((point.previous?, start)))
            .collect();
        for (previous, start) in follows {
            let last = |point: &InsertionPoint| point.after.last().cloned();
            let Some(last) = self.points.get(&previous).and_then(last) else {
                continue;
            };
            let Some(point) = self.points.get_mut(&start) else {
                continue;
            };
            if let Some(first) = point.before.first().cloned()
                && !point.drop_first_fence(&last)
                && first.does_for(&last)
                && let Some(previous) = self.points.get_mut(&previous)
            {
                previous.after.pop();
            }
        }
    }

    /// The text of an expression that moves, with what changes inside of it.
    fn text_of(&self, layout: &Layout<'_>, span: &Span) -> String {
        let mut edits: Vec<(Span, (InsertionClass, isize), String)> = Vec::new();
        for insert in self
            .inserts
            .iter()
            .filter(|insert| within(&insert.owner, span))
        {
            edits.push((
                insert.at..insert.at,
                (insert.class, insert.rank),
                insert.text.clone(),
            ));
        }
        let names = self.moved.iter().filter(|(moved, _)| inside(moved, span));
        for (inner, text) in self
            .replacements
            .iter()
            .filter(|(inner, _)| within(inner, span))
            .chain(names)
        {
            edits.push((
                inner.clone(),
                (InsertionClass::OpenExpression, isize::MAX),
                text.clone(),
            ));
        }
        edits.retain(|(inner, _, _)| {
            !self
                .moved
                .iter()
                .any(|(moved, _)| inside(moved, span) && inside(inner, moved))
        });
        edits.sort_by_key(|(inner, order, _)| (inner.start, *order));
        let mut text = Vec::new();
        let mut copied = span.start;
        for (inner, _, replacement) in edits {
            text.extend_from_slice(layout.slice(copied..inner.start.max(copied)));
            text.extend_from_slice(replacement.as_bytes());
            copied = inner.end.max(copied);
        }
        text.extend_from_slice(layout.slice(copied..span.end));
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Whether `inner` lies in `outer` or is it.
fn within(inner: &Span, outer: &Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Whether `inner` lies in `outer` and is not it.
fn inside(inner: &Span, outer: &Span) -> bool {
    within(inner, outer) && inner != outer
}
