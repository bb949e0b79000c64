//! Reads types as they are written: specifiers, qualifiers, and the pointers and
//! arrays of declarators. Says what stands there; what a name means is looked up
//! elsewhere.

use tree_sitter::Node;

use super::{AtomicKind, Base, Declarations, WrittenType};
use crate::source::ParsedFile;
use crate::syntax::{MAX_DEPTH, children};
use crate::vocabulary::Vocabularies;

impl Declarations {
    /// The type that specifiers and qualifiers of a declaration say together.
    pub(super) fn specified(
        &self,
        node: Node<'_>,
        type_node: Node<'_>,
        file: &ParsedFile,
        vocabularies: &Vocabularies,
    ) -> WrittenType {
        match qualified(node, file, vocabularies) {
            Some(kind) => WrittenType {
                base: Base::Atomic(kind),
                depth: 0,
            },
            None => self.type_name(type_node, file, vocabularies, 0),
        }
    }

    /// The type that a type descriptor says: of a cast, an alias, a template argument.
    pub(super) fn descriptor(
        &self,
        node: Node<'_>,
        file: &ParsedFile,
        vocabularies: &Vocabularies,
    ) -> WrittenType {
        let type_node = node.child_by_field_name("type").unwrap_or(node);
        let mut written = self.specified(node, type_node, file, vocabularies);
        if let Some(declarator) = node.child_by_field_name("declarator") {
            read_declarator(declarator, &mut written, file, false);
        }
        written
    }

    pub(super) fn type_name(
        &self,
        node: Node<'_>,
        file: &ParsedFile,
        vocabularies: &Vocabularies,
        level: usize,
    ) -> WrittenType {
        let plain = |base| WrittenType { base, depth: 0 };
        if level > MAX_DEPTH {
            return plain(Base::Opaque);
        }
        match node.kind() {
            "type_identifier" | "identifier" => {
                let name = file.node_text(node);
                plain(match vocabularies.type_vocabulary(&name) {
                    Some(index) => Base::Atomic(AtomicKind::Class(index)),
                    None => Base::Named(name.into_owned()),
                })
            }
            "qualified_identifier" => match node.child_by_field_name("name") {
                Some(name) => {
                    let scope = node.child_by_field_name("scope");
                    let boost = scope.is_some_and(|s| file.node_text(s) == "boost");
                    let mut written = self.type_name(name, file, vocabularies, level + 1);
                    if boost
                        && matches!(&written.base, Base::Atomic(AtomicKind::Class(_)))
                        && let Some(index) = vocabularies.index("boost")
                    {
                        written.base = Base::Atomic(AtomicKind::Class(index));
                    }
                    written
                }
                None => plain(Base::Opaque),
            },
            "template_type" => {
                let Some(name) = node.child_by_field_name("name") else {
                    return plain(Base::Opaque);
                };
                let name = file.node_text(name);
                if let Some(index) = vocabularies.type_vocabulary(&name) {
                    return plain(Base::Atomic(AtomicKind::Class(index)));
                }
                // A container, smart pointer or padding of atomics: one step away.
                let arguments = node.child_by_field_name("arguments").map(children);
                for argument in arguments.unwrap_or_default() {
                    let mut written = self.descriptor(argument, file, vocabularies);
                    if let Base::Atomic(_) = written.base {
                        // `unique_ptr<T[]>` is one step away from its elements, too.
                        let array = argument
                            .child_by_field_name("declarator")
                            .is_some_and(|d| d.kind() == "abstract_array_declarator");
                        if array {
                            return written;
                        }
                        written.depth = written.depth.saturating_add(1);
                        return written;
                    }
                }
                plain(Base::Named(name.into_owned()))
            }
            "macro_type_specifier" => {
                let name = node.child_by_field_name("name");
                if name.is_some_and(|n| file.node_text(n) == "_Atomic") {
                    plain(Base::Atomic(AtomicKind::Qualifier))
                } else {
                    plain(Base::Opaque)
                }
            }
            "struct_specifier" | "class_specifier" | "union_specifier" => {
                match node.child_by_field_name("name") {
                    Some(name) => self.type_name(name, file, vocabularies, level + 1),
                    None => plain(Base::Plain),
                }
            }
            "placeholder_type_specifier" | "auto" | "decltype" | "dependent_type" => {
                plain(Base::Opaque)
            }
            _ => plain(Base::Plain),
        }
    }
}

/// Follows a declarator to the declared name, adding its pointers and arrays.
pub(super) fn read_declarator<'t>(
    declarator: Node<'t>,
    written: &mut WrittenType,
    file: &ParsedFile,
    in_block: bool,
) -> Option<Node<'t>> {
    let mut node = declarator;
    for _ in 0..MAX_DEPTH {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" => return Some(node),
            "pointer_declarator" | "abstract_pointer_declarator" => {
                written.depth = written.depth.saturating_add(1);
                let atomic_pointer = children(node)
                    .into_iter()
                    .any(|c| c.kind() == "type_qualifier" && file.node_text(c) == "_Atomic");
                if atomic_pointer {
                    *written = WrittenType {
                        base: Base::Atomic(AtomicKind::Qualifier),
                        depth: 0,
                    };
                }
            }
            "array_declarator" | "abstract_array_declarator" => {
                written.depth = written.depth.saturating_add(1);
            }
            // `std::atomic_ref<int> x(y);` in a block reads like a function.
            "function_declarator" if !in_block => return None,
            _ => {}
        }
        node = node.child_by_field_name("declarator").or_else(|| {
            children(node)
                .into_iter()
                .find(|c| c.kind() != "type_qualifier")
        })?;
    }
    None
}

fn qualified(node: Node<'_>, file: &ParsedFile, vocabularies: &Vocabularies) -> Option<AtomicKind> {
    let mut volatile = false;
    for child in children(node) {
        if child.kind() == "type_qualifier" {
            match &*file.node_text(child) {
                "_Atomic" => return Some(AtomicKind::Qualifier),
                "volatile" => volatile = true,
                _ => {}
            }
        }
    }
    (volatile && vocabularies.takes_volatile()).then_some(AtomicKind::Volatile)
}
