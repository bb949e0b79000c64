//! Functions whose body is one atomic operation, as rules for their calls.

use tree_sitter::Node;

use crate::context::ScanContext;
use crate::found_site::FoundSite;
use crate::macros;
use crate::orders::standard;
use crate::plain_form;
use crate::source::ParsedFile;
use crate::syntax::{self, children};
use crate::vocabulary::rule::Rule;

/// A function whose body is one atomic operation.
pub(crate) struct WrapperFunction {
    /// Its name.
    pub name: String,
    /// The rule for its calls.
    pub rule: Rule,
    /// What it does, without its orders and with its parameters by number.
    pub body: String,
}

/// Reads the definition of a function: its body is one statement, which is one atomic
/// operation, behind declarations that only give a parameter another type.
pub(crate) fn read(
    node: Node<'_>,
    found: &[FoundSite<'_>],
    context: &ScanContext<'_>,
) -> Option<WrapperFunction> {
    let body = node.child_by_field_name("body")?;
    let mut statements = children(body);
    statements.retain(|statement| statement.kind() != "comment");
    let statement = statements.pop()?;
    if !matches!(
        statement.kind(),
        "return_statement" | "expression_statement"
    ) {
        return None;
    }
    let value = syntax::bare_value(children(statement).pop()?, context.file);
    let found = found.iter().find(|found| found.node == value)?;
    let inner = found.rule.as_ref()?;
    let name = syntax::function_name(node, context.file)?;
    let plain_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !plain_name {
        return None;
    }
    let mut parameters: Vec<String> = syntax::parameters(node, context.file)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let has_declarations = !statements.is_empty();
    for declaration in statements {
        let (name, parameter) = other_name(declaration, &parameters, context.file)?;
        parameters[parameter] = name;
    }
    let mut rule = match macros::wrapper_rule(found, inner, (&parameters, &[]), &name, context) {
        Some(rule) => rule,
        // A method that wraps a field of its object.
        None if is_method(node) => method_rule(found, inner, &parameters, &name, context),
        None => return None,
    };
    if !has_declarations && !is_method(node) {
        rule.plain = plain_form::of_function(node, found, context);
    }
    let text = without_orders(&context.file.node_text(statement), &parameters);
    // The members of another class are other objects.
    let class = node.parent().filter(|_| is_method(node));
    let body = format!("{:?} {text}", class.map(|class| class.start_byte()));
    Some(WrapperFunction { name, rule, body })
}

/// A body without its orders, with the number in place of each parameter.
pub(crate) fn without_orders(body: &str, parameters: &[String]) -> String {
    let mut text = String::new();
    let mut rest = body;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let length = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        rest = after;
        if let Some(number) = parameters.iter().position(|parameter| parameter == word) {
            text.push_str(&format!("${number}"));
        } else if standard(word).is_none() && !word.trim().is_empty() && word != "\\" {
            text.push_str(word);
        }
    }
    text
}

fn method_rule(
    found: &FoundSite<'_>,
    inner: &Rule,
    parameters: &[String],
    name: &str,
    context: &ScanContext<'_>,
) -> Rule {
    let mut without_object = found.clone();
    without_object.object = None;
    let rule = macros::wrapper_rule(&without_object, inner, (parameters, &[]), name, context);
    let mut rule = rule.expect("an operation without an object always has a rule");
    rule.member = true;
    rule
}

fn is_method(definition: Node<'_>) -> bool {
    definition
        .parent()
        .is_some_and(|parent| parent.kind() == "field_declaration_list")
}

/// The name that a declaration gives to a parameter, and which one: `T *x = (T *)p;`.
fn other_name(
    declaration: Node<'_>,
    parameters: &[String],
    file: &ParsedFile,
) -> Option<(String, usize)> {
    let declarator = declaration.child_by_field_name("declarator")?;
    let value = declarator.child_by_field_name("value")?;
    let value = file.node_text(syntax::bare_value(value, file));
    let parameter = parameters.iter().position(|known| *known == value)?;
    let mut name = declarator.child_by_field_name("declarator")?;
    while name.kind() == "pointer_declarator" {
        name = name.child_by_field_name("declarator")?;
    }
    let is_name = declaration.kind() == "declaration" && name.kind() == "identifier";
    is_name.then(|| (file.node_text(name).into_owned(), parameter))
}
