//! Where the project is that a path belongs to: the path itself, or what lies
//! around it. A wmfix.toml decides first, then a build file, then the repository;
//! a file with `main` that none of them speaks of is a program by itself.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::programs::{self, NothingToBuild};
use super::system::{BuildTool, builds_file, stands_alone};
use crate::config::{BuildConfig, FILE_NAME, ProjectConfig, repository};

/// Folders that are parts of a project: where no build file and no repository says how
/// far it goes, it is what these are in.
const PARTS: [&str; 8] = [
    "src", "source", "lib", "include", "inc", "headers", "test", "tests",
];

/// Parts that often have a folder of the project's name in them.
const PARTS_WITH_A_NAME: [&str; 2] = ["include", "inc"];

/// Where a project is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// What is built, absolute and without links: a folder, or a file that is a
    /// program by itself.
    pub root: PathBuf,
    /// What the report is limited to; `None` for all of the project.
    pub scope: Option<PathBuf>,
}

/// Finds the project that a path belongs to. With a test command of the user's a
/// build file needs no tests to be a project's.
pub(crate) fn locate(path: &Path, has_command: bool) -> Result<Location, NothingToBuild> {
    let unreadable = |error| NothingToBuild::Unreadable(path.to_owned(), error);
    let full = path.canonicalize().map_err(unreadable)?;
    let is_folder = full.is_dir();
    let part_of = |root: PathBuf| Location {
        scope: (root != full).then(|| full.clone()),
        root,
    };
    let folder = match full.parent() {
        Some(parent) if !is_folder => parent,
        _ => &full,
    };
    let above = folders_above(folder);
    if let Some(root) = built_above(&above, has_command)? {
        let is_apart = !is_folder
            && programs::has_main(&full)
            && !builds_file(&root, &full, has_commands(&root)?);
        return Ok(match is_apart {
            true => part_of(full.clone()),
            false => part_of(root),
        });
    }
    if !is_folder && programs::has_main(&full) {
        return Ok(part_of(full.clone()));
    }
    // Without a build system the programs say what belongs together.
    let limit = match repository(folder) {
        Some(_) => above.len(),
        None => levels_of_parts(&above) + 1,
    };
    let root = above.into_iter().take(limit);
    let root = root.map(Path::to_owned).find(|at| programs::any_below(at));
    Ok(part_of(root.unwrap_or_else(|| full.clone())))
}

/// The folder and those above it that may hold its project: up to the root of the
/// repository; without one, up to a folder that others can write to or that
/// belongs to somebody else, whose build files are not for us to run.
fn folders_above(folder: &Path) -> Vec<&Path> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let last = repository(folder);
    let owner = fs::metadata(folder).map(|meta| meta.uid()).ok();
    let mut above = vec![folder];
    for at in folder.ancestors().skip(1) {
        let within = match &last {
            Some(last) => at.starts_with(last),
            None => {
                let trusted = fs::metadata(at).is_ok_and(|meta| {
                    Some(meta.uid()) == owner && meta.permissions().mode() & 0o002 == 0
                });
                trusted && at.parent().is_some() && Some(at) != home.as_deref()
            }
        };
        if !within {
            break;
        }
        above.push(at);
    }
    above
}

/// How many of these folders, from the inside out, are parts of what is around them.
/// The folders beside a project are other people's, or other projects.
fn levels_of_parts(above: &[&Path]) -> usize {
    let named = |at: Option<&&Path>, names: &[&str]| {
        let name = at
            .and_then(|at| at.file_name())
            .and_then(|name| name.to_str());
        name.is_some_and(|name| names.contains(&name))
    };
    if named(above.first(), &PARTS) {
        1
    } else if named(above.get(1), &PARTS_WITH_A_NAME) {
        2
    } else {
        0
    }
}

/// The folder that a build system builds, of these from the inside out.
fn built_above(above: &[&Path], has_command: bool) -> Result<Option<PathBuf>, NothingToBuild> {
    let mut with_build_file = Vec::new();
    let mut configured = None;
    for (depth, &at) in above.iter().enumerate() {
        let file = at.join(FILE_NAME);
        let config = match file.is_file() {
            true => ProjectConfig::read(&file)?.build,
            false => BuildConfig::default(),
        };
        let Some(tool) = BuildTool::of(at, &config) else {
            continue;
        };
        let outer = &above[depth + 1..];
        let alone = file.is_file() || stands_alone(tool, at, outer, has_command);
        if depth == 0 && alone {
            // The folder that was named is a project.
            return Ok(Some(at.to_owned()));
        }
        if file.is_file() && configured.is_none() {
            configured = Some(at.to_owned());
        }
        with_build_file.push((at, alone));
    }
    let alone = with_build_file.iter().find(|(_, alone)| *alone);
    let found = alone.or(with_build_file.last());
    Ok(configured.or_else(|| found.map(|(at, _)| (*at).to_owned())))
}

