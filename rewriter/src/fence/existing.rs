//! Recognises the fences that are already there, so that a second run changes
//! nothing and two changes share one fence.

use tree_sitter::Node;
use wmfix_frontend::{SiteOperation, Span};

use super::{Fences, Target};
use crate::view::{View, children, contains};

impl Fences<'_> {
    /// Whether a statement or an expression is a fence that does for the wanted one.
    pub(super) fn is_fence(&self, target: &Target<'_, '_>, node: Node<'_>) -> bool {
        let expression = only_expression(node);
        let text = target.view.text(expression);
        let there = self.spelling.fence_order(expression, &text);
        there.is_some_and(|there| there.join(target.fence.order) == there)
    }

    /// A signal fence that is all of a statement: it only keeps the compiler from
    /// reordering, and was most likely meant to do more.
    pub(super) fn signal_fence(&self, view: &View<'_>, node: Node<'_>) -> Option<Span> {
        let span = view.span(only_expression(node));
        let mut sites = self.sites.iter();
        let found =
            sites.find(|site| site.operation == SiteOperation::SignalFence && site.span == span)?;
        (found.macro_name.is_none() && !view.in_macro).then_some(span)
    }

    /// Whether such a fence already comes right before the operation in its expression.
    pub(super) fn fence_precedes(&self, target: &Target<'_, '_>) -> bool {
        let Some(comma) = target
            .node
            .parent()
            .filter(|p| p.kind() == "comma_expression")
        else {
            return false;
        };
        let Some(left) = comma
            .child_by_field_name("left")
            .filter(|left| !contains(*left, target.node))
        else {
            return false;
        };
        let last = match left.kind() {
            "comma_expression" => left.child_by_field_name("right"),
            _ => Some(left),
        };
        last.is_some_and(|last| self.is_fence(target, last))
    }

    /// Whether such a fence already comes right after the operation in its expression.
    pub(super) fn fence_follows(&self, target: &Target<'_, '_>) -> bool {
        let mut at = target.node;
        while let Some(comma) = at.parent().filter(|p| p.kind() == "comma_expression") {
            let right = comma.child_by_field_name("right");
            if right.is_some_and(|right| right.id() != at.id()) {
                return right.is_some_and(|right| {
                    let mut first = right;
                    while first.kind() == "comma_expression"
                        && let Some(left) = first.child_by_field_name("left")
                    {
                        first = left;
                    }
                    self.is_fence(target, first)
                });
            }
            at = comma;
        }
        false
    }
}

/// The expression that a statement consists of.
fn only_expression(node: Node<'_>) -> Node<'_> {
    let inner = match node.kind() {
        "expression_statement" => node.named_child(0),
        "labeled_statement" => children(node).last().copied(),
        _ => None,
    };
    inner.map_or(node, only_expression)
}
