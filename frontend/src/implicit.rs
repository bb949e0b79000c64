//! Atomic operations without a call: `x = 1`, `x++`, `if (x)` on objects whose
//! declaration says that they are atomic. What is passed on by reference or
//! address is not read.

use tree_sitter::Node;

use crate::context::ScanContext;
use crate::declarations::{AtomicKind, Type};
use crate::found_site::{FoundSite, implied};
use crate::language::Language;
use crate::order::MemoryOrder;
use crate::site::{LoopRole, SiteOperation};
use crate::syntax::{MAX_DEPTH, callee, operator, unwrap_parentheses};

/// Reads a node that may be an atomic object used by itself.
pub(crate) fn recognise<'t>(
    node: Node<'t>,
    ancestors: &[Node<'t>],
    context: &ScanContext<'_>,
) -> Option<FoundSite<'t>> {
    if base_name(node).is_some_and(|name| {
        !context
            .declared
            .may_be_atomic(&context.file.node_text(name))
    }) {
        return None;
    }
    let (kind, certain) = match context.type_of(node) {
        Type::Atomic { depth: 0, kind } => {
            // Using a plain field looks the same.
            let certain = !matches!(kind, AtomicKind::Class(_))
                || context.declared.is_certain(node, context.file);
            (kind, certain)
        }
        Type::Unknown => (context.declared.perhaps_atomic(node, context.file)?, false),
        _ => return None,
    };
    let (object, parent, ancestors) = without_parentheses(node, ancestors)?;
    let (whole, operation, operator_node) = match usage(object, parent, ancestors, kind, context)? {
        Usage::Read => (node, SiteOperation::Load, None),
        Usage::Write(operation) => (parent, operation, parent.child_by_field_name("operator")),
    };
    let vocabulary = match kind {
        AtomicKind::Class(index) => index,
        AtomicKind::Qualifier => context.vocabularies.index("c11")?,
        AtomicKind::Volatile => context.vocabularies.index("volatile")?,
    };
    let order = match kind {
        AtomicKind::Volatile => MemoryOrder::Relaxed,
        _ => MemoryOrder::SeqCst,
    };
    Some(FoundSite {
        node: whole,
        operation,
        callee: operator_node.map_or_else(
            || "read".to_owned(),
            |operator| context.file.node_text(operator).into_owned(),
        ),
        callee_span: operator_node.unwrap_or(node).byte_range(),
        object: Some(node),
        arguments: Vec::new(),
        order: implied(order),
        failure_order: None,
        vocabulary,
        rule: None,
        role: LoopRole::None,
        certain,
    })
}

/// The name that decides an expression's type; `None` if something else does.
fn base_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    for _ in 0..MAX_DEPTH {
        node = match node.kind() {
            "identifier" | "field_identifier" => return Some(node),
            "field_expression" => node.child_by_field_name("field")?,
            "qualified_identifier" => node.child_by_field_name("name")?,
            "subscript_expression" | "pointer_expression" => {
                node.child_by_field_name("argument")?
            }
            "parenthesized_expression" => unwrap_parentheses(node),
            _ => return None,
        };
    }
    None
}

enum Usage {
    Read,
    Write(SiteOperation),
}

fn without_parentheses<'t, 'a>(
    node: Node<'t>,
    ancestors: &'a [Node<'t>],
) -> Option<(Node<'t>, Node<'t>, &'a [Node<'t>])> {
    let mut object = node;
    let mut rest = ancestors;
    while let Some((&parent, outer)) = rest.split_last() {
        // The parentheses of `if (x)` and `while (x)` belong to the statement.
        let of_statement = outer
            .last()
            .is_some_and(|outer| outer.kind().ends_with("_statement"));
        if parent.kind() != "parenthesized_expression" || of_statement {
            return Some((object, parent, outer));
        }
        object = parent;
        rest = outer;
    }
    None
}

