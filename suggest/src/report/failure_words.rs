//! Why something cannot be built or run, in words that say what to do.

use std::path::Path;

use crate::evidence::NotRun;
use crate::project::{BuildFailure, BuildTool, ForeignPath, Hint, TestLeads, bazel_text};
use crate::subject::Subject;

/// One line about a failure.
pub(crate) fn build_failure_text(failure: &BuildFailure) -> String {
    const TEST_COMMAND: &str =
        "give the test command after --, or set `command` in [test] of wmfix.toml";
    match failure {
        BuildFailure::NoCompiler(error) => error.to_string(),
        BuildFailure::Compiler { what, others, .. } => {
            let text = format!("{what} does not build; see the compiler's output above");
            match others {
                0 => text,
                1 => format!("{text}. There is another program here: to leave this one out, name it"),
                others => format!(
                    "{text}. There are {others} other programs here: to leave this one out, name one of them, or its folder"
                ),
            }
        }
        BuildFailure::Command {
            command,
            hints, log, ..
        } => {
            let mut text = format!(
                "the project does not build: `{command}` failed; its last lines are above, the full log is {}",
                log.display()
            );
            text.extend(hints.iter().map(hint_text));
            text
        }
        BuildFailure::OwnCompiler(what) => format!(
            "the project sets its compiler itself ({what}), so it would not be built with wmfix's wrapper: let CC and CXX decide, or change it with -D on the command line"
        ),
        BuildFailure::Bazel { workspace, failure } => {
            format!("{}\n  {}", build_failure_text(failure), bazel_text(workspace))
        }
        BuildFailure::ForeignPath(ForeignPath { file, line, folder }) => format!(
            "{}:{line} names {}, so a build with it would write there, and wmfix builds in a copy: remove what was configured (make distclean, or the build folder), leave the file out with `exclude` in wmfix.toml, or use paths that are relative to it",
            file.display(),
            folder.display()
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
        BuildFailure::NoTests { tool, leads } => {
            let what = match tool {
                BuildTool::Meson => "Meson lists no tests (`test` in meson.build)",
                BuildTool::Make { .. } => {
                    "the Makefile has no `test`, `check` or `tests` target"
                }
                _ => "CMake lists no tests (`enable_testing` and `add_test` in the top CMakeLists.txt)",
            };
            match &leads_text(leads)[..] {
                [] => format!("{what}: {TEST_COMMAND}"),
                leads => format!(
                    "{what}. What may lead to them:\n  {}\nOtherwise {TEST_COMMAND}",
                    leads.join("\n  ")
                ),
            }
        }
        BuildFailure::Interrupted => {
            "interrupted before the first run: there are no results".to_owned()
        }
    }
}

/// A line for each sort of lead, with what to type.
fn leads_text(leads: &TestLeads) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(leads.submodule.as_deref().map(submodule_text));
    if !leads.presets.is_empty() {
        lines.push(presets_text(&leads.presets));
    }
    if !leads.options.is_empty() {
        let options = leads.options.iter().map(|option| format!("-D {option}"));
        let options = some_of(&options.collect::<Vec<_>>());
        lines.push(format!("an option that may switch them on: {options}"));
    }
    if !leads.targets.is_empty() {
        let targets = leads
            .targets
            .iter()
            .map(|target| format!("-- make {target}"));
        let targets = some_of(&targets.collect::<Vec<_>>());
        lines.push(format!("a target that may run them: {targets}"));
    }
    if !leads.programs.is_empty() {
        let programs = leads.programs.iter().map(|program| format!("-- {program}"));
        let programs = some_of(&programs.collect::<Vec<_>>());
        lines.push(format!("a program that was built: {programs}"));
    }
    if !leads.folders.is_empty() {
        let folders = leads
            .folders
            .iter()
            .map(|folder| format!("wmfix check {folder}"));
        let folders = some_of(&folders.collect::<Vec<_>>());
        lines.push(format!("a folder with a build file of its own: {folders}"));
    }
    lines
}

/// A line about what may be behind a command that failed, with the end of the line before.
fn hint_text(hint: &Hint) -> String {
    match hint {
        Hint::LeftOut(file) => left_out_text(file),
        Hint::Submodule(submodule) => format!("\n  {}", submodule_text(submodule)),
        Hint::Presets(presets) => format!("\n  {}", presets_text(presets)),
        Hint::Download(None) => "\n  it was to download something, which failed: try again with a network, or install what it needs".to_owned(),
        Hint::Download(Some(name)) => format!(
            "\n  FetchContent was to download {name}, which failed: try again with a network, or name a folder that has its sources: `-D FETCHCONTENT_SOURCE_DIR_{}=FOLDER`",
            name.to_uppercase()
        ),
    }
}

fn presets_text(presets: &[String]) -> String {
    let presets = presets.iter().map(|preset| format!("--preset {preset}"));
    let presets = some_of(&presets.collect::<Vec<_>>());
    format!("the project has presets for CMake, none of which was used: {presets}")
}

fn submodule_text(submodule: &Path) -> String {
    format!(
        "the submodule {} is empty: `git submodule update --init` brings its files",
        submodule.display()
    )
}

/// A list of things to type, not too long.
pub(super) fn some_of(all: &[String]) -> String {
    const MAX_SHOWN: usize = 4;
    let quoted = all.iter().take(MAX_SHOWN).map(|one| format!("`{one}`"));
    let shown = quoted.collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MAX_SHOWN) {
        0 => shown,
        count => format!("{shown} and {count} others"),
    }
}

/// A line about a file that the copy lacks.
pub(crate) fn left_out_text(file: &Path) -> String {
    let file = file.display();
    format!(
        "\n  {file} is in your folder, but an ignore file (such as .gitignore) or `exclude` keeps it out of the copy that is built: add `exclude = [\"!{file}\"]` to wmfix.toml"
    )
}

/// The end of what a tool printed; empty if there is nothing to show.
pub(crate) fn build_failure_output(failure: &BuildFailure) -> &str {
    match failure {
        BuildFailure::Compiler { output, .. } | BuildFailure::Command { output, .. } => output,
        BuildFailure::Bazel { failure, .. } => build_failure_output(failure),
        _ => "",
    }
}

/// Why something could not be run.
pub(crate) fn not_run_text(not_run: &NotRun, subject: &Subject) -> String {
    // Otherwise the user has.
    let was_built = subject.must_pass;
    let commands = subject.commands.iter().map(|command| command.shown());
    let commands = some_of(&commands.collect::<Vec<_>>());
    match not_run {
        NotRun::NoProgram { program, built } => {
            let text = format!("{} does not exist or is not executable", program.display());
            match &built[..] {
                [] => text,
                built => format!("{text}; what was built: {}", built.join(", ")),
            }
        }
        NotRun::TookTooLong { seconds } => format!(
            "no program that was built with wmfix has run within {seconds} s, after which a run \
             of {commands} is ended: try --timeout SECONDS, or a command that does less"
        ),
        NotRun::NotInstrumented { output: Some(_) } if was_built => {
            format!(
                "the test command failed before a program that was built could run: {commands}; \
                 what it printed is above"
            )
        }
        NotRun::NotInstrumented { .. } if was_built => {
            let built = match &subject.built[..] {
                [] => String::new(),
                built => format!(" ({})", built.join(", ")),
            };
            format!(
                "the command left no trace: {commands}. Does it run the programs that were \
                 built{built}? Another test command is given after --"
            )
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
