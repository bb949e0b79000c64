//! Code that is there for debugging only: arguments of assertions, and what NDEBUG
//! takes out. A change in it would be missing from what is released.

use tree_sitter::Node;
use wmfix_frontend::ParsedFile;

use crate::view::ancestors;

/// Whether something of this name is an assertion that a build without debugging
/// does not evaluate: `assert`, `mi_assert_internal`, `Q_ASSERT`, `DCHECK_EQ`. The
/// checks of test frameworks (`ASSERT_EQ`) are always evaluated.
pub(crate) fn is_assertion(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    (lower.contains("assert") && !name.starts_with("ASSERT_")) || lower.starts_with("dcheck")
}

/// The name of the assertion whose argument a node is in.
pub(crate) fn assertion_around(file: &ParsedFile, node: Node<'_>) -> Option<String> {
    let calls = ancestors(node).filter(|above| above.kind() == "call_expression");
    let mut names = calls.filter_map(|call| {
        let callee = call.child_by_field_name("function")?;
        let in_arguments = callee.end_byte() <= node.start_byte();
        (in_arguments && callee.kind() == "identifier").then(|| file.node_text(callee).into_owned())
    });
    names.find(|name| is_assertion(name))
}

/// Whether a node is only compiled depending on NDEBUG.
pub(crate) fn depends_on_ndebug(file: &ParsedFile, node: Node<'_>) -> bool {
    ancestors(node).any(|above| {
        let condition = match above.kind() {
            "preproc_ifdef" | "preproc_elifdef" => above.child_by_field_name("name"),
            "preproc_if" | "preproc_elif" => above.child_by_field_name("condition"),
            _ => None,
        };
        condition.is_some_and(|condition| {
            let text = file.node_text(condition);
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.any(|word| word == "NDEBUG")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::is_assertion;

    #[test]
    fn assertions_are_told_from_the_checks_of_tests() {
        for name in [
            "assert",
            "mi_assert_internal",
            "Q_ASSERT",
            "DCHECK_GT",
            "folly_assert",
        ] {
            assert!(is_assertion(name), "{name}");
        }
        for name in ["ASSERT_EQ", "EXPECT_TRUE", "CHECK", "insert", "load"] {
            assert!(!is_assertion(name), "{name}");
        }
    }
}
