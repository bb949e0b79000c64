//! Why a project cannot be built or tested, as data: the report finds the words.

use std::path::PathBuf;

use super::foreign_paths::ForeignPath;
use super::system::BuildTool;
use crate::cc::NoCompiler;

/// Why a project cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BuildFailure {
    /// There is no compiler, or none that can be used.
    NoCompiler(NoCompiler),
    /// The compiler rejects a source file or a program.
    Compiler {
        /// The name of the file or program.
        what: String,
        /// The end of what the compiler printed.
        output: String,
        /// How many programs there are besides, which can be named.
        others: usize,
    },
    /// A command of the build failed.
    Command {
        /// The command, as it would be typed.
        command: String,
        /// What may be why.
        hints: Vec<Hint>,
        /// The file with all of its output.
        log: PathBuf,
        /// The end of its output.
        output: String,
    },
    /// A program of the build system is missing.
    MissingProgram {
        /// The build system.
        tool: BuildTool,
        /// The program.
        program: String,
    },
    /// The configuration has build commands, but no test command.
    NoTestCommand,
    /// The build system knows of no tests.
    NoTests {
        /// The build system.
        tool: BuildTool,
        /// What may lead to them.
        leads: Box<TestLeads>,
    },
    /// The project sets its compiler itself, and the wrapper is not used: what is set.
    OwnCompiler(String),
    /// Bazel builds this folder, and what wmfix did instead does not build.
    Bazel {
        /// The folder of Bazel's workspace.
        workspace: PathBuf,
        /// What happened.
        failure: Box<BuildFailure>,
    },
    /// A build file names the user's folder: what is built with it is written there.
    ForeignPath(ForeignPath),
    /// The user interrupted.
    Interrupted,
}

/// What may be behind a command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// A file that the user's tree has and the copy lacks.
    LeftOut(PathBuf),
    /// A submodule that is not checked out.
    Submodule(PathBuf),
    /// Something was to be downloaded: by this name, if CMake's FetchContent was to.
    Download(Option<String>),
    /// The project has these presets for CMake, and was configured without any.
    Presets(Vec<String>),
}

/// What may lead to the tests of a project whose build system names none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TestLeads {
    /// A submodule that is not checked out: the tests may need it.
    pub submodule: Option<PathBuf>,
    /// Presets of CMake, if it was configured without any.
    pub presets: Vec<String>,
    /// Options that may switch them on, as one types them for `-D`.
    pub options: Vec<String>,
    /// Targets of the Makefile that may run them.
    pub targets: Vec<String>,
    /// Programs that were built.
    pub programs: Vec<String>,
    /// Folders with a build file of their own, as one types them.
    pub folders: Vec<String>,
}

impl BuildFailure {
    /// The failure of one of several programs.
    pub(super) fn beside(self, programs: usize) -> Self {
        match self {
            Self::Compiler { what, output, .. } => Self::Compiler {
                what,
                output,
                others: programs.saturating_sub(1),
            },
            other => other,
        }
    }

    /// Whether a header or a definition is missing, which may lie elsewhere.
    pub(super) fn may_miss_a_part(&self) -> bool {
        /// What gcc, clang and the linkers print then.
        const WORDS: [&str; 4] = [
            "undefined reference",
            "undefined symbol",
            "No such file or directory",
            "file not found",
        ];
        match self {
            Self::Compiler { output, .. } => WORDS.iter().any(|word| output.contains(word)),
            _ => false,
        }
    }
}
