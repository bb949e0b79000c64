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
        BuildFailure::Command {
            command,
            left_out,
            log,
            ..
        } => {
            let mut text = format!(
                "the project does not build: `{command}` failed; its last lines are above, the full log is {}",
                log.display()
            );
            if let Some(file) = left_out {
                let file = file.display();
                text += &format!(
                    "\n  {file} is in your folder, but an ignore file (such as .gitignore) or `exclude` keeps it out of the copy that is built: add `exclude = [\"!{file}\"]` to wmfix.toml"
                );
            }
            text
        }
        BuildFailure::OwnCompiler(what) => format!(
            "the project sets its compiler itself ({what}), so it would not be built with wmfix's wrapper: let CC and CXX decide, or change it with -D on the command line"
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
        BuildFailure::NoTests { tool, options } => {
            let what = match tool {
                BuildTool::Meson => "Meson lists no tests (`test` in meson.build)",
                _ => "CMake lists no tests (`enable_testing` and `add_test` in the top CMakeLists.txt)",
            };
            match &options[..] {
                [] => format!("{what}: {TEST_COMMAND}"),
                options => {
                    let options: Vec<String> =
                        options.iter().map(|option| format!("-D {option}")).collect();
                    format!(
                        "{what}; the project has an option that may switch them on: try {}",
                        options.join(" or ")
                    )
                }
            }
        }
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
        NotRun::NoProgram { program, built } => {
            let text = format!("{} does not exist or is not executable", program.display());
            match &built[..] {
                [] => text,
                built => format!("{text}; what was built: {}", built.join(", ")),
            }
        }
        NotRun::NotInstrumented { output: Some(_) } if was_built => {
            "the test command failed before a program that was built could run; what it printed is above"
                .to_owned()
        }
        NotRun::NotInstrumented { .. } if was_built => {
            "the command left no trace: does it run the programs that were built?".to_owned()
        }
        NotRun::NotInstrumented { .. } => {
            "the command left no trace: build it with `wmfix cc` or `wmfix c++`, then run it again"
                .to_owned()
        }
    }
}

/// That runs were not recorded as a whole.
pub(super) fn incomplete_text(incomplete: u64, runs: u64) -> String {
    let were = if incomplete == 1 { "is" } else { "are" };
    format!("{incomplete} of {runs} runs {were} incomplete: what was not recorded is not checked")
}
