//! Macro definitions, as the text of a file has them.

use crate::outline::{Marks, Outline};
use crate::site::Span;
use crate::source::ParsedFile;

/// A macro definition.
pub(crate) struct Macro {
    /// Its name.
    pub name: String,
    /// Its parameters; `None` if it is used without parentheses.
    pub parameters: Option<Vec<String>>,
    /// Where its body stands.
    pub body: Span,
}

/// The macros that a file defines, in the order of the text.
pub(crate) fn macro_definitions(outline: &Outline<'_>, file: &ParsedFile) -> Vec<Macro> {
    let mut macros = Vec::new();
    outline.visit(Marks::MACRO, |node, _, _| {
        let (Some(name), Some(value)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        let parameters = node.child_by_field_name("parameters").map(|list| {
            let mut cursor = list.walk();
            list.children(&mut cursor)
                .filter(|c| c.kind() == "identifier" || c.kind() == "...")
                .map(|c| file.node_text(c).into_owned())
                .collect()
        });
        macros.push(Macro {
            name: file.node_text(name).into_owned(),
            parameters,
            body: value.byte_range(),
        });
    });
    macros
}
