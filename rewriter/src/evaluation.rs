//! What an expression does when it is evaluated, as far as the text tells: does
//! it touch shared memory, call something, write something? The answers err on
//! the side of yes, so that a fence lands where it must rather than where it
//! looks nice.

use std::collections::HashSet;

use tree_sitter::Node;
use wmfix_frontend::Span;

use crate::draft::Draft;
use crate::view::{View, children, enclosing_function};

/// Functions (and macros) that give back their operand and do nothing else.
const TRANSPARENT_CALLS: [&str; 14] = [
    "static_cast",
    "const_cast",
    "reinterpret_cast",
    "dynamic_cast",
    "move",
    "std::move",
    "forward",
    "std::forward",
    "std::addressof",
    "__builtin_expect",
    "sizeof",
    "bool",
    "int",
    "long",
];

/// Kinds of nodes whose operand is never evaluated.
const UNEVALUATED_KINDS: [&str; 9] = [
    "sizeof_expression",
    "alignof_expression",
    "decltype",
    "noexcept",
    "type_descriptor",
    "template_argument_list",
    "static_assert_declaration",
    "requires_expression",
    "offsetof_expression",
];

/// Answers questions about what the expressions of one function do.
pub(crate) struct Effects<'a> {
    pub(crate) view: &'a View<'a>,
    /// Sites by their place in the file.
    pub(crate) sites: &'a HashSet<(usize, usize)>,
    pub(crate) locals: &'a HashSet<String>,
    /// Knows what has moved out of its statement, and does nothing there any more.
    pub(crate) draft: &'a Draft,
}

impl Effects<'_> {
    /// Whether evaluating `node` performs an atomic operation, calls something
    /// or writes something.
    pub(crate) fn acts(&self, node: Node<'_>) -> bool {
        self.any(node, &|node| self.is_act(node))
    }

    /// Whether evaluating `node` acts or reads memory that other threads may write.
    pub(crate) fn accesses(&self, node: Node<'_>) -> bool {
        self.any(node, &|node| self.is_act(node) || self.is_shared_read(node))
    }

    fn any(&self, node: Node<'_>, test: &dyn Fn(Node<'_>) -> bool) -> bool {
        if UNEVALUATED_KINDS.contains(&node.kind()) || self.draft.moved(&self.view.span(node)) {
            return false;
        }
        if test(node) {
            return true;
        }
        // A lambda's body does nothing where it is written.
        let skip_body = node.kind() == "lambda_expression";
        children(node)
            .into_iter()
            .filter(|child| !(skip_body && child.kind() == "compound_statement"))
            .any(|child| self.any(child, test))
    }

    fn is_act(&self, node: Node<'_>) -> bool {
        let span: Span = self.view.span(node);
        if self.sites.contains(&(span.start, span.end)) {
            return true;
        }
        match node.kind() {
            "call_expression" => !is_transparent_call(self.view, node),
            "assignment_expression"
            | "update_expression"
            | "new_expression"
            | "delete_expression"
            | "co_await_expression"
            | "co_yield_statement"
            | "gnu_asm_expression"
            | "throw_statement" => true,
            // A statement expression can hold anything.
            "compound_statement" => true,
            _ => false,
        }
    }

    fn is_shared_read(&self, node: Node<'_>) -> bool {
        match node.kind() {
            "subscript_expression" => true,
            "field_expression" => node
                .child_by_field_name("operator")
                .is_some_and(|operator| operator.kind() == "->"),
            "pointer_expression" => node
                .child_by_field_name("operator")
                .is_some_and(|operator| operator.kind() == "*"),
            "identifier" => {
                let name = self.view.text(node);
                let is_callee = node
                    .parent()
                    .and_then(|parent| parent.child_by_field_name("function"))
                    .is_some_and(|callee| callee.id() == node.id());
                let is_qualified = node
                    .parent()
                    .is_some_and(|parent| parent.kind() == "qualified_identifier");
                !is_callee && !is_qualified && !is_constant(&name) && !self.locals.contains(&*name)
            }
            _ => false,
        }
    }
}

/// Whether a call does nothing but hand on its operand.
pub(crate) fn is_transparent_call(view: &View<'_>, call: Node<'_>) -> bool {
    let Some(function) = call.child_by_field_name("function") else {
        return false;
    };
    let name = function
        .child_by_field_name("name")
        .filter(|_| function.kind() == "template_function")
        .unwrap_or(function);
    let text = view.text(name);
    // Projects have a `likely` of their own, and some prefix for it.
    let last_word = text.rsplit('_').next().unwrap_or_default();
    function.kind() == "primitive_type"
        || TRANSPARENT_CALLS.contains(&&*text)
        || matches!(&*last_word.to_ascii_lowercase(), "likely" | "unlikely")
}

/// Whether the operand of `node` is never evaluated.
pub(crate) fn is_unevaluated(node: Node<'_>) -> bool {
    UNEVALUATED_KINDS.contains(&node.kind())
}

/// A name that is, by its looks, a constant: `NULL`, `kLimit`, `MAX_SIZE`.
fn is_constant(name: &str) -> bool {
    let mut letters = name.chars();
    let camel = letters.next() == Some('k') && letters.next().is_some_and(char::is_uppercase);
    let order = name.starts_with("memory_order");
    camel || order || !name.chars().any(|letter| letter.is_ascii_lowercase())
}

/// The names that are declared in the function around `node` and are not static.
pub(crate) fn local_names(view: &View<'_>, node: Node<'_>) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut function = enclosing_function(node);
    while let Some(found) = function {
        collect_names(view, found, &mut names);
        function = enclosing_function(found);
    }
    names
}

fn collect_names(view: &View<'_>, node: Node<'_>, names: &mut HashSet<String>) {
    let declares = matches!(
        node.kind(),
        "declaration"
            | "parameter_declaration"
            | "optional_parameter_declaration"
            | "for_range_loop"
    );
    if declares && !is_static(view, node) {
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            names.extend(declared_name(declarator).map(|name| view.text(name).into_owned()));
        }
    }
    for child in children(node) {
        collect_names(view, child, names);
    }
}

/// The identifier that a declarator declares.
pub(crate) fn declared_name(declarator: Node<'_>) -> Option<Node<'_>> {
    if matches!(declarator.kind(), "identifier" | "field_identifier") {
        return Some(declarator);
    }
    match declarator.child_by_field_name("declarator") {
        Some(inner) => declared_name(inner),
        // `T &r` and parenthesised declarators have no field name for it.
        None => children(declarator).into_iter().find_map(declared_name),
    }
}

/// Whether a declaration's object is initialised once, not each time.
pub(crate) fn is_static(view: &View<'_>, declaration: Node<'_>) -> bool {
    children(declaration).into_iter().any(|child| {
        matches!(child.kind(), "storage_class_specifier" | "type_qualifier")
            && matches!(
                &*view.text(child),
                "static" | "thread_local" | "_Thread_local" | "__thread" | "extern" | "constexpr"
            )
    })
}
