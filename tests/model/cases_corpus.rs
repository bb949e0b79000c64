//! The cases of known bugs: each is described, compiles without a warning in both
//! versions, and has a change by its maintainers that applies and changes orders.

use std::path::Path;
use std::process::Command;

use wmfix_tests::cases::{Case, Edits, Language, Layer, Words};
use wmfix_tests::examples::example::{CLANG, Compiler, GCC};
use wmfix_tests::tools::{Need, need};

#[test]
fn half_of_at_least_25_shapes_are_behind_a_layer() {
    let cases = Case::all();
    assert!(cases.len() >= 25, "{}", cases.len());
    let layered = cases
        .iter()
        .filter(|case| case.description.layer != Layer::None);
    assert!(layered.count() * 2 >= cases.len());
    for language in [Language::C, Language::Cxx] {
        let written = cases
            .iter()
            .filter(|case| case.description.language == language);
        assert!(written.count() >= 10, "{language:?}");
    }
    let mut shapes: Vec<&str> = cases
        .iter()
        .map(|case| case.description.shape.as_str())
        .collect();
    shapes.sort_unstable();
    shapes.dedup();
    assert_eq!(shapes.len(), cases.len(), "each shape once");
}

#[test]
fn the_expected_lines_are_there_and_the_stories_are_told() {
    for case in Case::all() {
        let description = &case.description;
        let (file, _) = case.line_of(&description.expected.line);
        assert_eq!(file, description.expected.file, "{}", case.name);
        for text in &description.expected.shows {
            case.line_of(text);
        }
        let kinds = ["race", "stale-read", "stale-write", "stale-rmw"];
        assert!(
            kinds.contains(&description.expected.kind.as_str()),
            "{}",
            case.name
        );
        for told in [
            &description.title,
            &description.history,
            &description.buggy,
            &description.fixed,
        ] {
            assert!(!told.trim().is_empty(), "{}", case.name);
        }
        let code = case.texts(&case.folder);
        assert!(
            code[&description.expected.file].contains(&description.expected.function),
            "{}",
            case.name
        );
    }
}

#[test]
fn the_maintainers_changes_apply_and_change_orders() {
    need(&[Need::Program("git"), Need::Program("patch")]);
    for case in Case::all() {
        let by_git = tempfile::tempdir().unwrap();
        case.write_fixed(by_git.path());
        let by_patch = tempfile::tempdir().unwrap();
        case.write_buggy(by_patch.path());
        let status = Command::new("patch")
            .args(["-p1", "--silent", "--input"])
            .arg(case.patch())
            .current_dir(by_patch.path())
            .status()
            .unwrap();
        assert!(status.success(), "{}", case.name);
        let fixed = case.texts(by_git.path());
        assert_eq!(fixed, case.texts(by_patch.path()), "{}", case.name);
        let words = Words::new(&case.description.orders);
        let edits = Edits::between(&case.texts(&case.folder), &fixed, &words);
        assert!(!edits.is_empty(), "{}: no order is changed", case.name);
        assert!(
            edits
                .iter()
                .any(|edit| edit.file == case.description.expected.file),
            "{}: {edits:?}",
            case.name
        );
    }
}

#[test]
fn gcc_compiles_both_versions() {
    need(&[
        Need::Program("gcc"),
        Need::Program("g++"),
        Need::Program("git"),
    ]);
    assert_compile(GCC);
}

#[test]
fn clang_compiles_both_versions() {
    need(&[
        Need::Program("clang"),
        Need::Program("clang++"),
        Need::Program("git"),
    ]);
    assert_compile(CLANG);
}

fn assert_compile(compiler: Compiler) {
    for case in Case::all() {
        assert_compiles(&case, compiler, &case.folder);
        let fixed = tempfile::tempdir().unwrap();
        case.write_fixed(fixed.path());
        assert_compiles(&case, compiler, fixed.path());
    }
}

fn assert_compiles(case: &Case, compiler: Compiler, folder: &Path) {
    let (program, standard) = match case.description.language {
        Language::C => (compiler.c, "-std=gnu11"),
        Language::Cxx => (compiler.cxx, "-std=c++17"),
    };
    let output = Command::new(program)
        .args([standard, "-fsyntax-only", "-Wall", "-Wextra", "-Werror"])
        .args(&case.description.flags)
        .args(case.sources())
        .current_dir(folder)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{} in {}: {told}",
        case.name,
        folder.display()
    );
}
