//! Whether a place can be passed twice with no atomic operation in between: by
//! the loops around it, and by what comes before it. Decides from one function's
//! text; what the text does not tell is [`Repetition::Unknown`].

use tree_sitter::Node;

use crate::site::{Site, Span};
use crate::site_lines::starting_in;
use crate::source::ParsedFile;
use crate::syntax::{self, children, is_function, is_loop, operator};
use crate::wrapping::call_at;

/// How often a place is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Each time one of these operations comes first, and it is outside of the
    /// loop that waits.
    After(Vec<Span>),
    /// At most once in each call of the function around it.
    OncePerCall,
    /// Perhaps again and again.
    Unknown,
}

/// How often the loop is entered that waits on a site.
pub fn repetition_of_wait(file: &ParsedFile, sites: &[Site], wait: &Site) -> Repetition {
    let Some(waiting) = &wait.loop_span else {
        return Repetition::Unknown;
    };
    let root = file.tree().root_node();
    match root.descendant_for_byte_range(waiting.start, waiting.end) {
        Some(node) if is_loop(node) && node.byte_range() == *waiting => passing(sites, node),
        _ => Repetition::Unknown,
    }
}

/// How often a call of the function `name` at a line and column is made.
pub fn repetition_of_call(
    file: &ParsedFile,
    sites: &[Site],
    point: (u32, u32),
    name: &str,
) -> Repetition {
    match call_at(file, point, name) {
        Some(call) => passing(sites, call),
        None => Repetition::Unknown,
    }
}

fn passing(sites: &[Site], place: Node<'_>) -> Repetition {
    let mut before = Vec::new();
    let mut child = place;
    while let Some(parent) = child.parent() {
        if is_function(parent) {
            return match jumps(parent) {
                true => Repetition::Unknown,
                false => Repetition::OncePerCall,
            };
        }
        let is_body = ["body", "consequence", "alternative"]
            .iter()
            .any(|field| parent.child_by_field_name(field) == Some(child));
        match parent.kind() {
            "compound_statement"
                if parent
                    .parent()
                    .is_some_and(|p| p.kind() == "switch_statement") => {}
            "compound_statement" => {
                let earlier = children(parent);
                let earlier = earlier.into_iter().take_while(|sibling| *sibling != child);
                for statement in earlier {
                    if matches!(statement.kind(), "expression_statement" | "declaration") {
                        before.extend(always_done(statement, sites));
                    }
                }
            }
            "if_statement" | "switch_statement" | "while_statement" | "for_statement"
                if is_body =>
            {
                let condition = parent.child_by_field_name("condition");
                before.extend(condition.into_iter().flat_map(|c| always_done(c, sites)));
            }
            _ => {}
        }
        if is_loop(parent) && before.is_empty() {
            return Repetition::Unknown;
        }
        if !before.is_empty() {
            let function =
                std::iter::successors(Some(parent), Node::parent).find(|n| is_function(*n));
            return match function.is_some_and(|function| !jumps(function)) {
                true => Repetition::After(before),
                false => Repetition::Unknown,
            };
        }
        child = parent;
    }
    Repetition::Unknown
}

/// The operations that a statement or condition executes whatever happens.
fn always_done(node: Node<'_>, sites: &[Site]) -> Vec<Span> {
    let mut done = Vec::new();
    let sites = starting_in(sites, &node.byte_range()).iter();
    for site in sites.filter(|site| site.macro_name.is_none()) {
        if !syntax::within(&site.span, &node.byte_range()) {
            continue;
        }
        let Some(mut inner) = node.descendant_for_byte_range(site.span.start, site.span.end) else {
            continue;
        };
        // Arguments of another call may be a macro's, which may drop them.
        let passes_on = |node: Node<'_>| match node.kind() {
            "binary_expression" => !matches!(operator(node), "&&" | "||" | "and" | "or"),
            kind => matches!(
                kind,
                "init_declarator"
                    | "assignment_expression"
                    | "parenthesized_expression"
                    | "condition_clause"
                    | "cast_expression"
                    | "unary_expression"
                    | "comma_expression"
            ),
        };
        while inner != node
            && let Some(parent) = inner.parent()
            && (parent == node || passes_on(parent))
        {
            inner = parent;
        }
        if inner == node {
            done.push(site.span.clone());
        }
    }
    done
}

