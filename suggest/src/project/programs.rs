//! The programs at a path where no build system says otherwise: a file is a
//! program; in a folder each file with `main` is one, in its subfolders too, linked
//! with the other sources of its own folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use wmfix_frontend::Language;

use super::elsewhere::projects_below;
use super::main_function;
use super::system::has_build_file;
use super::walk::{is_hidden, walk, walk_own};
use crate::config::ConfigError;
use crate::regular_file;

/// A folder with more sources than this needs a build system, or a smaller folder.
const MAX_SOURCES: usize = 5_000;

/// This many files and folders are looked at to find them.
const MAX_ENTRIES: usize = 100_000;

/// A program that can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Its name: the file with `main` without the ending.
    pub name: String,
    /// Its source files, the one with `main` first.
    pub sources: Vec<PathBuf>,
}

/// Why there is nothing to build.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NothingToBuild {
    /// The path does not exist, or cannot be read.
    #[error("{0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// A device, a pipe, a socket.
    #[error("{0} is neither a regular file nor a folder: name a source file or a folder")]
    Special(PathBuf),
    /// The project's configuration is wrong.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// The file is not C or C++.
    #[error("{0} is neither a C nor a C++ source file")]
    NotASource(PathBuf),
    /// A folder without `main` that has other projects in it.
    #[error("{}", elsewhere_text(.0, .1))]
    Elsewhere(PathBuf, Vec<PathBuf>),
    /// A folder without `main`.
    #[error(
        "no file in {0} or its subfolders has a main function, so there is no program to run. \
         Give a test command after --, as in `-- sh -c 'cc -pthread *.c -o prog && ./prog'`, or \
         write into {0}/wmfix.toml:\n  \
         [build]\n  commands = [\"cc -pthread -Iinclude src/*.c test/*.c -o prog\"]\n  \
         [test]\n  command = \"./prog\""
    )]
    NoMain(PathBuf),
    /// A part of a project that has no code.
    #[error("{0} has no C or C++ file, so there is nothing to check: name what has")]
    NoCode(PathBuf),
    /// A folder without `main` that Bazel builds.
    #[error("{}", bazel_text(.0))]
    Bazel(PathBuf),
    /// Headers, and nothing that uses them.
    #[error(
        "{0} has only headers and no program that uses them: `wmfix init --harness` writes a small \
         test program to start from, or name a test command after --"
    )]
    OnlyHeaders(PathBuf),
    /// A file without `main`.
    #[error(
        "{0} has no main function, and no test program was found around it: give a file that has \
         one, the folder of the tests, or a test command after --"
    )]
    NoMainIn(PathBuf),
    /// A folder with too many sources.
    #[error(
        "{0} has more than {MAX_SOURCES} source files and no build system: name a smaller folder, \
         or set `commands` in [build] of wmfix.toml"
    )]
    TooManySources(PathBuf),
}

/// What to do where only Bazel can build.
pub(crate) fn bazel_text(workspace: &Path) -> String {
    format!(
        "{0} is built by Bazel, which wmfix does not run: write into {0}/wmfix.toml what builds \
         and runs one test without it, as in\n  [build]\n  commands = [\"$CXX -std=c++17 -pthread \
         -I. queue/queue_test.cc queue/queue.cc -o queue_test\"]\n  [test]\n  \
         command = \"./queue_test\"",
        workspace.display()
    )
}

/// Where a build file is, if there is none where one was looked for.
fn elsewhere_text(folder: &Path, projects: &[PathBuf]) -> String {
    const MAX_SHOWN: usize = 3;
    let shown: Vec<_> = projects
        .iter()
        .take(MAX_SHOWN)
        .map(|at| at.display().to_string())
        .collect();
    let others = match projects.len().saturating_sub(MAX_SHOWN) {
        0 => String::new(),
        count => format!(" and {count} others"),
    };
    format!(
        "{} has neither a build file nor a main function, but there is a build file in {}{others}: name that folder, as in `wmfix check {}`",
        folder.display(),
        shown.join(", "),
        shown.first().map_or("", String::as_str),
    )
}

