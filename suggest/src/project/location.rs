//! Where the project is that a path belongs to: the path itself, or what lies
//! around it. A wmfix.toml decides first, then a build file, then the repository;
//! a file with `main` that none of them speaks of is a program by itself.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::elsewhere::{is_aside, projects_below};
use super::programs::{self, NothingToBuild};
use super::system::{BuildTool, builds_file, has_build_file, stands_alone};
use crate::config::{BuildConfig, FILE_NAME, ProjectConfig, repository};

/// Folders that are parts of a project: where no build file and no repository says how
/// far it goes, it is what these are in.
const PARTS: [&str; 8] = [
    "src", "source", "lib", "include", "inc", "headers", "test", "tests",
];

/// Parts that often have a folder of the project's name in them.
const PARTS_WITH_A_NAME: [&str; 2] = ["include", "inc"];

/// Outside of these, a program this many folders further up may use what was named.
const LEVELS_OF_USERS: usize = 2;

/// Where a project is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// What is built, absolute and without links: a folder, or a file that is a
    /// program by itself.
    pub root: PathBuf,
    /// What the report is limited to; `None` for all of the project.
    pub scope: Option<PathBuf>,
    /// Why it is this one, where another could have been meant.
    pub choice: Option<Choice>,
}

/// A choice among folders with build files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// That of the folder where the command was typed, not of this one that was named.
    WhereTyped(PathBuf),
    /// What was named, not that of the folder where the command was typed.
    Named,
    /// The only one below the folder that was named, which has none.
    OnlyBelow,
}

/// Finds the project that a path belongs to. With a test command of the user's a
/// build file needs no tests to be a project's.
pub(crate) fn locate(path: &Path, has_command: bool) -> Result<Location, NothingToBuild> {
    let current = std::env::current_dir().and_then(|folder| folder.canonicalize());
    let location = locate_from(path, has_command, &current.unwrap_or_default())?;
    match &location.scope {
        Some(scope) if !programs::any_code(scope) => Err(NothingToBuild::NoCode(path.to_owned())),
        _ => Ok(location),
    }
}

