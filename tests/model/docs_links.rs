//! The documentation holds together: every link leads somewhere, and every page is
//! in the book.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use wmfix_tests::project::root;

/// All pages: those of the root, of docs/ and of the examples.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in [root(), root().join("docs"), root().join("examples")] {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The targets of links in a page, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced || line.starts_with("    ") {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        let mut rest = prose.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let end = rest.find(')').expect("a link has an end");
            found.push(rest[..end].to_owned());
        }
    }
    found
}

/// The anchors of a page's headings, as code hosts and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchors = headings.map(|heading| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    });
    anchors.collect()
}

fn is_broken(page: &Path, link: &str) -> bool {
    if link.starts_with("https://") {
        return false;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        file => page.parent().expect("a folder").join(file),
    };
    if !target.exists() {
        return true;
    }
    let text = fs::read_to_string(&target).unwrap_or_default();
    !anchor.is_empty() && !anchors(&text).contains(anchor)
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text) {
            checked += 1;
            if is_broken(&page, &link) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(checked > 20, "links are recognised");
}

/// What lies outside of `docs` is not in a book that mdBook has built.
#[test]
fn links_of_the_book_stay_in_it() {
    let is_of_book = |page: &PathBuf| page.starts_with(root().join("docs"));
    for page in pages().into_iter().filter(is_of_book) {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text) {
            assert!(!link.starts_with("../"), "{}: {link}", page.display());
        }
    }
}

#[test]
fn a_link_that_leads_nowhere_is_noticed() {
    let page = root().join("README.md");
    assert!(is_broken(&page, "docs/nowhere.md"));
    assert!(is_broken(&page, "docs/limits.md#nothing"));
    assert!(!is_broken(&page, "docs/limits.md#the-memory-model"));
    assert_eq!(links("a [b](c.md) and `[d](e.md)`"), ["c.md"]);
}

#[test]
fn every_page_is_in_the_book() {
    let summary = root().join("docs/SUMMARY.md");
    let summary = fs::read_to_string(summary).expect("the summary");
    let listed: BTreeSet<String> = links(&summary).into_iter().collect();
    let folder = fs::read_dir(root().join("docs")).expect("the pages");
    let pages = folder.map(|entry| {
        entry
            .expect("a page")
            .file_name()
            .into_string()
            .expect("a name")
    });
    let pages: BTreeSet<String> = pages
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect();
    assert_eq!(listed, pages);
    let book: toml::Table = fs::read_to_string(root().join("book.toml"))
        .expect("book.toml")
        .parse()
        .expect("TOML");
    assert_eq!(book["book"]["src"].as_str(), Some("docs"));
}
