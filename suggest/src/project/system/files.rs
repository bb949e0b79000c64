//! What the text of build files tells without running a build tool: whether one is
//! a project's own or a part of another's, and whether a source file is built. Where
//! the text does not tell, the answer is the one that builds more.

use std::fs;
use std::path::Path;

use super::{BuildTool, FILES};
use crate::project::make_rules::TEST_TARGETS;
use crate::project::walk::{is_hidden, walk};

/// This many build files of a project are read.
const MAX_BUILD_FILES: usize = 500;

/// A larger file is not one that a person has written.
const MAX_BYTES: u64 = 4 << 20;

/// Words of build files by which they take files that they do not name.
const GLOBS: [&str; 4] = ["GLOB", "wildcard", "aux_source_directory", "run_command"];

/// Whether a folder has a build file.
pub(in crate::project) fn has_build_file(folder: &Path) -> bool {
    let mut files = FILES.iter();
    files.any(|(file, _)| folder.join(file).is_file())
}

/// Whether what builds a folder can do so without the folders around it, `outer`
/// from the inside out. With a test command of the user's no tests are needed.
pub(in crate::project) fn stands_alone(
    tool: BuildTool,
    folder: &Path,
    outer: &[&Path],
    has_command: bool,
) -> bool {
    match tool {
        BuildTool::Cmake => {
            let own = read(&folder.join("CMakeLists.txt"));
            let is_part = |above: &&&Path| {
                let text = read(&above.join("CMakeLists.txt"));
                let inside = folder.strip_prefix(above).unwrap_or(folder);
                text.is_some_and(|text| adds_folder(&text, &inside.to_string_lossy()))
            };
            own.is_some_and(|text| calls(&text, "project")) && !outer.iter().any(|at| is_part(&at))
        }
        BuildTool::Meson => {
            let own = read(&folder.join("meson.build"));
            own.is_some_and(|text| calls(&text, "project"))
        }
        BuildTool::Make { configured } => {
            let names = ["GNUmakefile", "makefile", "Makefile"];
            let text = names.iter().find_map(|name| read(&folder.join(name)));
            // Other tools do not go into the Makefiles of their folders, and there is
            // nothing to be had from one that has no tests either.
            let mut around = outer.iter().filter(|at| has_build_file(at)).peekable();
            let among_untested = around.peek().is_some() && around.all(|at| is_untested(at));
            configured || has_command || among_untested || text.is_some_and(|text| has_tests(&text))
        }
        BuildTool::Commands => true,
    }
}

/// Whether a folder is built by CMake or Meson, and has no tests that these know of.
fn is_untested(folder: &Path) -> bool {
    let says = |file: &str, words: &[&str]| {
        let text = read(&folder.join(file))?;
        Some(
            words
                .iter()
                .any(|word| code(&text).any(|line| line.contains(word))),
        )
    };
    // A folder that is taken in may have some, but CMake wants to be told at the top.
    let cmake = says("CMakeLists.txt", &["enable_testing", "CTest", "add_test"]);
    let meson = says("meson.build", &["test(", "subdir("]);
    cmake.or(meson) == Some(false)
}

/// Whether a project's build files speak of a source file. `true` where they may
/// take it without its name.
pub(in crate::project) fn builds_file(root: &Path, file: &Path, by_commands: bool) -> bool {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut build_files = walk(root, |entry| !is_hidden(entry))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && is_build_file(entry.path()))
        .take(MAX_BUILD_FILES);
    by_commands
        || build_files.any(|entry| {
            let text = read(entry.path()).unwrap_or_default();
            has_word(&text, &stem) || GLOBS.iter().any(|glob| text.contains(glob))
        })
}

fn is_build_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    FILES.iter().any(|(file, _)| *file == name)
        || ["Makefile.am", "Makefile.in"].contains(&&*name)
        || [".cmake", ".mk"]
            .iter()
            .any(|ending| name.ends_with(ending))
}

fn read(file: &Path) -> Option<String> {
    let meta = fs::metadata(file).ok()?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return None;
    }
    let text = fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Lines without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or(""))
}

/// What stands behind the opening parenthesis of each call of a command.
fn arguments<'t>(text: &'t str, command: &'t str) -> impl Iterator<Item = &'t str> {
    code(text).filter_map(move |line| {
        let line = line.trim_start();
        let name = line.get(..command.len())?;
        let rest = line[command.len()..].trim_start();
        let rest = rest.strip_prefix('(')?;
        name.eq_ignore_ascii_case(command).then_some(rest)
    })
}

fn calls(text: &str, command: &str) -> bool {
    arguments(text, command).next().is_some()
}

/// Whether a CMakeLists.txt takes the folder at this path below it.
fn adds_folder(text: &str, inside: &str) -> bool {
    arguments(text, "add_subdirectory").any(|rest| {
        let rest = rest.trim_start().trim_start_matches('"');
        let variables = [
            "${CMAKE_CURRENT_SOURCE_DIR}/",
            "${PROJECT_SOURCE_DIR}/",
            "./",
        ];
        let rest = variables.iter().fold(rest, |rest, variable| {
            rest.strip_prefix(variable).unwrap_or(rest)
        });
        let end = rest.find(|c: char| c.is_whitespace() || [')', '"'].contains(&c));
        rest[..end.unwrap_or(rest.len())].trim_end_matches('/') == inside
    })
}

/// Whether a Makefile has a target that runs tests, or may have one in a file that
/// it includes.
fn has_tests(text: &str) -> bool {
    code(text).any(|line| {
        let (targets, rest) = line.split_once(':').unwrap_or_default();
        let is_variable = targets.contains('=') || rest.trim_start_matches(':').starts_with('=');
        let is_rule = !line.starts_with('\t') && !is_variable;
        let mut targets = targets.split_whitespace();
        is_rule && targets.any(|target| TEST_TARGETS.contains(&target))
            || line.trim_start().starts_with("include ")
    })
}

/// Whether a text has a word, not as a part of another one.
fn has_word(text: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].ends_with(of_word) && !text[at + word.len()..].starts_with(of_word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_added_by_their_paths() {
        let text = "add_subdirectory(src)\nAdd_Subdirectory( \"lib/queue\" EXCLUDE_FROM_ALL)\n\
                    # add_subdirectory(old)\nadd_subdirectory(${CMAKE_CURRENT_SOURCE_DIR}/test)\n";
        for added in ["src", "lib/queue", "test"] {
            assert!(adds_folder(text, added), "{added}");
        }
        for other in ["old", "queue", "sr", "src/x"] {
            assert!(!adds_folder(text, other), "{other}");
        }
    }

    #[test]
    fn tests_are_targets_not_variables() {
        assert!(has_tests("all: a\ntest check: all\n\t./a\n"));
        assert!(has_tests("include common.mk\n"));
        assert!(!has_tests("test := 1\nall: test.o\n\ttest: x\n"));
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("add_executable(queue queue.c)", "queue"));
        assert!(!has_word("add_executable(my_queue queue-x.c)", "queue"));
    }
}
