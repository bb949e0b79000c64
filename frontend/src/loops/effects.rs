//! What a round of a loop does besides waiting: whether an expression may do
//! anything that another thread or a later round could notice. Whatever is not known
//! to do nothing does something.

use tree_sitter::Node;

use super::called_name;
use super::pauses::{is_hint, is_pause};
use super::rounds::Rounds;
use super::values::Values;
use crate::orders::{squeeze, standard};
use crate::site::SiteOperation;
use crate::syntax::{self, children, operator};

/// Whether evaluating an expression, or executing a declaration, has an effect beyond
/// the round.
pub(super) fn has_effect(node: Node<'_>, rounds: &Rounds<'_>, values: &Values<'_, '_>) -> bool {
    let look = EffectLook { rounds, values };
    look.has_effect(node, 0)
}

struct EffectLook<'l, 't, 'a> {
    rounds: &'l Rounds<'t>,
    values: &'l Values<'t, 'a>,
}

impl EffectLook<'_, '_, '_> {
    fn has_effect(&self, node: Node<'_>, level: usize) -> bool {
        if level > syntax::MAX_DEPTH || node.is_error() || node.is_missing() {
            return true;
        }
        let context = self.values.context();
        if let Some(site) = self.values.site_at(node) {
            self.values.note_use(site);
            return self.site_has_effect(site, level);
        }
        if is_pause(node, context) {
            return false;
        }
        let own = match node.kind() {
            "call_expression" => return self.call_has_effect(node, level),
            "assignment_expression" => !self.may_assign(node),
            "update_expression" => !self.may_count(node),
            "declaration" => !self.may_declare(node),
            "identifier" => !self.values.is_known_name(node),
            "field_identifier" => self.values.is_macro(node),
            "subscript_expression" => !self.values.is_indirect(node),
            "pointer_expression" if operator(node) == "*" => !self.values.is_indirect(node),
            // Whoever has the address of a variable can change it.
            "pointer_expression" => true,
            "field_expression" => operator(node) == "->" && !self.values.is_indirect(node),
            "unary_expression" | "binary_expression" => !self.has_scalars(node),
            "conditional_expression"
            | "parenthesized_expression"
            | "condition_clause"
            | "expression_statement"
            | "init_declarator"
            | "init_statement"
            | "qualified_identifier"
            | "subscript_argument_list"
            | "cast_expression"
            | "comma_expression"
            | "number_literal"
            | "char_literal"
            | "true"
            | "false"
            | "null"
            | "nullptr"
            | "this" => false,
            "type_descriptor" => return self.values.scalar_of_type(node).is_none(),
            "namespace_identifier"
            | "primitive_type"
            | "sized_type_specifier"
            | "type_identifier"
            | "type_qualifier"
            | "placeholder_type_specifier"
            | "auto"
            | "pointer_declarator"
            | "comment" => false,
            _ => true,
        };
        own || self.parts_have_effect(node, level)
    }

    fn parts_have_effect(&self, node: Node<'_>, level: usize) -> bool {
        node_children(node)
            .into_iter()
            .any(|child| self.has_effect(child, level + 1))
    }

    fn site_has_effect(&self, site: usize, level: usize) -> bool {
        let found = self.values.found(site);
        if found.operation == SiteOperation::Store || self.values.scalar(site).is_none() {
            return !matches!(
                found.operation,
                SiteOperation::Fence | SiteOperation::SignalFence
            );
        }
        // The name of an object that is read by itself is the operation.
        let object = found.object.filter(|object| *object != found.node);
        let named = found.object.filter(|object| *object == found.node);
        let mut effect = named.is_some_and(|object| match object.kind() {
            "identifier" => !self.values.is_known_name(object),
            _ => self.parts_have_effect(object, level + 1),
        });
        let parts = object.into_iter().chain(found.arguments.iter().copied());
        for part in parts {
            effect |= self.argument_has_effect(part, level + 1);
        }
        effect
    }

    /// An operation may take the address of what it works on.
    fn argument_has_effect(&self, node: Node<'_>, level: usize) -> bool {
        let inner = syntax::unwrap_parentheses(node);
        let is_order = || {
            let text = squeeze(&self.values.context().file.node_text(inner));
            standard(&text).is_some() || self.values.is_order(&text)
        };
        if is_order() {
            return false;
        }
        match (inner.kind(), operator(inner)) {
            ("pointer_expression", "&") => inner
                .child_by_field_name("argument")
                .is_none_or(|target| self.argument_has_effect(target, level + 1)),
            ("compound_literal_expression", _) => {
                let value = inner.child_by_field_name("value");
                let list = value.map(children).unwrap_or_default();
                list.into_iter().any(|one| self.has_effect(one, level + 1))
            }
            _ => self.has_effect(inner, level + 1),
        }
    }

    fn call_has_effect(&self, node: Node<'_>, level: usize) -> bool {
        let context = self.values.context();
        let arguments = syntax::arguments(node);
        let any_of_them = || arguments.iter().any(|one| self.has_effect(*one, level + 1));
        if let Some(result) = self.values.helper(node) {
            return self.has_effect(result, level + 1);
        }
        if self.values.calculated(node).is_some() {
            return any_of_them();
        }
        let name = called_name(node, context);
        !name.is_some_and(|name| is_hint(&name, context)) || any_of_them()
    }

    /// Operators of classes may do anything.
    fn has_scalars(&self, node: Node<'_>) -> bool {
        ["argument", "left", "right"]
            .into_iter()
            .filter_map(|side| node.child_by_field_name(side))
            .all(|side| self.values.is_scalar(side))
    }

    /// A variable that this loop alone uses may be set to anything, another one to what
    /// was read last when the loop ends.
    fn may_assign(&self, node: Node<'_>) -> bool {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return false;
        };
        if !self.is_scalar_variable(left) || !self.values.is_scalar(right) {
            return false;
        }
        let target = syntax::unwrap_parentheses(left);
        let is_private = self.rounds.is_private(target, self.values.context());
        match operator(node) == "=" {
            true if self.values.value_of(right).is_some() => {
                is_private || self.rounds.is_last_value(node, target, self.values)
            }
            true => is_private && self.values.is_invariant(right),
            false => is_private && self.values.is_invariant(right),
        }
    }

    fn may_count(&self, node: Node<'_>) -> bool {
        let target = node.child_by_field_name("argument");
        target.is_some_and(|target| {
            let target = syntax::unwrap_parentheses(target);
            self.is_scalar_variable(target) && self.rounds.is_private(target, self.values.context())
        })
    }

    fn is_scalar_variable(&self, target: Node<'_>) -> bool {
        let target = syntax::unwrap_parentheses(target);
        let context = self.values.context();
        target.kind() == "identifier"
            && context
                .declared
                .is_local(&context.file.node_text(target), &target.byte_range())
            && (self.values.is_scalar(target) || self.values.value_of(target).is_some())
    }

    /// A variable of a round, of a type without constructors.
    fn may_declare(&self, node: Node<'_>) -> bool {
        let Some(type_node) = node.child_by_field_name("type") else {
            return false;
        };
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let is_local = children(node)
            .iter()
            .all(|child| child.kind() != "storage_class_specifier");
        let text = self.values.context().file.node_text(type_node);
        let is_deduced = matches!(&*text, "auto" | "__auto_type");
        let all_scalar = declarators.iter().all(|declarator| {
            let value = declarator.child_by_field_name("value");
            let name = declarator
                .child_by_field_name("declarator")
                .unwrap_or(*declarator);
            let is_pointer = name.kind() == "pointer_declarator";
            let is_simple = is_pointer || name.kind() == "identifier";
            let scalar = is_pointer
                || self.values.scalar_of_type(type_node).is_some()
                || is_deduced && value.is_some_and(|value| self.values.is_scalar(value));
            is_simple && scalar
        });
        is_local && !declarators.is_empty() && all_scalar
    }
}

/// The parts of an expression that are executed; a declared name is none.
fn node_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut all = children(node);
    if matches!(node.kind(), "init_declarator" | "declaration") {
        let mut cursor = node.walk();
        let names: Vec<usize> = node
            .children_by_field_name("declarator", &mut cursor)
            .filter(|child| child.kind() != "init_declarator")
            .map(|child| child.id())
            .collect();
        all.retain(|child| !names.contains(&child.id()));
    }
    all
}
