//! Takes a fence away: a statement of its own in a block, with its line where it fills
//! it. What is said about it in lines above stays: it is for people to judge.

use tree_sitter::Node;
use wmfix_frontend::{ParsedFile, Site, SiteOperation};

use crate::draft::Draft;
use crate::layout::Layout;
use crate::refusal::Refusal;
use crate::view::{View, children};

/// Drafts the removal of a fence.
pub(crate) fn remove_fence(
    file: &ParsedFile,
    layout: &Layout<'_>,
    fence: &Site,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    if fence.operation != SiteOperation::Fence || View::of_macro(file, &fence.span).is_some() {
        return Err(Refusal::CannotRemove);
    }
    let statement = statement_of(file, fence).ok_or(Refusal::CannotRemove)?;
    let span = statement.byte_range();
    let fills_lines =
        layout.is_first_on_line(span.start) && layout.free_line_end(span.end).is_some();
    if fills_lines {
        let end = (layout.line_end(span.end) + layout.newline.len()).min(file.text().len());
        draft.replace(layout.line_start(span.start)..end, String::new());
    } else {
        let spaces = file.text()[span.end..].iter();
        let spaces = spaces.take_while(|byte| **byte == b' ').count();
        draft.replace(span.start..span.end + spaces, String::new());
    }
    Ok(())
}

/// The statement that is nothing but the fence.
fn statement_of<'t>(file: &'t ParsedFile, fence: &Site) -> Option<Node<'t>> {
    let root = file.tree().root_node();
    let mut node = root.descendant_for_byte_range(fence.span.start, fence.span.end)?;
    while node.kind() != "expression_statement" {
        node = node.parent().filter(|parent| {
            let is_block = parent.kind() == "compound_statement";
            !is_block && children(*parent).len() == 1 || parent.kind() == "call_expression"
        })?;
    }
    let in_block = node.parent()?.kind() == "compound_statement";
    (in_block && !node.has_error()).then_some(node)
}
