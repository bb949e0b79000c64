//! The corpus of small sources: every site in them is found, with what the text
//! says about it, and nothing else is.

use std::fs;
use std::path::{Path, PathBuf};

use wmfix_frontend::{Vocabularies, scan_source};
use wmfix_tests::sites::{count, differences};

/// What the corpus promises to hold at least.
const FEWEST_FILES: usize = 150;

#[test]
fn every_annotated_source_gives_its_sites() {
    let files = corpus();
    assert!(files.len() >= FEWEST_FILES, "only {} sources", files.len());
    let mut problems = Vec::new();
    let mut sites = 0;
    for path in &files {
        let bytes = fs::read(path).expect("the corpus can be read");
        let text = String::from_utf8(bytes).expect("this part of the corpus is UTF-8");
        let scan = scan_source(path, text.as_bytes(), &vocabularies(path));
        sites += count(&text);
        let name = path.strip_prefix(folder()).expect("found below").display();
        problems.extend(
            differences(&text, &scan)
                .into_iter()
                .map(|p| format!("{name}: {p}")),
        );
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(sites > 2 * FEWEST_FILES, "only {sites} sites in the corpus");
}

/// The built-in vocabularies, and those of a `NAME.toml` beside the source.
fn vocabularies(path: &Path) -> Vocabularies {
    let beside = path.with_extension("toml");
    let Ok(text) = fs::read_to_string(&beside) else {
        return Vocabularies::builtin();
    };
    let table: toml::Table = text.parse().expect("a vocabulary of the corpus is TOML");
    let all = Vocabularies::with_project(table.get("vocabulary"))
        .expect("a vocabulary of the corpus is well formed");
    if table.get("volatile").is_some() {
        all.and_volatile()
    } else {
        all
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/sites")
}

fn corpus() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the corpus can be listed") {
            let path = entry.expect("the corpus can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e != "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
