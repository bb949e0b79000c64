//! Barriers for the compiler alone: assembly without an instruction, and functions and
//! macros that are nothing else. To other threads they are nothing.

use tree_sitter::Node;

use crate::source::ParsedFile;
use crate::syntax::{self, children};

/// Names of such barriers, at the end of what a project calls them.
const NAMES: [&str; 3] = ["compiler_barrier", "compiler_fence", "atomic_signal_fence"];

/// Whether a piece of assembly has no instruction.
pub fn is_empty_assembly(node: Node<'_>, file: &ParsedFile) -> bool {
    let code = node.child_by_field_name("assembly_code");
    node.kind() == "gnu_asm_expression" && code.is_some_and(|code| is_blank(&file.node_text(code)))
}

/// Whether what is called by this name is such a barrier, by its name or by what the file
/// has for its body.
pub(crate) fn is_compiler_barrier(name: &str, file: &ParsedFile) -> bool {
    let lower = name.to_ascii_lowercase();
    if NAMES.iter().any(|known| lower.ends_with(known)) {
        return true;
    }
    let mut found = false;
    syntax::visit(file.tree().root_node(), |node, _| {
        found |= match node.kind() {
            "function_definition" => {
                syntax::function_name(node, file).as_deref() == Some(name)
                    && node
                        .child_by_field_name("body")
                        .is_some_and(|body| has_only_empty_assembly(body, file))
            }
            "preproc_function_def" | "preproc_def" => {
                let is_named = |n: Node<'_>| file.node_text(n) == name;
                let value = node.child_by_field_name("value");
                node.child_by_field_name("name").is_some_and(is_named)
                    && value.is_some_and(|value| says_empty_assembly(&file.node_text(value)))
            }
            _ => false,
        };
    });
    found
}

fn has_only_empty_assembly(body: Node<'_>, file: &ParsedFile) -> bool {
    let statements: Vec<_> = children(body)
        .into_iter()
        .filter(|statement| statement.kind() != "comment")
        .collect();
    let is_barrier = |statement: &Node<'_>| {
        let inner = children(*statement);
        inner.iter().any(|inner| is_empty_assembly(*inner, file))
    };
    let returns_nothing = |statement: &Node<'_>| {
        statement.kind() == "return_statement" && children(*statement).is_empty()
    };
    statements.iter().any(is_barrier)
        && (statements.iter()).all(|statement| is_barrier(statement) || returns_nothing(statement))
}

/// The same of a macro's body, of which there is no tree.
fn says_empty_assembly(text: &str) -> bool {
    let Some((before, rest)) = text.split_once('(') else {
        return false;
    };
    let mut words = before.split_whitespace();
    let is_assembly = words
        .next()
        .is_some_and(|word| matches!(word, "asm" | "__asm__" | "__asm"));
    let only_qualifiers = words.all(|word| matches!(word, "volatile" | "__volatile__"));
    let code = rest.split([':', ')']).next().unwrap_or_default();
    let ends = rest.trim_end().trim_end_matches(';').trim_end();
    is_assembly && only_qualifiers && is_blank(code) && ends.matches(')').count() == 1
}

/// Whether the text of a literal has nothing in it.
fn is_blank(literal: &str) -> bool {
    let quoted = literal
        .trim()
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    quoted.is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_compiler_barrier;
    use crate::{Language, ParsedFile};

    #[test]
    fn a_barrier_is_for_the_compiler_if_it_has_no_instruction() {
        let text = "static inline void pause_compiler(void) { __asm__ __volatile__(\"\" ::: \"memory\"); return; }\n\
            static inline void full(void) { __asm__ __volatile__(\"mfence\" ::: \"memory\"); }\n\
            static inline void both(void) { __asm__ volatile(\"\" ::: \"memory\"); work(); }\n\
            #define mb() __asm__ __volatile__ (\"\" : : : \"memory\")\n\
            #define real_mb() __asm__ __volatile__(\"dmb ish\" ::: \"memory\")\n\
            #define twice() __asm__(\"\" ::: \"memory\"); work()\n";
        let file = ParsedFile::parse(Path::new("a.h"), text.as_bytes(), Language::C);
        for name in [
            "pause_compiler",
            "mb",
            "foo_compiler_barrier",
            "atomic_signal_fence",
        ] {
            assert!(is_compiler_barrier(name, &file), "{name}");
        }
        for name in ["full", "both", "real_mb", "twice", "barrier"] {
            assert!(!is_compiler_barrier(name, &file), "{name}");
        }
    }
}
