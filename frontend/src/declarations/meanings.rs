//! What names mean in comparisons and calls: the types of objects, the values of
//! constants, the texts of macros. Two declarations of a name that differ leave
//! open what it means.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::Declarations;
use crate::macro_definition::macro_definitions;
use crate::outline::{Marks, Outline};
use crate::scalar::{Constant, IntegerKind, Scalar, literal};
use crate::site::Span;
use crate::source::ParsedFile;
use crate::syntax::{self, MAX_DEPTH, children, operator, within};
use crate::written_type::{self, DeclaredType};

/// What the names of one file mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meanings {
    objects: FxHashMap<String, Vec<Object>>,
    /// Other names of types, and parameters of templates.
    aliases: FxHashMap<String, Vec<Option<DeclaredType>>>,
    enumerations: FxHashSet<String>,
    /// The constants of a name; `None` where it means something else, or what is
    /// not sure.
    constants: FxHashMap<String, Vec<Option<Constant>>>,
    macros: FxHashMap<String, Vec<MacroText>>,
    /// Functions and classes that are declared or defined.
    functions: FxHashSet<String>,
}

#[derive(Clone, Debug)]
struct Object {
    /// Where the name means it.
    scope: Span,
    is_field: bool,
    written: DeclaredType,
}

/// A macro as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MacroText {
    /// Its parameters, if it is used with parentheses.
    pub parameters: Option<Vec<String>>,
    /// What it stands for; `None` where only its name was looked for.
    pub body: Option<String>,
}

impl Meanings {
    pub(crate) fn of(file: &ParsedFile, outline: &Outline<'_>) -> Self {
        let mut all = Self::default();
        for definition in macro_definitions(outline, file) {
            let text = MacroText {
                parameters: definition.parameters,
                body: Some(file.slice(&definition.body).trim().to_owned()),
            };
            all.macros.entry(definition.name).or_default().push(text);
        }
        outline.visit(Marks::DECLARES, |node, _, ancestors| match node.kind() {
            "declaration"
            | "field_declaration"
            | "parameter_declaration"
            | "optional_parameter_declaration"
            | "for_range_loop" => all.objects(node, ancestors, file),
            "function_declarator" => {
                let name = node.child_by_field_name("declarator");
                all.functions.extend(name.map(|name| last_name(name, file)));
            }
            "class_specifier" | "struct_specifier" => {
                let name = node.child_by_field_name("name");
                all.functions.extend(name.map(|name| last_name(name, file)));
            }
            "template_parameter_list" => {
                for parameter in children(node) {
                    let name = children(parameter).pop();
                    let name = name.map(|name| file.node_text(name).into_owned());
                    all.aliases
                        .entry(name.unwrap_or_default())
                        .or_default()
                        .push(None);
                }
            }
            "type_definition" | "alias_declaration" => all.alias(node, file),
            "enumerator" => all.enumerator(node, ancestors, file),
            "preproc_def" => {
                let text = |name| Some(file.node_text(node.child_by_field_name(name)?));
                if let (Some(name), Some(value)) = (text("name"), text("value")) {
                    // Where it is asked whether it is defined, another one may be.
                    let is_asked = ancestors
                        .iter()
                        .any(|around| asks_for(*around, &name, file));
                    let value = value.trim();
                    let bare = value.strip_prefix('(').and_then(|v| v.strip_suffix(')'));
                    let constant = literal(bare.unwrap_or(value)).filter(|_| !is_asked);
                    all.add_constant(&name, constant);
                }
            }
            _ => {}
        });
        all
    }

