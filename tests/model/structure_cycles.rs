//! No crate of the workspace has an import cycle between its top-level modules:
//! each file's tokens are read for paths that start with `crate` or `super`, in
//! `use` lines and in code, macros included.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// For each module, the modules that it names, each with a file that does.
type Graph = BTreeMap<String, BTreeMap<String, PathBuf>>;

#[test]
fn no_crate_has_an_import_cycle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a workspace");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("a list");
    assert!(members.len() >= 8, "{members:?}");
    let mut cycles = Vec::new();
    let mut edges = 0;
    for member in members {
        let source = root.join(member.as_str().expect("a folder")).join("src");
        let graph = graph(&sources(&source));
        edges += graph.values().map(BTreeMap::len).sum::<usize>();
        cycles.extend(cycle(&graph).map(|cycle| format!("{member}: {}", shown(&cycle, &graph))));
    }
    // Were the paths of one crate overlooked, the number would be far below.
    assert!(edges > 150, "only {edges} imports were found");
    assert!(cycles.is_empty(), "import cycles:\n{}", cycles.join("\n"));
}

#[test]
fn a_cycle_is_found_through_every_sort_of_path() {
    let of = |files: &[(&str, &str)]| {
        let files = files.iter();
        let files = files.map(|(path, text)| (PathBuf::from(path), (*text).to_owned()));
        graph(&files.collect::<Vec<_>>())
    };
    let closing = [
        "use crate::a::Thing;",
        "use crate::{a::Thing, c};",
        "use crate::{c::{self, x}, a};",
        "fn f() { let g = crate::a::g; }",
        "fn f() { println!(\"{}\", crate::a::g()); }",
        "use super::super::a;",
        "mod tests { use super::super::super::a::Thing; }",
        "pub(in crate::a) fn f() {}",
    ];
    for text in closing {
        let graph = of(&[
            ("lib.rs", "mod a; mod b; mod c; use a::Thing; use b::inner;"),
            ("a.rs", "use crate::b::inner::Other;"),
            ("b/mod.rs", "pub mod inner;"),
            ("b/inner.rs", text),
            ("c.rs", "use crate::a;"),
        ]);
        let cycle = cycle(&graph).unwrap_or_else(|| panic!("not found: {text}"));
        assert_eq!(cycle, ["a", "b"], "{text}");
        assert_eq!(shown(&cycle, &graph), "a → b (a.rs) → a (b/inner.rs)");
    }
    for text in [
        "// use crate::a;",
        "const TEXT: &str = \"crate::a\";",
        "use super::a;",
        "use crate::c;",
        "use other::a;",
        "use crate::{c::a, b};",
        "mod tests { use super::super::a; }",
    ] {
        let graph = of(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::inner::Other;"),
            ("b/inner.rs", text),
            ("c.rs", ""),
        ]);
        assert_eq!(cycle(&graph), None, "{text}");
    }
    let long = of(&[
        ("a.rs", "use crate::b;"),
        ("b.rs", "use super::c;"),
        ("c/mod.rs", "use crate::d;"),
        ("d/mod.rs", ""),
        ("d/e.rs", "use crate::{x, b};"),
    ]);
    assert_eq!(
        cycle(&long),
        Some(["b", "c", "d"].map(str::to_owned).into())
    );
}

/// The files below a folder, relative to it, with their text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                let inside = path.strip_prefix(folder).expect("a file of the folder");
                files.push((inside.to_owned(), text));
            }
        }
    }
    files.sort();
    files
}

fn graph(files: &[(PathBuf, String)]) -> Graph {
    let modules: BTreeSet<String> = files
        .iter()
        .filter_map(|(path, _)| module_path(path).into_iter().next())
        .collect();
    let mut graph = Graph::new();
    for (path, text) in files {
        let module = module_path(path);
        // The crate's root is above its modules.
        let Some(top) = module.first().cloned() else {
            continue;
        };
        let tokens: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut named = BTreeSet::new();
        read(tokens, module.len(), &mut named);
        let edges = graph.entry(top.clone()).or_default();
        for name in named {
            if name != top && modules.contains(&name) {
                edges.entry(name).or_insert_with(|| path.clone());
            }
        }
    }
    graph
}

