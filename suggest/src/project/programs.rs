//! The programs at a path where no build system says otherwise: a file is a
//! program; in a folder each file with `main` is one, linked with the folder's
//! other sources.

use std::fs;
use std::path::{Path, PathBuf};

use wmfix_frontend::Language;

use super::main_function;

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
    /// The file is not C or C++.
    #[error("{0} is neither a C nor a C++ source file")]
    NotASource(PathBuf),
    /// A folder without `main`.
    #[error("no file in {0} has a main function: give a test program, or a test command after --")]
    NoMain(PathBuf),
    /// A file without `main`.
    #[error("{0} has no main function: give a file that has one, or its folder")]
    NoMainIn(PathBuf),
}

/// Finds the programs at a path.
pub(super) fn find_programs(path: &Path) -> Result<Vec<Program>, NothingToBuild> {
    let unreadable = |error| NothingToBuild::Unreadable(path.to_owned(), error);
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_file() {
        if !is_source(path) {
            return Err(NothingToBuild::NotASource(path.to_owned()));
        }
        let text = fs::read(path).map_err(unreadable)?;
        if !main_function::is_defined_in(&text) {
            return Err(NothingToBuild::NoMainIn(path.to_owned()));
        }
        return Ok(vec![Program {
            name: name_of(path),
            sources: vec![path.to_owned()],
        }]);
    }
    let mut sources = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.is_file() && is_source(&file) {
            sources.push(file);
        }
    }
    sources.sort();
    let mut with_main = Vec::new();
    let mut others = Vec::new();
    for source in sources {
        let text =
            fs::read(&source).map_err(|error| NothingToBuild::Unreadable(source.clone(), error))?;
        if main_function::is_defined_in(&text) {
            with_main.push(source);
        } else {
            others.push(source);
        }
    }
    if with_main.is_empty() {
        return Err(NothingToBuild::NoMain(path.to_owned()));
    }
    let mut programs: Vec<Program> = Vec::new();
    for main in with_main {
        let mut name = name_of(&main);
        if programs.iter().any(|other| other.name == name) {
            // Two that differ in their endings only.
            name = main
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
                + ".out";
        }
        let sources = std::iter::once(main).chain(others.iter().cloned());
        programs.push(Program {
            name,
            sources: sources.collect(),
        });
    }
    Ok(programs)
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
