//! Recognises the fences that are already there, so that a second run changes
//! nothing and two changes share one fence.

use tree_sitter::Node;

use super::{Fences, Target};
use crate::view::{View, children, contains};

impl Fences<'_> {
    pub(super) fn is_fence(&self, view: &View<'_>, node: Node<'_>) -> bool {
        let inner = match node.kind() {
            "expression_statement" => node.named_child(0),
            "labeled_statement" => children(node).last().copied(),
            _ => None,
        };
        if let Some(inner) = inner {
            return self.is_fence(view, inner);
        }
        let expression = node;
        self.spelling
            .is_full_fence(expression, &view.text(expression))
    }

    /// Whether a full fence already comes right before the operation in its expression.
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
        last.is_some_and(|last| self.is_fence(target.view, last))
    }

    /// Whether a full fence already comes right after the operation in its expression.
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
                    self.is_fence(target.view, first)
                });
            }
            at = comma;
        }
        false
    }
}
