//! Macros: the operations in their bodies, and the rules by which their uses are
//! operations themselves. A body is parsed on its own.

use tree_sitter::Node;

use crate::context::ScanContext;
use crate::found_site::{FoundSite, Surroundings};
use crate::macro_block::{self, BlockValue};
use crate::macro_definition::Macro;
use crate::orders::squeeze;
use crate::plain_form;
use crate::recognise::found_in_part;
use crate::site::{LoopRole, OrderForm, OrderSpelling, Site};
use crate::syntax::{self, children};
use crate::vocabulary::rule::{CallResult, OrderRule, Rule};

/// Whether a macro's body may hold an operation: most are constants, and need no
/// parser.
fn is_worth_parsing(definition: &Macro, context: &ScanContext<'_>) -> bool {
    let body = &context.file.text()[definition.body.clone()];
    if !body.contains(&b'(') {
        return false;
    }
    body.split(|b| !b.is_ascii_alphanumeric() && *b != b'_')
        .filter_map(|word| std::str::from_utf8(word).ok())
        .any(|word| !word.is_empty() && context.rules(word).next().is_some())
}

/// The sites in a macro's body.
pub(crate) fn sites(definition: &Macro, context: &ScanContext<'_>) -> Vec<Site> {
    if !is_worth_parsing(definition, context) {
        return Vec::new();
    }
    let tree = context.file.parse_macro_body(&definition.body);
    let around = Surroundings {
        function: None,
        function_span: None,
        statement: definition.body.clone(),
        loop_span: None,
        macro_name: Some(definition.name.clone()),
    };
    found_in_part(&tree, context)
        .into_iter()
        .filter(|(found, _)| found.rule.is_some())
        .map(|(mut found, _)| {
            // What a use puts in the place of a parameter may do anything.
            if definition
                .parameters
                .as_ref()
                .is_some_and(|all| !all.is_empty())
            {
                found.role = LoopRole::None;
            }
            found.into_site(around.clone(), context)
        })
        .collect()
}

/// The rule for uses of a macro whose body is one atomic operation.
pub(crate) fn wrapper(definition: &Macro, context: &ScanContext<'_>) -> Option<Rule> {
    let parameters = definition.parameters.as_deref()?;
    if !is_worth_parsing(definition, context) {
        return None;
    }
    let tree = context.file.parse_macro_body(&definition.body);
    let mut found = found_in_part(&tree, context);
    let (found, _) = found.pop().filter(|_| found.is_empty())?;
    let inner = found.rule.clone()?;
    let name = &definition.name;
    if !is_whole(&found, tree.root_node()) {
        let block = macro_block::read(&found, tree.root_node(), parameters, context)?;
        let mut rule = wrapper_rule(&found, &inner, (parameters, &block.names), name, context)?;
        if block.value == BlockValue::Found {
            rule.result = CallResult::Old;
        }
        return Some(rule);
    }
    let mut rule = wrapper_rule(&found, &inner, (parameters, &[]), name, context)?;
    let says_order = !matches!(rule.order, OrderRule::Macro { .. });
    let others = usize::from(says_order);
    rule.plain = plain_form::of_macro(&found, parameters, others, &definition.body, context);
    Some(rule)
}

/// The rule for uses of a macro that is only another name of something with a rule. What
/// the name says there it does not say here.
pub(crate) fn other_name(definition: &Macro, context: &ScanContext<'_>) -> Option<Rule> {
    if definition.parameters.is_some() {
        return None;
    }
    let body = context.file.slice(&definition.body);
    let name = body.trim();
    let mut rule = context.rules(name).find(|rule| !rule.member)?.clone();
    let here = |order: &OrderRule| {
        let said = match order {
            OrderRule::Argument { index, .. } if *index < rule.arity.0 => return order.clone(),
            OrderRule::Pasted { .. } | OrderRule::Macro { .. } => return order.clone(),
            OrderRule::Suffix { order, .. } | OrderRule::Fixed(order) => *order,
            OrderRule::Argument { default, .. } | OrderRule::Template { default, .. } => *default,
        };
        OrderRule::Macro {
            order: Some(said),
            name: definition.name.clone(),
        }
    };
    (rule.order, rule.failure) = (here(&rule.order), rule.failure.as_ref().map(here));
    Some(rule)
}

