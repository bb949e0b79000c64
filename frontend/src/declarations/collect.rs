//! Reads the declarations of a file out of its syntax tree.

use std::sync::Arc;

use tree_sitter::Node;

use super::types::read_declarator;
use super::{AtomicKind, Base, Declaration, Declarations, Type, WrittenType};
use crate::literal::integer;
use crate::orders::{named, squeeze, standard};
use crate::outline::{Marks, Outline};
use crate::site::Span;
use crate::source::ParsedFile;
use crate::syntax::{self, MAX_DEPTH, children, is_function};
use crate::vocabulary::Vocabularies;

/// A name's scope when it is declared for the whole file.
const FILE_SCOPE: Span = 0..usize::MAX;

impl Declarations {
    /// Reads the declarations of a file that includes these headers, but for the
    /// macros whose uses are sites.
    pub(crate) fn without_macros(
        file: &ParsedFile,
        outline: &Outline<'_>,
        imports: Vec<Arc<Self>>,
        vocabularies: &Vocabularies,
    ) -> Self {
        let mut declared = Self {
            imports,
            ..Self::default()
        };
        let mut by_initializer = Vec::new();
        outline.visit(Marks::DECLARES, |node, _, ancestors| match node.kind() {
            "declaration"
            | "field_declaration"
            | "parameter_declaration"
            | "optional_parameter_declaration"
            | "for_range_loop" => {
                declared.declaration(node, ancestors, file, vocabularies, &mut by_initializer);
            }
            "function_declarator" => declared.function(node, file, vocabularies),
            "template_parameter_list" => declared.template_parameters(node, file),
            "type_definition" | "alias_declaration" => declared.alias_of(node, file, vocabularies),
            "class_specifier" | "struct_specifier" => declared.class(node, file, vocabularies),
            "function_definition" => {
                if let Some(owner) = syntax::method_owner(node, file) {
                    declared.methods.push((node.byte_range(), owner));
                }
            }
            "using_declaration" => {
                let text = file.node_text(node);
                if text.contains("enum") && text.contains("memory_order") {
                    declared.orders.bare = true;
                }
            }
            "enumerator" | "preproc_def" => declared.named_value(node, file),
            _ => {}
        });
        // `auto& x = expression`: the type is the expression's, which can only be
        // known when everything else is.
        for (name, scope, initializer, address) in by_initializer {
            let Type::Atomic { depth, kind } = declared.type_of(initializer, file, vocabularies)
            else {
                continue;
            };
            let declarations = declared.variables.entry(name).or_default();
            declarations.retain(|known| known.scope != scope);
            declarations.push(Declaration {
                scope,
                owner: None,
                written: WrittenType {
                    base: Base::Atomic(kind),
                    depth: if address { depth } else { depth.max(1) },
                },
            });
        }
        declared.find_candidates();
        declared
    }

    fn declaration<'t>(
        &mut self,
        node: Node<'t>,
        ancestors: &[Node<'t>],
        file: &ParsedFile,
        vocabularies: &Vocabularies,
        by_initializer: &mut Vec<(String, Span, Node<'t>, bool)>,
    ) {
        let Some(type_node) = node.child_by_field_name("type") else {
            return;
        };
        let type_text = file.node_text(type_node);
        let holds_order = type_text.contains("memory_order");
        let base = self.specified(node, type_node, file, vocabularies);
        if node.kind().ends_with("parameter_declaration") && in_prototype(ancestors) {
            return;
        }
        let field = node.kind() == "field_declaration";
        let scope = if field {
            class_body(ancestors)
        } else {
            block(ancestors)
        };
        let owner = field.then(|| class_name(ancestors, file)).flatten();
        let mut cursor = node.walk();
        let declarators: Vec<Node<'t>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        for declarator in declarators {
            let mut written = base.clone();
            let Some(name) = read_declarator(
                declarator,
                &mut written,
                file,
                !field && scope != FILE_SCOPE,
            ) else {
                continue;
            };
            let text = file.node_text(name).into_owned();
            let initializer = declarator
                .child_by_field_name("value")
                .or_else(|| node.child_by_field_name("default_value"))
                .or_else(|| node.child_by_field_name("right"));
            // A parameter's default is not its value.
            let order = initializer
                .filter(|_| !node.kind().ends_with("parameter_declaration"))
                .and_then(|value| {
                    let text = squeeze(&file.node_text(value));
                    standard(&text).or_else(|| named(&text))
                });
            if let Some(order) = order {
                self.orders.aliases.insert(text.clone(), order);
            } else if holds_order {
                self.orders.variables.insert(text.clone());
            }
            if base.base == Base::Opaque
                && node.kind() == "declaration"
                && let Some(value) = initializer
            {
                let reference = declarator_is(declarator, "reference_declarator");
                by_initializer.push((text.clone(), scope.clone(), value, reference));
            }
            let declaration = Declaration {
                scope: scope.clone(),
                owner: owner.clone(),
                written,
            };
            let table = if field {
                &mut self.fields
            } else {
                &mut self.variables
            };
            table.entry(text).or_default().push(declaration);
        }
    }

    fn function(&mut self, node: Node<'_>, file: &ParsedFile, vocabularies: &Vocabularies) {
        let (Some(name), Some(list)) = (
            node.child_by_field_name("declarator"),
            node.child_by_field_name("parameters"),
        ) else {
            return;
        };
        let atomic: Vec<bool> = children(list)
            .into_iter()
            .map(|parameter| {
                let written = self.descriptor(parameter, file, vocabularies);
                matches!(self.resolve(&written), Type::Atomic { .. })
            })
            .collect();
        if atomic.contains(&true) {
            let name = file.node_text(name);
            let name = name.rsplit("::").next().unwrap_or_default();
            self.functions.insert(name.to_owned(), atomic);
        }
    }

