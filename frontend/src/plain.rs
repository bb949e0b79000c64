//! Plain accesses as sites: the reads and writes of objects of some names, for whoever
//! wants to make them atomic. Only what reads an object or gives it a new value: not an
//! address, and nothing that does both, such as `x++`.

use std::collections::BTreeSet;
use std::sync::Arc;

use tree_sitter::Node;

use crate::found_site::{Surroundings, implied};
use crate::matching::{SiteMatch, match_among};
use crate::order::MemoryOrder;
use crate::site::{LoopRole, OperationKind, Site, SiteOperation};
use crate::source::ParsedFile;
use crate::syntax;

/// The vocabulary that such sites name.
const VOCABULARY: &str = "plain";

/// What an object is called wherever it lies: `next` for `head->next`, `slots[]` for
/// `slots[i]`, `*p` for itself.
pub fn object_name(object: &str) -> String {
    let mut name = String::new();
    let mut depth = 0;
    for letter in object.chars().filter(|letter| !letter.is_whitespace()) {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            '.' | '>' if depth == 0 => {
                name.clear();
                continue;
            }
            _ if depth > 0 => continue,
            _ => {}
        }
        name.push(letter);
    }
    name
}

/// The plain access at a line and column of debug information to an object of this
/// name, if the text has exactly one that fits. What the sites of the file access is no
/// plain access.
pub fn plain_access(
    file: &ParsedFile,
    atomic: &[Site],
    (line, column): (u32, u32),
    writes: bool,
    name: &str,
) -> Option<Site> {
    let kind = match writes {
        true => OperationKind::Store,
        false => OperationKind::Load,
    };
    let sites = plain_accesses(file, &BTreeSet::from([name.to_owned()]), atomic);
    match match_among(&sites, line, column, kind) {
        SiteMatch::Site(site) => Some(site.clone()),
        SiteMatch::Ambiguous(_) | SiteMatch::None => None,
    }
}

/// All accesses to objects of these names, in the order of the text, but for those of
/// the file's sites: `READ_ONCE(x)`.
pub fn plain_accesses(file: &ParsedFile, names: &BTreeSet<String>, atomic: &[Site]) -> Vec<Site> {
    let mut sites = Vec::new();
    let is_atomic = |node: Node<'_>| {
        let object = Some(node.byte_range());
        atomic
            .iter()
            .any(|site| site.object == object && site.span != node.byte_range())
    };
    syntax::visit(file.tree().root_node(), |node, ancestors| {
        let is_object = match node.kind() {
            "identifier" | "field_expression" | "subscript_expression" => true,
            "pointer_expression" => syntax::operator(node) == "*",
            _ => false,
        };
        if !is_object || !names.contains(&object_name(&file.node_text(node))) {
            return;
        }
        let Some(&parent) = ancestors.last() else {
            return;
        };
        if makes_reference(file, parent, ancestors) || is_atomic(node) {
            return;
        }
        if let Some(operation) = access(node, parent, ancestors) {
            sites.push(site(file, node, parent, operation));
        }
    });
    sites
}

/// Whether an object is handed to `std::atomic_ref`, which takes its address.
fn makes_reference(file: &ParsedFile, parent: Node<'_>, ancestors: &[Node<'_>]) -> bool {
    let call = ancestors.iter().rev().nth(1).copied();
    let call = call.filter(|call| call.child_by_field_name("arguments") == Some(parent));
    let callee = call.and_then(syntax::callee);
    callee.is_some_and(|callee| file.node_text(callee.name) == "atomic_ref")
}

