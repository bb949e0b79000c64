//! What a plain access accesses, as the text writes it: the object at a line and
//! column of debug information. Guesses nothing: where the column does not point
//! into one object, there is none.

use tree_sitter::Node;

use crate::source::ParsedFile;
use crate::syntax;

/// The object that is read or written at a line and column: `head->next`,
/// `slots[i]`, `data`.
pub fn object_at(file: &ParsedFile, (line, column): (u32, u32), writes: bool) -> Option<String> {
    let start = file.lines().line_start(line)?;
    let at = start + (column as usize).checked_sub(1)?;
    let root = file.tree().root_node();
    let node = root.named_descendant_for_byte_range(at, at + 1)?;
    let object = match node.kind() {
        // Compilers point at the operator of a write, or at a declared name.
        "assignment_expression" if writes => node.child_by_field_name("left"),
        "assignment_expression" if syntax::operator(node) == "=" => {
            Some(only_object_in(node.child_by_field_name("right")?)?)
        }
        "update_expression" => node.child_by_field_name("argument"),
        "init_declarator" if writes => written_by(file, node)?,
        "init_declarator" => node.child_by_field_name("value"),
        // A read that is ascribed to the name which is being declared.
        "identifier" if !writes && declares(node) => {
            let value = node.parent()?.child_by_field_name("value")?;
            Some(only_object_in(value)?)
        }
        // The same where it is given a value later, as a whole structure is.
        "identifier" if !writes && is_assigned(node) => {
            let value = node.parent()?.child_by_field_name("right")?;
            Some(only_object_in(value)?)
        }
        "identifier" if declares(node) => written_by(file, node.parent()?)?,
        "return_statement" | "expression_statement" => syntax::children(node).pop(),
        _ => Some(node),
    };
    let object = object?;
    let object = match member_at(object, at) {
        Some(member) => accessed(member)?,
        None => object_around(object)?,
    };
    let text = file.node_text(object);
    let text: Vec<&str> = text.split_whitespace().collect();
    Some(text.join(" "))
}

/// Whether a name is the one that a declaration gives a value to.
fn declares(name: Node<'_>) -> bool {
    let declaration = name
        .parent()
        .filter(|node| node.kind() == "init_declarator");
    declaration.and_then(|node| node.child_by_field_name("declarator")) == Some(name)
}

/// Whether a name is one that a statement gives a value to, whatever it had before.
fn is_assigned(name: Node<'_>) -> bool {
    let assignment = name
        .parent()
        .filter(|node| node.kind() == "assignment_expression" && syntax::operator(*node) == "=");
    assignment.and_then(|node| node.child_by_field_name("left")) == Some(name)
}

/// What a declaration that gives a name a value writes: the name, or what is changed on
/// the way to the value (`int left = --node->count;`). `None` if it may be either.
fn written_by<'t>(file: &ParsedFile, declaration: Node<'t>) -> Option<Option<Node<'t>>> {
    let name = declaration.child_by_field_name("declarator");
    let mut changed: Vec<Node<'t>> = Vec::new();
    if let Some(value) = declaration.child_by_field_name("value") {
        syntax::visit(value, |node, _| match node.kind() {
            "assignment_expression" => changed.extend(node.child_by_field_name("left")),
            "update_expression" => changed.extend(node.child_by_field_name("argument")),
            _ => {}
        });
    }
    match changed[..] {
        [] => Some(name),
        // A variable that nobody else can reach is not in memory.
        [object] if object.kind() != "identifier" && !is_lent(file, name?) => Some(Some(object)),
        _ => None,
    }
}

/// Whether a function hands out where its variable lies, or may.
fn is_lent(file: &ParsedFile, name: Node<'_>) -> bool {
    let mut around = name;
    while let Some(outer) = around.parent() {
        around = outer;
        if outer.kind() == "function_definition" {
            break;
        }
    }
    let text = file.node_text(name);
    let mut is_lent = false;
    syntax::visit(around, |node, _| {
        is_lent |= match node.kind() {
            "lambda_expression" => true,
            "pointer_expression" if syntax::operator(node) == "&" => {
                let argument = node.child_by_field_name("argument");
                argument.is_some_and(|argument| file.node_text(argument) == text)
            }
            _ => false,
        };
    });
    is_lent
}

