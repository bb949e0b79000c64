//! Moves a fence past the statement next to it. Both must be statements of one block
//! that fill their lines, and the neighbour must do one atomic operation and call
//! nothing else: then the fence is passed exactly when the statement is, and what it
//! has on which side is plain from the text.

use tree_sitter::Node;
use wmfix_frontend::{ParsedFile, Site, SiteOperation, Span};

use crate::change::Side;
use crate::draft::Draft;
use crate::layout::Layout;
use crate::refusal::Refusal;
use crate::view::{children, sibling};

/// The statement that a fence could change places with, if it can.
pub fn statement_beside(
    file: &ParsedFile,
    sites: &[Site],
    fence: &Site,
    side: Side,
) -> Option<Span> {
    let layout = Layout::of(file.text(), file.tree().root_node());
    let (_, beside) = pair(file, sites, &layout, fence, side)?;
    Some(beside.byte_range())
}

/// Drafts the move of a fence to the other side of the statement on this side of it.
pub(crate) fn move_fence(
    file: &ParsedFile,
    sites: &[Site],
    layout: &Layout<'_>,
    fence: &Site,
    side: Side,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let found = pair(file, sites, layout, fence, side);
    let (own, beside) = found.ok_or(Refusal::CannotMove)?;
    let next_line = |at: usize| (layout.line_end(at) + layout.newline.len()).min(file.text().len());
    let mut start = layout.line_start(own.start_byte());
    // What is said right above the fence is said about it.
    let mut above = own.prev_named_sibling();
    while let Some(comment) = above.filter(|above| above.kind() == "comment")
        && layout.is_first_on_line(comment.start_byte())
        && next_line(comment.end_byte()) == start
    {
        start = layout.line_start(comment.start_byte());
        above = comment.prev_named_sibling();
    }
    let to = match side {
        Side::Before => layout.line_start(beside.start_byte()),
        Side::After => next_line(beside.end_byte()),
    };
    draft.move_lines(start..next_line(own.end_byte()), to, layout);
    Ok(())
}

/// The statement of a fence and the one next to it.
fn pair<'t>(
    file: &'t ParsedFile,
    sites: &[Site],
    layout: &Layout<'_>,
    fence: &Site,
    side: Side,
) -> Option<(Node<'t>, Node<'t>)> {
    let root = file.tree().root_node();
    let mut own = root.descendant_for_byte_range(fence.span.start, fence.span.end)?;
    while own.kind() != "expression_statement" {
        own = own.parent().filter(|parent| children(*parent).len() == 1)?;
    }
    let in_block = |node: &Node<'_>| {
        let parent = node.parent();
        parent.is_some_and(|parent| parent.kind() == "compound_statement")
    };
    let fills_lines = |node: &Node<'_>| {
        layout.is_first_on_line(node.start_byte())
            && layout.free_line_end(node.end_byte()).is_some()
    };
    let beside = sibling(own, side == Side::After)
        .filter(|near| matches!(near.kind(), "expression_statement" | "declaration"))
        .filter(|near| in_block(near) && fills_lines(near) && !near.has_error())?;
    (in_block(&own) && fills_lines(&own) && is_one_operation(sites, beside))
        .then_some((own, beside))
}

/// Whether a statement does one atomic operation, no fence, and calls nothing else.
fn is_one_operation(sites: &[Site], statement: Node<'_>) -> bool {
    let range = statement.byte_range();
    let inside = sites
        .iter()
        .filter(|site| range.start <= site.span.start && site.span.end <= range.end);
    let inside: Vec<&Site> = inside.collect();
    let is_fence =
        |operation| matches!(operation, SiteOperation::Fence | SiteOperation::SignalFence);
    match inside[..] {
        [site] => !is_fence(site.operation) && calls_nothing(statement, &site.span),
        _ => false,
    }
}

fn calls_nothing(node: Node<'_>, operation: &Span) -> bool {
    let own = node.byte_range() == *operation;
    let calls = matches!(
        node.kind(),
        "call_expression" | "lambda_expression" | "new_expression" | "delete_expression"
    );
    (own || !calls)
        && children(node)
            .into_iter()
            .all(|child| calls_nothing(child, operation))
}
