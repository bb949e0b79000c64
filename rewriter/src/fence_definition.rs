//! What the macros and functions of a file do, as far as fences go: the steps of their
//! bodies. Reads definitions one by one; what a name means by all of them is
//! `fence_wrapper`'s to say.

use std::path::Path;

use tree_sitter::Node;
use wmfix_frontend::{ParsedFile, Presence, is_empty_assembly, presence};

use crate::order_words::squeeze;
use crate::view::children;

/// A body with more statements is no fence.
const MOST_STATEMENTS: usize = 8;

/// A macro or function of a file.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) defined_at: usize,
    pub(crate) presence: Presence,
    /// The names of its parameters; `None` for a macro without any, not even parentheses.
    pub(crate) parameters: Option<Vec<String>>,
    pub(crate) is_expression: bool,
    pub(crate) steps: Vec<Step>,
}

/// What is done in a body. What has no effect is no step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A barrier for the compiler alone.
    CompilerBarrier,
    /// A call, or just a name; arguments are without blanks.
    Use {
        name: String,
        arguments: Option<Vec<String>>,
    },
    /// One thing if a parameter is this order, another thing otherwise.
    Choice {
        parameter: String,
        order: String,
        same: Vec<Step>,
        other: Vec<Step>,
    },
    /// Anything else.
    Other,
}

impl Definition {
    /// Those of a file as `reader` has them, which includes or is it.
    pub(crate) fn all(file: &ParsedFile, reader: &Path) -> Vec<Self> {
        let mut found = Vec::new();
        collect(file, reader, file.tree().root_node(), &mut found);
        found
    }

    fn of_macro(file: &ParsedFile, reader: &Path, node: Node<'_>) -> Option<Self> {
        let text = |node: Node<'_>| file.node_text(node).into_owned();
        let name = text(node.child_by_field_name("name")?);
        let value = node.child_by_field_name("value")?;
        let tree = file.parse_macro_body(&value.byte_range());
        let statements = children(tree.root_node());
        let statements: Vec<Node<'_>> = (statements.into_iter())
            .filter(|statement| !is_empty(*statement))
            .collect();
        let (is_expression, steps) = match statements[..] {
            [statement] if statement.kind() == "do_statement" => {
                (false, done_once(statement, file))
            }
            [statement] => (
                !text(value).trim_end().ends_with(';'),
                steps_of(statement, file),
            ),
            // Behind an `if`, only the first one would be conditional.
            _ => (false, vec![Step::Other]),
        };
        let parameters = node.child_by_field_name("parameters");
        Some(Self {
            defined_at: node.end_byte(),
            presence: presence(node, &name, file, reader),
            parameters: parameters.map(|list| children(list).into_iter().map(text).collect()),
            is_expression,
            steps,
            name,
        })
    }

    fn of_function(file: &ParsedFile, reader: &Path, node: Node<'_>) -> Option<Self> {
        let declarator = node
            .child_by_field_name("declarator")
            .filter(|declarator| declarator.kind() == "function_declarator")?;
        let name = declarator
            .child_by_field_name("declarator")
            .filter(|name| name.kind() == "identifier")?;
        let name = file.node_text(name).into_owned();
        let list = declarator.child_by_field_name("parameters")?;
        let parameters = children(list).into_iter().filter_map(|parameter| {
            let declarator = parameter.child_by_field_name("declarator");
            let is_void = squeeze(&file.node_text(parameter)) == "void";
            let named = declarator.map(|name| file.node_text(name).into_owned());
            (!is_void).then(|| named.unwrap_or_default())
        });
        Some(Self {
            defined_at: node.end_byte(),
            presence: presence(node, &name, file, reader),
            parameters: Some(parameters.collect()),
            is_expression: true,
            steps: steps_of(node.child_by_field_name("body")?, file),
            name,
        })
    }
}

fn collect(file: &ParsedFile, reader: &Path, node: Node<'_>, found: &mut Vec<Definition>) {
    for child in children(node) {
        match child.kind() {
            "preproc_function_def" | "preproc_def" => {
                found.extend(Definition::of_macro(file, reader, child));
            }
            "function_definition" => found.extend(Definition::of_function(file, reader, child)),
            "namespace_definition" | "declaration_list" | "linkage_specification" => {
                collect(file, reader, child, found);
            }
            kind if kind.starts_with("preproc_if") || kind.starts_with("preproc_el") => {
                collect(file, reader, child, found);
            }
            _ => {}
        }
    }
}

/// The steps of `do { … } while (0)`.
fn done_once(node: Node<'_>, file: &ParsedFile) -> Vec<Step> {
    let condition = node.child_by_field_name("condition");
    let condition = condition.map(|condition| squeeze(&file.node_text(condition)));
    let is_once = matches!(condition.as_deref(), Some("(0)" | "(false)"));
    match node.child_by_field_name("body").filter(|_| is_once) {
        Some(body) => steps_of(body, file),
        None => vec![Step::Other],
    }
}

/// The steps of a statement or an expression.
fn steps_of(node: Node<'_>, file: &ParsedFile) -> Vec<Step> {
    let text = |node: Node<'_>| squeeze(&file.node_text(node));
    match node.kind() {
        "compound_statement"
        | "parenthesized_expression"
        | "expression_statement"
        | "comma_expression"
        | "else_clause" => {
            let inside = children(node);
            match inside.len() > MOST_STATEMENTS {
                true => vec![Step::Other],
                false => (inside.into_iter())
                    .flat_map(|inside| steps_of(inside, file))
                    .collect(),
            }
        }
        "do_statement" => done_once(node, file),
        "number_literal" => Vec::new(),
        "return_statement" if children(node).is_empty() => Vec::new(),
        "cast_expression" => match node.child_by_field_name("value") {
            Some(value) => steps_of(value, file),
            None => vec![Step::Other],
        },
        "gnu_asm_expression" if is_empty_assembly(node, file) => vec![Step::CompilerBarrier],
        "identifier" | "qualified_identifier" => vec![Step::Use {
            name: text(node),
            arguments: None,
        }],
        "call_expression" => {
            let function = node.child_by_field_name("function");
            let arguments = node.child_by_field_name("arguments");
            let (Some(function), Some(arguments)) = (function, arguments) else {
                return vec![Step::Other];
            };
            vec![Step::Use {
                name: text(function),
                arguments: Some(children(arguments).into_iter().map(text).collect()),
            }]
        }
        "if_statement" => choice(node, file).map_or_else(|| vec![Step::Other], |step| vec![step]),
        _ => vec![Step::Other],
    }
}

/// `if (order == memory_order_seq_cst) … else …`.
fn choice(node: Node<'_>, file: &ParsedFile) -> Option<Step> {
    let condition = squeeze(&file.node_text(node.child_by_field_name("condition")?));
    let (parameter, order) = condition
        .strip_prefix('(')?
        .strip_suffix(')')?
        .split_once("==")?;
    Some(Step::Choice {
        parameter: parameter.to_owned(),
        order: order.to_owned(),
        same: steps_of(node.child_by_field_name("consequence")?, file),
        other: steps_of(node.child_by_field_name("alternative")?, file),
    })
}

/// Whether a statement is just a semicolon.
fn is_empty(statement: Node<'_>) -> bool {
    statement.kind() == "expression_statement" && children(statement).is_empty()
}