    /// The names of the macros in a text that is not parsed.
    pub(crate) fn of_macros_in(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut all = Self::default();
        for line in text.lines() {
            let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
            let Some(rest) = directive.and_then(|d| d.strip_prefix("define")) else {
                continue;
            };
            let of_word = |c: char| c.is_alphanumeric() || c == '_';
            let name: String = rest
                .trim_start()
                .chars()
                .take_while(|c| of_word(*c))
                .collect();
            let opaque = MacroText {
                parameters: None,
                body: None,
            };
            all.macros.entry(name).or_default().push(opaque);
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.macros.is_empty()
    }

    fn add_constant(&mut self, name: &str, constant: Option<Constant>) {
        let known = self.constants.entry(name.to_owned()).or_default();
        if !known.contains(&constant) {
            known.push(constant);
        }
    }

    fn objects(&mut self, node: Node<'_>, ancestors: &[Node<'_>], file: &ParsedFile) {
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let Some((name, mut written)) = written_type::declared(node, Some(declarator), file)
            else {
                continue;
            };
            if let Some(type_node) = node.child_by_field_name("type") {
                written.base = base_of(node, type_node, file);
            }
            let value = declarator.child_by_field_name("value");
            let constant = value
                .filter(|_| written.is_const || has_word(node, "constexpr", file))
                .filter(|_| !written.is_volatile && !written.is_reference)
                .filter(|_| node.kind() == "declaration")
                .and_then(|value| literal(&file.node_text(value)));
            let kind = declared_kind(&written);
            let constant = constant.filter(|c| kind.is_some_and(|kind| kind.0.holds(c.value)));
            let constant = constant.map(|c| Constant {
                kind: kind.map(|kind| kind.1),
                ..c
            });
            self.add_constant(&name, constant);
            let is_field = node.kind() == "field_declaration";
            let object = Object {
                scope: super::collect::block(ancestors),
                is_field,
                written,
            };
            self.objects.entry(name).or_default().push(object);
        }
    }

    fn alias(&mut self, node: Node<'_>, file: &ParsedFile) {
        let Some(type_node) = node.child_by_field_name("type") else {
            return;
        };
        if let Some(name) = node.child_by_field_name("name") {
            let inner = type_node.child_by_field_name("type").unwrap_or(type_node);
            let declarator = type_node.child_by_field_name("declarator");
            let mut written = DeclaredType {
                base: base_of(type_node, inner, file),
                ..DeclaredType::default()
            };
            // What else there may be to it is not read.
            written.pointers = usize::from(declarator.is_some());
            let name = file.node_text(name).into_owned();
            let is_simple = declarator.is_none_or(|d| d.kind() == "abstract_pointer_declarator");
            let known = self.aliases.entry(name).or_default();
            known.push(is_simple.then_some(written));
            return;
        }
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let mut pointers = 0;
            let mut name = declarator;
            while name.kind() == "pointer_declarator" {
                let Some(inner) = name.child_by_field_name("declarator") else {
                    break;
                };
                (name, pointers) = (inner, pointers + 1);
            }
            let is_simple = matches!(
                name.kind(),
                "type_identifier" | "identifier" | "primitive_type"
            );
            let written = DeclaredType {
                base: base_of(node, type_node, file),
                pointers,
                ..DeclaredType::default()
            };
            let name = last_name(name, file);
            let known = self.aliases.entry(name).or_default();
            known.push(is_simple.then_some(written));
        }
    }

    fn enumerator(&mut self, node: Node<'_>, ancestors: &[Node<'_>], file: &ParsedFile) {
        let [.., enumeration, list] = ancestors else {
            return;
        };
        if let Some(name) = enumeration.child_by_field_name("name") {
            self.enumerations.insert(last_name(name, file));
        }
        let values = enumerators(*list, file);
        let is_int = enumeration.child_by_field_name("base").is_none()
            && !file.node_text(*enumeration).starts_with("enum class")
            && !file.node_text(*enumeration).starts_with("enum struct")
            && values
                .iter()
                .all(|(_, value)| value.is_some_and(|value| IntegerKind::INT.holds(value)));
        let Some((_, value)) = values.into_iter().find(|(other, _)| *other == node) else {
            return;
        };
        let name = node.child_by_field_name("name");
        let constant = value.map(|value| Constant {
            value,
            kind: is_int.then_some(IntegerKind::INT),
        });
        if let Some(name) = name {
            self.add_constant(&file.node_text(name), constant);
        }
    }
}

/// The enumerators of a list with their values, where these are sure.
fn enumerators<'t>(list: Node<'t>, file: &ParsedFile) -> Vec<(Node<'t>, Option<i128>)> {
    let mut next = Some(0);
    let mut all = Vec::new();
    for child in children(list) {
        if child.kind() != "enumerator" {
            // An `#if` in the list: what it leaves out is not known.
            next = None;
            continue;
        }
        if let Some(value) = child.child_by_field_name("value") {
            next = literal(&file.node_text(value)).map(|constant| constant.value);
        }
        all.push((child, next));
        next = next.map(|value| value + 1);
    }
    all
}

