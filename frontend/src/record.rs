//! Classes and structures as the texts of a file and its headers define them: how many
//! data members one has, and what they are called. Knows nothing of atomics.

use tree_sitter::Node;

use crate::source::ParsedFile;
use crate::syntax::{self, children};

/// So many other names of one structure are followed.
const MAX_NAMES: usize = 8;

/// A class or structure, as far as its users may ask for its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The data members, each once: what `#if` chooses among declarations of one name is
    /// one member.
    members: Vec<String>,
    /// The methods that it declares.
    methods: Vec<String>,
}

/// What a file says about a name that may be that of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedRecord {
    /// It is this one.
    Defined(Record),
    /// It is another name of the one of this name, which is defined elsewhere.
    Alias(String),
}

/// The structures that the headers of a file define, by name.
pub type RecordsElsewhere<'e> = &'e dyn Fn(&str) -> Option<NamedRecord>;

/// The class of a method, by where or how it is defined.
pub(crate) fn of_method(
    file: &ParsedFile,
    definition: Node<'_>,
    elsewhere: RecordsElsewhere<'_>,
) -> Option<Record> {
    let mut node = definition;
    while let Some(parent) = node.parent() {
        if parent.kind() == "field_declaration_list" {
            return Some(Record::of_body(file, parent));
        }
        if syntax::is_function(parent) {
            break;
        }
        node = parent;
    }
    meant(file, &syntax::method_owner(definition, file)?, elsewhere)
}

/// The structure that a parameter is, points or refers to.
pub(crate) fn of_parameter(
    file: &ParsedFile,
    parameter: Node<'_>,
    elsewhere: RecordsElsewhere<'_>,
) -> Option<Record> {
    let kind = parameter.child_by_field_name("type")?;
    let name = kind.child_by_field_name("name").unwrap_or(kind);
    meant(file, &file.node_text(name), elsewhere)
}

/// The structure that a name means in a file, wherever it is defined, through its other
/// names.
fn meant(file: &ParsedFile, name: &str, elsewhere: RecordsElsewhere<'_>) -> Option<Record> {
    let mut name = name.to_owned();
    for _ in 0..MAX_NAMES {
        name = match record_named(file, &name).or_else(|| elsewhere(&name))? {
            NamedRecord::Defined(record) => return Some(record),
            NamedRecord::Alias(other) => other,
        };
    }
    None
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

/// What a file says about a structure's name: its definition, or what it is another name
/// of.
pub fn record_named(file: &ParsedFile, name: &str) -> Option<NamedRecord> {
    let mut defined = None;
    let mut alias = None;
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
            "alias_declaration" if is_named("name", node) => {
                let descriptor = node.child_by_field_name("type");
                descriptor
                    .filter(|descriptor| descriptor.child_by_field_name("declarator").is_none())
                    .and_then(|descriptor| descriptor.child_by_field_name("type"))
            }
            _ => None,
        };
        let Some(record) = record else {
            return;
        };
        if let Some(body) = record.child_by_field_name("body") {
            defined.get_or_insert_with(|| Record::of_body(file, body));
        } else if !is_record {
            let other = record.child_by_field_name("name").unwrap_or(record);
            let other = file.node_text(other).into_owned();
            // `typedef struct s s;` says nothing.
            if other != name {
                alias.get_or_insert(other);
            }
        }
    });
    defined
        .map(NamedRecord::Defined)
        .or_else(|| alias.map(NamedRecord::Alias))
}

impl Record {
    fn of_body(file: &ParsedFile, body: Node<'_>) -> Self {
        Self {
            members: members(file, body),
            methods: methods(file, body),
        }
    }

    /// Whether it has one data member, padding not counted: then it is that to its
    /// users.
    pub(crate) fn is_single(&self) -> bool {
        let members = self.members.iter();
        let counted = members.filter(|name| !name.to_ascii_lowercase().contains("pad"));
        counted.count() == 1
    }

    /// Whether it has a data member of this name.
    pub(crate) fn has_member(&self, name: &str) -> bool {
        self.members.iter().any(|member| member == name)
    }

    /// Whether it declares a method of this name.
    pub(crate) fn has_method(&self, name: &str) -> bool {
        self.methods.iter().any(|method| method == name)
    }
}

/// The names of the methods that the body of a class declares.
fn methods(file: &ParsedFile, body: Node<'_>) -> Vec<String> {
    let mut methods = Vec::new();
    syntax::visit(body, |node, ancestors| {
        let parent = ancestors.last().map(|parent| parent.kind());
        if parent == Some("function_declarator")
            && matches!(node.kind(), "field_identifier" | "identifier")
        {
            methods.push(file.node_text(node).into_owned());
        }
    });
    methods
}

/// The names of the data members in the body of a class.
fn members(file: &ParsedFile, body: Node<'_>) -> Vec<String> {
    let mut members = Vec::new();
    let mut rest = vec![body];
    while let Some(node) = rest.pop() {
        for child in children(node) {
            match child.kind() {
                "field_declaration" => declared(file, child, &mut members),
                kind if kind.starts_with("preproc_if") || kind.starts_with("preproc_el") => {
                    rest.push(child);
                }
                _ => {}
            }
        }
    }
    members
}

fn declared(file: &ParsedFile, declaration: Node<'_>, members: &mut Vec<String>) {
    let is_static = children(declaration).iter().any(|child| {
        child.kind() == "storage_class_specifier" && file.node_text(*child) == "static"
    });
    let mut cursor = declaration.walk();
    for declarator in declaration.children_by_field_name("declarator", &mut cursor) {
        let mut name = None;
        let mut is_function = false;
        syntax::visit(declarator, |node, _| {
            is_function |= node.kind() == "function_declarator";
            if node.kind() == "field_identifier" {
                name.get_or_insert(file.node_text(node).into_owned());
            }
        });
        let name = name.filter(|name| !is_function && !is_static && !members.contains(name));
        members.extend(name);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{NamedRecord, meant, record_named};
    use crate::{Language, ParsedFile};

    #[test]
    fn a_structure_is_found_through_its_names_and_files() {
        let parse =
            |text: &str| ParsedFile::parse(Path::new("a.h"), text.as_bytes(), Language::Cpp);
        let header = parse(
            "struct at_s { unsigned v; };\nclass two { int a, b; };\n\
             typedef struct round_a round_b;\n",
        );
        let file = parse(
            "typedef struct at_s at_t;\nusing at = at_t;\nusing pair = two;\n\
             typedef struct here { int v; char pad[60]; } here_t;\n\
             typedef struct same same;\ntypedef round_b round_a;\nusing far = two *;\n",
        );
        let elsewhere = |name: &str| record_named(&header, name);
        let is_single = |name: &str| meant(&file, name, &elsewhere).map(|it| it.is_single());
        for name in ["at_s", "at_t", "at", "here", "here_t"] {
            assert_eq!(is_single(name), Some(true), "{name}");
        }
        assert_eq!(is_single("pair"), Some(false));
        for name in ["same", "round_a", "far", "nobody"] {
            assert_eq!(is_single(name), None, "{name}");
        }
        assert_eq!(
            record_named(&file, "at_t"),
            Some(NamedRecord::Alias("at_s".to_owned()))
        );
    }
}
