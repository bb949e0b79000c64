//! Small questions about syntax trees that several parts of the scan ask. Knows
//! node kinds of the two grammars; knows nothing of atomics.

use tree_sitter::Node;

use crate::site::Span;
use crate::source::ParsedFile;

/// How deep helpers follow nested expressions: text nested deeper than this was
/// not written by people, and must not exhaust the stack.
pub(crate) const MAX_DEPTH: usize = 64;

/// The named children without comments.
pub(crate) fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .collect()
}

/// The arguments of a call.
pub(crate) fn arguments<'t>(call: Node<'t>) -> Vec<Node<'t>> {
    call.child_by_field_name("arguments")
        .map(children)
        .unwrap_or_default()
}

/// What a call calls.
pub(crate) struct Callee<'t> {
    /// The last part of the name.
    pub name: Node<'t>,
    /// The object of a method call.
    pub receiver: Option<Node<'t>>,
    /// How the method is reached: `.` or `->`.
    pub access: &'t str,
    /// Template arguments, if there are any.
    pub template_arguments: Vec<Node<'t>>,
    /// The scope in front of the name, as written: `std`, `boost`, ….
    pub scope: Option<Node<'t>>,
}

/// What a call expression calls, where that is a name.
pub(crate) fn callee(call: Node<'_>) -> Option<Callee<'_>> {
    let mut found = Callee {
        name: call.child_by_field_name("function")?,
        receiver: None,
        access: "",
        template_arguments: Vec::new(),
        scope: None,
    };
    for _ in 0..MAX_DEPTH {
        let node = found.name;
        found.name = match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" => return Some(found),
            "field_expression" => {
                found.receiver = node.child_by_field_name("argument");
                found.access = operator(node);
                node.child_by_field_name("field")?
            }
            "qualified_identifier" => {
                if found.scope.is_none() {
                    found.scope = node.child_by_field_name("scope");
                }
                node.child_by_field_name("name")?
            }
            "template_function" | "template_method" | "template_type" => {
                if let Some(list) = node.child_by_field_name("arguments") {
                    found.template_arguments = children(list);
                }
                node.child_by_field_name("name")?
            }
            "dependent_name" | "parenthesized_expression" => node.named_child(0)?,
            // `atomic(load)(x)`: a macro pastes the name together.
            "call_expression" => {
                let pasted = arguments(node);
                match pasted[..] {
                    [name] if name.kind() == "identifier" => name,
                    _ => return None,
                }
            }
            _ => return None,
        };
    }
    None
}

/// The node without parentheses around it.
pub(crate) fn unwrap_parentheses(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while matches!(node.kind(), "parenthesized_expression" | "condition_clause") {
        let inner = node
            .child_by_field_name("value")
            .or_else(|| children(node).pop());
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// The operator of a unary, binary, assignment or update expression.
pub(crate) fn operator<'t>(node: Node<'t>) -> &'t str {
    node.child_by_field_name("operator")
        .map_or("", |operator| operator.kind())
}

/// What `&x` takes the address of; any other expression itself.
pub(crate) fn pointee(node: Node<'_>) -> Node<'_> {
    let inner = unwrap_parentheses(node);
    if inner.kind() == "pointer_expression"
        && operator(inner) == "&"
        && let Some(target) = inner.child_by_field_name("argument")
    {
        return unwrap_parentheses(target);
    }
    node
}

/// Whether a node is a loop.
pub(crate) fn is_loop(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "while_statement" | "do_statement" | "for_statement" | "for_range_loop"
    )
}

/// Whether a node is the border of a function: what is around it does not run it.
pub(crate) fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "function_definition" | "lambda_expression")
}

/// Whether the first word of a line is in the body of no function.
pub fn is_outside_of_functions(file: &ParsedFile, line: u32) -> bool {
    let Some(start) = file.lines().line_start(line) else {
        return false;
    };
    let text = file.text()[start..].iter();
    let at = start + text.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let root = file.tree().root_node();
    let node = root.descendant_for_byte_range(at, at);
    let mut around = std::iter::successors(node, Node::parent);
    let is_body = |node: Node<'_>| {
        let body = node.child_by_field_name("body").map(|b| b.byte_range());
        is_function(node) && body.is_some_and(|body| body.contains(&at))
    };
    node.is_some() && !around.any(is_body)
}

/// Whether a node is a statement or declaration that can contain a site.
pub(crate) fn is_statement(node: Node<'_>) -> bool {
    let kind = node.kind();
    (kind.ends_with("_statement") && kind != "compound_statement" && kind != "init_statement")
        || matches!(
            kind,
            "declaration"
                | "field_declaration"
                | "for_range_loop"
                | "static_assert_declaration"
                | "field_initializer"
        )
}

/// The name of a function definition, without scopes.
pub(crate) fn function_name(definition: Node<'_>, file: &ParsedFile) -> Option<String> {
    let mut node = definition.child_by_field_name("declarator")?;
    for _ in 0..MAX_DEPTH {
        node = match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "destructor_name"
            | "operator_name" => {
                return Some(file.node_text(node).into_owned());
            }
            "operator_cast" => {
                return Some(file.node_text(node).split('(').next()?.trim().to_owned());
            }
            "qualified_identifier" | "template_function" => node.child_by_field_name("name")?,
            _ => node
                .child_by_field_name("declarator")
                .or_else(|| children(node).into_iter().next())?,
        };
    }
    None
}