    fn template_parameters(&mut self, list: Node<'_>, file: &ParsedFile) {
        for parameter in children(list) {
            let Some(name) = children(parameter).pop() else {
                continue;
            };
            if matches!(parameter.kind(), "type_parameter_declaration") {
                let opaque = WrittenType {
                    base: Base::Opaque,
                    depth: 0,
                };
                self.types
                    .entry(file.node_text(name).into_owned())
                    .or_insert(opaque);
            }
        }
    }

    fn alias_of(&mut self, node: Node<'_>, file: &ParsedFile, vocabularies: &Vocabularies) {
        let Some(type_node) = node.child_by_field_name("type") else {
            return;
        };
        if let Some(name) = node.child_by_field_name("name") {
            let written = self.descriptor(type_node, file, vocabularies);
            self.add_type(file.node_text(name).into_owned(), written);
            return;
        }
        let base = self.specified(node, type_node, file, vocabularies);
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let mut written = base.clone();
            if let Some(name) = read_declarator(declarator, &mut written, file, false) {
                self.add_type(file.node_text(name).into_owned(), written);
            }
        }
    }

    fn add_type(&mut self, name: String, written: WrittenType) {
        // `typedef struct s s;` would lead nowhere.
        if written.base != Base::Named(name.clone()) {
            self.types.insert(name, written);
        }
    }

    /// A class derived from an atomic one is atomic.
    fn class(&mut self, node: Node<'_>, file: &ParsedFile, vocabularies: &Vocabularies) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        if let Some(body) = node.child_by_field_name("body") {
            let last = name.child_by_field_name("name").unwrap_or(name);
            let class = file.node_text(last).into_owned();
            self.classes.push((body.byte_range(), class));
        }
        let bases = children(node)
            .into_iter()
            .filter(|child| child.kind() == "base_class_clause")
            .flat_map(children);
        for base in bases {
            let written = self.type_name(base, file, vocabularies, 0);
            if let Base::Named(base) = &written.base {
                let class = file.node_text(name).into_owned();
                self.bases.entry(class).or_default().push(base.clone());
            }
            if let Base::Atomic(_) = written.base
                && written.depth == 0
            {
                self.add_type(file.node_text(name).into_owned(), written);
            }
        }
    }

    /// An enumerator or macro that stands for an order or an atomic type.
    fn named_value(&mut self, node: Node<'_>, file: &ParsedFile) {
        let (Some(name), Some(value)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        let name = file.node_text(name).into_owned();
        let value = squeeze(&file.node_text(value));
        if integer(&value).is_some() {
            return;
        }
        if let Some(order) = standard(&value).or_else(|| named(&value)) {
            self.orders.aliases.insert(name, order);
        } else if value.starts_with("_Atomic") {
            let written = WrittenType {
                base: Base::Atomic(AtomicKind::Qualifier),
                depth: 0,
            };
            self.types.insert(name, written);
        }
    }
}

fn declarator_is(declarator: Node<'_>, kind: &str) -> bool {
    let mut node = Some(declarator);
    for _ in 0..MAX_DEPTH {
        match node {
            Some(inner) if inner.kind() == kind => return true,
            Some(inner) => node = inner.child_by_field_name("declarator"),
            None => return false,
        }
    }
    false
}

/// Whether a parameter belongs to a declaration without a body: its name means
/// nothing anywhere.
fn in_prototype(ancestors: &[Node<'_>]) -> bool {
    ancestors
        .iter()
        .rev()
        .find(|node| {
            is_function(**node)
                || matches!(
                    node.kind(),
                    "declaration"
                        | "field_declaration"
                        | "template_declaration"
                        | "type_definition"
                )
        })
        .is_some_and(|node| !is_function(*node) && node.kind() != "template_declaration")
}

/// The stretch in which a variable declared under these ancestors has its meaning.
pub(super) fn block(ancestors: &[Node<'_>]) -> Span {
    ancestors
        .iter()
        .rev()
        .find(|node| {
            is_function(**node)
                || syntax::is_loop(**node)
                || matches!(
                    node.kind(),
                    "compound_statement" | "if_statement" | "template_declaration"
                )
        })
        .map_or(FILE_SCOPE, |node| node.byte_range())
}

fn class_body(ancestors: &[Node<'_>]) -> Span {
    ancestors
        .iter()
        .rev()
        .find(|node| node.kind() == "field_declaration_list")
        .map_or(FILE_SCOPE, |node| node.byte_range())
}

fn class_name(ancestors: &[Node<'_>], file: &ParsedFile) -> Option<String> {
    let class = ancestors.iter().rev().find(|node| {
        node.kind().ends_with("_specifier") && node.child_by_field_name("body").is_some()
    })?;
    // `typedef struct { … } name;` has only the name behind it.
    let definition = ancestors
        .iter()
        .rev()
        .find(|n| n.kind() == "type_definition");
    let name = class.child_by_field_name("name").or_else(|| {
        definition
            .filter(|d| d.child_by_field_name("type") == Some(*class))
            .and_then(|d| d.child_by_field_name("declarator"))
    })?;
    let name = name.child_by_field_name("name").unwrap_or(name);
    Some(file.node_text(name).into_owned())
}
