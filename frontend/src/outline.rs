//! The nodes of a syntax tree in one list, in the order of the text. A scan looks
//! through a tree many times, and walking it through a cursor is slow: here that
//! is done once, and each node is marked with the passes that need its kind.
//! Knows node kinds of the two grammars; knows nothing of atomics.

use std::ops::BitOr;
use std::sync::OnceLock;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::ParsedFile;

/// A tree's nodes.
pub(crate) struct Outline<'t> {
    nodes: Vec<OutlineNode<'t>>,
}

struct OutlineNode<'t> {
    node: Node<'t>,
    /// How many ancestors it has.
    depth: u32,
    marks: Marks,
}

/// The passes that need a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    const NONE: Self = Self(0);
    /// It declares something.
    pub(crate) const DECLARES: Self = Self(1);
    /// It is a call.
    pub(crate) const CALL: Self = Self(1 << 1);
    /// It may name an object.
    pub(crate) const OBJECT: Self = Self(1 << 2);
    /// It defines a macro.
    pub(crate) const MACRO: Self = Self(1 << 3);
    /// It defines a function.
    pub(crate) const FUNCTION: Self = Self(1 << 4);
    /// It is a loop, or a label that may begin one.
    pub(crate) const LOOP: Self = Self(1 << 5);
    /// It is inline assembly.
    pub(crate) const ASSEMBLY: Self = Self(1 << 6);
    /// It could not be parsed, or is not there although the grammar wants it.
    pub(crate) const BROKEN: Self = Self(1 << 7);

    fn of_kind(kind: &str) -> Self {
        match kind {
            "declaration"
            | "field_declaration"
            | "parameter_declaration"
            | "optional_parameter_declaration"
            | "function_declarator"
            | "template_parameter_list"
            | "type_definition"
            | "alias_declaration"
            | "class_specifier"
            | "struct_specifier"
            | "using_declaration"
            | "enumerator"
            | "for_range_loop" => Self::DECLARES,
            "function_definition" => Self::DECLARES | Self::FUNCTION,
            "preproc_def" => Self::DECLARES | Self::MACRO,
            "preproc_function_def" => Self::MACRO,
            "call_expression" => Self::CALL,
            "identifier"
            | "field_expression"
            | "subscript_expression"
            | "pointer_expression"
            | "qualified_identifier" => Self::OBJECT,
            "while_statement" | "do_statement" | "for_statement" | "labeled_statement" => {
                Self::LOOP
            }
            "gnu_asm_expression" => Self::ASSEMBLY,
            _ => Self::NONE,
        }
    }

    /// Whether the two have a mark in common.
    pub(crate) fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Marks {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl<'t> Outline<'t> {
    /// Lists a file's nodes.
    pub(crate) fn of(file: &'t ParsedFile) -> Self {
        Self::of_part(file.tree().root_node(), file.language())
    }

    /// Lists the nodes of a part that was parsed by itself. Does not recurse: text
    /// can be nested arbitrarily deep.
    pub(crate) fn of_part(root: Node<'t>, language: Language) -> Self {
        let marks = marks_by_kind(language);
        let may_miss = root.has_error();
        let mut nodes: Vec<OutlineNode<'t>> = Vec::with_capacity(root.descendant_count() / 2);
        let mut depth = 0;
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            let missing = may_miss && node.is_missing();
            let listed = node.is_named() || missing;
            if listed {
                let of_kind = marks.get(usize::from(node.kind_id())).copied();
                let broken = missing || of_kind.is_none();
                let of_kind = of_kind.unwrap_or(Marks::NONE);
                nodes.push(OutlineNode {
                    node,
                    depth,
                    marks: if broken {
                        of_kind | Marks::BROKEN
                    } else {
                        of_kind
                    },
                });
            }
            if cursor.goto_first_child() {
                if !listed {
                    // Every node with children is an ancestor of something.
                    let marks = Marks::NONE;
                    nodes.push(OutlineNode { node, depth, marks });
                }
                depth += 1;
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Self { nodes };
                }
                depth -= 1;
            }
        }
    }

    /// The root of the tree.
    pub(crate) fn root(&self) -> Node<'t> {
        self.nodes[0].node
    }

    /// Visits every node with one of these marks in the order of the text, with its
    /// marks and its ancestors from the root down.
    pub(crate) fn visit(&self, wanted: Marks, mut each: impl FnMut(Node<'t>, Marks, &[Node<'t>])) {
        let mut ancestors: Vec<Node<'t>> = Vec::new();
        for listed in &self.nodes {
            ancestors.truncate(listed.depth as usize);
            if listed.marks.meet(wanted) {
                each(listed.node, listed.marks, &ancestors);
            }
            ancestors.push(listed.node);
        }
    }
}

/// The marks of each kind of node, by the number that the grammar gives it. An
/// error has a number beyond all of them.
fn marks_by_kind(language: Language) -> &'static [Marks] {
    static C: OnceLock<Vec<Marks>> = OnceLock::new();
    static CPP: OnceLock<Vec<Marks>> = OnceLock::new();
    let known = match language {
        Language::C => &C,
        Language::Cpp => &CPP,
    };
    known.get_or_init(|| {
        let grammar = language.grammar();
        (0..grammar.node_kind_count())
            .map(|id| {
                u16::try_from(id)
                    .ok()
                    .and_then(|id| grammar.node_kind_for_id(id))
                    .map_or(Marks::NONE, Marks::of_kind)
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tree_sitter::Node;

    use super::{Marks, Outline};
    use crate::language::Language;
    use crate::source::ParsedFile;

    #[test]
    fn nodes_are_visited_in_order_with_their_ancestors() {
        let text = "int f() { while (g(h(1))) ; } )";
        let file = ParsedFile::parse(Path::new("a.cc"), text.as_bytes(), Language::Cpp);
        let outline = Outline::of(&file);
        let mut calls = Vec::new();
        outline.visit(Marks::CALL | Marks::LOOP, |node, marks, ancestors| {
            let kinds: Vec<&str> = ancestors.iter().map(Node::kind).collect();
            let parents: Vec<&str> = std::iter::successors(node.parent(), Node::parent)
                .map(|parent| parent.kind())
                .collect();
            assert!(kinds.iter().rev().eq(&parents), "{kinds:?} {parents:?}");
            calls.push((
                marks == Marks::CALL,
                file.node_text(node).split('(').next().map(str::to_owned),
            ));
        });
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(
            calls,
            [
                (false, name("while ")),
                (true, name("g")),
                (true, name("h"))
            ]
        );
        let mut broken = 0;
        outline.visit(Marks::BROKEN, |_, _, _| broken += 1);
        assert_eq!(broken, 1);
    }
}
