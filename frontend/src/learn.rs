//! Proposes vocabulary text for a project's own layer: functions and macros whose
//! body is one atomic operation. What is proposed is text for people to look at;
//! a scan does not use it by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use tree_sitter::Node;

use crate::context::ScanContext;
use crate::found_site::FoundSite;
use crate::macros;
use crate::order::MemoryOrder;
use crate::outline::{Marks, Outline};
use crate::recognise::found_in;
use crate::site::SiteOperation;
use crate::source::ParsedFile;
use crate::syntax::{self, children};
use crate::vocabulary::Vocabularies;
use crate::vocabulary::rule::{OrderRule, Rule};

/// The suffixes by which layers name orders in their functions.
const SUFFIXES: [(&str, MemoryOrder); 11] = [
    ("_relaxed", MemoryOrder::Relaxed),
    ("_rlx", MemoryOrder::Relaxed),
    ("_nobarrier", MemoryOrder::Relaxed),
    ("_acquire", MemoryOrder::Acquire),
    ("_acq", MemoryOrder::Acquire),
    ("_release", MemoryOrder::Release),
    ("_rel", MemoryOrder::Release),
    ("_acq_rel", MemoryOrder::AcqRel),
    ("_acqrel", MemoryOrder::AcqRel),
    ("_seq_cst", MemoryOrder::SeqCst),
    ("_sc", MemoryOrder::SeqCst),
];

/// A function or macro that wraps one atomic operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// Its name.
    pub name: String,
    rule: Rule,
}

/// The wrappers that a file defines and no vocabulary knows yet.
pub fn wrappers(file: &ParsedFile, vocabularies: &Vocabularies) -> Vec<Wrapper> {
    let outline = Outline::of(file);
    let declared = macros::declarations(file, &outline, Vec::new(), vocabularies);
    let context = ScanContext::new(file, &declared, vocabularies);
    let mut wrappers: Vec<Wrapper> = macros::definitions(&outline, file)
        .iter()
        .filter_map(|definition| {
            let rule = macros::wrapper(definition, &context)?;
            let name = definition.name.clone();
            Some(Wrapper { name, rule })
        })
        .collect();
    let found: Vec<FoundSite<'_>> = found_in(&outline, &context)
        .certain
        .into_iter()
        .map(|(found, _)| found)
        .collect();
    outline.visit(Marks::FUNCTION, |node, _, _| {
        wrappers.extend(function(node, &found, &context));
    });
    wrappers.retain(|wrapper| vocabularies.rules(&wrapper.name).next().is_none());
    wrappers
}

/// Text for wmfix.toml that describes the wrappers.
pub fn vocabulary_text(name: &str, wrappers: &[Wrapper]) -> String {
    let mut by_shape: BTreeMap<Shape, BTreeSet<String>> = BTreeMap::new();
    let mut suffixes: BTreeMap<&str, &str> = BTreeMap::new();
    for wrapper in wrappers {
        let (base, shape, suffix) = shape(wrapper);
        if let Some((order, suffix)) = suffix {
            suffixes.entry(order.name()).or_insert(suffix);
        }
        by_shape.entry(shape).or_default().insert(base);
    }
    let mut text = String::new();
    for suffixed in [true, false] {
        let of_style: Vec<_> = by_shape
            .iter()
            .filter(|(shape, _)| (shape.order == "\"suffix\"") == suffixed)
            .collect();
        if of_style.is_empty() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[[vocabulary]]");
        if suffixed {
            let _ = writeln!(text, "name = \"{name}-suffix\"\nstyle = \"suffix\"");
            let orders: Vec<String> = suffixes
                .iter()
                .map(|(order, suffix)| format!("{order} = \"{suffix}\""))
                .collect();
            let _ = writeln!(text, "orders = {{ {} }}", orders.join(", "));
        } else {
            let _ = writeln!(text, "name = \"{name}\"");
        }
        for (shape, names) in of_style {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            let _ = writeln!(
                text,
                "\n[[vocabulary.call]]\nnames = [{}]",
                names.join(", ")
            );
            let _ = writeln!(text, "operation = \"{}\"", shape.operation);
            for (key, value) in &shape.rest {
                let _ = writeln!(text, "{key} = {value}");
            }
            if !suffixed {
                let _ = writeln!(text, "order = {}", shape.order);
            }
        }
        text.push('\n');
    }
    text
}

/// What calls that can be described together share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    operation: &'static str,
    order: String,
    rest: Vec<(&'static str, String)>,
}

