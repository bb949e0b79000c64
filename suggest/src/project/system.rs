//! The build systems: how each is recognised, configured, built and tested with the
//! compiler wrappers. Knows nothing of copies and caches.

mod files;

use std::ffi::OsString;
use std::path::Path;

use super::command::BuildCommand;
use crate::config::{BuildConfig, BuildSystem, CommandText, ProjectConfig};

pub(super) use files::{builds_file, has_build_file, stands_alone};

/// Files that say how a folder is built, and by what.
const FILES: [(&str, BuildSystem); 7] = [
    ("CMakeLists.txt", BuildSystem::Cmake),
    ("meson.build", BuildSystem::Meson),
    ("GNUmakefile", BuildSystem::Make),
    ("makefile", BuildSystem::Make),
    ("Makefile", BuildSystem::Make),
    ("configure", BuildSystem::Make),
    ("configure.ac", BuildSystem::Make),
];

/// Scripts by which projects make their `configure`, where they have one.
const BOOTSTRAP_SCRIPTS: [&str; 3] = ["bootstrap", "bootstrap.sh", "autogen.sh"];

/// How a project is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildTool {
    /// CMake, in a folder beside the sources.
    Cmake,
    /// Meson, in a folder beside the sources.
    Meson,
    /// make, among the sources.
    Make {
        /// After `./configure`.
        configured: bool,
    },
    /// The commands of the configuration, among the sources.
    Commands,
}

/// What is done before the tests can run.
#[derive(Debug, Default)]
pub(crate) struct BuildPlan {
    /// Once, or when the setting has changed.
    pub configure: Vec<BuildCommand>,
    /// Whenever a file has changed.
    pub build: Vec<BuildCommand>,
}

/// Where a project is built.
#[derive(Debug)]
pub(crate) struct BuildLayout<'a> {
    /// Its sources.
    pub sources: &'a Path,
    /// What is built; the same folder for some tools.
    pub build: &'a Path,
    /// The compiler wrappers.
    pub cc: &'a Path,
    /// The compiler wrappers.
    pub cxx: &'a Path,
    /// How many compilers at a time.
    pub jobs: usize,
}

impl BuildTool {
    /// The tool that builds a folder, if any does.
    pub(crate) fn of(folder: &Path, build: &BuildConfig) -> Option<Self> {
        if !build.commands.is_empty() {
            return Some(Self::Commands);
        }
        let found = || {
            let mut files = FILES.iter();
            let found = files.find(|(file, _)| folder.join(file).is_file());
            found.map(|(_, system)| *system)
        };
        match build.system.or_else(found)? {
            BuildSystem::Cmake => Some(Self::Cmake),
            BuildSystem::Meson => Some(Self::Meson),
            BuildSystem::Make => Some(Self::Make {
                configured: ["configure", "configure.ac"]
                    .iter()
                    .any(|file| folder.join(file).is_file()),
            }),
            BuildSystem::None => None,
        }
    }

    /// Whether it builds beside the sources, not among them.
    pub(crate) fn builds_outside(self) -> bool {
        matches!(self, Self::Cmake | Self::Meson)
    }