/// Whether a function jumps in a way that its blocks do not show.
fn jumps(function: Node<'_>) -> bool {
    let mut found = false;
    syntax::visit(function, |node, _| {
        found |= matches!(
            node.kind(),
            "goto_statement" | "co_await_expression" | "co_yield_statement" | "ERROR"
        );
    });
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Repetition, repetition_of_call, repetition_of_wait};
    use crate::{Language, LoopRole, ParsedFile, Vocabularies, scan_parsed};

    /// What comes before the one waiting loop of a function, as text.
    fn before(body: &str) -> Option<Vec<String>> {
        let text = format!(
            "#include <atomic>\nstd::atomic<int> x, y;\nvoid f(int n, int mine) {{\n{body}\n}}\n"
        );
        let file = ParsedFile::parse(Path::new("a.cc"), text.clone().into_bytes(), Language::Cpp);
        let scan = scan_parsed(&file, &Vocabularies::builtin());
        let waits = |site: &&crate::Site| matches!(site.role, LoopRole::Spin(_));
        let wait = scan.sites.iter().find(waits).expect("a loop that waits");
        match repetition_of_wait(&file, &scan.sites, wait) {
            Repetition::After(spans) => Some(
                spans
                    .into_iter()
                    .map(|span| text[span].to_owned())
                    .collect(),
            ),
            Repetition::OncePerCall => Some(Vec::new()),
            Repetition::Unknown => None,
        }
    }

    const WAIT: &str = "while (x.load() != mine) {}";

    #[test]
    fn what_always_comes_first_separates() {
        let after_y = Some(vec!["y.fetch_add(1)".to_owned()]);
        for body in [
            format!("int t = y.fetch_add(1);\n{WAIT}"),
            format!("while (n--) {{ y.fetch_add(1); if (n) {{ {WAIT} }} }}"),
            format!("if (y.fetch_add(1) == 3) x = 1; else {WAIT}"),
            format!("for (; y.fetch_add(1) < 3;) {WAIT}"),
        ] {
            assert_eq!(before(&body), after_y, "{body}");
        }
        assert_eq!(before(WAIT), Some(Vec::new()));
    }

    #[test]
    fn what_may_be_left_out_does_not() {
        for body in [
            format!("y.fetch_add(1); while (n--) {WAIT}"),
            format!("do {WAIT} while (n--);"),
            format!("for (int i = 0; i < n; i++) {{ if (n) y.fetch_add(1); {WAIT} }}"),
            format!("while (n--) {{ n && y.fetch_add(1); {WAIT} }}"),
            format!("while (n--) {{ LOG(y.fetch_add(1)); {WAIT} }}"),
            format!("y.fetch_add(1); again: {WAIT}\n if (n--) goto again;"),
            format!("while (n--) switch (n) {{ y.fetch_add(1); case 1: {WAIT} }}"),
        ] {
            assert_eq!(before(&body), None, "{body}");
        }
    }

    #[test]
    fn a_call_is_found_by_its_name() {
        let text = b"std::atomic<int> y;\nvoid g(int n) {\n  y.store(1);\n  wait(1); wait(2); other(3);\n  while (n--) more(n);\n}\n";
        let file = ParsedFile::parse(Path::new("a.cc"), text.to_vec(), Language::Cpp);
        let scan = scan_parsed(&file, &Vocabularies::builtin());
        let passing =
            |line, column, name| repetition_of_call(&file, &scan.sites, (line, column), name);
        assert!(matches!(passing(4, 3, "wait"), Repetition::After(_)));
        assert!(matches!(passing(4, 0, "other"), Repetition::After(_)));
        assert_eq!(passing(4, 0, "wait"), Repetition::Unknown);
        assert_eq!(passing(4, 3, "absent"), Repetition::Unknown);
        assert_eq!(passing(5, 15, "more"), Repetition::Unknown);
    }
}