fn shape(wrapper: &Wrapper) -> (String, Shape, Option<(MemoryOrder, &'static str)>) {
    let rule = &wrapper.rule;
    let said = match &rule.order {
        OrderRule::Macro { order, .. } => *order,
        _ => None,
    };
    let suffix = SUFFIXES
        .iter()
        .filter(|(suffix, order)| said == Some(*order) && wrapper.name.ends_with(suffix))
        .max_by_key(|(suffix, _)| suffix.len());
    let order = match (&rule.order, suffix) {
        (_, Some(_)) => "\"suffix\"".to_owned(),
        (OrderRule::Argument { index, .. }, None) => index.to_string(),
        _ => format!("\"{}\"", said.unwrap_or(MemoryOrder::SeqCst).name()),
    };
    let mut rest = Vec::new();
    if rule.member {
        rest.push(("member", "true".to_owned()));
    }
    if let Some(object) = rule.object.filter(|&object| object > 0) {
        rest.push(("object", object.to_string()));
    }
    rest.push(("arguments", format!("[{0}, {0}]", rule.arity.0)));
    if let (Some(expected), Some(desired)) = (rule.expected, rule.desired) {
        rest.push(("expected", expected.to_string()));
        rest.push(("desired", desired.to_string()));
    }
    if let Some(OrderRule::Argument { index, .. }) = rule.failure {
        rest.push(("failure", index.to_string()));
    }
    let base = suffix.map_or(wrapper.name.as_str(), |(suffix, _)| {
        &wrapper.name[..wrapper.name.len() - suffix.len()]
    });
    let shape = Shape {
        operation: operation(rule.operation),
        order,
        rest,
    };
    (base.to_owned(), shape, suffix.map(|(s, o)| (*o, *s)))
}

fn operation(operation: SiteOperation) -> &'static str {
    match operation {
        SiteOperation::Load => "load",
        SiteOperation::Store => "store",
        SiteOperation::Rmw => "rmw",
        SiteOperation::CompareExchange { weak: false } => "compare-exchange",
        SiteOperation::CompareExchange { weak: true } => "compare-exchange-weak",
        SiteOperation::Fence => "fence",
        SiteOperation::SignalFence => "signal-fence",
    }
}

/// A function whose body is one statement, which is one atomic operation.
fn function(node: Node<'_>, found: &[FoundSite<'_>], context: &ScanContext<'_>) -> Option<Wrapper> {
    let body = node.child_by_field_name("body")?;
    let statements = children(body);
    let [statement] = statements[..] else {
        return None;
    };
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
    let parameters = parameters(node, context);
    let rule = match macros::wrapper_rule(found, inner, &parameters, &name, context) {
        Some(rule) => rule,
        // A method that wraps a field of its object.
        None if is_method(node) => method_rule(found, inner, &parameters, &name, context),
        None => return None,
    };
    Some(Wrapper { name, rule })
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
    let rule = macros::wrapper_rule(&without_object, inner, parameters, name, context);
    let mut rule = rule.expect("an operation without an object always has a rule");
    rule.member = true;
    rule
}

fn is_method(definition: Node<'_>) -> bool {
    definition
        .parent()
        .is_some_and(|parent| parent.kind() == "field_declaration_list")
}

fn parameters(definition: Node<'_>, context: &ScanContext<'_>) -> Vec<String> {
    let mut declarator = definition.child_by_field_name("declarator");
    while let Some(node) = declarator {
        if let Some(list) = node.child_by_field_name("parameters") {
            return children(list)
                .into_iter()
                .map(|parameter| parameter_name(parameter, context))
                .collect();
        }
        declarator = node
            .child_by_field_name("declarator")
            .or_else(|| children(node).pop());
    }
    Vec::new()
}

fn parameter_name(parameter: Node<'_>, context: &ScanContext<'_>) -> String {
    let mut name = String::new();
    if let Some(declarator) = parameter.child_by_field_name("declarator") {
        syntax::visit(declarator, |node, _| {
            if node.kind() == "identifier" && name.is_empty() {
                name = context.file.node_text(node).into_owned();
            }
        });
    }
    name
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{vocabulary_text, wrappers};
    use crate::{Language, ParsedFile, Vocabularies, scan_source};

    const LAYER: &str = "
        #include <stdatomic.h>
        typedef atomic_int my_t;
        static inline int my_load_acquire(my_t *p) { return atomic_load_explicit(p, memory_order_acquire); }
        static inline int my_load_rlx(my_t *p) { return atomic_load_explicit(p, memory_order_relaxed); }
        static inline void my_put(int v, my_t *p, memory_order o) { atomic_store_explicit(p, v, o); }
        #define MY_SWAP(p, v) atomic_exchange(p, v)
        static int not_one(my_t *p) { atomic_load(p); return atomic_load(p); }
    ";

    #[test]
    fn what_is_proposed_is_a_vocabulary_that_finds_the_callers() {
        let builtin = Vocabularies::builtin();
        let file = ParsedFile::parse(Path::new("layer.h"), LAYER.as_bytes(), Language::C);
        let found = wrappers(&file, &builtin);
        let names: Vec<&str> = found.iter().map(|w| w.name.as_str()).collect();
        assert_eq!(
            names,
            ["MY_SWAP", "my_load_acquire", "my_load_rlx", "my_put"]
        );

        let text = vocabulary_text("my", &found);
        let table: toml::Table = text.parse().expect(&text);
        let all = Vocabularies::with_project(table.get("vocabulary")).expect(&text);
        let user = "int f(my_t *p) { my_put(1, p, memory_order_release); return my_load_acquire(p) + my_load_rlx(p) + MY_SWAP(p, 2); }";
        let scan = scan_source(Path::new("user.c"), user.as_bytes(), &all);
        let orders: Vec<_> = scan
            .sites
            .iter()
            .map(|site| (site.callee.as_str(), site.order.order.map(|o| o.name())))
            .collect();
        assert_eq!(
            orders,
            [
                ("my_put", Some("release")),
                ("my_load_acquire", Some("acquire")),
                ("my_load_rlx", Some("relaxed")),
                ("MY_SWAP", Some("seq_cst")),
            ]
        );
        let object = scan.sites[0].object.clone().expect("it has an object");
        assert_eq!(&user[object], "p");
    }
}
