//! Why something cannot be built or run, in words that say what to do.

use crate::evidence::NotRun;
use crate::project::{BuildFailure, BuildTool};

/// One line about a failure.
pub(crate) fn build_failure_text(failure: &BuildFailure) -> String {
    const TEST_COMMAND: &str =
        "give the test command after --, or set `command` in [test] of wmfix.toml";
    match failure {
        BuildFailure::NoCompiler(error) => error.to_string(),
        BuildFailure::Compiler { what, .. } => {
            format!("{what} does not build; see the compiler's output above")
        }
        BuildFailure::Command { command, log, .. } => format!(
            "the project does not build: `{command}` failed; its last lines are above, the full log is {}",
            log.display()
        ),
        BuildFailure::MissingProgram { tool, program } => {
            let package = match program.as_str() {
                "ctest" => "cmake",
                other => other,
            };
            format!(
                "the project uses {}, but {program} is not on PATH: install {package}, or set `commands` in [build] of wmfix.toml",
                tool.name()
            )
        }
        BuildFailure::NoTestCommand => {
            "wmfix.toml has build commands but no test command: set `command` in [test], or give the test command after --".to_owned()
        }
        BuildFailure::NoTestTarget => {
            format!("the Makefile has neither a `test` nor a `check` target: {TEST_COMMAND}")
        }
        BuildFailure::NoTests(BuildTool::Meson) => {
            format!("Meson lists no tests (`test` in meson.build): {TEST_COMMAND}")
        }
        BuildFailure::NoTests(_) => format!(
            "CMake lists no tests (`enable_testing` and `add_test` in the top CMakeLists.txt): {TEST_COMMAND}"
        ),
        BuildFailure::Interrupted => {
            "interrupted before the first run: there are no results".to_owned()
        }
    }
}

/// The end of what a tool printed; empty if there is nothing to show.
pub(crate) fn build_failure_output(failure: &BuildFailure) -> &str {
    match failure {
        BuildFailure::Compiler { output, .. } | BuildFailure::Command { output, .. } => output,
        _ => "",
    }
}

/// Why something could not be run. `was_built` says that wmfix has built it.
pub(crate) fn not_run_text(not_run: &NotRun, was_built: bool) -> String {
    match not_run {
        NotRun::NoProgram(program) => {
            format!("{} does not exist or is not executable", program.display())
        }
        NotRun::NotInstrumented if was_built => {
            "the command left no trace: does it run the programs that were built?".to_owned()
        }
        NotRun::NotInstrumented => {
            "the command left no trace: build it with `wmfix cc` or `wmfix c++`, then run it again"
                .to_owned()
        }
    }
}
