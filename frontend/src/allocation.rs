//! Memory that is made at a line of the text: of which type it is, and whether the
//! function around the line only makes it for its callers. Knows calls and types as
//! they are written, and nothing of atomics.

use tree_sitter::Node;

use crate::source::ParsedFile;
use crate::syntax::{self, children};

/// What the text says about memory that is made at a point of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationText {
    /// The type of the object, as it is called: `Node`, `ring<int>`, `int array`.
    pub type_name: Option<String>,
    /// The function around the point hands out memory of no type of its own: its
    /// callers know what it is for.
    pub is_wrapper: bool,
}

/// What the text says about memory that is made at a line and column.
pub fn allocation_at(file: &ParsedFile, (line, column): (u32, u32)) -> AllocationText {
    let Some(start) = file.lines().line_start(line) else {
        return AllocationText::default();
    };
    let text = file.text();
    let end = text[start..].iter().position(|&byte| byte == b'\n');
    let line = start..end.map_or(text.len(), |end| start + end);
    let at = line.start + (column as usize).saturating_sub(1);
    AllocationText {
        type_name: made_type(file, line.clone(), at),
        is_wrapper: function_around(file, at.min(line.end)).is_some_and(|f| is_wrapper(file, f)),
    }
}

/// The type of what is made on a line: by the innermost expression around `at` that
/// tells, else by the only one that begins on the line.
fn made_type(file: &ParsedFile, line: std::ops::Range<usize>, at: usize) -> Option<String> {
    let mut makers: Vec<(Node<'_>, String)> = Vec::new();
    syntax::visit_span(file.tree().root_node(), &line, |node| {
        if let Some(made) = made_by(file, node) {
            makers.push((node, made));
        }
    });
    let around = makers
        .iter()
        .rev()
        .find(|(node, _)| node.byte_range().contains(&at));
    if let Some((_, made)) = around {
        return Some(made.clone());
    }
    let mut begun = makers
        .iter()
        .filter(|(node, _)| line.contains(&node.start_byte()));
    let (_, first) = begun.next()?;
    begun
        .all(|(_, other)| other == first)
        .then(|| first.clone())
}

/// The type that an expression makes an object of.
fn made_by(file: &ParsedFile, node: Node<'_>) -> Option<String> {
    match node.kind() {
        "new_expression" => {
            let made = type_text(file, node.child_by_field_name("type")?);
            let is_array = node.child_by_field_name("declarator").is_some();
            Some(counted(made, is_array))
        }
        "call_expression" => {
            let callee = syntax::callee(node)?;
            let name = file.node_text(callee.name);
            if name.starts_with("make_") || name.starts_with("allocate_") {
                let made = callee.template_arguments.first()?;
                return Some(type_text(file, *made));
            }
            let arguments = syntax::arguments(node);
            let (at, (made, is_array)) = arguments
                .iter()
                .enumerate()
                .find_map(|(at, one)| Some((at, measured(file, *one)?)))?;
            // `calloc(count, size)`, and what is like it.
            let others = arguments.iter().enumerate().filter(|(one, _)| *one != at);
            let is_one = |node: Node<'_>| file.node_text(node) == "1";
            let counts = name.contains("calloc") || name.contains("array");
            let is_array = is_array || counts && others.clone().any(|(_, one)| !is_one(*one));
            Some(counted(made, is_array))
        }
        _ => None,
    }
}

/// A type as the object is called that there may be several of.
fn counted(name: String, is_array: bool) -> String {
    match is_array {
        true => name + " array",
        false => name,
    }
}

/// The type that an argument measures, if it does, and whether there are several of it:
/// `n * sizeof(struct node)`.
fn measured(file: &ParsedFile, argument: Node<'_>) -> Option<(String, bool)> {
    let mut measure = None;
    syntax::visit(argument, |node, ancestors| {
        let is_inner = ancestors
            .iter()
            .any(|node| node.kind() == "call_expression");
        if node.kind() == "sizeof_expression" && !is_inner && measure.is_none() {
            let product = |node: &Node<'_>| syntax::operator(*node) == "*";
            measure = Some((node, ancestors.iter().any(product)));
        }
    });
    let (measure, is_array) = measure?;
    Some((measured_type(file, measure)?, is_array))
}

/// The type that a `sizeof` measures.
fn measured_type(file: &ParsedFile, measure: Node<'_>) -> Option<String> {
    if let Some(kind) = measure.child_by_field_name("type") {
        return Some(type_text(file, kind));
    }
    let value = syntax::unwrap_parentheses(measure.child_by_field_name("value")?);
    match value.kind() {
        "pointer_expression" if syntax::operator(value) == "*" => {
            let pointer = syntax::unwrap_parentheses(value.child_by_field_name("argument")?);
            declared_type(file, pointer)
        }
        // The grammar takes the name of a type in parentheses for a variable.
        "identifier" => {
            let declared = declared_type(file, value);
            Some(declared.unwrap_or_else(|| file.node_text(value).into_owned()))
        }
        _ => None,
    }
}

/// The type that the function around a variable, or the file, declares it with.
fn declared_type(file: &ParsedFile, variable: Node<'_>) -> Option<String> {
    let name = (variable.kind() == "identifier").then(|| file.node_text(variable))?;
    let within = function_around(file, variable.start_byte());
    let mut found = None;
    syntax::visit(within?, |node, _| {
        let declares = matches!(node.kind(), "declaration" | "parameter_declaration");
        let before = node.start_byte() <= variable.start_byte();
        if !declares || !before {
            return;
        }
        let mut cursor = node.walk();
        let mut declarators = node.children_by_field_name("declarator", &mut cursor);
        if declarators.any(|one| declared_name(file, one).as_deref() == Some(&*name)) {
            found = node.child_by_field_name("type");
        }
    });
    found.map(|kind| type_text(file, kind))
}

fn declared_name(file: &ParsedFile, declarator: Node<'_>) -> Option<String> {
    let mut node = declarator;
    for _ in 0..syntax::MAX_DEPTH {
        if node.kind() == "identifier" {
            return Some(file.node_text(node).into_owned());
        }
        node = node
            .child_by_field_name("declarator")
            .or_else(|| children(node).into_iter().next())?;
    }
    None
}

/// A type as it is called, without the keyword and qualifiers in front.
fn type_text(file: &ParsedFile, kind: Node<'_>) -> String {
    const IN_FRONT: [&str; 7] = [
        "struct", "class", "union", "enum", "const", "volatile", "typename",
    ];
    let text = file.node_text(kind);
    let words = text.split_whitespace();
    let words: Vec<&str> = words.filter(|word| !IN_FRONT.contains(word)).collect();
    words.join(" ")
}

fn function_around(file: &ParsedFile, at: usize) -> Option<Node<'_>> {
    let root = file.tree().root_node();
    let mut node = root.named_descendant_for_byte_range(at, at)?;
    loop {
        if node.kind() == "function_definition" {
            return Some(node);
        }
        node = node.parent()?;
    }
}