/// The one object that an expression speaks of, whatever it makes of it.
fn only_object_in(value: Node<'_>) -> Option<Node<'_>> {
    let mut objects: Vec<Node<'_>> = Vec::new();
    syntax::visit(value, |node, _| {
        let is_inside = |outer: &Node<'_>| syntax::within(&node.byte_range(), &outer.byte_range());
        let kinds = [
            "field_expression",
            "subscript_expression",
            "pointer_expression",
            "identifier",
        ];
        if kinds.contains(&node.kind())
            && !objects.iter().any(is_inside)
            && object_around(node) == Some(node)
        {
            objects.push(node);
        }
    });
    match objects[..] {
        [object] => Some(object),
        _ => None,
    }
}

/// The member whose operator or name is at an offset: compilers point there for just that
/// member, not for what it leads to.
fn member_at(node: Node<'_>, at: usize) -> Option<Node<'_>> {
    let member = match node.kind() {
        "field_identifier" => node.parent()?,
        _ => node,
    };
    let argument = member.child_by_field_name("argument")?;
    let is_member = member.kind() == "field_expression" && syntax::operator(member) == "->";
    let is_here = argument.end_byte() <= at && at < member.end_byte();
    let mut member = Some(member).filter(|_| is_member && is_here)?;
    // A part of a structure is accessed without the rest of it.
    let is_part =
        |part: &Node<'_>| part.kind() == "field_expression" && syntax::operator(*part) == ".";
    while let Some(part) = member.parent().filter(is_part) {
        member = part;
    }
    Some(member)
}

fn is_object(node: Node<'_>) -> bool {
    match node.kind() {
        "identifier"
        | "field_identifier"
        | "field_expression"
        | "subscript_expression"
        | "this" => true,
        "pointer_expression" => syntax::operator(node) == "*",
        _ => false,
    }
}

/// The largest object expression around a node.
fn object_around(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    if !is_object(node) {
        return None;
    }
    while let Some(parent) = node.parent().filter(|parent| is_object(*parent)) {
        // An index is an object of its own.
        let base = parent.child_by_field_name("argument");
        if parent.kind() == "subscript_expression" && base != Some(node) {
            break;
        }
        node = parent;
    }
    accessed(node)
}

/// What is accessed where an object expression stands.
fn accessed(node: Node<'_>) -> Option<Node<'_>> {
    let parent = node.parent()?;
    match parent.kind() {
        // The name of a called function is no object; what a method is called on is.
        "call_expression" if parent.child_by_field_name("function") == Some(node) => {
            let method = (node.kind() == "field_expression").then_some(node)?;
            method
                .child_by_field_name("argument")
                .filter(|object| is_object(*object))
        }
        // Nor is that of one which is being defined: a constructor that writes members.
        "function_declarator" => None,
        _ => Some(node),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::object_at;
    use crate::{Language, ParsedFile};

    #[test]
    fn what_is_read_is_not_the_variable_that_is_declared() {
        let text = "void f(int *p, int i) {\n  int a = slots[i];\n  int b = *p;\n\
            \x20 auto c = wrap(slots[i]);\n  int d = slots[i] + other;\n}\n";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        let at = |line: u32, column, writes| object_at(&file, (line, column), writes);
        assert_eq!(at(2, 7, false).as_deref(), Some("slots[i]"));
        assert_eq!(at(2, 7, true).as_deref(), Some("a"));
        assert_eq!(at(3, 7, false).as_deref(), Some("*p"));
        assert_eq!(at(4, 8, false).as_deref(), Some("slots[i]"));
        assert_eq!(at(5, 7, false), None);
    }

    #[test]
    fn what_is_read_is_not_the_variable_that_is_assigned() {
        let text = "void f(struct s *p) {\n  copy = p->value;\n  sum += p->value;\n\
            \x20 p->a = p->b;\n  copy = p->a + p->b;\n}\n";
        let file = ParsedFile::parse(Path::new("a.c"), text.as_bytes(), Language::C);
        let at = |line: u32, column, writes| object_at(&file, (line, column), writes);
        assert_eq!(at(2, 3, false).as_deref(), Some("p->value"));
        assert_eq!(at(2, 8, false).as_deref(), Some("p->value"));
        assert_eq!(at(2, 3, true).as_deref(), Some("copy"));
        assert_eq!(at(3, 3, false).as_deref(), Some("sum"));
        assert_eq!(at(4, 6, false).as_deref(), Some("p->a"));
        assert_eq!(at(5, 3, false), None);
    }

    #[test]
    fn what_is_changed_on_the_way_to_a_value_is_written() {
        let text = "void f(struct s *p) {\n  int left = --p->count;\n  int old = p->n++;\n\
            \x20 take(&old);\n  int both = p->a = p->b = 1;\n  int *q = &p->c;\n}\n";
        let file = ParsedFile::parse(Path::new("a.c"), text.as_bytes(), Language::C);
        let at = |line: u32, column| object_at(&file, (line, column), true);
        assert_eq!(at(2, 7).as_deref(), Some("p->count"));
        // It may be the variable, which somebody else can reach.
        assert_eq!(at(3, 7), None);
        assert_eq!(at(5, 7), None);
        assert_eq!(at(6, 8).as_deref(), Some("q"));
    }

    #[test]
    fn a_method_is_called_on_an_object_and_a_constructor_is_none() {
        let text =
            "struct R { R() : a(1) {} int a; };\nint f(R *r) { return r->label.size() + g(r); }\n";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        let at = |line: usize, needle: &str, writes| {
            let text = text.lines().nth(line - 1).expect("a line");
            let column = text.find(needle).expect("there") + 1;
            object_at(&file, (line as u32, column as u32), writes)
        };
        assert_eq!(at(1, "R()", true), None);
        assert_eq!(at(2, "size", false).as_deref(), Some("r->label"));
        assert_eq!(at(2, "label", false).as_deref(), Some("r->label"));
        assert_eq!(at(2, "g(", false), None);
    }

    #[test]
    fn objects_are_found_where_compilers_point() {
        let text = "void f(struct n *head, int i) {\n\
            \x20 head->next = 0;\n\
            \x20 slots[i].seq++;\n\
            \x20 return work(head->value, slots[i]);\n}\n";
        let file = ParsedFile::parse(Path::new("a.c"), text.as_bytes(), Language::C);
        let at = |line: usize, needle: &str, writes| {
            let text = text.lines().nth(line - 1).expect("a line");
            let column = text.find(needle).expect("there") + 1;
            let point = (line as u32, column as u32);
            object_at(&file, point, writes)
        };
        assert_eq!(at(2, "=", true).as_deref(), Some("head->next"));
        assert_eq!(at(2, "next", true).as_deref(), Some("head->next"));
        assert_eq!(at(3, "++", true).as_deref(), Some("slots[i].seq"));
        assert_eq!(at(4, "value", false).as_deref(), Some("head->value"));
        assert_eq!(at(4, "slots", false).as_deref(), Some("slots[i]"));
        assert_eq!(at(4, "work", false), None);
    }

    #[test]
    fn a_pointer_on_the_way_is_not_what_it_points_to() {
        let text = "int f(struct s *obj, int i) {\n\
            \x20 *obj->ptr = 1;\n\
            \x20 int x = *obj->ptr + obj->next->val;\n\
            \x20 return obj->next->a[i] + obj->name.first;\n}\n";
        let file = ParsedFile::parse(Path::new("a.c"), text.as_bytes(), Language::C);
        let at = |line: u32, column, writes| object_at(&file, (line, column), writes);
        // gcc points at the operator of a member, clang and g++ at its name.
        for column in [7, 9] {
            assert_eq!(at(2, column, false).as_deref(), Some("obj->ptr"));
        }
        assert_eq!(at(2, 13, true).as_deref(), Some("*obj->ptr"));
        assert_eq!(at(3, 11, false).as_deref(), Some("*obj->ptr"));
        assert_eq!(at(3, 15, false).as_deref(), Some("obj->ptr"));
        for (column, object) in [(26, "obj->next"), (28, "obj->next"), (32, "obj->next->val")] {
            assert_eq!(at(3, column, false).as_deref(), Some(object));
        }
        assert_eq!(at(4, 13, false).as_deref(), Some("obj->next"));
        assert_eq!(at(4, 22, false).as_deref(), Some("obj->next->a[i]"));
        // A part of a structure is no pointer on the way.
        assert_eq!(at(4, 31, false).as_deref(), Some("obj->name.first"));
    }
}
