//! docs/limits.md quotes what wmfix says when it meets a limit, and wmfix says that: a
//! message that is changed is changed there, too.

use std::fs;
use std::path::Path;

use wmfix_tests::project::root;

/// The quotations of the second columns.
fn quoted(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let said = rows.filter_map(|row| row.split(" | ").nth(1));
    said.flat_map(|said| said.split('"').skip(1).step_by(2))
        .collect()
}

/// The text of all sources below a folder, with literals that go on in the next line in
/// one piece.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("a source");
            let lines = source.split("\\\n").map(str::trim_start);
            *text += &lines.collect::<Vec<_>>().join("");
        }
    }
}

#[test]
fn every_quotation_of_a_limit_is_in_the_sources() {
    let page = fs::read_to_string(root().join("docs/limits.md")).expect("a page");
    let mut text = String::new();
    sources(&root().join("suggest/src"), &mut text);
    let quoted = quoted(&page);
    assert!(quoted.len() >= 20, "{quoted:?}");
    let missing: Vec<&&str> = quoted
        .iter()
        .filter(|words| !text.contains(**words))
        .collect();
    assert!(missing.is_empty(), "not said: {missing:#?}");
}
