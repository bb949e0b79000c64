//! What the rewriter must know beyond one file: the vocabularies, which names
//! the tree has, and what the user wants to see in the text.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use wmfix_frontend::{Accessors, OrderFamily, ParsedFile, Vocabularies, Wrapper, order_families};

use crate::fence_definition::Definition;
use crate::include::include_targets;
use crate::visible_orders::VisibleOrders;

/// The surroundings of the files that are changed.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// How atomics are spelled here.
    pub vocabularies: Vocabularies,
    /// The names that the tree and its headers use.
    pub names: Names,
    /// The wrappers of atomic operations that each file of the tree defines: one
    /// may have a stronger sibling.
    pub wrappers: Vec<Vec<Wrapper>>,
    /// What the headers of each file bring along.
    pub headers: IncludedHeaders,
    /// What each file can call to access plain objects atomically.
    pub accessors: HashMap<PathBuf, Accessors>,
    /// Files that are compiled as C++20 or later only.
    pub cpp20: HashSet<PathBuf>,
    /// The project's own full fence: a call that can be part of an expression.
    pub fence: Option<String>,
    /// Files with which the project's own fences did not compile: theirs are the standard's.
    pub standard_fences: HashSet<PathBuf>,
    /// Whether changes are labelled with a trailing comment.
    pub annotate: bool,
}

/// What the headers that files include bring along: what they define, names for orders,
/// and standard headers.
#[derive(Clone, Debug, Default)]
pub struct IncludedHeaders {
    by_file: HashMap<PathBuf, Vec<Header>>,
}

/// What one header brings along.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) definitions: Vec<Definition>,
    /// What it includes itself, with brackets or quotes.
    pub(crate) includes: Vec<String>,
    /// Names for memory orders.
    pub(crate) orders: Vec<OrderFamily>,
    /// Names of orders that it makes visible.
    pub(crate) visible_orders: VisibleOrders,
}

impl IncludedHeaders {
    /// Adds a header that a file includes, directly or through others.
    pub fn add(&mut self, file: &Path, header: &ParsedFile) {
        let headers = self.by_file.entry(file.to_path_buf()).or_default();
        headers.push(Header {
            definitions: Definition::all(header, file),
            includes: include_targets(header),
            orders: order_families(header),
            visible_orders: VisibleOrders::of(header),
        });
    }

    /// The headers of a file.
    pub(crate) fn of(&self, file: &Path) -> impl Iterator<Item = &Header> {
        self.by_file.get(file).into_iter().flatten()
    }
}

/// The identifiers of a tree. What a tree that compiles uses, it also declares,
/// so a name that is here can be called.
#[derive(Clone, Debug, Default)]
pub struct Names {
    used: HashSet<String>,
    macros: HashSet<String>,
}

impl Names {
    /// Whether the tree knows this name.
    pub fn contains(&self, name: &str) -> bool {
        self.used.contains(name)
    }

    /// Whether the tree defines a macro of this name.
    pub fn defines_macro(&self, name: &str) -> bool {
        self.macros.contains(name)
    }

    /// Adds the identifiers of one text; comments and literals do not count.
    pub fn add_text(&mut self, text: &[u8]) {
        let mut previous = "";
        for word in words(text) {
            if previous == "define" {
                self.macros.insert(word.to_owned());
            }
            if !self.used.contains(word) {
                self.used.insert(word.to_owned());
            }
            previous = word;
        }
    }
}

/// The identifiers in a C or C++ text, outside of comments and literals.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let rest = &text[at..];
            let skipped = match rest[0] {
                b'/' if rest.starts_with(b"//") => until(rest, 2, b"\n"),
                b'/' if rest.starts_with(b"/*") => until(rest, 2, b"*/"),
                quote @ (b'"' | b'\'') => literal(rest, quote),
                byte if byte.is_ascii_digit() => run(rest),
                byte if is_word(byte) => {
                    let length = run(rest);
                    at += length;
                    if let Ok(word) = std::str::from_utf8(&rest[..length]) {
                        return Some(word);
                    }
                    continue;
                }
                _ => 1,
            };
            at += skipped;
        }
        None
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn run(rest: &[u8]) -> usize {
    rest.iter().take_while(|&&byte| is_word(byte)).count()
}

fn until(rest: &[u8], from: usize, end: &[u8]) -> usize {
    rest[from..]
        .windows(end.len())
        .position(|window| window == end)
        .map_or(rest.len(), |at| from + at + end.len())
}

/// The length of a literal; one that is not closed ends with its line.
fn literal(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote && rest[at] != b'\n' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_those_that_are_defined() {
        let mut names = Names::default();
        names.add_text(b"#define A(x) B(x)\n#  define C 1\nint define_d;");
        assert!(names.defines_macro("A") && names.defines_macro("C"));
        assert!(!names.defines_macro("B") && names.contains("B"));
    }

    #[test]
    fn only_code_has_names() {
        let text = b"int a1; /* b */ // c\nchar d = 'e'; const char *f = \"g \\\" h\"; 0x1i j";
        let found: Vec<&str> = words(text).collect();
        assert_eq!(found, ["int", "a1", "char", "d", "const", "char", "f", "j"]);
    }
}