/// The same, typed in the folder `current`, which is absolute and without links.
fn locate_from(path: &Path, has_command: bool, current: &Path) -> Result<Location, NothingToBuild> {
    let unreadable = |error| NothingToBuild::Unreadable(path.to_owned(), error);
    let full = path.canonicalize().map_err(unreadable)?;
    let is_folder = full.is_dir();
    if !is_folder && !full.is_file() {
        return Err(NothingToBuild::Special(path.to_owned()));
    }
    let part_of = |root: PathBuf| Location {
        scope: (root != full).then(|| full.clone()),
        root,
        choice: None,
    };
    let folder = match full.parent() {
        Some(parent) if !is_folder => parent,
        _ => &full,
    };
    let above = folders_above(folder);
    if let Some((root, choice)) = built_above(&above, has_command, current)? {
        let is_apart = !is_folder
            && programs::has_main(&full)
            && !builds_file(&root, &full, has_commands(&root)?);
        return Ok(match is_apart {
            true => part_of(full.clone()),
            false => Location {
                choice,
                ..part_of(root)
            },
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
    let (near, far) = above.split_at(limit.min(above.len()));
    let near = near.iter().find(|at| programs::any_below(at));
    let root = near.or_else(|| {
        let mut far = far.iter().take(LEVELS_OF_USERS);
        far.find(|at| programs::any_uses(at, &full))
    });
    if let Some(root) = root {
        return Ok(part_of((*root).to_owned()));
    }
    let below = projects_below(&full).into_iter();
    let mut below = below.filter(|inside| !is_aside(inside));
    // The user's command may build anything.
    let only = match (below.next(), below.next()) {
        (Some(only), None) if !has_command => Some(only),
        _ => None,
    };
    Ok(match only {
        Some(only) => Location {
            root: full.join(only),
            scope: None,
            choice: Some(Choice::OnlyBelow),
        },
        None => part_of(full.clone()),
    })
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

/// The folder that a build system builds, of these from the inside out, and why that one
/// where the user may mean another.
fn built_above(
    above: &[&Path],
    has_command: bool,
    current: &Path,
) -> Result<Option<(PathBuf, Option<Choice>)>, NothingToBuild> {
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
            // The folder that was named is a project, unless the user stands where another
            // build system knows how to test it.
            let is_around = outer.contains(&current) && has_build_file(current);
            let is_meant = !file.is_file() && !is_of_make(tool) && tests_by_make(current);
            return Ok(Some(match is_around {
                true if is_meant => {
                    let choice = Choice::WhereTyped(at.to_owned());
                    (current.to_owned(), Some(choice))
                }
                true => (at.to_owned(), Some(Choice::Named)),
                false => (at.to_owned(), None),
            }));
        }
        if file.is_file() && configured.is_none() {
            configured = Some(at.to_owned());
        }
        with_build_file.push((at, alone));
    }
    let alone = with_build_file.iter().find(|(_, alone)| *alone);
    let found = alone.or(with_build_file.last());
    let root = configured.or_else(|| found.map(|(at, _)| (*at).to_owned()));
    Ok(root.map(|root| (root, None)))
}

/// Whether a folder is built by make, and its Makefile has tests.
fn tests_by_make(folder: &Path) -> bool {
    let tool = BuildTool::of(folder, &BuildConfig::default());
    tool.is_some_and(|tool| is_of_make(tool) && stands_alone(tool, folder, &[], false))
}

fn is_of_make(tool: BuildTool) -> bool {
    matches!(tool, BuildTool::Make { .. })
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
            self.located_from(name, "")
        }

        /// The same, typed in a folder.
        fn located_from(&self, name: &str, typed_in: &str) -> (String, bool) {
            let top = self.0.path().canonicalize().expect("it is there");
            let current = top.join(typed_in);
            let current: PathBuf = current.components().collect();
            let found = locate_from(&self.path(name), false, &current).expect("it is there");
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
    fn a_makefile_with_tests_where_the_command_is_typed_is_meant() {
        let tree = Tree::new(&[
            ("p/Makefile", "test:\n\t./t\n"),
            ("p/src/CMakeLists.txt", "project(q C)\n"),
            ("p/own/CMakeLists.txt", "project(q C)\n"),
            ("p/own/wmfix.toml", ""),
            ("p/lib/Makefile", "test:\n\t./t\n"),
            ("untested/Makefile", "all:\n\tcmake src\n"),
            ("untested/src/CMakeLists.txt", "project(q C)\n"),
        ]);
        assert_eq!(tree.located_from("p/src", "p"), at("p", true));
        assert_eq!(tree.located_from("p/src", "p/src"), at("p/src", false));
        for project in ["p/own", "p/lib"] {
            assert_eq!(tree.located_from(project, "p"), at(project, false));
        }
        let inner = "untested/src";
        assert_eq!(tree.located_from(inner, "untested"), at(inner, false));
    }

    #[test]
    fn the_only_project_below_is_meant_without_packages() {
        let mut files = vec![
            ("p/src/Makefile", "test:\n\t./t\n"),
            ("p/packaging/rpm/Makefile", "all:\n"),
        ];
        let tree = Tree::new(&files);
        assert_eq!(tree.located("p"), at("p/src", false));
        files.push(("p/bench/Makefile", "test:\n\t./t\n"));
        assert_eq!(Tree::new(&files).located("p"), at("p", false));
    }

    #[test]
    fn a_program_beside_leads_to_what_it_includes() {
        let tree = Tree::new(&[
            ("p/ring/ring.h", ""),
            ("p/ring/ring.c", ""),
            ("p/ring/other.h", ""),
            (
                "p/t.c",
                "#include <stdio.h>\n# include \"ring/ring.h\"\nint main() { }\n",
            ),
            ("q/deep/down/here/ring.h", ""),
            ("q/t.c", "#include \"ring.h\"\nint main() { }\n"),
        ]);
        for part in ["p/ring/ring.h", "p/ring/ring.c", "p/ring"] {
            assert_eq!(tree.located(part), at("p", true), "{part}");
        }
        let alone = ["p/ring/other.h", "q/deep/down/here/ring.h"];
        for part in alone {
            assert_eq!(tree.located(part), at(part, false), "{part}");
        }
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
