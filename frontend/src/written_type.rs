//! Types as texts: what a parameter, a function or an object is declared as, spelled
//! alike where the same is meant. Types are not looked up: two names of one type differ.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use crate::source::ParsedFile;
use crate::syntax::{self, MAX_DEPTH, children};

/// Words of a declaration that are not part of the type of a value.
const NOT_OF_VALUES: [&str; 16] = [
    "const",
    "volatile",
    "static",
    "extern",
    "register",
    "inline",
    "constexpr",
    "mutable",
    "thread_local",
    "_Thread_local",
    "__thread",
    "struct",
    "union",
    "enum",
    "class",
    "typename",
];

/// A type as a declaration writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeclaredType {
    /// What the specifiers say.
    pub base: String,
    /// How many pointers lead to that.
    pub pointers: usize,
    /// How many arrays are around it.
    pub arrays: usize,
    /// It is declared as a reference.
    pub is_reference: bool,
    /// It is declared with `&&`.
    pub is_rvalue: bool,
    /// The base is const.
    pub is_const: bool,
    /// The base is volatile.
    pub is_volatile: bool,
}

impl DeclaredType {
    /// The type of a value behind so many dereferences.
    pub(crate) fn value(&self, dereferences: usize) -> Option<String> {
        let steps = (self.pointers + self.arrays).checked_sub(dereferences)?;
        // An array is no value.
        let is_array = self.arrays > dereferences;
        (!is_array).then(|| format!("{}{}", self.base, "*".repeat(steps)))
    }
}

/// A type without what says nothing about its values, spelled in one way.
pub(crate) fn spelled(text: &str) -> String {
    let spaced = text.replace('*', " * ");
    let words: Vec<&str> = spaced
        .split_whitespace()
        .filter(|word| !NOT_OF_VALUES.contains(word))
        .collect();
    let (stars, words): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|&word| word == "*");
    let of_integer = |word: &&str| {
        matches!(
            *word,
            "signed" | "unsigned" | "char" | "short" | "int" | "long"
        )
    };
    let base = match !words.is_empty() && words.iter().all(of_integer) {
        true => integer(&words),
        false => words.join(" "),
    };
    format!("{base}{}", stars.concat())
}

/// An integer type in one spelling.
fn integer(words: &[&str]) -> String {
    let count = |wanted: &str| words.iter().filter(|&&word| word == wanted).count();
    let is_char = count("char") > 0;
    let size = match (is_char, count("short"), count("long")) {
        (true, ..) => "char",
        (_, 1.., _) => "short",
        (_, _, 0) => "int",
        (_, _, 1) => "long",
        _ => "long long",
    };
    match (count("unsigned"), count("signed")) {
        (1.., _) => format!("unsigned {size}"),
        (_, 1..) if is_char => format!("signed {size}"),
        _ => size.to_owned(),
    }
}

/// The type that a declaration gives by one of its declarators, with the declared name;
/// `None` of functions and of what is too intricate.
pub(crate) fn declared(
    declaration: Node<'_>,
    declarator: Option<Node<'_>>,
    file: &ParsedFile,
) -> Option<(String, DeclaredType)> {
    let type_node = declaration.child_by_field_name("type")?;
    let named = match type_node.child_by_field_name("body") {
        Some(_) => type_node.child_by_field_name("name")?,
        None => type_node,
    };
    let mut written = DeclaredType {
        base: spelled(&file.node_text(named)),
        ..DeclaredType::default()
    };
    for qualifier in children(declaration) {
        if qualifier.kind() == "type_qualifier" {
            match &*file.node_text(qualifier) {
                "const" => written.is_const = true,
                "volatile" => written.is_volatile = true,
                "_Atomic" => written.base.insert_str(0, "_Atomic "),
                _ => {}
            }
        }
    }
    let mut node = match declarator {
        Some(node) => node,
        None => return Some((String::new(), written)),
    };
    for _ in 0..MAX_DEPTH {
        match node.kind() {
            "identifier" | "field_identifier" => {
                return Some((file.node_text(node).into_owned(), written));
            }
            "pointer_declarator" | "abstract_pointer_declarator" => written.pointers += 1,
            "array_declarator" => written.arrays += 1,
            "reference_declarator" | "abstract_reference_declarator" => {
                written.is_reference = true;
                written.is_rvalue = file.node_text(node).starts_with("&&");
            }
            "init_declarator" => {}
            _ => return None,
        }
        let inner = node.child_by_field_name("declarator");
        let inner = inner.or_else(|| {
            let is_reference = node.kind() == "reference_declarator";
            is_reference.then(|| children(node).pop()).flatten()
        });
        node = match inner {
            Some(inner) => inner,
            None => return Some((String::new(), written)),
        };
    }
    None
}

