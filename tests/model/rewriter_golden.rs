//! Golden cases of the rewriter: each gives exactly the text that was written
//! down, parses no worse than before, and changes nothing when done again.
//! `WMFIX_BLESS=1` writes down what comes out.

use std::collections::HashSet;
use std::path::Path;

use tree_sitter::Node;
use wmfix_frontend::{Language, ParsedFile};
use wmfix_tests::rewriter::cases::{self, Case};

/// The number of cases that the corpus must not fall below.
const CASES: usize = 400;

#[test]
fn every_case_gives_its_text() {
    let bless = std::env::var_os("WMFIX_BLESS").is_some_and(|value| value == "1");
    let mut failures = Vec::new();
    let mut names = HashSet::new();
    for path in cases::files() {
        let mut all = cases::read(&path);
        for case in &mut all {
            assert!(names.insert(case.name.clone()), "{}: twice", case.name);
            let rewrite = case.rewrite(&case.before);
            let text = rewrite
                .edits
                .apply(case.before.as_bytes())
                .expect("same text");
            let text = String::from_utf8(text).expect("UTF-8");
            let refused: Vec<String> = rewrite
                .refused
                .iter()
                .map(|(index, refusal)| format!("{index}: {refusal}"))
                .collect();
            if bless {
                case.after = text;
                case.refused = refused;
            } else if text != case.after || refused != case.refused {
                failures.push(format!("=== {}\n{text}--- refused {refused:?}", case.name));
            }
        }
        if bless {
            cases::write(&path, &all);
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(bless || names.len() >= CASES, "only {} cases", names.len());
}

#[test]
fn no_case_adds_an_error_node() {
    for case in all() {
        let (before, after) = (errors(&case, &case.before), errors(&case, &case.after));
        assert!(
            after <= before,
            "{}: {after} errors after {before}",
            case.name
        );
    }
}

#[test]
fn a_second_time_changes_nothing() {
    let mut failures = Vec::new();
    for case in all() {
        let again = case.rewrite(&case.after);
        if !again.edits.is_empty() {
            let text = again.edits.apply(case.after.as_bytes()).expect("same text");
            failures.push(format!(
                "=== {}\n{}",
                case.name,
                String::from_utf8_lossy(&text)
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn all() -> Vec<Case> {
    cases::files()
        .iter()
        .flat_map(|path| cases::read(path))
        .collect()
}

fn errors(case: &Case, text: &str) -> usize {
    fn count(node: Node<'_>) -> usize {
        let mut cursor = node.walk();
        let own = usize::from(node.is_error() || node.is_missing());
        own + node.children(&mut cursor).map(count).sum::<usize>()
    }
    let path = Path::new(&case.file);
    let language = Language::of(path, text.as_bytes()).expect("C or C++");
    count(
        ParsedFile::parse(path, text.as_bytes(), language)
            .tree()
            .root_node(),
    )
}
