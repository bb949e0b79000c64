//! Why a project cannot be run, in words that say what to do.

use crate::project::{BuildFailure, BuildTool};

/// One line about a failure.
pub fn build_failure_text(failure: &BuildFailure) -> String {
    const TEST_COMMAND: &str =
        "give the test command after --, or as `command` in [test] of wmfix.toml";
    match failure {
        BuildFailure::NoCompiler(error) => error.to_string(),
        BuildFailure::Compiler { what, .. } => {
            format!("{what} does not build; what the compiler said is above")
        }
        BuildFailure::Command { command, log, .. } => format!(
            "the project does not build: `{command}` failed; its last lines are above, all of them in {}",
            log.display()
        ),
        BuildFailure::MissingProgram { tool, program } => {
            let package = match program.as_str() {
                "ctest" => "cmake",
                other => other,
            };
            format!(
                "this is built by {}, but there is no {program} on PATH: install {package}, or say in wmfix.toml how to build ([build] commands)",
                tool.name()
            )
        }
        BuildFailure::NoTestCommand => {
            "wmfix.toml says how to build, but not how to test: add `command` to [test], or give the test command after --".to_owned()
        }
        BuildFailure::NoTestTarget => {
            format!("the Makefile has neither a `test` nor a `check` target: {TEST_COMMAND}")
        }
        BuildFailure::NoTests(BuildTool::Meson) => {
            format!("Meson knows of no tests (`test` in meson.build): {TEST_COMMAND}")
        }
        BuildFailure::NoTests(_) => format!(
            "CMake knows of no tests (`enable_testing` and `add_test` in the top CMakeLists.txt): {TEST_COMMAND}"
        ),
        BuildFailure::Interrupted => {
            "interrupted before the first run: nothing is known yet".to_owned()
        }
    }
}

/// The end of what a tool printed; empty if there is nothing to show.
pub fn build_failure_output(failure: &BuildFailure) -> &str {
    match failure {
        BuildFailure::Compiler { output, .. } | BuildFailure::Command { output, .. } => output,
        _ => "",
    }
}
