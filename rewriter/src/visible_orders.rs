//! Which names of memory orders a file can say, beside those that its families of
//! constants have: what `using` brings into a namespace, and what enumerations of the
//! project's own enumerate. Decides nothing about how an order is spelled.

use tree_sitter::Node;
use wmfix_frontend::ParsedFile;

use crate::order_words::order_named;
use crate::view::children;

/// What one file says about names of orders.
#[derive(Clone, Debug, Default)]
pub(crate) struct VisibleOrders {
    /// Names that `using` brings into some namespace: `memory_order_acquire`.
    imported: Vec<String>,
    /// Enumerations that stand for orders.
    enumerations: Vec<Enumeration>,
}

#[derive(Clone, Debug)]
struct Enumeration {
    /// Its name; empty if it has none.
    name: String,
    enumerators: Vec<String>,
}

impl VisibleOrders {
    /// Those of a file by itself.
    pub(crate) fn of(file: &ParsedFile) -> Self {
        let mut visible = Self::default();
        let mut open = vec![file.tree().root_node()];
        while let Some(node) = open.pop() {
            match node.kind() {
                "using_declaration" => {
                    let text = file.node_text(node);
                    let name = text.trim_end_matches(';').trim();
                    let last = name.rsplit("::").next().unwrap_or_default();
                    if last.starts_with("memory_order_") {
                        visible.imported.push(last.to_owned());
                    }
                }
                "enum_specifier" => visible.enumerations.extend(enumeration(node, file)),
                "compound_statement" => {}
                _ => open.extend(children(node)),
            }
        }
        visible
    }

    /// Whether `using` brings a name into some namespace.
    pub(crate) fn imports(&self, name: &str) -> bool {
        self.imported.iter().any(|known| known == name)
    }

    /// Whether the enumeration that has a name (`lib::order::relaxed`) has another one,
    /// too; `None` if no enumeration has it.
    pub(crate) fn enumerates(&self, old: &str, new: &str) -> Option<bool> {
        let (scope, old) = old.rsplit_once("::").unwrap_or(("", old));
        let scope = scope.rsplit("::").next().unwrap_or_default();
        let has = |one: &Enumeration, name: &str| one.enumerators.iter().any(|e| e == name);
        let mut all = self.enumerations.iter();
        let known = all.find(|one| has(one, old) && (scope.is_empty() || one.name == scope))?;
        let new = new.rsplit("::").next().unwrap_or(new);
        Some(has(known, new))
    }
}

/// An enumeration with enumerators that are called after orders.
fn enumeration(node: Node<'_>, file: &ParsedFile) -> Option<Enumeration> {
    let body = node.child_by_field_name("body")?;
    let name = node.child_by_field_name("name");
    let named = children(body).into_iter().filter_map(|enumerator| {
        let name = enumerator.child_by_field_name("name")?;
        Some(file.node_text(name).into_owned())
    });
    let enumerators: Vec<String> = named.collect();
    let is_order = |name: &String| order_named(name).is_some();
    (enumerators.iter().filter(|name| is_order(name)).count() > 1).then(|| Enumeration {
        name: name.map_or_else(String::new, |name| file.node_text(name).into_owned()),
        enumerators,
    })
}
