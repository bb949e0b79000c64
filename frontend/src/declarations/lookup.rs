//! Answers what an expression's type is, as far as atomics go.

use tree_sitter::Node;

use super::{AtomicKind, Base, Declaration, Declarations, WrittenType};
use crate::site::Span;
use crate::source::ParsedFile;
use crate::syntax::{self, MAX_DEPTH, callee, operator, within};
use crate::vocabulary::Vocabularies;

/// An expression's type, as far as atomics go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// This number of dereferences away from an atomic object.
    Atomic {
        /// 0 for the object itself.
        depth: u8,
        /// How it is atomic.
        kind: AtomicKind,
    },
    /// Declarations, and not atomic.
    Plain,
    /// Not known from the text.
    Unknown,
}

impl Type {
    fn deref(self) -> Self {
        match self {
            Self::Atomic { depth: 0, .. } => Self::Plain,
            Self::Atomic { depth, kind } => Self::Atomic {
                depth: depth - 1,
                kind,
            },
            other => other,
        }
    }

    fn address(self) -> Self {
        match self {
            Self::Atomic { depth, kind } => Self::Atomic {
                depth: depth.saturating_add(1),
                kind,
            },
            other => other,
        }
    }
}

impl Declarations {
    /// The type of an expression.
    pub(crate) fn type_of(
        &self,
        node: Node<'_>,
        file: &ParsedFile,
        vocabularies: &Vocabularies,
    ) -> Type {
        self.expression(node, file, vocabularies, 0)
    }

