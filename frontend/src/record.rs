//! Classes and structures as the text of one file defines them: how many data
//! members one has, and what they are called. Knows nothing of atomics.

use tree_sitter::Node;

use crate::source::ParsedFile;
use crate::syntax::{self, children};

/// A class or structure with its body.
pub(crate) struct Record<'f> {
    file: &'f ParsedFile,
    body: Node<'f>,
}

/// The class of a method, by where or how it is defined.
pub(crate) fn of_method<'f>(file: &'f ParsedFile, definition: Node<'f>) -> Option<Record<'f>> {
    let mut node = definition;
    while let Some(parent) = node.parent() {
        if parent.kind() == "field_declaration_list" {
            return Some(Record { file, body: parent });
        }
        if syntax::is_function(parent) {
            break;
        }
        node = parent;
    }
    named(file, &syntax::method_owner(definition, file)?)
}

/// The structure that a parameter is, points or refers to.
pub(crate) fn of_parameter<'f>(file: &'f ParsedFile, parameter: Node<'f>) -> Option<Record<'f>> {
    let kind = parameter.child_by_field_name("type")?;
    let name = kind.child_by_field_name("name").unwrap_or(kind);
    named(file, &file.node_text(name))
}

/// Whether a file declares a bit-field of this name: nothing can point to it, so no
/// access to it can be made atomic.
pub fn declares_bit_field(file: &ParsedFile, name: &str) -> bool {
    let mut found = false;
    syntax::visit(file.tree().root_node(), |node, _| {
        let declared = node.prev_named_sibling();
        found |= node.kind() == "bitfield_clause"
            && declared.is_some_and(|declared| file.node_text(declared) == name);
    });
    found
}

/// The one that a file defines by this name.
fn named<'f>(file: &'f ParsedFile, name: &str) -> Option<Record<'f>> {
    let mut found = None;
    syntax::visit(file.tree().root_node(), |node, _| {
        let is_record = matches!(
            node.kind(),
            "class_specifier" | "struct_specifier" | "union_specifier"
        );
        let is_named = |field: &str, node: Node<'_>| {
            let named = node.child_by_field_name(field);
            named.is_some_and(|named| {
                let own = named.child_by_field_name("name").unwrap_or(named);
                file.node_text(own) == name
            })
        };
        let record = match node.kind() {
            _ if is_record && is_named("name", node) => Some(node),
            "type_definition" if is_named("declarator", node) => node.child_by_field_name("type"),
            _ => None,
        };
        if let Some(body) = record.and_then(|record| record.child_by_field_name("body")) {
            found.get_or_insert(Record { file, body });
        }
    });
    found
}

impl Record<'_> {
    /// Whether it has one data member, padding not counted: then it is that to its
    /// users.
    pub(crate) fn is_single(&self) -> bool {
        let members = self.members().into_iter();
        let counted = members.filter(|name| !name.to_ascii_lowercase().contains("pad"));
        counted.count() == 1
    }

    /// Whether it has a data member of this name.
    pub(crate) fn has_member(&self, name: &str) -> bool {
        self.members().iter().any(|member| member == name)
    }

    /// Whether it declares a method of this name.
    pub(crate) fn has_method(&self, name: &str) -> bool {
        let mut found = false;
        syntax::visit(self.body, |node, ancestors| {
            let parent = ancestors.last().map(|parent| parent.kind());
            found |= parent == Some("function_declarator")
                && matches!(node.kind(), "field_identifier" | "identifier")
                && self.file.node_text(node) == name;
        });
        found
    }

    /// The names of the data members, each once: what `#if` chooses among declarations
    /// of one name is one member.
    fn members(&self) -> Vec<String> {
        let mut members = Vec::new();
        let mut rest = vec![self.body];
        while let Some(node) = rest.pop() {
            for child in children(node) {
                match child.kind() {
                    "field_declaration" => self.declared(child, &mut members),
                    kind if kind.starts_with("preproc_if") || kind.starts_with("preproc_el") => {
                        rest.push(child);
                    }
                    _ => {}
                }
            }
        }
        members
    }

    fn declared(&self, declaration: Node<'_>, members: &mut Vec<String>) {
        let is_static = children(declaration).iter().any(|child| {
            child.kind() == "storage_class_specifier" && self.file.node_text(*child) == "static"
        });
        let mut cursor = declaration.walk();
        for declarator in declaration.children_by_field_name("declarator", &mut cursor) {
            let mut name = None;
            let mut is_function = false;
            syntax::visit(declarator, |node, _| {
                is_function |= node.kind() == "function_declarator";
                if node.kind() == "field_identifier" {
                    name.get_or_insert(self.file.node_text(node).into_owned());
                }
            });
            let name = name.filter(|name| !is_function && !is_static && !members.contains(name));
            members.extend(name);
        }
    }
}
