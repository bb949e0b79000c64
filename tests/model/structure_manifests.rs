//! Manifests say what is so: every dependency is used by the package that names
//! it, every dependency of the workspace by a package, and all tests that are not
//! unit tests of a library are modules of the two test executables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::Table;
use wmfix_tests::project::{Package, packages, read, root, workspace};

#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    let mut named = BTreeSet::new();
    for package in packages() {
        let tests = test_sources(&package);
        let kinds = [
            ("dependencies", package.sources(Some("src"))),
            ("dev-dependencies", tests),
            ("build-dependencies", package.sources(Some("build.rs"))),
        ];
        for (section, sources) in kinds {
            let texts: Vec<String> = sources.iter().map(|path| read(path)).collect();
            for dependency in names(&package.manifest, section) {
                if !texts.iter().any(|text| mentions(text, &dependency)) {
                    unused.push(format!("{} ({section}): {dependency}", package.name));
                }
                named.insert(dependency);
            }
        }
    }
    let shared = workspace()["workspace"]["dependencies"].clone();
    let shared = shared.as_table().expect("a table").keys();
    unused.extend(shared.filter(|name| !named.contains(*name)).cloned());
    assert!(
        unused.is_empty(),
        "dependencies that nobody uses: {unused:?}"
    );
}

#[test]
fn the_model_does_not_depend_on_the_product() {
    let tests = packages().into_iter().find(|p| p.name == "wmfix-tests");
    let manifest = tests.expect("a package of the workspace").manifest;
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        assert!(!names(&manifest, section).contains(&"wmfix".to_owned()));
    }
}

#[test]
fn the_tests_of_the_product_and_of_the_model_are_one_executable_each() {
    for package in packages() {
        if ["wmfix", "wmfix-tests"].contains(&package.name.as_str()) {
            let folder = root().join(&package.folder).join("tests");
            assert!(
                !folder.exists(),
                "{folder:?}: a file of tests is a module of tests/model or tests/product"
            );
        }
    }
}

/// What may use a package's dev-dependencies: all its files, and those of tests
/// that it keeps elsewhere.
fn test_sources(package: &Package) -> Vec<PathBuf> {
    let mut sources = package.sources(None);
    if package.name == "wmfix" {
        let all = packages();
        let tests = all.iter().find(|package| package.name == "wmfix-tests");
        sources.extend(tests.into_iter().flat_map(|p| p.sources(Some("product"))));
    }
    sources.retain(|path| !path.ends_with(Path::new("build.rs")));
    sources
}

fn names(manifest: &Table, section: &str) -> Vec<String> {
    let table = manifest.get(section).and_then(|section| section.as_table());
    table.into_iter().flat_map(|t| t.keys().cloned()).collect()
}

/// Whether a text has a package's name, as Rust spells it, as a word.
fn mentions(text: &str, package: &str) -> bool {
    let name = package.replace('-', "_");
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(&name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
