//! Finds the room next to a statement: among the statements of a block, or in a
//! body without braces. Refuses where conditional compilation or broken syntax
//! makes "next to" a guess.

use tree_sitter::Node;

use crate::insertion_point::{Body, InsertionPoint, Room};
use crate::refusal::Refusal;
use crate::view::{View, ancestors, is_statement, sibling};

/// The insertion point at `statement`.
pub(crate) fn insertion_point_at(
    view: &View<'_>,
    statement: Node<'_>,
) -> Result<InsertionPoint, Refusal> {
    let statement = with_attributes(statement);
    if has_own_error(statement) {
        return Err(Refusal::NotUnderstood);
    }
    let room = room_of(view, statement)?;
    for neighbour in [sibling(statement, true), sibling(statement, false)] {
        // The other half of this statement may be in there.
        if neighbour.is_some_and(|near| near.kind().starts_with("preproc") && near.has_error()) {
            return Err(Refusal::SplitByPreprocessor);
        }
    }
    let previous = sibling(statement, false)
        .filter(|near| is_statement(near.kind()) && near.kind() != "case_statement")
        .map(|near| view.span(near).start);
    Ok(InsertionPoint {
        span: view.span(statement),
        depth: depth(statement),
        inline: view.in_macro,
        previous,
        room,
        before: Vec::new(),
        after: Vec::new(),
    })
}

/// The insertion point between the braces of an empty block.
pub(crate) fn insertion_point_in_empty(view: &View<'_>, block: Node<'_>) -> InsertionPoint {
    InsertionPoint {
        span: view.span(block),
        depth: depth(block),
        inline: view.in_macro,
        previous: None,
        room: Room::EmptyBlock,
        before: Vec::new(),
        after: Vec::new(),
    }
}

/// The statement together with the attributes in front of it.
pub(crate) fn with_attributes(statement: Node<'_>) -> Node<'_> {
    match statement.parent() {
        Some(parent) if parent.kind() == "attributed_statement" => parent,
        _ => statement,
    }
}

/// The statement together with the labels in front of it.
pub(crate) fn with_labels(statement: Node<'_>) -> Node<'_> {
    match statement.parent() {
        Some(parent) if parent.kind() == "labeled_statement" => with_labels(parent),
        _ => statement,
    }
}

fn depth(node: Node<'_>) -> isize {
    isize::try_from(ancestors(node).count()).unwrap_or(isize::MAX)
}

/// Whether the statement itself, not something in its body, is broken.
fn has_own_error(statement: Node<'_>) -> bool {
    let mut cursor = statement.walk();
    let broken = statement
        .children(&mut cursor)
        .any(|child| child.is_error() || child.is_missing());
    let simple = matches!(
        statement.kind(),
        "expression_statement" | "declaration" | "return_statement"
    );
    broken || (simple && statement.has_error())
}

fn room_of(view: &View<'_>, statement: Node<'_>) -> Result<Room, Refusal> {
    let mut body = statement;
    loop {
        let parent = body.parent().ok_or(Refusal::NotUnderstood)?;
        match parent.kind() {
            "compound_statement" | "case_statement" => return Ok(Room::Block),
            "labeled_statement" | "attributed_statement" => body = parent,
            kind if kind.starts_with("preproc_") => {
                let block = std::iter::once(parent)
                    .chain(ancestors(parent))
                    .find(|above| !above.kind().starts_with("preproc_"));
                let in_block = block.is_some_and(|block| {
                    matches!(block.kind(), "compound_statement" | "case_statement")
                });
                return if in_block && !parent.has_error() {
                    Ok(Room::Block)
                } else {
                    Err(Refusal::SplitByPreprocessor)
                };
            }
            "if_statement" | "else_clause" | "while_statement" | "for_statement"
            | "do_statement" | "for_range_loop" => return body_of(view, parent, body),
            _ => return Err(Refusal::NotUnderstood),
        }
    }
}

fn body_of(view: &View<'_>, owner: Node<'_>, body: Node<'_>) -> Result<Room, Refusal> {
    let mut head = body.prev_sibling();
    while let Some(comment) = head.filter(|head| head.kind() == "comment") {
        head = comment.prev_sibling();
    }
    let head = head.ok_or(Refusal::NotUnderstood)?;
    // A directive between head and body belongs to neither.
    if head.kind().starts_with("preproc") {
        return Err(Refusal::SplitByPreprocessor);
    }
    let mut next = body.next_sibling();
    while let Some(comment) = next.filter(|next| next.kind() == "comment") {
        next = comment.next_sibling();
    }
    let follows = next.filter(|next| matches!(next.kind(), "else_clause" | "while"));
    Ok(Room::Body(Body {
        span: view.span(body),
        head_end: view.offset(head.end_byte()),
        owner: view.offset(owner.start_byte()),
        follows: follows.map(|next| view.offset(next.start_byte())),
        is_empty: &*view.text(body) == ";",
    }))
}