/// The rule for calls of something with these parameters that does one operation; other
/// names of parameters come with their numbers.
pub(crate) fn wrapper_rule(
    found: &FoundSite<'_>,
    inner: &Rule,
    (parameters, names): (&[String], &[(String, usize)]),
    name: &str,
    context: &ScanContext<'_>,
) -> Option<Rule> {
    let parameter_in = |node: Option<Node<'_>>| {
        let node = node?;
        let is_mentioned = |name: &String| mentions(node, name, context);
        let number = parameters.iter().position(is_mentioned);
        let named = || names.iter().find(|(name, _)| is_mentioned(name));
        number.or_else(|| named().map(|(_, number)| *number))
    };
    let object = parameter_in(found.object);
    // Without its object a use could be told from no other.
    if found.object.is_some() && object.is_none() {
        return None;
    }
    let order = |spelling: &OrderSpelling| {
        said_outside(spelling, parameters, context).unwrap_or_else(|| OrderRule::Macro {
            order: spelling.order,
            name: name.to_owned(),
        })
    };
    let variadic = parameters.last().is_some_and(|last| last == "...");
    let fewest = parameters.len() - usize::from(variadic);
    let argument = |index: Option<usize>| found.arguments.get(index?).copied();
    // `T old_ = (old); … &old_`: what the caller gave is not changed.
    let is_copied = argument(inner.expected).is_some_and(|expected| {
        let target = syntax::pointee(expected);
        let text = context.file.node_text(target);
        target != expected && names.iter().any(|(name, _)| **name == *text)
    });
    Some(Rule {
        vocabulary: found.vocabulary,
        operation: found.operation,
        member: false,
        object,
        order: order(&found.order),
        failure: found.failure_order.as_ref().map(order),
        arity: (fewest, if variadic { usize::MAX } else { fewest }),
        expected: parameter_in(argument(inner.expected)),
        expected_by_value: inner.expected_by_value || is_copied,
        desired: parameter_in(argument(inner.desired)),
        weak: None,
        result: inner.result,
        awaits: inner.awaits,
        distinctive: true,
        plain: None,
    })
}

/// Where the uses of something with these parameters say an order, if they do.
fn said_outside(
    spelling: &OrderSpelling,
    parameters: &[String],
    context: &ScanContext<'_>,
) -> Option<OrderRule> {
    let (span, before, behind) = match &spelling.form {
        OrderForm::NotLiteral(span) | OrderForm::Literal(span) => (span, "", ""),
        OrderForm::Pasted {
            span,
            prefix,
            suffix,
        } => (span, prefix.as_str(), suffix.as_str()),
        OrderForm::Suffix(_) | OrderForm::Macro(_) | OrderForm::Implied => return None,
    };
    let text = squeeze(&context.file.slice(span));
    let (index, prefix, suffix) = (parameters.iter().enumerate())
        .find_map(|(index, parameter)| around_word(&text, parameter).map(|(a, b)| (index, a, b)))?;
    let joined = |parts: [&str; 2]| parts.concat().replace("##", "");
    let (prefix, suffix) = (joined([before, prefix]), joined([suffix, behind]));
    if prefix.is_empty() && suffix.is_empty() {
        let default = crate::MemoryOrder::SeqCst;
        return Some(OrderRule::Argument { index, default });
    }
    Some(OrderRule::Pasted {
        index,
        prefix,
        suffix,
    })
}

/// What stands before and behind a word that is part of a name, where nothing is
/// computed.
fn around_word<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let of_name = |c: char| of_word(c) || matches!(c, ':' | '#' | '(' | ')');
    if !text.chars().all(of_name) {
        return None;
    }
    text.match_indices(word).find_map(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        let is_whole = !before.ends_with(of_word) && !behind.starts_with(of_word);
        is_whole.then_some((before, behind))
    })
}

/// Whether the tree holds nothing but the operation: parentheses, casts, a `do`
/// that only makes it a statement.
fn is_whole(found: &FoundSite<'_>, root: Node<'_>) -> bool {
    let mut node = found.node;
    while let Some(parent) = node.parent() {
        let dressing = matches!(
            parent.kind(),
            "translation_unit"
                | "parenthesized_expression"
                | "cast_expression"
                | "expression_statement"
                | "compound_statement"
                | "do_statement"
                | "return_statement"
        );
        let siblings = children(parent);
        let alone = siblings.iter().all(|sibling| {
            *sibling == node
                || sibling.kind() == "type_descriptor"
                || parent.kind() == "do_statement"
        });
        if !dressing || !alone {
            return false;
        }
        if parent == root {
            return true;
        }
        node = parent;
    }
    true
}

fn mentions(node: Node<'_>, name: &str, context: &ScanContext<'_>) -> bool {
    let mut mentioned = false;
    syntax::visit(node, |inner, _| {
        mentioned |= inner.kind() == "identifier" && context.file.node_text(inner) == name;
    });
    mentioned
}
