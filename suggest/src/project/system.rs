//! The build systems: how each is told apart, configured, built and tested with
//! the compiler wrappers. Knows nothing of copies and caches.

use std::ffi::OsString;
use std::path::Path;

use super::command::Step;
use crate::config::{Build, Config, System, Words};

/// Files that say how a folder is built, and by what.
const FILES: [(&str, System); 6] = [
    ("CMakeLists.txt", System::Cmake),
    ("meson.build", System::Meson),
    ("GNUmakefile", System::Make),
    ("makefile", System::Make),
    ("Makefile", System::Make),
    ("configure", System::Make),
];

/// How a project is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
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
pub struct Steps {
    /// Once, or when the setting has changed.
    pub configure: Vec<Step>,
    /// Whenever a file has changed.
    pub build: Vec<Step>,
}

/// Where a project is built.
#[derive(Debug)]
pub struct Site<'a> {
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

impl Tool {
    /// The tool that builds a folder, if any does.
    pub fn of(folder: &Path, build: &Build) -> Option<Self> {
        if !build.commands.is_empty() {
            return Some(Self::Commands);
        }
        let found = || {
            let mut files = FILES.iter();
            let found = files.find(|(file, _)| folder.join(file).is_file());
            found.map(|(_, system)| *system)
        };
        match build.system.or_else(found)? {
            System::Cmake => Some(Self::Cmake),
            System::Meson => Some(Self::Meson),
            System::Make => Some(Self::Make {
                configured: folder.join("configure").is_file(),
            }),
            System::None => None,
        }
    }

    /// Whether it builds beside the sources, not among them.
    pub fn builds_outside(self) -> bool {
        matches!(self, Self::Cmake | Self::Meson)
    }

    /// Its name, as people know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cmake => "CMake",
            Self::Meson => "Meson",
            Self::Make { .. } => "make",
            Self::Commands => "the commands of wmfix.toml",
        }
    }

    /// How the project is built. `test` is what will be run later: make is asked
    /// for it once beforehand, because that is what builds the test programs.
    pub fn steps(self, site: &Site<'_>, config: &Build, test: &[OsString]) -> Steps {
        let jobs = site.jobs.to_string();
        let mut steps = Steps::default();
        match self {
            Self::Cmake => {
                let mut configure = Step::new(["cmake", "-S"]);
                configure.words.push(site.sources.into());
                configure.words.extend(["-B".into(), site.build.into()]);
                configure.words.extend(words(&config.configure));
                steps.configure.push(configure);
                let mut build = Step::new(["cmake", "--build", ".", "--parallel", &jobs]);
                build.words.extend(words(&config.arguments));
                steps.build.push(build);
            }
            Self::Meson => {
                let mut configure = Step::new(["meson", "setup"]);
                configure.words.extend(words(&config.configure));
                configure
                    .words
                    .extend([site.build.into(), site.sources.into()]);
                steps.configure.push(configure);
                let mut build = Step::new(["meson", "compile", "-C", ".", "-j", &jobs]);
                build.words.extend(words(&config.arguments));
                steps.build.push(build);
            }
            Self::Make { configured } => {
                if configured {
                    let mut configure = Step::new(["./configure"]);
                    configure.words.extend(words(&config.configure));
                    steps.configure.push(configure);
                }
                let mut build = self.make(site, config);
                build.words.extend(["-j".into(), jobs.into()]);
                steps.build.push(build);
                steps.build.extend(built_by(test));
            }
            Self::Commands => {
                for command in &config.commands {
                    steps.build.push(Step::new(["sh", "-c", command]));
                }
                steps.build.extend(built_by(test));
            }
        }
        steps
    }

    /// make, with the wrappers where a Makefile has its compilers.
    fn make(self, site: &Site<'_>, config: &Build) -> Step {
        let mut make = Step::new(["make"]);
        for (variable, wrapper) in [("CC=", site.cc), ("CXX=", site.cxx)] {
            let mut word = OsString::from(variable);
            word.push(wrapper);
            make.words.push(word);
        }
        make.words.extend(words(&config.arguments));
        make
    }

    /// The command that tests the project; `target` is the Makefile's.
    pub fn test(self, site: &Site<'_>, config: &Build, target: Option<&str>) -> Vec<OsString> {
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
                let mut make = self.make(site, config);
                make.words.push("--no-print-directory".into());
                make.words.extend(target.map(OsString::from));
                make.words
            }
            Self::Commands => Vec::new(),
        }
    }

    /// What to install if a program of its is missing.
    pub fn missing(self, program: &str) -> String {
        let from = match program {
            "ctest" => "cmake",
            other => other,
        };
        format!(
            "this is built by {}, but there is no {program} on PATH: install {from}, or say in wmfix.toml how to build ([build] commands)",
            self.name()
        )
    }
}

/// The test command that the user or the configuration gives.
pub fn given(command: &[OsString], config: &Config, is_projects: bool) -> Option<Vec<OsString>> {
    if !command.is_empty() {
        return Some(command.to_vec());
    }
    match config.test.command.as_ref().filter(|_| is_projects)? {
        Words::Shell(text) => Some(words(&["sh", "-c", text])),
        Words::List(list) => Some(words(list)),
    }
}

/// The first run of the tests, for what it builds. Whether they pass is found out
/// by the runs that follow.
fn built_by(test: &[OsString]) -> Option<Step> {
    (!test.is_empty()).then(|| Step {
        words: test.to_vec(),
        must_succeed: false,
    })
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
        let mut build = Build::default();
        assert_eq!(Tool::of(folder.path(), &build), None);
        fs::write(folder.path().join("configure"), "").unwrap();
        let make = Tool::Make { configured: true };
        assert_eq!(Tool::of(folder.path(), &build), Some(make));
        fs::write(folder.path().join("CMakeLists.txt"), "").unwrap();
        assert_eq!(Tool::of(folder.path(), &build), Some(Tool::Cmake));
        build.system = Some(System::None);
        assert_eq!(Tool::of(folder.path(), &build), None);
        build.commands = vec!["./build.sh".to_owned()];
        assert_eq!(Tool::of(folder.path(), &build), Some(Tool::Commands));
    }
}
