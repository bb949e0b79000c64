//! Golden cases: a text, the changes to make, and the text that must come out.
//! A `.cases` file holds many of them, one after the other.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use wmfix_frontend::{
    Accessors, Language, MemoryOrder, ParsedFile, Site, Vocabularies, plain_accesses, scan_parsed,
};
use wmfix_rewriter::{
    IncludedHeaders, Names, Project, Rewrite, TextChange, TextChangeKind, rewrite,
};

/// One golden case.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the case is about; unique among all cases.
    pub name: String,
    /// The name of the file that the text is said to be.
    pub file: String,
    /// The standards that both texts compile in, as compilers name them.
    pub standards: Vec<String>,
    /// Compiled by itself, with its own includes.
    pub is_alone: bool,
    /// Whether changes are labelled in the text.
    pub annotate: bool,
    /// The project's own vocabularies, as in wmfix.toml.
    pub vocabulary: String,
    /// Names that other files of the tree have.
    pub names: String,
    /// What the plain objects are called whose accesses may be changed.
    pub plain: BTreeSet<String>,
    /// What to change, in words.
    pub changes: Vec<String>,
    /// The text before.
    pub before: String,
    /// The text after; empty if it has not been written down yet.
    pub after: String,
    /// Why changes are refused, one line each: the change's index and the reason.
    pub refused: Vec<String>,
}

/// The folder of the golden cases.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/rewriter/golden")
}

/// The files with cases, in the order of their names.
pub fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the corpus is there")
        .map(|entry| entry.expect("the corpus can be listed").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "cases")
        })
        .collect();
    files.sort();
    files
}

/// The cases of one file.
pub fn read(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).expect("a case file can be read");
    let mut cases = Vec::new();
    for part in text
        .split("\n=== ")
        .map(|part| part.trim_start_matches("=== "))
    {
        cases.push(parse(part).unwrap_or_else(|| panic!("{}: {part}", path.display())));
    }
    cases
}

/// Writes the cases of one file, as [`read`] reads them.
pub fn write(path: &Path, cases: &[Case]) {
    let text: Vec<String> = cases.iter().map(show).collect();
    fs::write(path, text.join("\n")).expect("a case file can be written");
}

fn parse(part: &str) -> Option<Case> {
    let (head, texts) = part.split_once("--- before\n")?;
    let (before, rest) = texts.split_once("--- after\n").unwrap_or((texts, ""));
    let (after, refused) = rest.split_once("--- refused\n").unwrap_or((rest, ""));
    let mut lines = head.lines();
    let mut case = Case {
        name: lines.next()?.trim().to_owned(),
        file: String::new(),
        standards: Vec::new(),
        is_alone: false,
        annotate: false,
        vocabulary: String::new(),
        names: String::new(),
        plain: BTreeSet::new(),
        changes: Vec::new(),
        before: unescape(before),
        after: unescape(after),
        refused: refused.lines().map(str::to_owned).collect(),
    };
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let (key, value) = line.split_once(':')?;
        let value = value.trim();
        match key {
            "file" => case.file = value.to_owned(),
            "std" => case.standards = value.split_whitespace().map(str::to_owned).collect(),
            "alone" => case.is_alone = value == "yes",
            "annotate" => case.annotate = value == "yes",
            "vocabulary" => {
                case.vocabulary.push_str(value);
                case.vocabulary.push('\n');
            }
            "names" => case.names = value.to_owned(),
            "plain" => case.plain = value.split_whitespace().map(str::to_owned).collect(),
            "change" => case.changes.push(value.to_owned()),
            _ => return None,
        }
    }
    if case.file.is_empty() {
        let cpp = case
            .standards
            .first()
            .is_some_and(|first| first.contains("++"));
        case.file = if cpp { "a.cpp" } else { "a.c" }.to_owned();
    }
    Some(case)
}

fn show(case: &Case) -> String {
    let mut text = format!("=== {}\n", case.name);
    if !matches!(case.file.as_str(), "a.c" | "a.cpp") {
        text.push_str(&format!("file: {}\n", case.file));
    }
    text.push_str(&format!("std: {}\n", case.standards.join(" ")));
    for (key, wanted) in [("alone", case.is_alone), ("annotate", case.annotate)] {
        if wanted {
            text.push_str(&format!("{key}: yes\n"));
        }
    }
    for line in case.vocabulary.lines() {
        text.push_str(&format!("vocabulary: {line}\n"));
    }
    if !case.names.is_empty() {
        text.push_str(&format!("names: {}\n", case.names));
    }
    if !case.plain.is_empty() {
        let names: Vec<&str> = case.plain.iter().map(String::as_str).collect();
        text.push_str(&format!("plain: {}\n", names.join(" ")));
    }
    for change in &case.changes {
        text.push_str(&format!("change: {change}\n"));
    }
    text.push_str(&format!("--- before\n{}", escape(&case.before)));
    text.push_str(&format!("--- after\n{}", escape(&case.after)));
    if !case.refused.is_empty() {
        text.push_str(&format!("--- refused\n{}\n", case.refused.join("\n")));
    }
    text
}

/// Carriage returns, and the lack of a last newline, are spelled out.
fn unescape(text: &str) -> String {
    let text = text.replace("<CR>\n", "\r\n");
    match text.strip_suffix("<NO NEWLINE>\n") {
        Some(text) => text.to_owned(),
        None => text,
    }
}

