//! `wmfix scan --learn`: vocabulary text for the wrappers that a tree defines.

use std::path::PathBuf;

use wmfix_frontend::{ParsedFile, Vocabularies, Wrapper, scan_tree, vocabulary_text, wrappers};

/// The text, with a comment that says what to do with it.
pub(crate) fn propose(paths: &[PathBuf], vocabularies: &Vocabularies) -> String {
    let mut found: Vec<Wrapper> = Vec::new();
    for (path, scan) in scan_tree(paths, vocabularies).files {
        let Ok(text) = std::fs::read(&path) else {
            // The scan has just read it: it is gone, and so are its wrappers.
            continue;
        };
        for wrapper in wrappers(&ParsedFile::parse(&path, text, scan.language), vocabularies) {
            if !found.iter().any(|known| known.name == wrapper.name) {
                found.push(wrapper);
            }
        }
    }
    if found.is_empty() {
        return "# No function or macro here wraps exactly one atomic operation.\n".to_owned();
    }
    let mut text = String::from(
        "# Wrappers found by `wmfix scan --learn`. Put what is right into wmfix.toml:\n\
         # calls of these then count as sites of their own.\n\n",
    );
    text += &vocabulary_text("project", &found);
    text
}
