//! One case of the corpus: its files, what is said about it, and its two versions.
//! The fixed one is made from the other by the maintainers' change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// A folder of `tests/corpus/cases`.
#[derive(Clone, Debug)]
pub struct Case {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// Its `case.toml`.
    pub description: Description,
}

/// What `case.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The bug in a line.
    pub title: String,
    /// The kind of mistake, in a few words.
    pub shape: String,
    /// What it is written in.
    pub language: Language,
    /// What stands between the library and its atomics.
    pub layer: Layer,
    /// Where such bugs come from.
    pub history: String,
    /// The execution that is wrong.
    pub buggy: String,
    /// Why the fixed version is right, and what stays non-robust in it.
    pub fixed: String,
    /// The file with the maintainers' change.
    pub maintainers_change: String,
    /// Options of the compiler that it needs.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Options of the linker that it needs.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// What should be found.
    pub expected: Expected,
    /// What the library's own words mean: an operation and an order.
    #[serde(default)]
    pub orders: BTreeMap<String, String>,
}

/// Where the bug is, and what it looks like.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The file of the operation that the maintainers changed.
    pub file: String,
    /// The function or macro that it is in.
    pub function: String,
    /// Text that begins on its line and is found once.
    pub line: String,
    /// The kind of finding, as in a report; `race` for a data race.
    pub kind: String,
    /// Text on the lines of accesses that show the bug.
    #[serde(default)]
    pub shows: Vec<String>,
}

/// What a case is written in.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum Language {
    /// C11 with GNU extensions.
    #[serde(rename = "c")]
    C,
    /// C++17.
    #[serde(rename = "c++")]
    Cxx,
}

/// What stands between a library and its atomics.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Nothing.
    None,
    /// A class with methods of its own.
    Class,
    /// Macros.
    Macro,
    /// Functions, some with the order as a parameter.
    Helper,
}

impl Case {
    /// All cases, by name.
    pub fn all() -> Vec<Self> {
        let mut cases: Vec<Self> = fs::read_dir(corpus())
            .expect("the cases are there")
            .map(|entry| entry.expect("the cases can be listed").path())
            .filter(|path| path.is_dir())
            .map(Self::load)
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    /// The case of this name.
    pub fn named(name: &str) -> Self {
        Self::load(corpus().join(name))
    }

    fn load(folder: PathBuf) -> Self {
        let about = folder.join("case.toml");
        let text = fs::read_to_string(&about)
            .unwrap_or_else(|error| panic!("{}: {error}", about.display()));
        let description =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", about.display()));
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Self {
            name: name.into_owned(),
            folder,
            description,
        }
    }

    /// The names of the files that an author would have: sources, headers, build
    /// files.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = fs::read_dir(&self.folder)
            .expect("a case is a folder")
            .map(|entry| entry.expect("a case can be listed").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| name != "case.toml" && *name != self.description.maintainers_change)
            .collect();
        files.sort();
        files
    }

    /// The files that are compiled by themselves.
    pub fn sources(&self) -> Vec<String> {
        let is_source = |name: &String| name.ends_with(".c") || name.ends_with(".cpp");
        self.files().into_iter().filter(is_source).collect()
    }

    /// Sources and headers with their text, as they are in a folder.
    pub fn texts(&self, folder: &Path) -> BTreeMap<String, String> {
        let is_code = |name: &String| {
            [".c", ".h", ".cpp", ".hpp"]
                .iter()
                .any(|ending| name.ends_with(ending))
        };
        let names = self.files().into_iter().filter(is_code);
        names
            .map(|name| (name.clone(), read(&folder.join(&name))))
            .collect()
    }

    /// Writes the buggy version into a folder.
    pub fn write_buggy(&self, folder: &Path) {
        for name in self.files() {
            fs::copy(self.folder.join(&name), folder.join(&name))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    /// Writes the fixed version into a folder.
    pub fn write_fixed(&self, folder: &Path) {
        self.write_buggy(folder);
        apply(&self.patch(), folder);
    }

    /// The maintainers' change.
    pub fn patch(&self) -> PathBuf {
        self.folder.join(&self.description.maintainers_change)
    }

    /// Which line of a file a text begins on, counted from 1. The text is found
    /// exactly once in the whole case.
    pub fn line_of(&self, text: &str) -> (String, usize) {
        let texts = self.texts(&self.folder);
        let mut found = texts.iter().flat_map(|(file, content)| {
            let starts = content.match_indices(text);
            starts.map(|(at, _)| (file.clone(), content[..at].matches('\n').count() + 1))
        });
        let first = found.next();
        let place = first.unwrap_or_else(|| panic!("{}: {text:?} is not there", self.name));
        assert!(
            found.next().is_none(),
            "{}: {text:?} is not alone",
            self.name
        );
        place
    }
}

/// Applies a patch to the files of a folder, with git.
pub(super) fn apply(patch: &Path, folder: &Path) {
    let output = Command::new("git")
        .arg("apply")
        .arg(patch)
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder)
        .output()
        .expect("git runs");
    assert!(
        output.status.success(),
        "{}: {}",
        patch.display(),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/cases")
}