/// The modules that a file is within; none for a crate's root.
fn module_path(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let names = path.iter().map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    if names.last().is_some_and(|name| name == "mod")
        || matches!(&names[..], [root] if root == "lib" || root == "main")
    {
        names.pop();
    }
    names
}

/// Adds the first names below the crate's root that tokens have in their paths.
/// `depth` is how many modules are around them.
fn read(tokens: TokenStream, depth: usize, named: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        let word = word(tokens.get(at));
        let is_start = word.as_deref() == Some("crate") || word.as_deref() == Some("super");
        if is_start && !is_separator(&tokens, at.wrapping_sub(2)) {
            at = path(&tokens, at, depth, named);
            continue;
        }
        if let TokenTree::Group(group) = &tokens[at] {
            let is_module = at >= 2
                && group.delimiter() == Delimiter::Brace
                && self::word(tokens.get(at - 2)).as_deref() == Some("mod");
            read(group.stream(), depth + usize::from(is_module), named);
        }
        at += 1;
    }
}

/// Reads a path that starts at a token, and says where to go on.
fn path(tokens: &[TokenTree], start: usize, depth: usize, named: &mut BTreeSet<String>) -> usize {
    let mut at = start;
    let mut above = depth;
    loop {
        match word(tokens.get(at)).as_deref() {
            Some("crate") => above = 0,
            Some("super") => above = above.saturating_sub(1),
            Some(name) => {
                if above == 0 {
                    named.insert(name.to_owned());
                }
                return at + 1;
            }
            None => {
                if let (0, Some(TokenTree::Group(group))) = (above, tokens.get(at)) {
                    first_names(group.stream(), named);
                }
                return at + 1;
            }
        }
        if !is_separator(tokens, at + 1) {
            return at + 1;
        }
        at += 3;
    }
}

/// Adds the first name of each path of a `use` group.
fn first_names(group: TokenStream, named: &mut BTreeSet<String>) {
    let mut is_first = true;
    for token in group {
        match token {
            TokenTree::Ident(name) if is_first => {
                named.insert(name.to_string());
                is_first = false;
            }
            TokenTree::Punct(mark) if mark.as_char() == ',' => is_first = true,
            _ => is_first = false,
        }
    }
}

/// Whether `::` stands at a position.
fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    is_colon(tokens.get(at)) && is_colon(tokens.get(at.wrapping_add(1)))
}

fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}

/// The modules of a cycle, each importing the next and the last the first.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    fn visit<'g>(
        module: &'g str,
        graph: &'g Graph,
        path: &mut Vec<&'g str>,
        done: &mut BTreeSet<&'g str>,
    ) -> Option<Vec<String>> {
        if let Some(start) = path.iter().position(|&known| known == module) {
            return Some(path[start..].iter().map(|&name| name.to_owned()).collect());
        }
        if done.contains(module) {
            return None;
        }
        path.push(module);
        let next = graph.get(module).into_iter().flat_map(BTreeMap::keys);
        for next in next {
            if let Some(cycle) = visit(next, graph, path, done) {
                return Some(cycle);
            }
        }
        path.pop();
        done.insert(module);
        None
    }
    let mut done = BTreeSet::new();
    let mut modules = graph.keys();
    modules.find_map(|module| visit(module, graph, &mut Vec::new(), &mut done))
}

/// A cycle with a file for each import.
fn shown(cycle: &[String], graph: &Graph) -> String {
    let mut text = cycle[0].clone();
    for (number, module) in cycle.iter().enumerate() {
        let next = &cycle[(number + 1) % cycle.len()];
        text += &format!(" → {next} ({})", graph[module][next].display());
    }
    text
}
