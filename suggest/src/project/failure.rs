//! Why a project cannot be built or tested, as data: the report finds the words.

use std::path::PathBuf;

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
    },
    /// A command of the build failed.
    Command {
        /// The command, as it would be typed.
        command: String,
        /// A file that the user's tree has and the copy lacks, which may be why.
        left_out: Option<PathBuf>,
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
    /// The Makefile has no target that runs tests.
    NoTestTarget,
    /// The build system knows of no tests.
    NoTests {
        /// The build system.
        tool: BuildTool,
        /// Options that may switch them on, as one types them for `-D`.
        options: Vec<String>,
    },
    /// The project sets its compiler itself, and the wrapper is not used: what is set.
    OwnCompiler(String),
    /// The user interrupted.
    Interrupted,
}

impl BuildFailure {
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