/// Finds the programs at a path.
pub(super) fn find_programs(path: &Path) -> Result<Vec<Program>, NothingToBuild> {
    let unreadable = |error| NothingToBuild::Unreadable(path.to_owned(), error);
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_file() {
        if !Language::may_be(path) {
            return Err(NothingToBuild::NotASource(path.to_owned()));
        }
        let text = fs::read(path).map_err(unreadable)?;
        // Of a file that says `main` in another way, broken or through a macro, the
        // compiler has the better words.
        if !is_source(path) || !main_function::is_called_in(&text) {
            return Err(NothingToBuild::NoMainIn(path.to_owned()));
        }
        return Ok(vec![Program {
            name: name_of(path),
            sources: vec![path.to_owned()],
        }]);
    }
    let sources = sources_below(path)?;
    // Of each folder, the files with `main` and the others.
    let mut folders: BTreeMap<&Path, (Vec<&PathBuf>, Vec<&PathBuf>)> = BTreeMap::new();
    for source in &sources {
        let text = regular_file::read(source)
            .map_err(|error| NothingToBuild::Unreadable(source.clone(), error))?;
        let folder = folders.entry(source.parent().unwrap_or(path)).or_default();
        match main_function::is_defined_in(&text) {
            true => folder.0.push(source),
            false => folder.1.push(source),
        }
    }
    let mut programs: Vec<Program> = Vec::new();
    for (with_main, others) in folders.values() {
        for main in with_main {
            let name = free_name(main, path, &programs);
            let sources = std::iter::once(*main).chain(others.iter().copied());
            programs.push(Program {
                name,
                sources: sources.cloned().collect(),
            });
        }
    }
    let elsewhere = match programs.is_empty() {
        true => projects_below(path),
        false => Vec::new(),
    };
    match programs.is_empty() {
        false => Ok(programs),
        true if !elsewhere.is_empty() => Err(NothingToBuild::Elsewhere(path.to_owned(), elsewhere)),
        true if sources.is_empty() && has_headers(path) => {
            Err(NothingToBuild::OnlyHeaders(path.to_owned()))
        }
        true => Err(NothingToBuild::NoMain(path.to_owned())),
    }
}

/// The sources of a folder and its subfolders, sorted: not those of other projects
/// in it, nor other people's.
pub(super) fn sources_below(folder: &Path) -> Result<Vec<PathBuf>, NothingToBuild> {
    let mut sources = Vec::new();
    for entry in walk_own(folder, is_no_other_project).take(MAX_ENTRIES) {
        // What cannot be read is no source of ours.
        let Ok(entry) = entry else { continue };
        // A source may be a link; a folder may not, or there is no end.
        if entry.path().is_file() && is_source(entry.path()) {
            sources.push(entry.into_path());
            if sources.len() > MAX_SOURCES {
                return Err(NothingToBuild::TooManySources(folder.to_owned()));
            }
        }
    }
    sources.sort();
    Ok(sources)
}

/// Whether a folder or its subfolders have a program.
pub(super) fn any_below(folder: &Path) -> bool {
    sources_below(folder).is_ok_and(|sources| sources.iter().any(|source| has_main(source)))
}

/// Whether a program in a folder or its subfolders includes this file, what belongs to it
/// by its name, or something in this folder.
pub(super) fn any_uses(folder: &Path, named: &Path) -> bool {
    let is_meant = |included: &str| {
        let parts = Path::new(included).components();
        let normal = parts.filter(|part| matches!(part, Component::Normal(_)));
        let included: PathBuf = normal.collect();
        let at_end = |file: &Path| {
            file.with_extension("")
                .ends_with(included.with_extension(""))
        };
        let beside = named.join(included.file_name().unwrap_or_default());
        at_end(named) || beside.is_file() && at_end(&beside)
    };
    let uses = |source: &PathBuf| {
        let text = fs::read(source).unwrap_or_default();
        main_function::is_defined_in(&text)
            && String::from_utf8_lossy(&text)
                .lines()
                .filter_map(included_file)
                .any(is_meant)
    };
    sources_below(folder).is_ok_and(|sources| sources.iter().any(uses))
}

/// The file that a line includes.
fn included_file(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start();
    let rest = rest.strip_prefix(['"', '<'])?;
    rest.split(['"', '>']).next()
}

/// Whether a file is C or C++, or a folder has such a file, whoever's it is.
pub(super) fn any_code(path: &Path) -> bool {
    let files = walk(path, |entry| !is_hidden(entry)).take(MAX_ENTRIES);
    files
        .filter_map(Result::ok)
        .any(|entry| entry.path().is_file() && Language::may_be(entry.path()))
}