/// What objects are declared as, by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectTypes {
    by_name: FxHashMap<String, Vec<DeclaredType>>,
}

impl ObjectTypes {
    /// Adds what a file declares.
    pub(crate) fn add(&mut self, file: &ParsedFile) {
        syntax::visit(file.tree().root_node(), |node, _| {
            let declares = matches!(
                node.kind(),
                "declaration"
                    | "field_declaration"
                    | "parameter_declaration"
                    | "optional_parameter_declaration"
            );
            if !declares {
                return;
            }
            let mut cursor = node.walk();
            for declarator in node.children_by_field_name("declarator", &mut cursor) {
                if let Some((name, written)) = declared(node, Some(declarator), file) {
                    let known = self.by_name.entry(name).or_default();
                    if !known.contains(&written) {
                        known.push(written);
                    }
                }
            }
        });
    }

    /// The type of an object, by what it is called (see [`crate::object_name`]), if
    /// everything of this name has the same.
    pub(crate) fn of(&self, object: &str) -> Option<String> {
        let stars = object.len() - object.trim_start_matches('*').len();
        let name = object[stars..].trim_matches(['(', ')']);
        let brackets = name.matches("[]").count();
        let name = name.trim_end_matches("[]");
        let mut types = self.by_name.get(name)?.iter();
        let value = |written: &DeclaredType| written.value(stars + brackets);
        let first = value(types.next()?)?;
        types
            .all(|other| value(other).as_ref() == Some(&first))
            .then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ObjectTypes, spelled};
    use crate::{Language, ParsedFile};

    #[test]
    fn one_type_has_one_spelling() {
        assert_eq!(spelled("const unsigned"), "unsigned int");
        assert_eq!(spelled("long int unsigned"), "unsigned long");
        assert_eq!(spelled("struct node  * *"), "node**");
        assert_eq!(spelled("signed char"), "signed char");
        assert_ne!(spelled("uint32_t"), spelled("unsigned int"));
    }

    #[test]
    fn the_type_of_an_object_is_what_all_of_its_name_are_declared_as() {
        let text = "struct box { unsigned full; long *slots[4]; struct box *next; };\n\
            static volatile _Bool done, *where;\n\
            void f(int *p) { int twice; }\nvoid g(void) { long twice; }\n\
            struct { int x; } point;\n";
        let file = ParsedFile::parse(Path::new("a.c"), text.as_bytes(), Language::C);
        let mut types = ObjectTypes::default();
        types.add(&file);
        let of = |object: &str| types.of(object);
        assert_eq!(of("full").as_deref(), Some("unsigned int"));
        assert_eq!(of("slots[]").as_deref(), Some("long*"));
        assert_eq!(of("slots"), None);
        assert_eq!(of("next").as_deref(), Some("box*"));
        assert_eq!(of("done").as_deref(), Some("_Bool"));
        assert_eq!(of("*where").as_deref(), Some("_Bool"));
        assert_eq!(of("*p").as_deref(), Some("int"));
        assert_eq!(of("**p"), None);
        assert_eq!(of("twice"), None);
        assert_eq!(of("point"), None);
        assert_eq!(of("unheard_of"), None);
    }
}