/// Whether a function returns memory that it gives no type: `void *`, or a pointer to a
/// type that its template is a parameter of.
fn is_wrapper(file: &ParsedFile, function: Node<'_>) -> bool {
    let declarator = function.child_by_field_name("declarator");
    let is_pointer = declarator.is_some_and(|one| one.kind() == "pointer_declarator");
    let Some(kind) = function.child_by_field_name("type").filter(|_| is_pointer) else {
        return false;
    };
    let name = type_text(file, kind);
    name == "void" || template_parameters(file, function).contains(&name)
}

/// The names of the types that are parameters of the templates around a node.
fn template_parameters(file: &ParsedFile, node: Node<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut around = node.parent();
    while let Some(outer) = around {
        around = outer.parent();
        let list = outer.child_by_field_name("parameters");
        let Some(list) = list.filter(|_| outer.kind() == "template_declaration") else {
            continue;
        };
        for parameter in children(list) {
            let inner = children(parameter).into_iter();
            let types = inner.filter(|node| node.kind() == "type_identifier");
            names.extend(types.map(|node| file.node_text(node).into_owned()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Language;

    fn at(text: &str, language: Language, marked: &str) -> AllocationText {
        let file = ParsedFile::parse(Path::new("a"), text.as_bytes(), language);
        let offset = text.find(marked).expect("there");
        let line = text[..offset].matches('\n').count() as u32 + 1;
        let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        allocation_at(&file, (line, (offset - start) as u32 + 1))
    }

    fn made(text: &str, language: Language, marked: &str) -> Option<String> {
        at(text, language, marked).type_name
    }

    #[test]
    fn the_type_is_the_one_that_is_made_or_measured() {
        let c = "void f(int k) {\n\
                 struct node *a = malloc(sizeof(struct node));\n\
                 struct node *b = malloc(sizeof *b);\n\
                 node_t *c = calloc(k, sizeof(node_t));\n\
                 ring *d; d = xmalloc(sizeof(*d) + k * sizeof(int));\n\
                 char *e = malloc(k);\n\
                 long *h = malloc(k * sizeof(long));\n\
                 node_t *i = calloc(1, sizeof(*i));\n\
                 g(malloc(sizeof(int)), malloc(sizeof(long)));\n\
                 }\n";
        let c_case = |marked| made(c, Language::C, marked);
        assert_eq!(c_case("malloc(sizeof(struct").as_deref(), Some("node"));
        assert_eq!(c_case("malloc(sizeof *b").as_deref(), Some("node"));
        assert_eq!(c_case("calloc(k").as_deref(), Some("node_t array"));
        assert_eq!(c_case("calloc(1").as_deref(), Some("node_t"));
        assert_eq!(c_case("malloc(k *").as_deref(), Some("long array"));
        assert_eq!(c_case("xmalloc").as_deref(), Some("ring"));
        assert_eq!(c_case("malloc(k)"), None);
        assert_eq!(c_case("malloc(sizeof(long").as_deref(), Some("long"));
        assert_eq!(c_case("g(malloc"), None, "either of two");
        let cpp = "void f() {\n\
                   Node* n = new Node{1};\n\
                   auto p = std::make_unique<ns::Ring<int>>(3);\n\
                   auto a = new int[4];\n\
                   }\n";
        let cpp_case = |marked| made(cpp, Language::Cpp, marked);
        assert_eq!(cpp_case("new Node").as_deref(), Some("Node"));
        assert_eq!(cpp_case("Node* n").as_deref(), Some("Node"));
        assert_eq!(cpp_case("std::make").as_deref(), Some("ns::Ring<int>"));
        assert_eq!(cpp_case("new int").as_deref(), Some("int array"));
    }

    #[test]
    fn functions_that_hand_out_memory_of_no_type_are_wrappers() {
        let text = "void *xmalloc(size_t n) { return malloc(n); }\n\
                    struct node *node_new(int v) { return malloc(sizeof(struct node)); }\n\
                    void fill(void) { keep(calloc(1, 8)); }\n";
        let is_wrapper = |marked| at(text, Language::C, marked).is_wrapper;
        assert!(is_wrapper("malloc(n)"));
        assert!(!is_wrapper("malloc(sizeof"));
        assert!(!is_wrapper("calloc"));
        let text = "template <class T> struct pool {\n\
                    T* allocate(size_t n) { return static_cast<T*>(::operator new(n)); }\n\
                    Slot* slot() { return new Slot; }\n};\n";
        assert!(at(text, Language::Cpp, "::operator new").is_wrapper);
        assert!(!at(text, Language::Cpp, "new Slot").is_wrapper);
    }
}