/// The class in front of an out-of-line method's name: `C` of `int C::f()`.
pub(crate) fn method_owner(definition: Node<'_>, file: &ParsedFile) -> Option<String> {
    let mut node = definition.child_by_field_name("declarator")?;
    let mut owner = None;
    for _ in 0..MAX_DEPTH {
        node = match node.kind() {
            "qualified_identifier" => {
                let scope = node.child_by_field_name("scope")?;
                let name = scope.child_by_field_name("name").unwrap_or(scope);
                owner = Some(file.node_text(name).into_owned());
                node.child_by_field_name("name")?
            }
            "identifier" | "field_identifier" | "destructor_name" | "operator_name" => {
                return owner;
            }
            _ => match node
                .child_by_field_name("declarator")
                .or_else(|| children(node).into_iter().next())
            {
                Some(inner) => inner,
                None => return owner,
            },
        };
    }
    owner
}

/// The parameters of a function or lambda: each with its name, empty if it has none.
pub(crate) fn parameters<'t>(definition: Node<'t>, file: &ParsedFile) -> Vec<(String, Node<'t>)> {
    let mut declarator = definition.child_by_field_name("declarator");
    while let Some(node) = declarator {
        if let Some(list) = node.child_by_field_name("parameters") {
            let all = children(list).into_iter();
            return all
                .map(|parameter| (parameter_name(parameter, file), parameter))
                .collect();
        }
        declarator = node
            .child_by_field_name("declarator")
            .or_else(|| children(node).pop());
    }
    Vec::new()
}

fn parameter_name(parameter: Node<'_>, file: &ParsedFile) -> String {
    let mut name = String::new();
    if let Some(declarator) = parameter.child_by_field_name("declarator") {
        visit(declarator, |node, _| {
            if node.kind() == "identifier" && name.is_empty() {
                name = file.node_text(node).into_owned();
            }
        });
    }
    name
}

/// The node without what does not change its truth: parentheses, casts, hints to
/// the branch predictor.
pub(crate) fn bare_value<'t>(node: Node<'t>, file: &ParsedFile) -> Node<'t> {
    let mut node = node;
    for _ in 0..MAX_DEPTH {
        node = unwrap_parentheses(node);
        let inner = match node.kind() {
            "cast_expression" => node.child_by_field_name("value"),
            "comma_expression" => node.child_by_field_name("right"),
            "call_expression" => callee(node)
                .filter(|callee| is_transparent(&file.node_text(callee.name)))
                .and_then(|_| arguments(node).first().copied()),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// Calls that only pass their first argument on.
pub(crate) fn is_transparent(name: &str) -> bool {
    matches!(
        name,
        "__builtin_expect"
            | "likely"
            | "unlikely"
            | "LIKELY"
            | "UNLIKELY"
            | "static_cast"
            | "reinterpret_cast"
            | "const_cast"
            | "bool"
            | "int"
    ) || name.ends_with("_likely")
        || name.ends_with("_unlikely")
        || name.ends_with("_LIKELY")
        || name.ends_with("_UNLIKELY")
}

/// Whether one span lies inside another.
pub(crate) fn within(inner: &Span, outer: &Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Visits every named node under `root` that has a part in a span, in the order of the
/// text. What lies before is skipped at every level, and nothing behind is looked at.
pub(crate) fn visit_span<'t>(root: Node<'t>, span: &Span, mut each: impl FnMut(Node<'t>)) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_named() {
            each(node);
        }
        if cursor.goto_first_child_for_byte(span.start).is_some() {
            if cursor.node().start_byte() < span.end {
                continue;
            }
            cursor.goto_parent();
        }
        while !(cursor.goto_next_sibling() && cursor.node().start_byte() < span.end) {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Visits every named or missing node under `root` in the order of the text, with
/// its ancestors from the root down. Does not recurse: text can be nested arbitrarily deep.
pub(crate) fn visit<'t>(root: Node<'t>, mut each: impl FnMut(Node<'t>, &[Node<'t>])) {
    let mut cursor = root.walk();
    let mut ancestors: Vec<Node<'t>> = Vec::new();
    loop {
        let node = cursor.node();
        if node.is_named() || node.is_missing() {
            each(node, &ancestors);
        }
        if cursor.goto_first_child() {
            ancestors.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            ancestors.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tree_sitter::Node;

    use super::{visit, visit_span};
    use crate::{Language, ParsedFile};

    fn nodes_in(file: &ParsedFile, span: std::ops::Range<usize>) -> Vec<Node<'_>> {
        let mut nodes = Vec::new();
        visit_span(file.tree().root_node(), &span, |node| nodes.push(node));
        nodes
    }

    #[test]
    fn the_nodes_of_a_span_are_those_that_have_a_part_in_it() {
        let text =
            "int f(int a) {\n  g(a,\n    h(1), [] {\n k(2); }\n  );\n  return 0;\n}\nint x;\n";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        for start in 0..text.len() {
            for end in start + 1..=text.len() {
                let mut expected = Vec::new();
                visit(file.tree().root_node(), |node, _| {
                    if node.is_named() && node.start_byte() < end && node.end_byte() > start {
                        expected.push(node);
                    }
                });
                assert_eq!(nodes_in(&file, start..end), expected, "{start}..{end}");
            }
        }
    }

    #[test]
    fn as_many_nodes_are_looked_at_in_a_long_file_as_in_a_short_one() {
        let looked_at = |statements: usize| {
            let text = format!("int f() {{\n{}}}\n", "  g(1);\n".repeat(statements));
            let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
            let line = text.find("  g(1);").expect("there") + 8 * (statements - 1);
            nodes_in(&file, line..line + 8).len()
        };
        assert_eq!(looked_at(2), looked_at(20_000));
    }
}
