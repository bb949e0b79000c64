//! Temporaries: names that nothing else has, and types that hold the value.

use std::collections::HashSet;

use tree_sitter::Node;
use wmfix_frontend::{Language, Site, SiteOperation, Span};

use crate::project::words;
use crate::view::{View, children, enclosing_function};

/// C's names of atomic types, and the types of their values.
const ATOMIC_TYPES: [(&str, &str); 16] = [
    ("atomic_bool", "_Bool"),
    ("atomic_char", "char"),
    ("atomic_schar", "signed char"),
    ("atomic_uchar", "unsigned char"),
    ("atomic_short", "short"),
    ("atomic_ushort", "unsigned short"),
    ("atomic_int", "int"),
    ("atomic_uint", "unsigned int"),
    ("atomic_long", "long"),
    ("atomic_ulong", "unsigned long"),
    ("atomic_llong", "long long"),
    ("atomic_ullong", "unsigned long long"),
    ("atomic_size_t", "size_t"),
    ("atomic_ptrdiff_t", "ptrdiff_t"),
    ("atomic_intptr_t", "intptr_t"),
    ("atomic_uintptr_t", "uintptr_t"),
];

/// The names that are taken in one file.
pub(crate) struct Temporaries<'a> {
    text: &'a [u8],
    /// Filled when the first name is needed: most changes need none.
    taken: Option<HashSet<String>>,
}

impl<'a> Temporaries<'a> {
    /// All names of `text` are taken.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, taken: None }
    }

    /// A name for the value of `site`: after its object.
    pub(crate) fn name(&mut self, view: &View<'_>, site: &Site) -> String {
        let suffix = match site.operation {
            SiteOperation::CompareExchange { .. } => "exchanged",
            _ => "value",
        };
        self.fresh(view, site, suffix)
    }

    /// A name for an operand of `site`, or for its object.
    pub(crate) fn operand_name(&mut self, view: &View<'_>, site: &Site, is_object: bool) -> String {
        self.fresh(view, site, if is_object { "object" } else { "operand" })
    }

    fn fresh(&mut self, view: &View<'_>, site: &Site, suffix: &str) -> String {
        let object = site
            .object
            .as_ref()
            .and_then(|span| view.expression_at(span))
            .and_then(|object| last_name(view, object));
        let base = match object {
            Some(object) => format!("{}_{suffix}", object.trim_end_matches('_')),
            None => suffix.to_owned(),
        };
        let text = self.text;
        let taken = self
            .taken
            .get_or_insert_with(|| words(text).map(str::to_owned).collect());
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}{number}");
            number += 1;
        }
        name
    }

    /// The type of a temporary for what `site` gives back.
    pub(crate) fn type_of_site(
        &self,
        view: &View<'_>,
        site: &Site,
        node: Node<'_>,
        is_shared_header: bool,
    ) -> String {
        // What has methods is an object of a class: its type is not that of its value.
        let is_of_c = |object: &&Span| object.end > site.callee_span.start;
        if is_shared_header
            && let Some(object) = site.object.as_ref().filter(is_of_c)
            && let Some(object) = view.expression_at(object)
        {
            let text = view.text(object);
            let lvalue = text.strip_prefix('&').unwrap_or(&text);
            return format!("__typeof__({lvalue})");
        }
        if view.language == Language::Cpp || is_shared_header {
            return self.type_of_value(view, node, is_shared_header);
        }
        let flag = site.callee.contains("test_and_set");
        // `__sync_val_compare_and_swap` and its like give the old value instead.
        let says_success = site.callee.starts_with("atomic_compare_exchange")
            || site.callee.starts_with("__atomic_compare_exchange");
        if flag || says_success {
            return "_Bool".to_owned();
        }
        declared_type(view, site)
            .or_else(|| returned_type(view, node))
            .unwrap_or_else(|| "__auto_type".to_owned())
    }

    /// The type of a temporary for any value.
    pub(crate) fn type_of_value(
        &self,
        view: &View<'_>,
        node: Node<'_>,
        is_shared_header: bool,
    ) -> String {
        if is_shared_header {
            format!("__typeof__({})", view.text(node))
        } else if view.language == Language::Cpp {
            "auto".to_owned()
        } else {
            "__auto_type".to_owned()
        }
    }
}

/// The last name in an object's expression: `next` of `&node->next`.
fn last_name(view: &View<'_>, object: Node<'_>) -> Option<String> {
    match object.kind() {
        "identifier" | "field_identifier" => Some(view.text(object).into_owned()),
        "field_expression" => object
            .child_by_field_name("field")
            .and_then(|field| last_name(view, field)),
        _ => children(object)
            .into_iter()
            .find_map(|child| last_name(view, child)),
    }
}

/// The value type of an object whose declaration in this file names a type of
/// `<stdatomic.h>`, if there is only one such declaration.
fn declared_type(view: &View<'_>, site: &Site) -> Option<String> {
    let object = view.expression_at(site.object.as_ref()?)?;
    let name = last_name(view, object)?;
    let mut found = HashSet::new();
    collect_types(view, view.root(), &name, &mut found);
    let mut types = found.into_iter();
    let only = types.next().filter(|_| types.next().is_none())?;
    ATOMIC_TYPES
        .iter()
        .find(|(atomic, _)| *atomic == only)
        .map(|(_, plain)| (*plain).to_owned())
}

fn collect_types(view: &View<'_>, node: Node<'_>, name: &str, found: &mut HashSet<String>) {
    if matches!(
        node.kind(),
        "declaration" | "field_declaration" | "parameter_declaration"
    ) && let Some(type_node) = node.child_by_field_name("type")
    {
        let mut cursor = node.walk();
        let declares = node
            .children_by_field_name("declarator", &mut cursor)
            .filter_map(crate::evaluation::declared_name)
            .any(|declared| view.text(declared) == name);
        if declares {
            found.insert(view.text(type_node).into_owned());
        }
    }
    for child in children(node) {
        collect_types(view, child, name, found);
    }
}

/// The type that the function returns, if the value is what is returned.
fn returned_type(view: &View<'_>, node: Node<'_>) -> Option<String> {
    node.parent()
        .filter(|parent| parent.kind() == "return_statement")?;
    let function = enclosing_function(node)?;
    function
        .child_by_field_name("declarator")
        .filter(|declarator| declarator.kind() == "function_declarator")?;
    let type_node = function.child_by_field_name("type")?;
    // What the grammar takes for the type may be a macro in front of it.
    let mut cursor = function.walk();
    let understood = !function
        .children(&mut cursor)
        .any(|child| child.is_error() || child.is_missing());
    let text = view.text(type_node);
    let is_a_name = |word: &str| word.chars().any(|letter| letter.is_ascii_lowercase());
    let is_a_type = text.split_whitespace().all(is_a_name);
    (understood && is_a_type).then(|| text.into_owned())
}
