//! The program that a test command means: what was built, wherever in the build
//! folder it is, before what else the system has under that name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Folders of a build folder where CMake and Meson build other people's projects.
const FETCHED: [&str; 2] = ["_deps", "subprojects"];

/// Folders below the build folder that are looked at.
const MAX_DEPTH: usize = 8;

/// The command with its program by the full path, if it was built in this folder.
pub(super) fn find(mut command: Vec<OsString>, build: &Path) -> Vec<OsString> {
    let Some(program) = command.first().map(PathBuf::from) else {
        return command;
    };
    let has_folder = program.components().count() > 1;
    if program.is_absolute() || has_folder && build.join(&program).is_file() {
        return command;
    }
    let Some(name) = program.file_name() else {
        return command;
    };
    let mut found = all(build).filter(|path| path.file_name() == Some(name));
    // One of several of the same name is a guess that is not ours to make.
    if let (Some(one), None) = (found.next(), found.next()) {
        command[0] = one.into();
    }
    command
}

/// The names of the programs that were built, sorted.
pub(super) fn names(build: &Path) -> Vec<String> {
    let names =
        all(build).filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// The names of the programs that a compiler made, sorted: no scripts.
pub(super) fn compiled(build: &Path) -> Vec<String> {
    let made = all_compiled(build);
    let names = made.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// The programs that a compiler made and that must be the tests, sorted: all that are
/// named after tests; if there are none and `may_be_any` says so, the only one.
pub(super) fn likely_tests(build: &Path, may_be_any: bool) -> Vec<PathBuf> {
    let targets = cmake_targets(build);
    let is_built_now = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        targets
            .as_ref()
            .is_none_or(|targets| targets.iter().any(|target| *target == name))
    };
    // What is fetched for the tests has programs of its own.
    let is_own = |path: &PathBuf| {
        !path
            .iter()
            .any(|part| FETCHED.iter().any(|own| part == *own))
    };
    let made = all_compiled(build).filter(|path| is_own(path) && is_built_now(path));
    let made: Vec<PathBuf> = made.collect();
    let is_named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.to_lowercase().contains("test")
    };
    let named: Vec<PathBuf> = made.iter().filter(|path| is_named(path)).cloned().collect();
    match (named.is_empty(), &made[..]) {
        (false, _) => named,
        (true, [_]) if may_be_any => made,
        _ => Vec::new(),
    }
}

/// The targets that CMake builds here; `None` if it does not. What it has built of others,
/// before the project changed, is still there.
fn cmake_targets(build: &Path) -> Option<Vec<String>> {
    let list = fs::read_to_string(build.join("CMakeFiles/TargetDirectories.txt")).ok()?;
    let folders = list
        .lines()
        .filter_map(|line| Path::new(line).file_name()?.to_str());
    let targets = folders.filter_map(|folder| folder.strip_suffix(".dir"));
    Some(targets.map(str::to_owned).collect())
}

fn all_compiled(build: &Path) -> impl Iterator<Item = PathBuf> {
    all(build).filter(|path| is_elf(path))
}

/// Whether a compiler made a file.
pub(super) fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

fn all(build: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = WalkDir::new(build).max_depth(MAX_DEPTH).sort_by_file_name();
    let entries = entries.into_iter().filter_entry(|entry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || name != "CMakeFiles" && !name.starts_with('.')
    });
    let files = entries.filter_map(Result::ok).filter(|entry| {
        let executable = |meta: fs::Metadata| meta.permissions().mode() & 0o111 != 0;
        let name = entry.file_name().to_string_lossy();
        entry.file_type().is_file()
            && entry.metadata().is_ok_and(executable)
            && !name.contains(".so")
    });
    files.map(walkdir::DirEntry::into_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_named_after_tests_are_likely_tests_or_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let build = folder.path();
        let make = |name: &str| {
            let path = build.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "\x7fELF").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        make("_deps/other/their_test");
        let demo = make("demo");
        assert_eq!(likely_tests(build, true), [demo]);
        assert_eq!(likely_tests(build, false), [] as [PathBuf; 0]);
        make("tool");
        assert_eq!(likely_tests(build, true), [] as [PathBuf; 0]);
        let tests = [make("bin/QueueTest"), make("test_ring")];
        assert_eq!(likely_tests(build, false), tests);
        // CMake has built them of a target that is gone.
        fs::create_dir(build.join("CMakeFiles")).unwrap();
        let targets = "/b/CMakeFiles/QueueTest.dir\n/b/CMakeFiles/demo.dir\n";
        fs::write(build.join("CMakeFiles/TargetDirectories.txt"), targets).unwrap();
        assert_eq!(likely_tests(build, false), tests[..1]);
    }

    #[test]
    fn a_program_is_found_by_its_name_alone() {
        let folder = tempfile::tempdir().unwrap();
        let build = folder.path();
        for name in ["test/queue_test", "a/twice", "b/twice", "lib/q.so"] {
            let path = build.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let found = |word: &str| find(vec![word.into(), "arg".into()], build);
        let expected: Vec<OsString> = vec![build.join("test/queue_test").into(), "arg".into()];
        for word in ["queue_test", "./queue_test", "build/queue_test"] {
            assert_eq!(found(word), expected, "{word}");
        }
        for word in ["twice", "a/twice", "ctest", "/bin/true"] {
            assert_eq!(found(word)[0], *word, "{word}");
        }
        assert_eq!(names(build), ["queue_test", "twice"]);
    }
}
