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
    NoTests(BuildTool),
    /// The user interrupted.
    Interrupted,
}
