//! docs/architecture.md against the tree. It has a map with a line for every source
//! file: its path and the first sentence of its header. `WMFIX_BLESS=1` writes the
//! map anew. The types and files that the rest of the document names exist.

use std::fs;
use std::path::Path;

use wmfix_tests::project::{Package, packages, read, root};

const DOCUMENT: &str = "docs/architecture.md";
const BEGIN: &str = "<!-- map -->\n";
const END: &str = "<!-- end of map -->\n";

#[test]
fn every_module_has_its_line_and_no_line_is_without_its_module() {
    let document = read(Path::new(DOCUMENT));
    let (before, rest) = document.split_once(BEGIN).expect("a map begins");
    let (map, after) = rest.split_once(END).expect("a map ends");
    let expected = expected_map();
    if std::env::var_os("WMFIX_BLESS").is_some_and(|value| value == "1") {
        let blessed = format!("{before}{BEGIN}{expected}{END}{after}");
        fs::write(root().join(DOCUMENT), blessed).expect("the document can be written");
        return;
    }
    let missing: Vec<&str> = lines_without(&expected, map);
    let stale: Vec<&str> = lines_without(map, &expected);
    assert!(
        missing.is_empty() && stale.is_empty() && map == expected,
        "the map of {DOCUMENT} is not up to date; write it anew with\n    \
         WMFIX_BLESS=1 cargo test --test model structure_map\n\
         missing lines:\n{}\nlines without their module:\n{}",
        missing.join("\n"),
        stale.join("\n")
    );
}

#[test]
fn what_the_document_names_exists() {
    let document = read(Path::new(DOCUMENT));
    let (text, _) = document.split_once(BEGIN).expect("a map begins");
    let packages = packages();
    let quoted = text.lines().filter(|line| !line.starts_with("    "));
    let quoted = quoted.flat_map(|line| line.split('`').skip(1).step_by(2));
    let (mut items, mut missing) = (0, Vec::new());
    for name in quoted {
        let is_path = name.ends_with(".rs") || name.ends_with('/');
        if let Some((krate, item)) = name.split_once("::").filter(|_| !name.contains(' ')) {
            items += 1;
            if !defines(&packages, krate, item) {
                missing.push(name);
            }
        } else if is_path && !exists(name) {
            missing.push(name);
        }
    }
    assert!(items > 10, "the document names types");
    assert!(missing.is_empty(), "{DOCUMENT} names {missing:?}");
}

/// Whether a crate, or a module of the command, defines an item.
fn defines(packages: &[Package], krate: &str, item: &str) -> bool {
    let own = packages.iter().find(|package| {
        let short = package.name.strip_prefix("wmfix-");
        short.unwrap_or(&package.name) == krate
    });
    let command = || packages.iter().find(|package| package.name == "wmfix");
    let package = own.or_else(command).expect("a package of the command");
    package.sources(Some("src")).iter().any(|path| {
        let text = read(path);
        ["struct", "enum", "fn", "type"].iter().any(|kind| {
            let definition = format!("{kind} {item}");
            let mut found = text.match_indices(&definition);
            found.any(|(at, _)| {
                let after = text[at + definition.len()..].chars().next();
                !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        })
    })
}

/// Files and folders are named from the project's root or from the command's.
fn exists(path: &str) -> bool {
    let folders = ["", "suggest/src"];
    folders
        .iter()
        .any(|folder| root().join(folder).join(path).exists())
}

#[test]
fn a_sentence_ends_at_its_full_stop() {
    let text = "//! Owns `a.b` and\n//! [`Site`]. Knows nothing.\n//!\n//! More.\n";
    assert_eq!(
        first_sentence(text),
        Some("Owns `a.b` and `Site`.".to_owned())
    );
    assert_eq!(first_sentence("use a;\n"), None);
}

fn expected_map() -> String {
    packages().iter().map(section).collect()
}

fn section(package: &Package) -> String {
    let mut sources = package.sources(None);
    sources.retain(|path| !is_unit_test(path));
    // The root of a crate comes before its modules.
    sources.sort_by_key(|path| (!is_root(path), shown(path)));
    let lines: String = sources.iter().map(|path| line(path)).collect();
    format!("\n### {} (`{}`)\n\n{lines}\n", package.name, package.folder)
}

fn line(path: &Path) -> String {
    let sentence = first_sentence(&read(path));
    let sentence = sentence.unwrap_or_else(|| panic!("{path:?} has no header"));
    format!("- `{}`: {sentence}\n", shown(path))
}

/// A module in a folder of its own is shown as the folder.
fn shown(path: &Path) -> String {
    let text = path.to_str().expect("paths of the project are UTF-8");
    text.strip_suffix("mod.rs").unwrap_or(text).to_owned()
}

fn is_root(path: &Path) -> bool {
    path.ends_with("src/lib.rs") || path.ends_with("src/main.rs")
}

/// Unit tests belong to the module that they stand beside.
fn is_unit_test(path: &Path) -> bool {
    let mut folders = path.iter().skip_while(|part| *part != "src");
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let is_test_file = stem.is_some_and(|stem| stem == "tests" || stem.ends_with("_tests"));
    let in_src = folders.next().is_some();
    in_src && (is_test_file || folders.any(|part| part == "tests"))
}

/// The first sentence of a module's header.
fn first_sentence(text: &str) -> Option<String> {
    let header = text.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = header
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = paragraph.join(" ");
    let ends = [". ", "? "].map(|end| paragraph.find(end));
    let end = ends.into_iter().flatten().min();
    let sentence = end.map_or(&paragraph[..], |end| &paragraph[..=end]);
    // Links to items lead nowhere outside of the documentation.
    let plain = sentence.replace("[`", "`").replace("`]", "`");
    (!plain.is_empty()).then_some(plain)
}

fn lines_without<'a>(text: &'a str, other: &str) -> Vec<&'a str> {
    let known: Vec<&str> = other.lines().collect();
    let lines = text.lines();
    lines.filter(|line| !known.contains(line)).collect()
}
