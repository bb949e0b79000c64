//! Macros whose body is a block with a value, `({ T *p_ = (p); op(p_); })`: the block is
//! the operation if it does nothing else but name things and give back what the
//! operation gives. Reads trees; knows nothing of rules.

use tree_sitter::Node;

use crate::compiler_barrier::is_empty_assembly;
use crate::context::ScanContext;
use crate::found_site::FoundSite;
use crate::site::SiteOperation;
use crate::syntax::{self, children};

/// A block that is one operation.
pub(crate) struct OperationBlock {
    /// Its variables that are parameters of the macro, or lead to one, by number.
    pub names: Vec<(String, usize)>,
    /// Its value.
    pub value: BlockValue,
}

/// What a block gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockValue {
    /// What the operation gives, or nothing.
    Operation,
    /// What the operation found in memory, by a variable that it was given for that.
    Found,
}

/// Reads the body of a macro with these parameters around the only operation in it.
pub(crate) fn read(
    found: &FoundSite<'_>,
    root: Node<'_>,
    parameters: &[String],
    context: &ScanContext<'_>,
) -> Option<OperationBlock> {
    let block = block_around(found.node)?;
    if !is_whole_expression(block, root) {
        return None;
    }
    let mut names: Vec<(String, usize)> = Vec::new();
    let mut result = None;
    let statements = children(block);
    let (last, before) = statements.split_last()?;
    let is_in = |node: Node<'_>| syntax::within(&found.node.byte_range(), &node.byte_range());
    for &statement in before {
        match statement.kind() {
            "expression_statement" if is_barrier(statement, context) => {}
            "declaration" => {
                for (name, value) in declarators(statement) {
                    let name = context.file.node_text(name).into_owned();
                    let Some(value) = value else {
                        continue;
                    };
                    if is_in(value) {
                        is_bare(value, found, context).then_some(())?;
                        result = Some(name);
                    } else {
                        let number = number_of(value, parameters, &names, context)?;
                        names.extend(number.map(|number| (name, number)));
                    }
                }
            }
            "expression_statement" if is_in(statement) => {
                let inner = syntax::unwrap_parentheses(children(statement).pop()?);
                let is_result = inner.kind() == "assignment_expression" && inner != found.node;
                let value = match is_result {
                    true => {
                        let target = inner.child_by_field_name("left")?;
                        let is_plain =
                            syntax::operator(inner) == "=" && target.kind() == "identifier";
                        is_plain.then_some(())?;
                        result = Some(context.file.node_text(target).into_owned());
                        inner.child_by_field_name("right")?
                    }
                    false => inner,
                };
                is_bare(value, found, context).then_some(())?;
            }
            _ => return None,
        }
    }
    if last.kind() != "expression_statement" {
        return None;
    }
    let value = children(*last).pop()?;
    if is_in(value) {
        return is_bare(value, found, context).then_some(OperationBlock {
            names,
            value: BlockValue::Operation,
        });
    }
    let value = syntax::bare_value(value, context.file);
    let given = context.file.node_text(value);
    if value.kind() != "identifier" {
        return None;
    }
    let value = match result {
        Some(result) => (result == *given).then_some(BlockValue::Operation)?,
        None => is_found(&given, found, context).then_some(BlockValue::Found)?,
    };
    Some(OperationBlock { names, value })
}

/// Whether an operation writes what it found into a variable of this name: `&old_`.
fn is_found(name: &str, found: &FoundSite<'_>, context: &ScanContext<'_>) -> bool {
    let is_address = |argument: Node<'_>| {
        let target = syntax::pointee(argument);
        target != argument && context.file.node_text(target) == name
    };
    match found.operation {
        SiteOperation::CompareExchange { .. } => {
            let expected = found.rule.as_ref().and_then(|rule| rule.expected);
            let expected = expected.and_then(|index| found.arguments.get(index));
            expected.is_some_and(|&argument| is_address(argument))
        }
        SiteOperation::Load => found.arguments.iter().any(|&argument| is_address(argument)),
        _ => false,
    }
}

/// Whether a statement only holds the compiler back.
fn is_barrier(statement: Node<'_>, context: &ScanContext<'_>) -> bool {
    let inner = children(statement);
    inner
        .iter()
        .any(|&inner| is_empty_assembly(inner, context.file))
}

/// The innermost block around a node.
fn block_around(node: Node<'_>) -> Option<Node<'_>> {
    let mut parents = std::iter::successors(node.parent(), Node::parent);
    parents.find(|parent| parent.kind() == "compound_statement")
}

/// Whether a tree is nothing but this block, as an expression.
fn is_whole_expression(block: Node<'_>, root: Node<'_>) -> bool {
    let mut node = block;
    let mut is_expression = false;
    while node != root {
        let Some(parent) = node.parent() else {
            break;
        };
        is_expression |= parent.kind() == "parenthesized_expression";
        let is_dressing = matches!(
            parent.kind(),
            "parenthesized_expression"
                | "extension_expression"
                | "cast_expression"
                | "expression_statement"
                | "translation_unit"
        );
        let others = children(parent).into_iter().filter(|one| *one != node);
        if !is_dressing || others.filter(|one| one.kind() != "type_descriptor").count() > 0 {
            return false;
        }
        node = parent;
    }
    is_expression
}

/// What a declaration declares, each with the value that it gets.
fn declarators(declaration: Node<'_>) -> Vec<(Node<'_>, Option<Node<'_>>)> {
    let mut cursor = declaration.walk();
    let all = declaration.children_by_field_name("declarator", &mut cursor);
    all.filter_map(|declarator| {
        let value = declarator.child_by_field_name("value");
        let mut name = declarator;
        while name.kind() != "identifier" {
            name = name.child_by_field_name("declarator")?;
        }
        Some((name, value))
    })
    .collect()
}

/// Whether an expression is the operation, but for casts and parentheses.
fn is_bare(value: Node<'_>, found: &FoundSite<'_>, context: &ScanContext<'_>) -> bool {
    syntax::bare_value(value, context.file) == found.node
}

/// The one parameter that an expression is or leads to, if there is one; `None` if the
/// expression does anything.
fn number_of(
    value: Node<'_>,
    parameters: &[String],
    names: &[(String, usize)],
    context: &ScanContext<'_>,
) -> Option<Option<usize>> {
    let mut numbers: Vec<usize> = Vec::new();
    let mut is_pure = true;
    syntax::visit(value, |node, _| match node.kind() {
        "identifier" => {
            let text = context.file.node_text(node);
            let number = parameters.iter().position(|parameter| **parameter == *text);
            let named = || {
                names
                    .iter()
                    .find(|(name, _)| **name == *text)
                    .map(|(_, n)| *n)
            };
            let number = number.or_else(named);
            numbers.extend(number.filter(|number| !numbers.contains(number)));
        }
        "call_expression"
        | "assignment_expression"
        | "update_expression"
        | "lambda_expression"
        | "compound_statement"
        | "ERROR" => is_pure = false,
        _ => {}
    });
    let number = match numbers[..] {
        [number] => Some(number),
        _ => None,
    };
    is_pure.then_some(number)
}