/// Whether the wmfix.toml of a folder has build commands: nobody can tell what
/// these build.
fn has_commands(folder: &Path) -> Result<bool, NothingToBuild> {
    let file = folder.join(FILE_NAME);
    Ok(file.is_file() && !ProjectConfig::read(&file)?.build.commands.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Self {
            let tree = Self(tempfile::tempdir().expect("a folder"));
            for (name, text) in files {
                let path = tree.path(name);
                fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                fs::write(path, text).expect("a file");
            }
            tree
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Where the project of a path is, and whether the report is limited.
        fn located(&self, name: &str) -> (String, bool) {
            let found = locate(&self.path(name), false).expect("it is there");
            let top = self.0.path().canonicalize().expect("it is there");
            let inside = found.root.strip_prefix(&top).expect("inside");
            (inside.display().to_string(), found.scope.is_some())
        }
    }

    const MAIN: &str = "int main(void) { return 0; }\n";

    fn at(root: &str, limited: bool) -> (String, bool) {
        (root.to_owned(), limited)
    }

    #[test]
    fn a_part_of_a_project_leads_to_the_project() {
        let tree = Tree::new(&[
            ("p/CMakeLists.txt", "project(p C)\nadd_subdirectory(test)\n"),
            ("p/src/CMakeLists.txt", "add_library(q q.c)\n"),
            ("p/src/q.c", ""),
            ("p/include/q.h", ""),
            (
                "p/test/CMakeLists.txt",
                "project(t C)\nadd_executable(t t.c)\n",
            ),
            ("p/test/t.c", MAIN),
            ("p/notes/try.c", MAIN),
        ]);
        for part in [
            "p/src",
            "p/include",
            "p/include/q.h",
            "p/src/q.c",
            "p/test/t.c",
            "p/test",
        ] {
            assert_eq!(tree.located(part), at("p", true), "{part}");
        }
        assert_eq!(tree.located("p"), at("p", false));
        // No build file speaks of it.
        assert_eq!(tree.located("p/notes/try.c"), at("p/notes/try.c", false));
    }

    #[test]
    fn a_configuration_comes_before_a_nearer_build_file() {
        let tree = Tree::new(&[
            ("p/wmfix.toml", "[build]\nsystem = \"make\"\n"),
            ("p/Makefile", "test:\n\ttrue\n"),
            ("p/lib/Makefile", "test:\n\ttrue\n"),
            ("p/lib/src/q.c", ""),
        ]);
        assert_eq!(tree.located("p/lib/src"), at("p", true));
        assert_eq!(tree.located("p/lib"), at("p/lib", false));
    }

    #[test]
    fn a_makefile_without_tests_is_a_part_of_one_that_has_some() {
        let tree = Tree::new(&[
            ("p/Makefile", "check: all\n\t./t\n"),
            ("p/src/Makefile", "all: q.o\n"),
            ("p/src/q.c", ""),
            ("alone/Makefile", "all: q.o\n"),
            ("cmake/CMakeLists.txt", "project(q C)\n"),
            ("cmake/tests/makefile", "run: t\n\t./t\n"),
            ("cmake/tests/t.c", MAIN),
            ("tested/CMakeLists.txt", "project(q C)\nenable_testing()\n"),
            ("tested/src/Makefile", "q: q.o\n"),
            ("tested/src/q.c", ""),
        ]);
        assert_eq!(tree.located("tested/src"), at("tested", true));
        // CMake knows nothing of a Makefile: whoever names its folder means it.
        assert_eq!(tree.located("cmake/tests"), at("cmake/tests", false));
        assert_eq!(tree.located("cmake/tests/t.c"), at("cmake/tests", true));
        assert_eq!(tree.located("p/src"), at("p", true));
        assert_eq!(tree.located("alone"), at("alone", false));
    }

    #[test]
    fn what_lies_beside_a_project_is_not_part_of_it() {
        let tree = Tree::new(&[
            ("all/queue/include/queue/q.h", ""),
            ("all/other/t.c", MAIN),
            ("all/with/src/q.c", ""),
            ("all/with/tests/t.c", MAIN),
        ]);
        assert_eq!(tree.located("all/queue"), at("all/queue", false));
        let header = "all/queue/include/queue/q.h";
        assert!(tree.located(header).0.starts_with("all/queue/include"));
        assert_eq!(tree.located("all/with/src"), at("all/with", true));
        // A repository in a folder is not the folder's.
        let tree = Tree::new(&[
            ("src/a/.git/HEAD", ""),
            ("src/a/t.c", MAIN),
            ("src/b/q.h", ""),
        ]);
        assert!(!programs::any_below(&tree.path("src")));
    }

    #[test]
    fn without_a_build_file_the_programs_decide() {
        let tree = Tree::new(&[
            ("p/src/q.c", ""),
            ("p/include/q.h", ""),
            ("p/tests/t.c", MAIN),
            ("p/.git/HEAD", ""),
        ]);
        assert_eq!(tree.located("p/include"), at("p", true));
        assert_eq!(tree.located("p/src/q.c"), at("p", true));
        assert_eq!(tree.located("p/tests"), at("p/tests", false));
        assert_eq!(tree.located("p/tests/t.c"), at("p/tests/t.c", false));
        assert_eq!(tree.located("p"), at("p", false));
    }
}
