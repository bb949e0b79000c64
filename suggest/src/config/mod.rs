//! wmfix.toml: what a project says about itself. Owns the file's keys and what
//! is wrong with a file; knows nothing of what the commands make of it.

mod find;
mod mistake;
mod value;

use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use wmfix_frontend::Vocabularies;

use crate::cli::{Cost, Strategy, Switch, Volatile};

pub use find::{FILE_NAME, find, repository};
pub use mistake::Mistake;
pub use value::{Glob, Seconds, Words};

/// What a project says about itself; the defaults, if it says nothing.
#[derive(Debug)]
pub struct Config {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// The folder that the file lies in, and that its paths are relative to.
    pub folder: PathBuf,
    /// How it is built.
    pub build: Build,
    /// How it is tested.
    pub test: Test,
    /// How its tests are run, where the command line does not say.
    pub run: Run,
    /// How it is repaired, where the command line does not say.
    pub repair: Repair,
    /// Files and folders that are not copied, as in a .gitignore.
    pub exclude: Vec<String>,
    /// How atomics are spelled: as everywhere, and in this project.
    pub vocabularies: Vocabularies,
    /// Findings that are not to be reported.
    pub allow: Vec<AllowRule>,
}

/// `[build]`: how a project is built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Build {
    /// The build system, instead of the one that is found.
    pub system: Option<System>,
    /// Shell commands that build it, instead of a build system.
    pub commands: Vec<String>,
    /// More arguments for `cmake` or `meson setup`.
    pub configure: Vec<String>,
    /// More arguments for `make`, `cmake --build` or `meson compile`.
    pub arguments: Vec<String>,
    /// More options for the C compiler.
    pub cflags: Vec<String>,
    /// More options for the C++ compiler.
    pub cxxflags: Vec<String>,
    /// More options for linking.
    pub ldflags: Vec<String>,
}

/// A build system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// CMake.
    Cmake,
    /// Meson.
    Meson,
    /// make.
    Make,
    /// None: each file with `main` is a program.
    None,
}

/// `[test]`: how a project is tested.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Test {
    /// The command, instead of the one that belongs to the build system.
    pub command: Option<Words>,
    /// How long a run may take.
    pub timeout: Option<Seconds>,
    /// Arguments of programs that wmfix builds itself.
    pub args: Vec<String>,
    /// A file that is given as the standard input.
    pub stdin: Option<PathBuf>,
}

/// `[run]`: as the options of the command line.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// `--runs`
    pub runs: Option<NonZeroU64>,
    /// `--time`
    pub time: Option<Seconds>,
    /// `--seed`
    pub seed: Option<u64>,
    /// `--strategy`
    pub strategy: Option<Strategy>,
    /// `--jobs`
    pub jobs: Option<NonZeroU64>,
    /// `--volatile`
    pub volatile: Option<Volatile>,
    /// `--races`
    pub races: Option<Switch>,
}

/// `[repair]`: as the options of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Repair {
    /// `--cost`
    pub cost: Option<Cost>,
}

/// `[[allow]]`: findings that are not to be reported, and why.
#[derive(Clone, Debug)]
pub struct AllowRule {
    /// Files that they are in, relative to the configuration's folder.
    pub file: Glob,
    /// The function around the access.
    pub function: Option<String>,
    /// Text of the line of the access.
    pub operation: Option<String>,
    /// What kind of finding.
    pub kind: Option<AllowedKind>,
    /// Why they are all right.
    pub reason: String,
    /// The line of wmfix.toml on which the entry begins.
    pub line: usize,
}

/// A kind of finding, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AllowedKind {
    /// A load that may be stale.
    StaleRead,
    /// A store that may land too early.
    StaleWrite,
    /// A read-modify-write that may be stale.
    StaleRmw,
    /// A data race.
    Race,
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    build: Build,
    test: Test,
    run: Run,
    repair: Repair,
    exclude: Vec<Glob>,
    vocabulary: Option<toml::Value>,
    allow: Vec<Spanned<WrittenAllow>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAllow {
    file: Glob,
    function: Option<String>,
    operation: Option<String>,
    kind: Option<AllowedKind>,
    #[serde(deserialize_with = "value::not_empty")]
    reason: String,
}

impl Config {
    /// What is said about the file or folder at a path: in the nearest
    /// wmfix.toml, if there is one.
    pub fn about(path: &Path) -> Result<Self, Mistake> {
        match find(path) {
            Some(file) => Self::read(&file),
            None => Ok(Self::none(path)),
        }
    }

    /// Nothing is said about a path.
    pub fn none(path: &Path) -> Self {
        Self {
            file: None,
            folder: find::folder_of(path),
            build: Build::default(),
            test: Test::default(),
            run: Run::default(),
            repair: Repair::default(),
            exclude: Vec::new(),
            vocabularies: Vocabularies::builtin(),
            allow: Vec::new(),
        }
    }

    /// What a file says.
    pub fn read(file: &Path) -> Result<Self, Mistake> {
        let text = fs::read_to_string(file).map_err(|error| Mistake::unreadable(file, &error))?;
        Self::parse(&text, file)
    }

    /// What a text says that stands in a file.
    fn parse(text: &str, file: &Path) -> Result<Self, Mistake> {
        let written: Written =
            toml::from_str(text).map_err(|error| Mistake::of(file, text, &error))?;
        let vocabularies = Vocabularies::with_project(written.vocabulary.as_ref())
            .map_err(|error| Mistake::of_vocabulary(file, text, &error))?;
        let allow = written.allow.into_iter().map(|entry| {
            let line = mistake::line_of(text, entry.span().start);
            let entry = entry.into_inner();
            AllowRule {
                file: entry.file,
                function: entry.function,
                operation: entry.operation,
                kind: entry.kind,
                reason: entry.reason,
                line,
            }
        });
        Ok(Self {
            file: Some(file.to_owned()),
            folder: find::folder_of(file),
            build: written.build,
            test: written.test,
            run: written.run,
            repair: written.repair,
            exclude: written.exclude.into_iter().map(Glob::into_text).collect(),
            vocabularies,
            allow: allow.collect(),
        })
    }

    /// A path as this configuration's patterns see it: relative to its folder.
    pub fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.folder).unwrap_or(path)
    }
}

#[cfg(test)]
mod tests;
