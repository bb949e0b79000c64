//! wmfix.toml: what a project says about itself. Owns the file's keys and what
//! is wrong with a file; knows nothing of what the commands make of it.

mod error;
mod find;
mod template;
mod value;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use wmfix_frontend::Vocabularies;

use crate::cli::{Annotations, BuildFlags, Cost, Races, Sleeps, Strategy, Volatile, Words};
use crate::regular_file;

pub(crate) use error::ConfigError;
pub(crate) use find::{FILE_NAME, find, repository};
pub(crate) use template::{TemplateValues, template};
pub(crate) use value::{CommandText, Glob, Jobs, Seconds};

/// What a project says about itself; the defaults, if it says nothing.
#[derive(Debug)]
pub(crate) struct ProjectConfig {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// The folder that the file lies in, and that its paths are relative to.
    pub folder: PathBuf,
    /// How it is built.
    pub build: BuildConfig,
    /// How it is tested.
    pub test: TestConfig,
    /// How its tests are run, where the command line does not say.
    pub run: RunConfig,
    /// How it is repaired, where the command line does not say.
    pub repair: RepairConfig,
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
pub(crate) struct BuildConfig {
    /// The build system, instead of the one that is found.
    pub system: Option<BuildSystem>,
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
    /// Variables of the build, as `NAME=VALUE`: of CMake, Meson or make; macros for
    /// programs that are built without a build system.
    pub define: Vec<String>,
    /// A preset of CMake.
    pub preset: Option<String>,
}

impl BuildConfig {
    /// The same with what the command line adds.
    pub(crate) fn with(mut self, flags: &BuildFlags) -> Self {
        let words = |flags: &Option<Words>| flags.clone().unwrap_or_default().0;
        self.define.extend(flags.define.iter().cloned());
        self.cflags.extend(words(&flags.cflags));
        self.cxxflags.extend(words(&flags.cxxflags));
        self.ldflags.extend(words(&flags.ldflags));
        self.preset = flags.preset.clone().or(self.preset);
        self
    }
}

/// A build system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BuildSystem {
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
pub(crate) struct TestConfig {
    /// The command, instead of the one that belongs to the build system.
    pub command: Option<CommandText>,
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
pub(crate) struct RunConfig {
    /// `--runs`
    pub runs: Option<NonZeroU64>,
    /// `--time`
    pub time: Option<Seconds>,
    /// `--seed`
    pub seed: Option<u64>,
    /// `--strategy`
    pub strategy: Option<Strategy>,
    /// `--sleeps`
    pub sleeps: Option<Sleeps>,
    /// `--jobs`
    pub jobs: Option<Jobs>,
    /// `--annotations`
    pub annotations: Option<Annotations>,
    /// `--volatile`
    pub volatile: Option<Volatile>,
    /// `--races`
    pub races: Option<Races>,
    /// `--baseline`, relative to wmfix.toml
    pub baseline: Option<PathBuf>,
}

/// `[repair]`: as the options of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RepairConfig {
    /// `--cost`
    pub cost: Option<Cost>,
    /// Files that are not changed.
    pub exclude: Vec<Glob>,
    /// Files that may be changed; all that are not excluded, if there are none.
    pub include: Vec<Glob>,
}

/// `[[allow]]`: findings that are not to be reported, and why.
#[derive(Clone, Debug)]
pub(crate) struct AllowRule {
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
pub(crate) enum AllowedKind {
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
struct ConfigText {
    build: BuildConfig,
    test: TestConfig,
    run: RunConfig,
    repair: RepairConfig,
    exclude: Vec<Glob>,
    vocabulary: Option<toml::Value>,
    allow: Vec<Spanned<AllowRuleText>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowRuleText {
    file: Glob,
    function: Option<String>,
    operation: Option<String>,
    kind: Option<AllowedKind>,
    #[serde(deserialize_with = "value::not_empty")]
    reason: String,
}

impl ProjectConfig {
    /// What is said about the file or folder at a path: in the nearest
    /// wmfix.toml, if there is one.
    pub(crate) fn about(path: &Path) -> Result<Self, ConfigError> {
        match find(path) {
            Some(file) => Self::read(&file),
            None => Ok(Self::none(path)),
        }
    }

    /// Nothing is said about a path.
    pub(crate) fn none(path: &Path) -> Self {
        Self {
            file: None,
            folder: find::folder_of(path),
            build: BuildConfig::default(),
            test: TestConfig::default(),
            run: RunConfig::default(),
            repair: RepairConfig::default(),
            exclude: Vec::new(),
            vocabularies: Vocabularies::builtin(),
            allow: Vec::new(),
        }
    }

    /// What a file says.
    pub(crate) fn read(file: &Path) -> Result<Self, ConfigError> {
        let text =
            regular_file::read_text(file).map_err(|error| ConfigError::unreadable(file, &error))?;
        Self::parse(&text, file)
    }

    /// What the text of a file says.
    fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let written: ConfigText =
            toml::from_str(text).map_err(|error| ConfigError::of(file, text, &error))?;
        if let Some(error) = ConfigError::of_nul(file, text) {
            return Err(error);
        }
        let vocabularies = Vocabularies::with_project(written.vocabulary.as_ref())
            .map_err(|error| ConfigError::of_vocabulary(file, text, &error))?;
        let allow = written.allow.into_iter().map(|entry| {
            let line = error::line_of(text, entry.span().start);
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
}

#[cfg(test)]
mod tests;
