//! Which class the owner of a field has, as far as the text tells, and with that
//! whether the type of an expression is known or only guessed by a name.

use tree_sitter::Node;

use super::lookup::is_file_wide;
use super::{AtomicKind, Base, Declaration, Declarations, Type, WrittenType};
use crate::site::Span;
use crate::source::ParsedFile;
use crate::syntax::{self, MAX_DEPTH, within};

impl Declarations {
    /// Whether an expression's type is more than a guess: where the class of a
    /// field's owner is not known from the text, only the field's name is left to
    /// go by, and another class may have a plain field of that name.
    pub(crate) fn is_certain(&self, node: Node<'_>, file: &ParsedFile) -> bool {
        let mut node = node;
        for _ in 0..MAX_DEPTH {
            node = match node.kind() {
                "identifier" => {
                    let name = file.node_text(node);
                    return self.is_variable(&name, &node.byte_range())
                        || self.member_at(&name, &node.byte_range()).is_some();
                }
                "qualified_identifier" => {
                    let scope = node.child_by_field_name("scope").map(|s| file.node_text(s));
                    let Some(name) = node.child_by_field_name("name") else {
                        return false;
                    };
                    if name.kind() == "qualified_identifier" {
                        name
                    } else {
                        let name = file.node_text(name);
                        return self.is_variable(&name, &node.byte_range())
                            || scope.is_some_and(|scope| self.field_of(&name, &scope).is_some());
                    }
                }
                "field_expression" => return self.member(node, file).is_some(),
                "subscript_expression" | "pointer_expression" => {
                    match node.child_by_field_name("argument") {
                        Some(argument) => argument,
                        None => return false,
                    }
                }
                "parenthesized_expression" => match syntax::children(node).pop() {
                    Some(inner) => inner,
                    None => return false,
                },
                // A call that makes the object, or a cast to it.
                _ => return true,
            };
        }
        false
    }

    /// How an object is atomic if it is the field of some class that is, where the
    /// text does not tell its class and classes disagree about the name.
    pub(crate) fn perhaps_atomic(&self, node: Node<'_>, file: &ParsedFile) -> Option<AtomicKind> {
        let name = match node.kind() {
            "identifier" if !self.is_variable(&file.node_text(node), &node.byte_range()) => node,
            "field_expression" => node.child_by_field_name("field")?,
            _ => return None,
        };
        self.all_fields(&file.node_text(name)).find_map(|field| {
            match self.resolve(&field.written) {
                Type::Atomic { depth: 0, kind } => Some(kind),
                _ => None,
            }
        })
    }

    /// Whether a name at a place is that of a variable in sight.
    fn is_variable(&self, name: &str, place: &Span) -> bool {
        self.local(name, place).is_some()
            || self.imports.iter().any(|import| {
                let declared = import.variables.get(name).into_iter().flatten();
                declared.into_iter().any(is_file_wide)
            })
    }

    /// The field that a bare name means in a method of its class.
    pub(super) fn member_at(&self, name: &str, place: &Span) -> Option<&Declaration> {
        self.all_fields(name).next()?;
        self.field_of(name, &self.class_at(place)?)
    }

    /// The field that a field expression means, if its owner's class is known.
    fn member(&self, node: Node<'_>, file: &ParsedFile) -> Option<&Declaration> {
        let field = file.node_text(node.child_by_field_name("field")?);
        self.all_fields(&field).next()?;
        let owner = node.child_by_field_name("argument")?;
        self.field_of(&field, &self.class_of(owner, file, 0)?)
    }

    /// The class that an owner expression certainly has.
    pub(super) fn class_of(
        &self,
        owner: Node<'_>,
        file: &ParsedFile,
        level: usize,
    ) -> Option<String> {
        if level > MAX_DEPTH {
            return None;
        }
        let owner = syntax::unwrap_parentheses(owner);
        match owner.kind() {
            "this" => self.class_at(&owner.byte_range()),
            "identifier" => {
                let name = file.node_text(owner);
                let place = owner.byte_range();
                let declaration = self
                    .local(&name, &place)
                    .or_else(|| self.member_at(&name, &place))?;
                self.class_named(&declaration.written)
            }
            "field_expression" => {
                let field = file.node_text(owner.child_by_field_name("field")?);
                let outer = owner.child_by_field_name("argument")?;
                let class = self.class_of(outer, file, level + 1)?;
                self.class_named(&self.field_of(&field, &class)?.written)
            }
            "subscript_expression" | "pointer_expression" => {
                self.class_of(owner.child_by_field_name("argument")?, file, level + 1)
            }
            _ => None,
        }
    }

    /// The name of the class that a type is, or leads to.
    fn class_named(&self, written: &WrittenType) -> Option<String> {
        let mut base = &written.base;
        for _ in 0..MAX_DEPTH {
            match base {
                Base::Named(name) => match self.alias(name) {
                    Some(alias) if matches!(alias.base, Base::Named(_)) => base = &alias.base,
                    _ => return Some(name.clone()),
                },
                _ => return None,
            }
        }
        None
    }

    /// The class whose method or body a place lies in.
    fn class_at(&self, place: &Span) -> Option<String> {
        if let Some((_, owner)) = self.methods.iter().find(|(span, _)| within(place, span)) {
            return Some(owner.clone());
        }
        self.classes
            .iter()
            .filter(|(body, _)| within(place, body))
            .min_by_key(|(body, _)| body.len())
            .map(|(_, name)| name.clone())
    }

    /// The field that a class has or inherits.
    pub(super) fn field_of(&self, name: &str, class: &str) -> Option<&Declaration> {
        let mut classes = vec![class];
        let mut at = 0;
        while let Some(&class) = classes.get(at) {
            let own = self
                .all_fields(name)
                .find(|field| field.owner.as_deref() == Some(class));
            if own.is_some() {
                return own;
            }
            let bases = self
                .everywhere()
                .filter_map(|all| all.bases.get(class))
                .flatten();
            for base in bases {
                if classes.len() < MAX_DEPTH && !classes.contains(&base.as_str()) {
                    classes.push(base);
                }
            }
            at += 1;
        }
        None
    }
}