fn escape(text: &str) -> String {
    let text = text.replace("\r\n", "<CR>\n");
    if text.is_empty() || text.ends_with('\n') {
        text
    } else {
        format!("{text}<NO NEWLINE>\n")
    }
}

impl Case {
    /// The project that the case describes.
    pub fn project(&self) -> Project {
        let section: Option<toml::Value> = (!self.vocabulary.is_empty()).then(|| {
            let table: toml::Table = self.vocabulary.parse().expect("a vocabulary is TOML");
            toml::Value::Array(vec![toml::Value::Table(table)])
        });
        let mut names = Names::default();
        names.add_text(self.names.as_bytes());
        Project {
            standard_fences: HashSet::new(),
            vocabularies: Vocabularies::with_project(section.as_ref())
                .expect("a vocabulary is well formed"),
            names,
            wrappers: Vec::new(),
            headers: IncludedHeaders::default(),
            accessors: HashMap::new(),
            cpp20: self
                .is_cpp20()
                .then(|| PathBuf::from(&self.file))
                .into_iter()
                .collect(),
            fence: None,
            annotate: self.annotate,
        }
    }

    /// Whether every standard that the case compiles in has `std::atomic_ref`.
    fn is_cpp20(&self) -> bool {
        let has = |standard: &String| matches!(standard.as_str(), "c++20" | "c++23" | "gnu++20");
        !self.standards.is_empty() && self.standards.iter().all(has)
    }

    /// Makes the case's changes to a text (its own, or what came out of it).
    pub fn rewrite(&self, text: &str) -> Rewrite {
        let (project, file, sites) = self.scan(text);
        let changes: Vec<TextChange> = self
            .changes
            .iter()
            .map(|words| self.change(words, &file, &sites))
            .collect();
        rewrite(&file, &sites, &changes, &project)
    }

    /// The site that a change is at, and all sites of the text before.
    pub fn site(&self, change: &str) -> (Site, Vec<Site>) {
        let (_, file, sites) = self.scan(&self.before);
        (self.change(change, &file, &sites).site, sites)
    }

    fn scan(&self, text: &str) -> (Project, ParsedFile, Vec<Site>) {
        let path = Path::new(&self.file);
        let language = Language::of(path, text.as_bytes()).expect("C or C++");
        let file = ParsedFile::parse(path, text.as_bytes(), language);
        let mut project = self.project();
        let accessors = Accessors::of(&file, &[], &project.vocabularies, None);
        project.accessors.insert(path.to_owned(), accessors);
        let mut sites = scan_parsed(&file, &project.vocabularies).sites;
        let plain = plain_accesses(&file, &self.plain, &sites);
        sites.extend(plain);
        sites.sort_by_key(|site| site.span.start);
        (project, file, sites)
    }

    /// `before SITE`, `after SITE` (`before:release SITE` for other fences than
    /// full ones), `raise ORDER [failure ORDER] SITE`, each with an optional
    /// ` @LABEL` at the end. A site is named by what its text starts
    /// with, and `#2` for the second such site; behind ` => ` is what it starts
    /// with once it is changed, if that is something else.
    fn change(&self, words: &str, file: &ParsedFile, sites: &[Site]) -> TextChange {
        let (words, label) = match words.rsplit_once(" @") {
            Some((words, label)) => (words, Some(label)),
            None => (words, None),
        };
        let (verb, rest) = words.split_once(' ').expect("a verb and a site");
        let (action, site) = match verb {
            _ if verb.starts_with("before") => {
                let order = fence_order(verb.trim_start_matches("before"));
                (TextChangeKind::FenceBefore(order), rest)
            }
            _ if verb.starts_with("after") => {
                let order = fence_order(verb.trim_start_matches("after"));
                (TextChangeKind::FenceAfter(order), rest)
            }
            "raise" => {
                let (order, mut rest) = rest.split_once(' ').expect("an order and a site");
                let mut failure = None;
                if let Some(more) = rest.strip_prefix("failure ") {
                    let (order, site) = more.split_once(' ').expect("an order and a site");
                    failure = Some(order_of(order));
                    rest = site;
                }
                let order = order_of(order);
                (TextChangeKind::Raise { order, failure }, rest)
            }
            _ => panic!("{}: unknown change {words}", self.name),
        };
        let found = site.split(" => ").find_map(|name| {
            let (start, number) = match name.rsplit_once(" #") {
                Some((start, number)) => (start, number.parse().expect("a number")),
                None => (name, 1),
            };
            sites
                .iter()
                .filter(|site| file.slice(&site.span).starts_with(start))
                .nth(number - 1)
        });
        let found = found.unwrap_or_else(|| {
            let known: Vec<_> = sites.iter().map(|site| file.slice(&site.span)).collect();
            panic!("{}: no site {site:?} among {known:?}", self.name)
        });
        let change = TextChange::new(found.clone(), action);
        match label {
            Some(label) => change.labelled(label),
            None => change,
        }
    }
}

/// The order behind a colon; that of a full fence without one.
fn fence_order(word: &str) -> MemoryOrder {
    let order = word.strip_prefix(':').map(order_of);
    order.unwrap_or(MemoryOrder::SeqCst)
}

fn order_of(word: &str) -> MemoryOrder {
    match word {
        "relaxed" => MemoryOrder::Relaxed,
        "acquire" => MemoryOrder::Acquire,
        "release" => MemoryOrder::Release,
        "acq_rel" => MemoryOrder::AcqRel,
        "seq_cst" => MemoryOrder::SeqCst,
        _ => panic!("unknown order {word}"),
    }
}