/// What the parent of an object does with it, if that is one access.
fn access(object: Node<'_>, parent: Node<'_>, ancestors: &[Node<'_>]) -> Option<SiteOperation> {
    let is_child = |name: &str| parent.child_by_field_name(name) == Some(object);
    match parent.kind() {
        "assignment_expression" if is_child("left") => {
            let around = ancestors.iter().rev().nth(1);
            let is_unused = around.is_some_and(|node| node.kind() == "expression_statement");
            (is_unused && syntax::operator(parent) == "=").then_some(SiteOperation::Store)
        }
        "init_declarator" => is_child("value").then_some(SiteOperation::Load),
        "field_expression" => {
            let behind = syntax::operator(parent) == "->" && is_child("argument");
            behind.then_some(SiteOperation::Load)
        }
        "pointer_expression" => (syntax::operator(parent) == "*").then_some(SiteOperation::Load),
        "cast_expression" => is_child("value").then_some(SiteOperation::Load),
        "binary_expression"
        | "unary_expression"
        | "conditional_expression"
        | "assignment_expression"
        | "argument_list"
        | "condition_clause"
        | "parenthesized_expression"
        | "return_statement"
        | "if_statement"
        | "while_statement"
        | "do_statement"
        | "for_statement"
        | "switch_statement" => Some(SiteOperation::Load),
        _ => None,
    }
}

fn site(file: &ParsedFile, object: Node<'_>, parent: Node<'_>, operation: SiteOperation) -> Site {
    let lines = file.lines();
    let (node, operator) = match operation {
        SiteOperation::Store => (parent, parent.child_by_field_name("operator")),
        _ => (object, None),
    };
    let span = node.byte_range();
    let callee_span = operator.unwrap_or(object).byte_range();
    let around = Surroundings::at(&span, file);
    Site {
        file: file.path().clone(),
        start: lines.position(span.start),
        end: lines.position(span.end),
        span,
        callee: match operation {
            SiteOperation::Store => "=".to_owned(),
            _ => "read".to_owned(),
        },
        callee_start: lines.position(callee_span.start),
        callee_span,
        object: Some(object.byte_range()),
        operation,
        order: implied(MemoryOrder::Relaxed),
        failure_order: None,
        vocabulary: Arc::from(VOCABULARY),
        function: around.function,
        function_span: around.function_span,
        statement_line: lines.position(around.statement.start).line,
        statement: around.statement,
        loop_span: around.loop_span,
        macro_name: around.macro_name,
        role: LoopRole::None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{object_name, plain_access, plain_accesses};
    use crate::{Language, ParsedFile, Vocabularies, scan_parsed};

    const TEXT: &str = "static int ready;\nint take(struct box *b, int i) {\n\
        \x20 if (!ready) return 0;\n\
        \x20 ready = 0; ready++; ready += 2;\n\
        \x20 use(&ready, ready, b->ready);\n\
        \x20 while ((i = ready) == 0) {}\n\
        \x20 return b->slots[i] + b->slots[0];\n}\n";

    fn accesses(name: &str) -> Vec<(u32, String)> {
        let file = ParsedFile::parse(Path::new("a.c"), TEXT.as_bytes(), Language::C);
        let sites = plain_accesses(&file, &BTreeSet::from([name.to_owned()]), &[]);
        let text = |site: crate::Site| (site.start.line, TEXT[site.span].to_owned());
        sites.into_iter().map(text).collect()
    }

    #[test]
    fn an_object_is_called_by_its_last_name() {
        let name = |text: &str| object_name(text);
        assert_eq!(name("head->next"), "next");
        assert_eq!(name("slots[i].seq"), "seq");
        assert_eq!(name("this->slots[a.b]"), "slots[]");
        assert_eq!(name("* p"), "*p");
    }

    #[test]
    fn reads_and_writes_are_accesses_and_nothing_else_is() {
        let at = |line, text: &str| (line, text.to_owned());
        let expected = [
            at(3, "ready"),
            at(4, "ready = 0"),
            at(5, "ready"),
            at(5, "b->ready"),
            at(6, "ready"),
        ];
        assert_eq!(accesses("ready"), expected);
        assert_eq!(
            accesses("slots[]"),
            [at(7, "b->slots[i]"), at(7, "b->slots[0]")]
        );
    }

    #[test]
    fn what_a_reference_to_an_atomic_is_made_of_is_no_plain_access() {
        let text =
            "int f() { std::atomic_ref(x).store(1); g(x); return std::atomic_ref<int>(x).load(); }";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        let sites = plain_accesses(&file, &BTreeSet::from(["x".to_owned()]), &[]);
        let starts: Vec<usize> = sites.iter().map(|site| site.span.start).collect();
        assert_eq!(starts, [text.find("x); return").unwrap()]);
    }

    #[test]
    fn what_a_macro_accesses_atomically_is_no_plain_access() {
        let text = "#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)\n\
            int f() { return GET(x) + x; }";
        let file = ParsedFile::parse(Path::new("a.c"), text.as_bytes(), Language::C);
        let atomic = scan_parsed(&file, &Vocabularies::builtin()).sites;
        let sites = plain_accesses(&file, &BTreeSet::from(["x".to_owned()]), &atomic);
        let starts: Vec<usize> = sites.iter().map(|site| site.span.start).collect();
        assert_eq!(starts, [text.find("x; }").unwrap()]);
    }

    #[test]
    fn the_access_at_a_point_is_found() {
        let file = ParsedFile::parse(Path::new("a.c"), TEXT.as_bytes(), Language::C);
        let at = |point, writes| {
            let site = plain_access(&file, &[], point, writes, "ready")?;
            Some(&TEXT[site.span])
        };
        assert_eq!(at((3, 7), false), Some("ready"));
        assert_eq!(at((4, 9), true), Some("ready = 0"));
        assert_eq!(at((7, 3), false), None);
    }
}