    /// Its name, as people know it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cmake => "CMake",
            Self::Meson => "Meson",
            Self::Make { .. } => "make",
            Self::Commands => "the commands of wmfix.toml",
        }
    }

    /// How the project is built.
    pub(crate) fn steps(self, layout: &BuildLayout<'_>, config: &BuildConfig) -> BuildPlan {
        let jobs = layout.jobs.to_string();
        let mut steps = BuildPlan::default();
        match self {
            Self::Cmake => {
                let mut configure = BuildCommand::new(["cmake", "-S"]);
                configure.words.push(layout.sources.into());
                configure.words.extend(["-B".into(), layout.build.into()]);
                let preset = config.preset.iter();
                configure
                    .words
                    .extend(preset.map(|name| format!("--preset={name}").into()));
                configure.words.extend(words(&config.configure));
                let defined = config.define.iter();
                configure
                    .words
                    .extend(defined.map(|definition| format!("-D{definition}").into()));
                steps.configure.push(configure);
                let mut build = BuildCommand::new(["cmake", "--build", ".", "--parallel", &jobs]);
                build.words.extend(words(&config.arguments));
                steps.build.push(build);
            }
            Self::Meson => {
                let mut configure = BuildCommand::new(["meson", "setup"]);
                configure.words.extend(words(&config.configure));
                let defined = config.define.iter();
                configure
                    .words
                    .extend(defined.map(|definition| format!("-D{definition}").into()));
                configure
                    .words
                    .extend([layout.build.into(), layout.sources.into()]);
                steps.configure.push(configure);
                let mut build = BuildCommand::new(["meson", "compile", "-C", ".", "-j", &jobs]);
                build.words.extend(words(&config.arguments));
                steps.build.push(build);
            }
            Self::Make { configured } => {
                if configured {
                    if !layout.sources.join("configure").is_file() {
                        steps.configure.push(bootstrap(layout.sources));
                    }
                    let mut configure = BuildCommand::new(["./configure"]);
                    configure.words.extend(words(&config.configure));
                    steps.configure.push(configure);
                }
                let mut build = self.make(layout, config);
                build.words.extend(["-j".into(), jobs.into()]);
                steps.build.push(build);
            }
            Self::Commands => {
                for command in &config.commands {
                    steps.build.push(BuildCommand::new(["sh", "-c", command]));
                }
            }
        }
        steps
    }

    /// make, with the wrappers where a Makefile has its compilers.
    fn make(self, layout: &BuildLayout<'_>, config: &BuildConfig) -> BuildCommand {
        let mut make = BuildCommand::new(["make"]);
        for (variable, wrapper) in [("CC=", layout.cc), ("CXX=", layout.cxx)] {
            let mut word = OsString::from(variable);
            word.push(wrapper);
            make.words.push(word);
        }
        make.words.extend(words(&config.define));
        make.words.extend(words(&config.arguments));
        make
    }

    /// The first run of the tests, for what it builds: make is asked for them once
    /// beforehand. Whether they pass is found out by the runs that follow.
    pub(crate) fn first_test(self, test: &[OsString]) -> Option<BuildCommand> {
        (!self.builds_outside() && !test.is_empty()).then(|| BuildCommand {
            words: test.to_vec(),
            must_succeed: false,
        })
    }

    /// The command that tests the project; `target` is the Makefile's.
    pub(crate) fn test(
        self,
        layout: &BuildLayout<'_>,
        config: &BuildConfig,
        target: Option<&str>,
    ) -> Vec<OsString> {
        match self {
            Self::Cmake => words(&["ctest", "--output-on-failure"]),
            Self::Meson => words(&[
                "meson",
                "test",
                "--no-rebuild",
                "--print-errorlogs",
                "-C",
                ".",
            ]),
            Self::Make { .. } => {
                let mut make = self.make(layout, config);
                make.words.push("--no-print-directory".into());
                make.words.extend(target.map(OsString::from));
                make.words
            }
            Self::Commands => Vec::new(),
        }
    }
}

/// What makes `configure`, which a clone does not have: the project's own script, or
/// autoreconf.
fn bootstrap(sources: &Path) -> BuildCommand {
    let mut scripts = BOOTSTRAP_SCRIPTS.iter();
    match scripts.find(|script| sources.join(script).is_file()) {
        // Some run configure at once unless they are told not to.
        Some(script) => BuildCommand::new(["env", "NOCONFIGURE=1", "sh", &format!("./{script}")]),
        None => BuildCommand::new(["autoreconf", "-fi"]),
    }
}

/// The test command that the user or the configuration gives.
pub(super) fn given(
    command: &[OsString],
    config: &ProjectConfig,
    is_projects: bool,
) -> Option<Vec<OsString>> {
    if !command.is_empty() {
        return Some(command.to_vec());
    }
    match config.test.command.as_ref().filter(|_| is_projects)? {
        CommandText::Shell(text) => Some(words(&["sh", "-c", text])),
        CommandText::List(list) => Some(words(list)),
    }
}

fn words<W: AsRef<str>>(list: &[W]) -> Vec<OsString> {
    list.iter().map(|word| word.as_ref().into()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_built_by_what_its_files_say() {
        let folder = tempfile::tempdir().unwrap();
        let mut build = BuildConfig::default();
        assert_eq!(BuildTool::of(folder.path(), &build), None);
        fs::write(folder.path().join("configure"), "").unwrap();
        let make = BuildTool::Make { configured: true };
        assert_eq!(BuildTool::of(folder.path(), &build), Some(make));
        fs::rename(
            folder.path().join("configure"),
            folder.path().join("configure.ac"),
        )
        .unwrap();
        assert_eq!(BuildTool::of(folder.path(), &build), Some(make));
        assert_eq!(bootstrap(folder.path()).shown(), "autoreconf -fi");
        fs::write(folder.path().join("autogen.sh"), "").unwrap();
        assert!(bootstrap(folder.path()).shown().ends_with("./autogen.sh"));
        fs::write(folder.path().join("CMakeLists.txt"), "").unwrap();
        assert_eq!(BuildTool::of(folder.path(), &build), Some(BuildTool::Cmake));
        build.system = Some(BuildSystem::None);
        assert_eq!(BuildTool::of(folder.path(), &build), None);
        build.commands = vec!["./build.sh".to_owned()];
        assert_eq!(
            BuildTool::of(folder.path(), &build),
            Some(BuildTool::Commands)
        );
    }
}
