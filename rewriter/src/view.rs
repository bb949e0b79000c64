//! A syntax tree to look at a site in: the file's own, or that of one macro
//! body, which the file's tree holds only as text. Owns the way between the
//! offsets of the two and the small questions that all of the planning asks.

use std::borrow::Cow;

use tree_sitter::{Node, Parser, Tree};
use wmfix_frontend::{Language, ParsedFile, Span};

const MACRO_PREFIX: &[u8] = b"void f(void) {";
const MACRO_SUFFIX: &[u8] = b"\n;}";

/// A stretch of a file with its syntax tree.
pub(crate) struct View<'a> {
    text: Cow<'a, [u8]>,
    tree: Cow<'a, Tree>,
    /// What to take from an offset in `text` to have one in the macro's body.
    prefix: usize,
    /// Where the body starts in the file.
    base: usize,
    /// The text is a macro's body: there are no lines of its own in it.
    pub(crate) in_macro: bool,
    pub(crate) language: Language,
}

impl<'a> View<'a> {
    /// The whole file.
    pub(crate) fn of_file(file: &'a ParsedFile) -> Self {
        Self {
            text: Cow::Borrowed(file.text()),
            tree: Cow::Borrowed(file.tree()),
            prefix: 0,
            base: 0,
            in_macro: false,
            language: file.language(),
        }
    }

    /// The body of the macro definition in which `span` lies, parsed as the
    /// statements of a function; `None` if it lies in no macro's body.
    pub(crate) fn of_macro(file: &'a ParsedFile, span: &Span) -> Option<Self> {
        let node = file
            .tree()
            .root_node()
            .descendant_for_byte_range(span.start, span.end)?;
        let body = std::iter::successors(Some(node), Node::parent)
            .find(|node| node.kind() == "preproc_arg")?;
        let mut text = MACRO_PREFIX.to_vec();
        text.extend_from_slice(&file.text()[body.byte_range()]);
        text.extend_from_slice(MACRO_SUFFIX);
        let grammar = match file.language() {
            Language::C => tree_sitter_c::LANGUAGE.into(),
            Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        };
        let mut parser = Parser::new();
        parser.set_language(&grammar).ok()?;
        let tree = parser.parse(&text, None)?;
        Some(Self {
            text: Cow::Owned(text),
            tree: Cow::Owned(tree),
            prefix: MACRO_PREFIX.len(),
            base: body.start_byte(),
            in_macro: true,
            language: file.language(),
        })
    }

    /// The root of the tree.
    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Where a node lies in the file.
    pub(crate) fn span(&self, node: Node<'_>) -> Span {
        self.offset(node.start_byte())..self.offset(node.end_byte())
    }

    /// Where an offset of the tree lies in the file.
    pub(crate) fn offset(&self, offset: usize) -> usize {
        offset.saturating_sub(self.prefix) + self.base
    }

    /// Whether a node of a macro's body ends in what the body was completed with.
    pub(crate) fn reaches_out(&self, node: Node<'_>) -> bool {
        self.in_macro && node.end_byte() > self.text.len() - MACRO_SUFFIX.len()
    }

    /// The text of a node.
    pub(crate) fn text(&self, node: Node<'_>) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.text[node.byte_range()])
    }

    /// The outermost expression that is exactly at `span` of the file.
    pub(crate) fn expression_at(&self, span: &Span) -> Option<Node<'_>> {
        let start = (span.start + self.prefix).checked_sub(self.base)?;
        let end = (span.end + self.prefix).checked_sub(self.base)?;
        let node = self.root().descendant_for_byte_range(start, end)?;
        if node.byte_range() != (start..end) {
            return None;
        }
        Some(node)
    }
}

/// A node's ancestors, the nearest first.
pub(crate) fn ancestors(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.parent(), Node::parent)
}

/// A node's named children that are not comments.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .collect()
}

/// Whether `outer` contains `inner` (or is it).
pub(crate) fn contains(outer: Node<'_>, inner: Node<'_>) -> bool {
    outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
}

/// The next named sibling in one direction that is not a comment.
pub(crate) fn sibling<'t>(node: Node<'t>, forward: bool) -> Option<Node<'t>> {
    let step = |node: Node<'t>| {
        if forward {
            node.next_named_sibling()
        } else {
            node.prev_named_sibling()
        }
    };
    let mut at = node;
    loop {
        at = step(at)?;
        if at.kind() != "comment" {
            return Some(at);
        }
    }
}

/// Whether this kind of node is a statement that can have statements next to it.
pub(crate) fn is_statement(kind: &str) -> bool {
    kind == "declaration"
        || (kind.ends_with("_statement") && kind != "init_statement")
        || kind == "for_range_loop"
}

/// The function or lambda around a node: where its local names live.
pub(crate) fn enclosing_function(node: Node<'_>) -> Option<Node<'_>> {
    ancestors(node).find(|node| {
        matches!(
            node.kind(),
            "function_definition" | "lambda_expression" | "inline_method_definition"
        )
    })
}