    fn expression(
        &self,
        node: Node<'_>,
        file: &ParsedFile,
        vocabularies: &Vocabularies,
        level: usize,
    ) -> Type {
        if level > MAX_DEPTH {
            return Type::Unknown;
        }
        let of = |inner: Option<Node<'_>>| {
            inner.map_or(Type::Unknown, |inner| {
                self.expression(inner, file, vocabularies, level + 1)
            })
        };
        let argument = node.child_by_field_name("argument");
        match node.kind() {
            "identifier" => self.name(&file.node_text(node), &node.byte_range()),
            "qualified_identifier" => {
                let mut last = node;
                for _ in 0..MAX_DEPTH {
                    match last.child_by_field_name("name") {
                        Some(inner) => last = inner,
                        None => break,
                    }
                }
                let text = file.node_text(last);
                match self.name(&text, &node.byte_range()) {
                    Type::Unknown => self.field(&text, None),
                    known => known,
                }
            }
            "field_expression" => {
                let Some(field) = node.child_by_field_name("field") else {
                    return Type::Unknown;
                };
                let owner = argument.and_then(|owner| self.class_of(owner, file, 0));
                self.field(&file.node_text(field), owner.as_deref())
            }
            "subscript_expression" => of(argument).deref(),
            "pointer_expression" if operator(node) == "*" => of(argument).deref(),
            "pointer_expression" => of(argument).address(),
            "parenthesized_expression" => of(syntax::children(node).pop()),
            "cast_expression" => node.child_by_field_name("type").map_or(Type::Unknown, |t| {
                self.resolve(&self.descriptor(t, file, vocabularies))
            }),
            "call_expression" => self.call(node, file, vocabularies),
            _ => Type::Unknown,
        }
    }

    /// A call that makes an atomic object (`std::atomic_ref<int>(x)`) or casts to one.
    fn call(&self, node: Node<'_>, file: &ParsedFile, vocabularies: &Vocabularies) -> Type {
        let Some(callee) = callee(node) else {
            return Type::Unknown;
        };
        let name = file.node_text(callee.name);
        if callee.receiver.is_none()
            && let Some(index) = vocabularies.type_vocabulary(&name)
        {
            return Type::Atomic {
                depth: 0,
                kind: AtomicKind::Class(index),
            };
        }
        if matches!(&*name, "static_cast" | "reinterpret_cast" | "const_cast")
            && let Some(&target) = callee.template_arguments.first()
        {
            let written = self.descriptor(target, file, vocabularies);
            return self.resolve(&written);
        }
        Type::Unknown
    }

    /// The type of a bare name at a place: the innermost declaration, then the
    /// fields of the class around it, then the file and what it includes.
    fn name(&self, name: &str, place: &Span) -> Type {
        let local = self.local(name, place);
        if let Some(declaration) = local
            && !is_file_wide(declaration)
        {
            return self.resolve(&declaration.written);
        }
        if let Some(field) = self.member_at(name, place) {
            return self.resolve(&field.written);
        }
        if let Some(declaration) = local {
            return self.resolve(&declaration.written);
        }
        for import in &self.imports {
            if let Some(declaration) = import
                .variables
                .get(name)
                .and_then(|all| all.iter().find(|d| is_file_wide(d)))
            {
                return self.resolve(&declaration.written);
            }
        }
        // A base class, or a class that the file only continues: the field's own
        // name is all that is left to go by.
        self.field(name, None)
    }

    /// Whether a bare name at a place means a variable of the function around it.
    pub(crate) fn is_local(&self, name: &str, place: &Span) -> bool {
        self.local(name, place)
            .is_some_and(|declaration| !is_file_wide(declaration))
    }

    pub(super) fn local(&self, name: &str, place: &Span) -> Option<&Declaration> {
        self.variables
            .get(name)?
            .iter()
            .filter(|declaration| within(place, &declaration.scope))
            .min_by_key(|declaration| declaration.scope.len())
    }

    pub(super) fn all_fields(&self, name: &str) -> impl Iterator<Item = &Declaration> {
        let own = self.fields.get(name).into_iter().flatten();
        let imported = self
            .imports
            .iter()
            .filter_map(move |import| import.fields.get(name))
            .flatten();
        own.chain(imported)
    }

    /// The type of a field: of its class where that is known, or else the one
    /// that all fields of the name have.
    fn field(&self, name: &str, class: Option<&str>) -> Type {
        let of_class = class.and_then(|class| self.field_of(name, class));
        let fields: Vec<&Declaration> = match of_class {
            Some(field) => vec![field],
            None => self.all_fields(name).collect(),
        };
        let mut types = fields.iter().map(|field| self.resolve(&field.written));
        match types.next() {
            Some(first) if types.all(|other| other == first) => first,
            _ => Type::Unknown,
        }
    }

    pub(super) fn resolve(&self, written: &WrittenType) -> Type {
        let mut depth = written.depth;
        let mut base = &written.base;
        for _ in 0..MAX_DEPTH {
            match base {
                Base::Atomic(kind) => return Type::Atomic { depth, kind: *kind },
                Base::Plain => return Type::Plain,
                Base::Opaque => return Type::Unknown,
                Base::Named(name) => match self.alias(name) {
                    Some(alias) => {
                        depth = depth.saturating_add(alias.depth);
                        base = &alias.base;
                    }
                    None => return Type::Plain,
                },
            }
        }
        Type::Unknown
    }

    /// Whether a type is atomic by this file alone, at whatever depth, or has a name
    /// that only another header explains.
    pub(super) fn leads_to_atomic(&self, written: &WrittenType) -> bool {
        let mut base = &written.base;
        for _ in 0..MAX_DEPTH {
            match base {
                Base::Atomic(_) => return true,
                Base::Plain | Base::Opaque => return false,
                Base::Named(name) => match self.alias(name) {
                    Some(alias) => base = &alias.base,
                    None => return name.to_ascii_lowercase().contains("atomic"),
                },
            }
        }
        false
    }

    pub(super) fn alias(&self, name: &str) -> Option<&WrittenType> {
        self.types.get(name).or_else(|| {
            self.imports
                .iter()
                .find_map(|import| import.types.get(name))
        })
    }
}

/// Whether a name is declared for the whole file.
pub(super) fn is_file_wide(declaration: &Declaration) -> bool {
    declaration.scope.end == usize::MAX
}