/// Whether an `#if` asks for a name.
fn asks_for(around: Node<'_>, name: &str, file: &ParsedFile) -> bool {
    let asked = match around.kind() {
        "preproc_ifdef" => around.child_by_field_name("name"),
        "preproc_if" | "preproc_elif" => around.child_by_field_name("condition"),
        _ => None,
    };
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    asked.is_some_and(|asked| {
        let text = file.node_text(asked);
        text.split(|c: char| !of_word(c)).any(|word| word == name)
    })
}

fn has_word(node: Node<'_>, word: &str, file: &ParsedFile) -> bool {
    children(node)
        .iter()
        .any(|child| file.node_text(*child) == word)
}

fn last_name(node: Node<'_>, file: &ParsedFile) -> String {
    let text = file.node_text(node);
    text.rsplit("::")
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn base_of(declaration: Node<'_>, type_node: Node<'_>, file: &ParsedFile) -> String {
    let named = match type_node.child_by_field_name("body") {
        Some(_) => type_node.child_by_field_name("name"),
        None => Some(type_node),
    };
    let text = named.map_or(String::new(), |named| file.node_text(named).into_owned());
    let atomic = children(declaration)
        .iter()
        .any(|c| c.kind() == "type_qualifier" && file.node_text(*c) == "_Atomic");
    match atomic {
        true => format!("_Atomic({text})"),
        false => text,
    }
}

/// The type of a constant, as written and behind the promotions.
fn declared_kind(written: &DeclaredType) -> Option<(IntegerKind, IntegerKind)> {
    if written.pointers + written.arrays > 0 {
        return None;
    }
    let kind = match of_name(&spelled(&written.base))? {
        Scalar::Integer {
            bytes,
            signed: Some(signed),
        } => IntegerKind {
            bits: 8 * bytes,
            signed,
        },
        Scalar::Bool => IntegerKind {
            bits: 1,
            signed: false,
        },
        _ => return None,
    };
    let promoted = if kind.bits < 32 {
        IntegerKind::INT
    } else {
        kind
    };
    Some((kind, promoted))
}

/// The type of the elements of a container or smart pointer of the library's, by the
/// text of its type.
fn behind_container(text: &str) -> Option<&str> {
    let name = text.trim().trim_start_matches("const ");
    let rest = [
        "std::array<",
        "std::vector<",
        "std::deque<",
        "std::unique_ptr<",
        "std::shared_ptr<",
    ]
    .iter()
    .find_map(|container| name.strip_prefix(container))?;
    let mut depth = 0;
    let end = rest.find(|c| {
        depth += match c {
            '<' | '(' => 1,
            '>' | ')' => -1,
            _ => 0,
        };
        depth < 0 || depth == 0 && c == ','
    })?;
    Some(rest[..end].trim().trim_end_matches("[]"))
}

/// A type's words without what says nothing about its values.
fn spelled(text: &str) -> String {
    match text.contains(['<', '(', '*']) {
        true => text.split_whitespace().collect::<Vec<_>>().join(" "),
        false => written_type::spelled(text),
    }
}

/// The type of a name that the language or its library gives.
fn of_name(name: &str) -> Option<Scalar> {
    let integer = |bytes, signed| {
        Some(Scalar::Integer {
            bytes,
            signed: Some(signed),
        })
    };
    match name {
        "bool" | "_Bool" => Some(Scalar::Bool),
        "char" => Some(Scalar::Integer {
            bytes: 1,
            signed: None,
        }),
        "signed char" | "int8_t" => integer(1, true),
        "unsigned char" | "uint8_t" => integer(1, false),
        "short" | "int16_t" => integer(2, true),
        "unsigned short" | "uint16_t" => integer(2, false),
        "int" | "int32_t" => integer(4, true),
        "unsigned int" | "uint32_t" => integer(4, false),
        "long" | "long long" | "int64_t" | "intptr_t" | "ptrdiff_t" | "ssize_t" | "intmax_t" => {
            integer(8, true)
        }
        "unsigned long" | "unsigned long long" | "uint64_t" | "uintptr_t" | "size_t"
        | "uintmax_t" => integer(8, false),
        _ => None,
    }
}

/// What a type of the library's that is atomic holds, by what follows `atomic_`.
fn of_atomic_name(name: &str) -> Option<Scalar> {
    of_name(match name {
        "flag" | "bool" => "bool",
        "schar" => "signed char",
        "uchar" => "unsigned char",
        "ushort" => "unsigned short",
        "uint" => "unsigned int",
        "ulong" => "unsigned long",
        "llong" => "long long",
        "ullong" => "unsigned long long",
        other => other,
    })
}

impl Declarations {
    fn meanings_everywhere(&self) -> impl Iterator<Item = &Meanings> {
        self.everywhere().map(|all| &all.meanings)
    }

    /// The macros of a name.
    pub(crate) fn macro_texts(&self, name: &str) -> impl Iterator<Item = &MacroText> + use<'_> {
        let all: Vec<&Vec<MacroText>> = self
            .meanings_everywhere()
            .filter_map(|all| all.macros.get(name))
            .collect();
        all.into_iter().flatten()
    }

    /// Whether a macro that the project defines has this word in its text.
    pub(crate) fn is_in_macro(&self, word: &str) -> bool {
        let of_word = |c: char| c.is_alphanumeric() || c == '_';
        let holds = |text: &MacroText| {
            let mut words = text
                .body
                .as_deref()
                .unwrap_or_default()
                .split(|c| !of_word(c));
            words.any(|one| one == word)
        };
        self.meanings_everywhere()
            .flat_map(|all| all.macros.values().flatten())
            .any(holds)
    }

    /// Whether the project declares a function or class of this name.
    pub(crate) fn declares_function(&self, name: &str) -> bool {
        self.meanings_everywhere()
            .any(|all| all.functions.contains(name))
    }

    /// The constant of a name, if all that is called so is the same one.
    pub(crate) fn constant(&self, name: &str) -> Option<Constant> {
        let mut all = self
            .meanings_everywhere()
            .filter_map(|all| all.constants.get(name))
            .flatten();
        let first = (*all.next()?)?;
        let same = all.all(|other| *other == Some(first));
        let only_constant = self
            .macro_texts(name)
            .all(|text| text.parameters.is_none() && text.body.is_some());
        (same && only_constant).then_some(first)
    }

    /// Whether a name means an object in sight.
    pub(crate) fn is_object(&self, name: &str, place: &Span) -> bool {
        self.declared_types(name, place, false).next().is_some()
    }

    /// The innermost variable of a name that is in sight, or all that it may be.
    fn declared_types(
        &self,
        name: &str,
        place: &Span,
        is_field: bool,
    ) -> impl Iterator<Item = &DeclaredType> {
        let own = self.meanings.objects.get(name).into_iter().flatten();
        let in_sight = |object: &&Object| within(place, &object.scope);
        let innermost = own
            .clone()
            .filter(|object| !object.is_field && !is_field)
            .filter(in_sight)
            .filter(|object| object.scope.end != usize::MAX)
            .min_by_key(|object| object.scope.len());
        let others = self
            .meanings_everywhere()
            .filter_map(|all| all.objects.get(name))
            .flatten()
            .filter(move |_| innermost.is_none())
            .filter(move |object| object.is_field || !is_field)
            .filter(|object| object.is_field || object.scope.end == usize::MAX);
        innermost
            .into_iter()
            .chain(others)
            .map(|object| &object.written)
    }

    /// The type of the scalar that an expression names: an atomic object's value.
    pub(crate) fn scalar_of(&self, node: Node<'_>, file: &ParsedFile) -> Option<Scalar> {
        self.scalar_behind(node, 0, file)
    }

    /// The type of the scalar that so many dereferences behind an expression is.
    pub(crate) fn scalar_behind(
        &self,
        node: Node<'_>,
        steps: usize,
        file: &ParsedFile,
    ) -> Option<Scalar> {
        let of = |written: &DeclaredType, steps| self.scalar_after(written, steps);
        self.named_by(node, steps, file, of)
    }

    /// Whether an expression is a pointer or an array, or an object of the library's that
    /// is as good as one.
    pub(crate) fn is_indirect(&self, node: Node<'_>, file: &ParsedFile) -> bool {
        let of = |written: &DeclaredType, steps: usize| {
            let depth = written.pointers + written.arrays;
            let is_deep = depth > steps || behind_container(&written.base).is_some();
            Some(is_deep)
        };
        self.named_by(node, 0, file, of) == Some(true)
            || self.scalar_of(node, file) == Some(Scalar::Pointer)
    }

    /// Whether the type of a variable is that of what it is set to.
    pub(crate) fn is_deduced(&self, name: &str, place: &Span) -> bool {
        let mut all = self.declared_types(name, place, false).peekable();
        all.peek().is_some()
            && all.all(|written| {
                matches!(&*written.base, "auto" | "__auto_type")
                    && written.pointers + written.arrays == 0
                    && !written.is_reference
            })
    }

    /// What all declarations of what an expression names say alike, with the number of
    /// dereferences from the name.
    fn named_by<T: PartialEq>(
        &self,
        node: Node<'_>,
        steps: usize,
        file: &ParsedFile,
        of: impl Fn(&DeclaredType, usize) -> Option<T>,
    ) -> Option<T> {
        let mut node = node;
        let mut steps = steps;
        let mut addresses = 0usize;
        for _ in 0..MAX_DEPTH {
            node = syntax::unwrap_parentheses(node);
            let argument = node.child_by_field_name("argument");
            node = match node.kind() {
                "subscript_expression" => {
                    steps += 1;
                    argument?
                }
                "pointer_expression" if operator(node) == "*" => {
                    steps += 1;
                    argument?
                }
                "pointer_expression" => {
                    addresses += 1;
                    argument?
                }
                "identifier" => {
                    return self.agreed(node, false, steps.checked_sub(addresses)?, file, of);
                }
                "field_expression" => {
                    let field = node.child_by_field_name("field")?;
                    return self.agreed(field, true, steps.checked_sub(addresses)?, file, of);
                }
                "qualified_identifier" => node.child_by_field_name("name")?,
                _ => return None,
            };
        }
        None
    }

    fn agreed<T: PartialEq>(
        &self,
        name: Node<'_>,
        is_field: bool,
        steps: usize,
        file: &ParsedFile,
        of: impl Fn(&DeclaredType, usize) -> Option<T>,
    ) -> Option<T> {
        let text = file.node_text(name);
        if self.macro_texts(&text).next().is_some() {
            return None;
        }
        let place = name.byte_range();
        let mut all = self
            .declared_types(&text, &place, is_field)
            .map(|written| of(written, steps));
        let first = all.next()??;
        all.all(|other| other.as_ref() == Some(&first))
            .then_some(first)
    }

    fn scalar_after(&self, written: &DeclaredType, steps: usize) -> Option<Scalar> {
        let depth = written.pointers + written.arrays;
        if let Some(behind) = steps.checked_sub(depth).filter(|behind| *behind > 0) {
            let inner = behind_container(&written.base).filter(|_| behind == 1);
            return self.scalar_named(inner?, 0);
        }
        match (depth - steps, written.arrays > steps) {
            (0, _) => self.scalar_named(&written.base, 0),
            (_, false) => Some(Scalar::Pointer),
            (_, true) => None,
        }
    }

    /// The scalar that a type's text means.
    pub(crate) fn scalar_named(&self, text: &str, level: usize) -> Option<Scalar> {
        if level > MAX_DEPTH {
            return None;
        }
        let spelled = spelled(text);
        let name = spelled.trim();
        let name = ["const ", "volatile ", "struct ", "typename "]
            .iter()
            .fold(name, |name, word| name.trim_start_matches(word));
        if name.ends_with('*') {
            return Some(Scalar::Pointer);
        }
        let of_library = name.strip_prefix("std::").unwrap_or(name);
        for (before, behind) in [("_Atomic(", ')'), ("atomic<", '>'), ("atomic_ref<", '>')] {
            let inner = of_library.strip_prefix(before);
            if let Some(inner) = inner.and_then(|inner| inner.strip_suffix(behind)) {
                let class = before.trim_end_matches(['<', '(']);
                let is_own = self.declares_function(class);
                return (!is_own)
                    .then(|| self.scalar_named(inner, level + 1))
                    .flatten();
            }
        }
        let mut aliases = self
            .meanings_everywhere()
            .filter_map(|all| all.aliases.get(name))
            .flatten()
            .peekable();
        let is_enumeration = self
            .meanings_everywhere()
            .any(|all| all.enumerations.contains(name.trim_start_matches("enum ")));
        if aliases.peek().is_some() {
            let mut all = aliases.map(|alias| {
                let alias = alias.as_ref()?;
                match alias.pointers {
                    0 if alias.base == name => None,
                    0 => self.scalar_named(&alias.base, level + 1),
                    _ => Some(Scalar::Pointer),
                }
            });
            let first = all.next()??;
            return all.all(|other| other == Some(first)).then_some(first);
        }
        if self.declares_function(name) || self.macro_texts(name).next().is_some() {
            return None;
        }
        if is_enumeration {
            return Some(Scalar::Enumeration);
        }
        let atomic = of_library.strip_prefix("atomic_").and_then(of_atomic_name);
        atomic.or_else(|| of_name(of_library))
    }
}