/// Whether a file is a source that defines `main`.
pub(super) fn has_main(file: &Path) -> bool {
    is_source(file)
        && regular_file::read(file).is_ok_and(|text| main_function::is_defined_in(&text))
}

fn has_headers(folder: &Path) -> bool {
    let mut files = walk_own(folder, is_no_other_project)
        .take(MAX_ENTRIES)
        .filter_map(Result::ok);
    files.any(|entry| entry.file_type().is_file() && Language::may_be(entry.path()))
}

/// Whether a folder belongs to the project around it: it has no build file, and is no
/// repository.
fn is_no_other_project(folder: &Path) -> bool {
    !has_build_file(folder) && !folder.join(".git").is_dir()
}

/// A name for the program of a file that no other has: that of the file, with
/// its folders or its ending where two have the same.
fn free_name(main: &Path, root: &Path, programs: &[Program]) -> String {
    let inside = main.strip_prefix(root).unwrap_or(main);
    let folder = inside.parent().unwrap_or(Path::new(""));
    let parts = folder.iter().map(|part| part.to_string_lossy());
    let parts: Vec<_> = parts.chain([name_of(main).into()]).collect();
    let file = main.file_name().unwrap_or_default().to_string_lossy();
    let named = [name_of(main), parts.join("-"), format!("{file}.out")];
    let numbered = (2..).map(|number| format!("{file}-{number}"));
    let is_free = |name: &String| programs.iter().all(|other| other.name != *name);
    let mut names = named.into_iter().chain(numbered);
    names.find(is_free).expect("some number is free")
}

fn name_of(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Whether a file is one that is compiled by itself (a header is not).
pub(super) fn is_source(path: &Path) -> bool {
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    ["c", "cc", "cpp", "cxx", "c++", "C"].contains(&extension)
}

/// The language that a source file is compiled as.
pub(super) fn language_of(path: &Path) -> Language {
    Language::of(path, b"").unwrap_or(Language::C)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_main_of_a_folder_is_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("queue.c", "int push(void) { return 1; }");
        write("test_a.c", "int main(void) { return push(); }");
        write(
            "test_b.c",
            "/* main() */ int main(int argc, char **argv) { return 0; }",
        );
        write("queue.h", "int push(void);");
        let programs = find_programs(folder.path()).unwrap();
        let names: Vec<_> = programs
            .iter()
            .map(|program| program.name.as_str())
            .collect();
        assert_eq!(names, ["test_a", "test_b"]);
        assert_eq!(
            programs[0].sources,
            [
                folder.path().join("test_a.c"),
                folder.path().join("queue.c")
            ]
        );
    }

    #[test]
    fn programs_are_found_in_subfolders_and_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let main = "int main(void) { return 0; }";
        for (name, text) in [
            ("a/test.c", main),
            ("b/test.c", main),
            ("b/test.cpp", main),
            ("b/part.c", ""),
            ("vendor/x.c", main),
            (".hidden/x.c", main),
            ("other/Makefile", ""),
            ("other/x.c", main),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let programs = find_programs(folder.path()).unwrap();
        let names: Vec<_> = programs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["test", "b-test", "test.cpp.out"]);
        assert_eq!(programs[1].sources[1], folder.path().join("b/part.c"));
        assert!(any_below(folder.path()) && !any_below(&folder.path().join("vendor/x")));
    }

    #[test]
    fn headers_alone_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("queue.h"), "struct queue;").unwrap();
        let error = find_programs(folder.path()).unwrap_err();
        assert!(error.to_string().contains("init --harness"), "{error}");
    }

    #[test]
    fn what_cannot_be_built_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = find_programs(folder.path()).unwrap_err();
        assert!(matches!(error, NothingToBuild::NoMain(_)));
        fs::write(folder.path().join("Makefile"), "").unwrap();
        fs::write(folder.path().join("part.c"), "int part;").unwrap();
        let error = find_programs(&folder.path().join("part.c")).unwrap_err();
        assert!(error.to_string().contains("no main"), "{error}");
        let error = find_programs(&folder.path().join("missing.c")).unwrap_err();
        assert!(matches!(error, NothingToBuild::Unreadable(..)));
        let error = find_programs(&folder.path().join("Makefile")).unwrap_err();
        assert!(matches!(error, NothingToBuild::NotASource(_)));
    }
}
