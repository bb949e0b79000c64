//! The names that a file gives to memory orders, together with those that stand beside
//! them: where one of them can be said, the others can.

use tree_sitter::Node;

use crate::order::MemoryOrder;
use crate::orders::{named, squeeze, standard};
use crate::source::ParsedFile;
use crate::syntax::children;

/// Names for orders, between which no code is.
pub type OrderFamily = Vec<(String, MemoryOrder)>;

/// The families of names for orders that a file defines.
pub fn order_families(file: &ParsedFile) -> Vec<OrderFamily> {
    let mut families = Vec::new();
    let mut open = vec![file.tree().root_node()];
    while let Some(node) = open.pop() {
        let mut family = OrderFamily::new();
        for child in children(node) {
            match child.kind() {
                "function_definition" | "template_declaration" => {
                    families.push(std::mem::take(&mut family));
                }
                "preproc_def" | "enumerator" => {
                    family.extend(constant(child, "name", file));
                }
                "declaration" | "field_declaration" => {
                    family.extend(constants(child, file));
                    open.push(child);
                }
                _ => open.push(child),
            }
        }
        families.push(family);
    }
    families.retain(|family| !family.is_empty());
    families
}

/// The constants of one declaration.
fn constants(declaration: Node<'_>, file: &ParsedFile) -> OrderFamily {
    let parts = children(declaration);
    let is_constant = parts
        .iter()
        .any(|part| part.kind() == "type_qualifier" && file.node_text(*part).starts_with("const"));
    let declarators = parts.into_iter().filter(|_| is_constant);
    let declarators = declarators.filter(|part| part.kind() == "init_declarator");
    let known = declarators.filter_map(|part| constant(part, "declarator", file));
    known.collect()
}

/// A name with its value, if that is an order.
fn constant(node: Node<'_>, name: &str, file: &ParsedFile) -> Option<(String, MemoryOrder)> {
    let name = node.child_by_field_name(name)?;
    let value = squeeze(&file.node_text(node.child_by_field_name("value")?));
    let order = standard(&value).or_else(|| named(&value))?;
    Some((file.node_text(name).into_owned(), order))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::order_families;
    use crate::MemoryOrder::{Acquire, Relaxed, Release};
    use crate::language::Language;
    use crate::source::ParsedFile;

    #[test]
    fn names_belong_together_until_code_comes() {
        let text = "#ifndef A_H\n#define X memory_order_relaxed\n#define N 1\n\
            constexpr auto A = std::memory_order_acquire, B = f();\n\
            auto variable = std::memory_order_acquire;\n\
            void f() {}\n\
            #define R __ATOMIC_RELEASE\n#endif\n\
            enum { E = memory_order_relaxed };\n";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        let mut found = order_families(&file);
        found.sort_by_key(|family| family[0].0.clone());
        let names = |list: &[(&str, crate::MemoryOrder)]| -> Vec<(String, crate::MemoryOrder)> {
            let names = list.iter();
            names
                .map(|(name, order)| ((*name).to_owned(), *order))
                .collect()
        };
        assert_eq!(
            found,
            [
                names(&[("E", Relaxed)]),
                names(&[("R", Release)]),
                names(&[("X", Relaxed), ("A", Acquire)]),
            ]
        );
    }
}