/// How the parent uses an atomic object; `None` if it does not access it.
fn usage(
    object: Node<'_>,
    parent: Node<'_>,
    ancestors: &[Node<'_>],
    kind: AtomicKind,
    context: &ScanContext<'_>,
) -> Option<Usage> {
    let is_child = |name: &str| parent.child_by_field_name(name) == Some(object);
    let class = matches!(kind, AtomicKind::Class(_));
    match parent.kind() {
        "assignment_expression" if is_child("left") => {
            let operation = if operator(parent) == "=" {
                SiteOperation::Store
            } else {
                SiteOperation::Rmw
            };
            Some(Usage::Write(operation))
        }
        "update_expression" => Some(Usage::Write(SiteOperation::Rmw)),
        "pointer_expression" if operator(parent) == "&" => None,
        // Methods of a class; the fields of a struct behind an atomic pointer.
        "field_expression" => {
            let behind = !class && operator(parent) == "->" && is_child("argument");
            behind.then_some(Usage::Read)
        }
        "argument_list" => {
            let call = *ancestors.last()?;
            let reads = if call.kind() == "call_expression" {
                argument_is_read(object, parent, call, kind, context)
            } else {
                // `T x(y)`, `x_(y)`, `new T(y)`: a reference if the target is one.
                call.kind() == "init_declarator" && !binds_reference(call)
            };
            reads.then_some(Usage::Read)
        }
        "init_declarator" => (is_child("value") && !binds_reference(parent)).then_some(Usage::Read),
        "return_statement" => (!returns_reference(ancestors)).then_some(Usage::Read),
        "binary_expression"
        | "unary_expression"
        | "conditional_expression"
        | "assignment_expression"
        | "subscript_expression"
        | "subscript_argument_list"
        | "pointer_expression"
        | "condition_clause"
        | "parenthesized_expression"
        | "if_statement"
        | "while_statement"
        | "do_statement"
        | "for_statement"
        | "switch_statement"
        | "case_statement"
        | "initializer_list"
        | "initializer_pair" => Some(Usage::Read),
        "cast_expression" => {
            let target = parent.child_by_field_name("type")?;
            let discarded = context.file.node_text(target) == "void";
            (!discarded && is_child("value")).then_some(Usage::Read)
        }
        "comma_expression" | "expression_statement" => (!class).then_some(Usage::Read),
        _ => None,
    }
}

/// Whether passing an atomic object to a function reads it: always in C; in C++
/// unless the function takes atomics, or is one that only forwards.
fn argument_is_read(
    object: Node<'_>,
    list: Node<'_>,
    call: Node<'_>,
    kind: AtomicKind,
    context: &ScanContext<'_>,
) -> bool {
    let Some(callee) = callee(call) else {
        return !matches!(kind, AtomicKind::Class(_));
    };
    let name = context.file.node_text(callee.name);
    // A macro may take the address; one that wraps an operation is a site itself.
    let may_be_macro = name.chars().all(|c| !c.is_ascii_lowercase());
    let operates = context.rules(&name).next().is_some();
    if may_be_macro || operates || context.declared.knows_macro(&name) {
        return false;
    }
    if context.file.language() == Language::C && kind == AtomicKind::Qualifier {
        return true;
    }
    let forwards = matches!(
        &*name,
        "ref" | "cref" | "addressof" | "move" | "forward" | "swap" | "make_pair" | "sizeof" | "tie"
    );
    let index = crate::syntax::children(list)
        .iter()
        .position(|argument| *argument == object)
        .unwrap_or_default();
    !forwards && !context.declared.takes_atomic(&name, index)
}

fn binds_reference(declarator: Node<'_>) -> bool {
    declarator
        .child_by_field_name("declarator")
        .is_some_and(|inner| inner.kind() == "reference_declarator")
}

fn returns_reference(ancestors: &[Node<'_>]) -> bool {
    ancestors
        .iter()
        .rev()
        .find(|ancestor| crate::syntax::is_function(**ancestor))
        .and_then(|function| function.child_by_field_name("declarator"))
        .is_some_and(|declarator| declarator.kind() == "reference_declarator")
}
